#include "cli/call_variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "report/observation_json.h"
#include "report/text_layout.h"
#include "report/utf8.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// All of them run in one worker within a second or two, and are one screen.
constexpr std::size_t kMostVariants = 24;

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

/// One variant after the other, in order of plausibility: memory of a framework is aligned unless a view cuts into it,
/// so what stands in the call comes before where the pointers point to.
class Variants {
 public:
  explicit Variants(const PastedCall& pasted) : pasted_(pasted), given_(pasted.call.problem) {}

  std::vector<CallVariant> take() {
    add(leaves_open("alignment") ? "as the line says, pointers aligned to 256 bytes" : "as the line says", given_);
    if (leaves_open("epilogue")) add_epilogues();
    if (leaves_open("types")) add_types();
    if (leaves_open("workspace")) add_workspaces();
    if (leaves_open("alignment")) add_pointers();
    if (leaves_open("declared alignment") && !leaves_open("alignment")) add_default_promise();
    return std::move(list_);
  }

 private:
  bool leaves_open(std::string_view word) const {
    const auto& assumed = pasted_.call.assumed;
    return std::find(assumed.begin(), assumed.end(), word) != assumed.end();
  }

  void add(std::string what, const MatmulProblem& problem) {
    const bool known = std::any_of(list_.begin(), list_.end(), [&](const auto& one) { return one.problem == problem; });
    if (!known && list_.size() < kMostVariants) list_.push_back({std::move(what), problem});
  }

  /// A bias epilogue that was taken for granted comes from a caller that adds a bias and perhaps an activation
  /// (addmm); one without from a caller that may have a bias, and never an activation (scaled_mm).
  void add_epilogues() {
    MatmulProblem problem = given_;
    if (given_.epilogue == CUBLASLT_EPILOGUE_BIAS) {
      problem.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
      add("epilogue relu_bias", problem);
      problem.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
      add("no epilogue", problem);
    } else if (given_.epilogue == CUBLASLT_EPILOGUE_DEFAULT) {
      problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
      add("epilogue bias", problem);
    }
  }

  /// Without any types the line is read as FP8 into BF16; with types it is the math mode that a log leaves open.
  void add_types() {
    MatmulProblem problem = given_;
    if (!is_fp8(given_.type_a)) {
      problem.compute_type = CUBLAS_COMPUTE_32F_FAST_TF32;
      if (given_.type_a == CUDA_R_32F && given_.compute_type == CUBLAS_COMPUTE_32F)
        add("compute type 32f_fast_tf32", problem);
      return;
    }
    for (const auto type : {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F}) {
      problem.type_c = problem.type_d = type;
      add(fmt::format("C and D in {}", name_of(type)), problem);
    }
    problem = given_;
    problem.type_a = CUDA_R_8F_E5M2;
    add("A in e5m2", problem);
    problem = given_;
    problem.type_b = CUDA_R_8F_E5M2;
    add("B in e5m2", problem);
    for (const auto type : {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F}) {
      problem.type_a = problem.type_b = problem.type_c = problem.type_d = type;
      add(fmt::format("A, B, C and D in {}", name_of(type)), problem);
    }
  }

  void add_workspaces() {
    constexpr std::array<std::pair<std::int64_t, const char*>, 3> kLimits{
        {{0, "0 bytes"}, {1 << 20, "1 MiB"}, {32 << 20, "32 MiB"}}};
    for (const auto& [bytes, text] : kLimits) {
      MatmulProblem problem = given_;
      problem.workspace_bytes = bytes;
      add(fmt::format("workspace limit {}", text), problem);
    }
  }

  void add_pointer(const Operand& operand, std::int64_t offset, std::uint32_t promised) {
    const auto element = static_cast<std::int64_t>(bytes_of(given_.*operand.type));
    if (element == 0 || offset % element != 0) return;
    MatmulProblem problem = given_;
    problem.*operand.offset = offset;
    problem.*operand.alignment = promised;
    add(fmt::format("{} at {} bytes, {} promised", operand.name, offset, promised), problem);
  }

  /// A promise that is not kept first: that is what cublasLtMatmul refuses and its heuristic cannot see.
  void add_pointers() {
    for (const auto& operand : kOperands) {
      for (const std::int64_t offset : {2, 4, 8}) add_pointer(operand, offset, given_.*operand.alignment);
    }
    const auto bias = static_cast<std::int64_t>(bytes_of(bias_type(given_)));
    if (has_bias(given_.epilogue) && bias > 0 && bias < 16) {
      MatmulProblem problem = given_;
      problem.bias_offset = bias;
      add(fmt::format("bias at {} bytes", bias), problem);
    }
    if (leaves_open("declared alignment")) {
      for (const auto& operand : kOperands) {
        for (const std::int64_t offset : {2, 4, 8}) add_pointer(operand, offset, static_cast<std::uint32_t>(offset));
      }
    }
    for (const auto& operand : kOperands) add_pointer(operand, 16, given_.*operand.alignment);
  }

  /// A log with pointers is read as if each was declared truthfully; an application that declares nothing promises 256.
  void add_default_promise() {
    MatmulProblem problem = given_;
    problem.a_alignment = problem.b_alignment = problem.c_alignment = problem.d_alignment = 256;
    add("256 bytes promised of every pointer", problem);
  }

  const PastedCall& pasted_;
  const MatmulProblem& given_;
  std::vector<CallVariant> list_;
};

bool fails(const VariantResult& result) {
  return result.outcome != Outcome::correct && result.outcome != Outcome::not_run &&
         result.outcome != Outcome::audit_error;
}

}  // namespace

std::string deciding_status(const Observation& observation) {
  for (const char* name : {"matmul", "heuristic", "create", "set_attribute"}) {
    if (const auto* stage = observation.stage(name)) return stage->status;
  }
  return observation.not_run.empty() ? "unknown" : "not run";
}

std::vector<CallVariant> variants_of(const PastedCall& pasted) { return Variants(pasted).take(); }

std::vector<VariantResult> results_of(const Report& report) {
  std::vector<VariantResult> results;
  for (const auto& check : report.checks) {
    for (const auto& one : check.cases) {
      const auto observation = observation_from_json(nlohmann::json::parse(one.observation, nullptr, false));
      results.push_back({deciding_status(observation), one.outcome});
    }
  }
  return results;
}

std::optional<std::size_t> first_that_fails(const PastedCall& pasted, const std::vector<VariantResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (fails(results[i]) && (pasted.status.empty() || results[i].status == pasted.status)) return i;
  }
  return std::nullopt;
}

void write_variants(const PastedCall& pasted, const std::vector<CallVariant>& variants,
                    const std::vector<VariantResult>& results, std::ostream& out) {
  const bool reported = !pasted.status.empty();
  std::size_t width = std::string_view("variant").size();
  for (const auto& variant : variants) width = std::max(width, text_width(variant.what));
  const auto row = [&](std::string_view what, std::string_view status, std::string_view outcome,
                       std::string_view reproduces) {
    std::string line =
        fmt::format("  {}  {:<16} {:<14} {}", padded(what, width), printable(status), outcome, reproduces);
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  out << fmt::format("the line does not say: {}\n", fmt::join(pasted.call.assumed, ", "));
  row("variant", "status", "outcome", reported ? "reproduces" : "");
  std::size_t matching = 0;
  for (std::size_t i = 0; i < std::min(variants.size(), results.size()); ++i) {
    const bool same = reported && results[i].status == pasted.status;
    matching += same ? 1 : 0;
    row(variants[i].what, results[i].status, name_of(results[i].outcome), !reported ? "" : same ? "yes" : "no");
  }
  if (reported && matching == 0) {
    out << fmt::format("none of them gives {} here: another library version, GPU or several things at once decide\n",
                       printable(pasted.status));
  } else if (reported) {
    out << fmt::format("{} of {} give {}, as the line reports\n", matching, variants.size(), printable(pasted.status));
  }
  if (const auto first = first_that_fails(pasted, results))
    out << fmt::format("what to change: lt-audit doctor '{}'\n", to_text(variants.at(*first).problem));
}

}  // namespace lt_audit
