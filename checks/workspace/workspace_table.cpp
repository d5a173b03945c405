// Every scenario with its rule and its remedy.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "workspace_scenarios.h"

namespace lt_audit::workspace {
namespace {

using enum Expectation;

constexpr std::string_view kLimitRule =
    "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES is the most that an algorithm may ask for, so that a larger limit leaves "
    "none out (cublasLt.h 13.1.0, lines 2084-2088), and one version of the library gives the same bits at every run "
    "(cuBLAS 13.2 documentation, Results Reproducibility)";
constexpr std::string_view kSameBits =
    "one version of the library gives the same bits at every run on one GPU (cuBLAS 13.2 documentation, Results "
    "Reproducibility), and the content of a workspace belongs to the call (cublasLt.h 13.1.0, lines 1011-1026)";
constexpr std::string_view kImplicitRule =
    "without an algorithm cublasLtMatmul makes a query of its own with default preferences, whose workspace limit is 0 "
    "(cuBLAS 13.2 documentation, cublasLtMatmul; cublasLt.h 13.1.0, lines 2084-2088)";
constexpr std::string_view kSizeRule =
    "workspaceSize of a result is what its algorithm requires (cublasLt.h 13.1.0, lines 2229-2231)";
constexpr std::string_view kTooSmallRule =
    "a workspace smaller than the algorithm requires is CUBLAS_STATUS_INVALID_VALUE (cublasLt.h 13.1.0, lines "
    "1002-1004)";
constexpr std::string_view kNullRule =
    "parameters that are unexpectedly NULL, and a workspace smaller than the algorithm requires, are "
    "CUBLAS_STATUS_INVALID_VALUE (cuBLAS 13.2 documentation, cublasLtMatmul; cublasLt.h 13.1.0, lines 1002-1004)";
constexpr std::string_view kNullSizedRule =
    "what a size without a workspace means to an algorithm that requires none is documented nowhere";
constexpr std::string_view kAlignedRule =
    "the workspace must be aligned to 256 bytes, enforced since cuBLAS 12.9.1 (cuBLAS 13.2 documentation, "
    "cublasLtMatmul; release notes 12.9.1)";

constexpr std::string_view kFixTheLimit =
    "set CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES to one value, 32 MiB on Hopper, for every run whose bits are "
    "compared, and report it to NVIDIA with the repro line";
constexpr std::string_view kWithoutSplit =
    "set CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK to CUBLASLT_REDUCTION_SCHEME_NONE, which leaves split-K out, or "
    "the workspace limit to 0, and report it to NVIDIA with the repro line";
constexpr std::string_view kQueryYourself =
    "call cublasLtMatmulAlgoGetHeuristic with the real limit and pass its result instead of NULL";
constexpr std::string_view kCompareSize =
    "compare workspaceSize of the result with the buffer before each call, and never pass less";
constexpr std::string_view kNullZero = "pass a size of 0 with a null workspace, and query with a limit of 0";
constexpr std::string_view kAlign =
    "hand cublasLtMatmul a workspace whose address is a multiple of 256, as cudaMalloc gives it";
constexpr std::string_view kReport =
    "keep the limit at what the result asks for, and report it to NVIDIA with the repro line";

std::vector<Scenario> make_scenarios() {
  const auto row = [](std::string id, std::string group, std::string title, Expectation expectation,
                      std::string_view rule, std::string_view remedy, Observation (*run)(Session&, const Case&),
                      Nature nature = Nature::plain) {
    return Scenario{std::move(id),
                    std::move(group),
                    std::move(title),
                    expectation,
                    std::string(rule),
                    std::string(remedy),
                    run,
                    nature,
                    {},
                    {}};
  };
  const std::string walk = "A product under workspace limits from 0 on";
  const std::string off = "A workspace that is not on a 256-byte boundary";
  std::vector<Scenario> list{
      row("steps", "steps", walk, must_work, kLimitRule, kFixTheLimit, steps),
      row("steps.fine", "steps", walk, must_work, kLimitRule, kFixTheLimit, steps),
      row("repeat", "repeat", "One algorithm run again on the same inputs", must_work, kSameBits, kWithoutSplit,
          repeat),
      row("implicit", "implicit", "A product without an algorithm, on workspaces of every size", must_work,
          kImplicitRule, kQueryYourself, implicit_algorithm),
      row("exact", "exact", "A workspace of exactly the size that the algorithm asks for", must_work, kSizeRule,
          kReport, exact),
      row("larger", "larger", "A workspace larger than the algorithm asks for", must_work, kSizeRule, kReport, larger),
      row("too-small", "too-small", "A workspace smaller than the algorithm asks for", must_refuse, kTooSmallRule,
          kCompareSize, too_small),
      row("null.needed", "null-needed", "A null workspace for an algorithm that needs one", must_refuse, kNullRule,
          kCompareSize, null_needed, Nature::isolated),
      row("null.unneeded", "null-unneeded", "A null workspace for an algorithm that needs none", must_work, kSizeRule,
          kReport, null_unneeded),
      row("null.sized", "null-sized", "A null workspace with a size, for an algorithm that needs none", may_refuse,
          kNullSizedRule, kNullZero, null_sized),
  };
  for (const int offset : {16, 128}) {
    list.push_back(row(fmt::format("unaligned.needed.off{}", offset), "unaligned", off, must_refuse, kAlignedRule,
                       kAlign, unaligned_needed));
    list.push_back(row(fmt::format("unaligned.unneeded.off{}", offset), "unaligned", off, must_refuse, kAlignedRule,
                       kAlign, unaligned_unneeded));
  }
  return list;
}

}  // namespace

std::span<const Scenario> scenarios() {
  static const auto list = make_scenarios();
  return list;
}

const Scenario& scenario_named(std::string_view id) {
  const auto all = scenarios();
  return *std::find_if(all.begin(), all.end(), [id](const Scenario& scenario) { return scenario.id == id; });
}

}  // namespace lt_audit::workspace
