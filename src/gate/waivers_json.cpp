// JSON to a tree.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "gate/waiver_parts.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what) { throw AuditError(ErrorKind::usage, what); }

/// Depth, and keys that stand twice: of two the parser would keep one, and the other would be waived without a word.
class Guard {
 public:
  bool keep(int depth, ordered_json::parse_event_t event, const ordered_json& value) {
    using Event = ordered_json::parse_event_t;
    if (depth > kWaiverDepth) refuse("is nested too deeply for a waiver");
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end && !keys_.empty()) keys_.pop_back();
    if (event == Event::key && !keys_.empty()) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) refuse(fmt::format("the key '{}' stands twice in an object", key));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

WaiverTree waiver_tree_from_json(std::string_view text) {
  Guard guard;
  WaiverTree tree;
  try {
    tree.root =
        ordered_json::parse(text, [&guard](int depth, ordered_json::parse_event_t event, const ordered_json& value) {
          return guard.keep(depth, event, value);
        });
  } catch (const ordered_json::parse_error& error) {
    refuse(fmt::format("is not valid JSON at byte {}", error.byte));
  } catch (const ordered_json::exception& error) {
    refuse(fmt::format("is not valid JSON: {}", error.what()));
  }
  return tree;
}

}  // namespace lt_audit
