#include "cli/pasted_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "lt_audit/error.h"
#include "report/observation_json.h"
#include "report/text_layout.h"
#include "report/utf8.h"
#include "workload/import.h"
#include "workload/workload_json.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::string_view kStatusKey = "status=";

std::string text_of(const std::string& what, std::istream& standard_input) {
  if (what == "-") return {std::istreambuf_iterator<char>(standard_input), {}};
  std::error_code error;
  if (!std::filesystem::is_regular_file(what, error) || std::filesystem::file_size(what, error) > kMostBytes)
    return what;
  std::ifstream file(what, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto first = text.find_first_not_of(" \t\r\n");
  // A report, or a workload: not a line.
  return first != std::string::npos && text[first] == '{' ? what : text;
}

bool leaves_open(const PastedCall& pasted, std::string_view word) {
  return std::find(pasted.call.assumed.begin(), pasted.call.assumed.end(), word) != pasted.call.assumed.end();
}

struct Operand {
  const char* name;
  std::int64_t MatmulProblem::*offset;
  std::uint32_t MatmulProblem::*alignment;
  cudaDataType_t MatmulProblem::*type;
};
constexpr std::array kOperands{
    Operand{"A", &MatmulProblem::a_offset, &MatmulProblem::a_alignment, &MatmulProblem::type_a},
    Operand{"B", &MatmulProblem::b_offset, &MatmulProblem::b_alignment, &MatmulProblem::type_b},
    Operand{"D", &MatmulProblem::d_offset, &MatmulProblem::d_alignment, &MatmulProblem::type_d},
};

}  // namespace

std::string deciding_status(const Observation& observation) {
  for (const char* name : {"matmul", "heuristic", "create", "set_attribute"}) {
    if (const auto* stage = observation.stage(name)) return stage->status;
  }
  return observation.not_run.empty() ? "unknown" : "not run";
}

std::optional<PastedCall> find_pasted_call(const std::string& what, std::istream& standard_input) {
  const auto result = import_text(text_of(what, standard_input));
  if (result.workload.problems.empty()) {
    if (result.workload.damaged.empty()) return std::nullopt;
    throw AuditError(ErrorKind::usage,
                     fmt::format("the call cannot be read from this line: {}", result.workload.damaged.front().reason));
  }
  // The first in the text, not the most called one.
  const auto& problems = result.workload.problems;
  PastedCall pasted{*std::min_element(problems.begin(), problems.end(),
                                      [](const WorkloadProblem& left, const WorkloadProblem& right) {
                                        return left.first.line < right.first.line;
                                      }),
                    {}};
  for (const auto& [entry, count] : pasted.call.kept) {
    if (entry.starts_with(kStatusKey)) pasted.status = entry.substr(kStatusKey.size());
  }
  return pasted;
}

std::vector<CallVariant> variants_of(const PastedCall& pasted) {
  std::vector<CallVariant> variants{{"as the line says, pointers aligned to 256 bytes", pasted.call.problem}};
  if (!leaves_open(pasted, "alignment")) {
    variants.front().what = "as the line says";
    return variants;
  }
  for (const auto& operand : kOperands) {
    for (const std::int64_t offset : {2, 4, 8, 16}) {
      const auto element = static_cast<std::int64_t>(bytes_of(pasted.call.problem.*operand.type));
      if (element == 0 || offset % element != 0) continue;
      MatmulProblem problem = pasted.call.problem;
      problem.*operand.offset = offset;
      if (operand.offset == &MatmulProblem::d_offset) problem.c_offset = problem.in_place ? 0 : problem.c_offset;
      variants.push_back({fmt::format("{} at {} bytes, 256 promised", operand.name, offset), problem});
      if (offset == 16) continue;
      problem.*operand.alignment = static_cast<std::uint32_t>(offset);
      variants.push_back({fmt::format("{} at {} bytes, {} promised", operand.name, offset, offset), problem});
    }
  }
  return variants;
}

void write_variants(const PastedCall& pasted, const std::vector<CallVariant>& variants, const Report& report,
                    std::ostream& out) {
  std::vector<const CaseResult*> cases;
  for (const auto& check : report.checks) {
    for (const auto& one : check.cases) cases.push_back(&one);
  }
  std::size_t width = 0;
  for (const auto& variant : variants) width = std::max(width, text_width(variant.what));
  out << fmt::format("what the line leaves open ({}):\n", fmt::join(pasted.call.assumed, ", "));
  std::size_t matching = 0;
  for (std::size_t i = 0; i < std::min(variants.size(), cases.size()); ++i) {
    const auto observation = observation_from_json(nlohmann::json::parse(cases[i]->observation, nullptr, false));
    const auto status = deciding_status(observation);
    const bool same = !pasted.status.empty() && status == pasted.status;
    matching += same ? 1 : 0;
    out << fmt::format("  {}  {:<16} {:<14} {}\n", padded(variants[i].what, width), printable(status),
                       name_of(cases[i]->outcome), same ? "as reported" : "");
  }
  if (pasted.status.empty()) return;
  out << (matching == 0
              ? fmt::format("none of them gives {} here: another library version, GPU, workspace or epilogue decides\n",
                            printable(pasted.status))
              : fmt::format("{} of {} give {}, as the line reports\n", matching, variants.size(),
                            printable(pasted.status)));
}

}  // namespace lt_audit
