// Between the two syntaxes of a waiver file and its meaning. Included in src/gate only.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lt_audit {

/// Lines of an entry and of its keys; 0 and empty in JSON.
struct EntryLines {
  std::size_t line = 0;
  std::map<std::string, std::size_t> keys;
};

/// A waiver file as a tree: dates are texts. `entries` are those of the array "waiver", as far as it has tables.
struct WaiverTree {
  nlohmann::ordered_json root;
  std::vector<EntryLines> entries;
};

inline constexpr int kWaiverDepth = 32;

/// Throw AuditError (usage) with the line or byte, without the file's name.
WaiverTree waiver_tree_from_toml(std::string_view text);
WaiverTree waiver_tree_from_json(std::string_view text);

}  // namespace lt_audit
