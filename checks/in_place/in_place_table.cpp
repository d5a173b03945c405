// Every scenario with its rule and its remedy.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "in_place_scenarios.h"

namespace lt_audit::in_place {
namespace {

using enum Expectation;

constexpr std::string_view kInPlaceRule =
    "cublasLtMatmul works in place when C == D and Cdesc == Ddesc (cuBLAS 13.2 documentation, cublasLtMatmul)";
constexpr std::string_view kFilteredRule =
    "cublasLtMatmul works in place when C == D and Cdesc == Ddesc (cuBLAS 13.2 documentation, cublasLtMatmul); a mask "
    "of "
    "reduction schemes may leave no algorithm (cublasLt.h 13.1.0, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, lines "
    "2090-2097)";
constexpr std::string_view kUnreadRule =
    "if beta is 0, C does not have to be a valid input (cuBLAS 13.2 documentation, cublas<t>gemm and cublasGemmEx; the "
    "text of cublasLtMatmul has no such sentence, and no other meaning of beta 0 either)";
constexpr std::string_view kNullRule =
    "whether C may be NULL when beta is 0 is documented nowhere; parameters that are unexpectedly NULL are "
    "CUBLAS_STATUS_INVALID_VALUE (cuBLAS 13.2 documentation, cublasLtMatmul)";
constexpr std::string_view kNullBetaRule =
    "parameters that are unexpectedly NULL are CUBLAS_STATUS_INVALID_VALUE (cuBLAS 13.2 documentation, cublasLtMatmul)";
constexpr std::string_view kNullLayoutRule =
    "parameters that are unexpectedly NULL are CUBLAS_STATUS_INVALID_VALUE (cuBLAS 13.2 documentation, "
    "cublasLtMatmul); "
    "before cuBLAS 13.1.0 a C layout that was not initialised was dereferenced (CUB-8911, release notes 13.0 Update 2)";
constexpr std::string_view kOverlapRule =
    "D in the memory of A or B, or shifted against C, is documented nowhere: in place means C == D with equal layouts "
    "(cuBLAS 13.2 documentation, cublasLtMatmul)";
constexpr std::string_view kSharedRule =
    "A, B and C are inputs (cublasLt.h 13.1.0, cublasLtMatmul, lines 1011-1026: const), so two of them may be one "
    "matrix; one version of the library gives the same bits at every run (cuBLAS 13.2 documentation, Results "
    "Reproducibility)";
constexpr std::string_view kAlphaRule =
    "whether A and B are read when alpha is 0 is documented nowhere for cuBLAS; in BLAS they are not (reference BLAS, "
    "xGEMM: C := beta C), and cublasGemmEx 13.1.0 on an H200 follows it with alpha in host memory";

constexpr std::string_view kOutOfPlace =
    "give D memory of its own and report it to NVIDIA with the repro line; until then compute in place only with an "
    "algorithm that was verified";
constexpr std::string_view kEqualLayouts =
    "give C the layout of D, attribute by attribute, or hand cublasLtMatmul one layout object for both; a C with "
    "another type, order or leading dimension needs memory of its own";
constexpr std::string_view kClearC =
    "fill C with zeros before a call with beta 0, or make sure that its memory was written, and report it to NVIDIA "
    "with "
    "the repro line";
constexpr std::string_view kPassC = "pass D, or any valid address, as C when beta is 0";
constexpr std::string_view kPassLayout = "pass the layout of D as the layout of C when there is no C";
constexpr std::string_view kOwnMemory =
    "give D memory that overlaps no input, or exactly C's with an equal layout; compare the address ranges before the "
    "call, since the library does not";
constexpr std::string_view kCopy = "give the second operand a copy, and report it to NVIDIA with the repro line";
constexpr std::string_view kSkipProduct =
    "leave the call out when alpha is 0 and scale C with a kernel of your own, as PyTorch does";

Scenario row(std::string id, std::string group, std::string title, Expectation expectation, std::string_view rule,
             std::string_view remedy, Observation (*run)(Session&, const Case&), Nature nature = Nature::plain) {
  return {std::move(id),
          std::move(group),
          std::move(title),
          expectation,
          std::string(rule),
          std::string(remedy),
          run,
          nature,
          {},
          {}};
}

void add_overlaps(std::vector<Scenario>& list) {
  for (const auto* input : {"a", "b", "c"}) {
    for (const auto* place : {"whole", "first", "last", "elements", "elements_before", "columns", "columns_before"}) {
      const bool of_c = input == std::string_view("c");
      const bool shifted =
          std::string_view(place).find("elements") == 0 || std::string_view(place).find("columns") == 0;
      if (of_c != shifted) continue;
      auto one = row(std::string("overlap.") + input + "." + place, "overlap", "D in memory that overlaps an input",
                     may_refuse, kOverlapRule, kOwnMemory, overlap);
      one.parameters[kInput] = input;
      list.push_back(std::move(one));
    }
  }
}

void add_null_layouts(std::vector<Scenario>& list) {
  for (const auto* call : {"matmul", "heuristic", "check"}) {
    for (const auto* layout : {"null", "zeros"}) {
      auto one = row(std::string("c-layout-") + layout + "." + call, "c-layout", "A call without a layout of C",
                     may_refuse, kNullLayoutRule, kPassLayout, null_layout, Nature::isolated);
      one.parameters[kCall] = call;
      one.parameters[kLayout] = layout;
      list.push_back(std::move(one));
    }
  }
}

void add_algorithms(std::vector<Scenario>& list) {
  const auto add = [&](std::string id, std::string mask) {
    const bool filtered = !mask.empty();
    auto one = row(std::move(id), "in-place", "A product with C in D's memory", filtered ? may_refuse : must_work,
                   filtered ? kFilteredRule : kInPlaceRule, kOutOfPlace, every_algorithm);
    if (filtered) one.parameters[kMask] = std::move(mask);
    list.push_back(std::move(one));
  };
  // cublasLt.h 13.1.0, cublasLtReductionScheme_t, lines 1909-1926.
  add("algorithms", "");
  add("algorithms.inplace", "1");
  add("algorithms.compute_type", "2");
  add("algorithms.output_type", "4");
}

std::vector<Scenario> make_scenarios() {
  std::vector<Scenario> list{
      row("in-place", "in-place", "A product with C in D's memory", must_work, kInPlaceRule, kOutOfPlace, by_engine),
      row("one-layout", "in-place", "A product with C in D's memory", must_work, kInPlaceRule, kOutOfPlace, one_layout),
      row("layouts", "layouts", "C in D's memory under another layout", must_refuse, kInPlaceRule, kEqualLayouts,
          by_engine),
      row("c-unread", "c-unread", "A product with beta 0 and NaN or infinity in C", must_work, kUnreadRule, kClearC,
          unread_c),
      row("c-unread.all", "c-unread", "A product with beta 0 and NaN or infinity in C", must_work, kUnreadRule, kClearC,
          unread_c_by_all),
      row("c-null", "c-null", "A product with beta 0 and a null C", may_refuse, kNullRule, kPassC, null_c),
      row("c-null.device", "c-null", "A product with beta 0 and a null C", may_refuse, kNullRule, kPassC, null_c,
          Nature::isolated),
      row("c-null.beta1", "c-null-beta", "A product with beta 1 and a null C", must_refuse, kNullBetaRule, kPassC,
          null_c_with_beta, Nature::isolated),
      row("a-is-b", "shared-inputs", "Two inputs in the same memory", must_work, kSharedRule, kCopy, shared_inputs),
      row("c-is-a", "shared-inputs", "Two inputs in the same memory", must_work, kSharedRule, kCopy, shared_inputs),
      row("c-is-a.unread", "shared-inputs", "Two inputs in the same memory", must_work, kUnreadRule, kCopy,
          c_in_a_unread),
      row("alpha-zero", "alpha-zero", "A product with alpha 0 and NaN in A and B", may_refuse, kAlphaRule, kSkipProduct,
          alpha_zero),
  };
  for (auto& one : list) {
    if (one.id == "a-is-b") one.parameters[kInput] = "b";
    if (one.id == "c-is-a") one.parameters[kInput] = "c";
  }
  add_algorithms(list);
  add_overlaps(list);
  add_null_layouts(list);
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

}  // namespace lt_audit::in_place
