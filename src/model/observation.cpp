#include "lt_audit/observation.h"

namespace lt_audit {

const Stage* Observation::stage(const std::string& name) const {
  for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

std::string Observation::fact(const std::string& name) const {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string() : found->second;
}

}  // namespace lt_audit
