// Every check and its page: one line each, sorted by id. scripts/new_check.py adds the lines; registry_test.cpp
// compares them with the folders.
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "lt_audit/check.h"

namespace lt_audit {

// Defined in checks/NAME/NAME.cpp. Declared here and not in a header of each folder: nothing else calls them.
std::unique_ptr<Check> make_alignment();
std::unique_ptr<Check> make_batched();
std::unique_ptr<Check> make_compute_type();
std::unique_ptr<Check> make_cublas_parity();
std::unique_ptr<Check> make_environment();
std::unique_ptr<Check> make_epilogue();
std::unique_ptr<Check> make_fp8_scaling();
std::unique_ptr<Check> make_graph_capture();
std::unique_ptr<Check> make_handle_lifetime();
std::unique_ptr<Check> make_heuristic_validity();
std::unique_ptr<Check> make_in_place();
std::unique_ptr<Check> make_int8();
std::unique_ptr<Check> make_known_issues();
std::unique_ptr<Check> make_shape_limits();
std::unique_ptr<Check> make_streams_workspace();
std::unique_ptr<Check> make_workspace();

namespace embedded {
extern const std::string_view page_alignment;
extern const std::string_view page_batched;
extern const std::string_view page_compute_type;
extern const std::string_view page_cublas_parity;
extern const std::string_view page_environment;
extern const std::string_view page_epilogue;
extern const std::string_view page_fp8_scaling;
extern const std::string_view page_graph_capture;
extern const std::string_view page_handle_lifetime;
extern const std::string_view page_heuristic_validity;
extern const std::string_view page_in_place;
extern const std::string_view page_int8;
extern const std::string_view page_known_issues;
extern const std::string_view page_shape_limits;
extern const std::string_view page_streams_workspace;
extern const std::string_view page_workspace;
}  // namespace embedded

namespace {

struct Entry {
  std::string_view id;
  std::unique_ptr<Check> (*make)();
  const std::string_view* page;
};

constexpr std::array kEntries{
    Entry{"alignment", make_alignment, &embedded::page_alignment},
    Entry{"batched", make_batched, &embedded::page_batched},
    Entry{"compute-type", make_compute_type, &embedded::page_compute_type},
    Entry{"cublas-parity", make_cublas_parity, &embedded::page_cublas_parity},
    Entry{"environment", make_environment, &embedded::page_environment},
    Entry{"epilogue", make_epilogue, &embedded::page_epilogue},
    Entry{"fp8-scaling", make_fp8_scaling, &embedded::page_fp8_scaling},
    Entry{"graph-capture", make_graph_capture, &embedded::page_graph_capture},
    Entry{"handle-lifetime", make_handle_lifetime, &embedded::page_handle_lifetime},
    Entry{"heuristic-validity", make_heuristic_validity, &embedded::page_heuristic_validity},
    Entry{"in-place", make_in_place, &embedded::page_in_place},
    Entry{"int8", make_int8, &embedded::page_int8},
    Entry{"known-issues", make_known_issues, &embedded::page_known_issues},
    Entry{"shape-limits", make_shape_limits, &embedded::page_shape_limits},
    Entry{"streams-workspace", make_streams_workspace, &embedded::page_streams_workspace},
    Entry{"workspace", make_workspace, &embedded::page_workspace},
};

}  // namespace

std::span<const std::unique_ptr<Check>> registered_checks() {
  static const auto checks = [] {
    std::array<std::unique_ptr<Check>, kEntries.size()> made;
    std::transform(kEntries.begin(), kEntries.end(), made.begin(), [](const Entry& entry) { return entry.make(); });
    return made;
  }();
  return checks;
}

std::string_view page_of(std::string_view check_id) {
  const auto* const entry =
      std::find_if(kEntries.begin(), kEntries.end(), [check_id](const Entry& e) { return e.id == check_id; });
  return entry == kEntries.end() ? std::string_view{} : *entry->page;
}

}  // namespace lt_audit
