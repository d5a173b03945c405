#include "lt_audit/observation.h"

namespace lt_audit {

const Stage* Observation::stage(const std::string& name) const {
  for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

}  // namespace lt_audit
