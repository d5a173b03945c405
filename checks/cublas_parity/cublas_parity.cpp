// Check "cublas-parity": the same product, in the same memory, through cuBLAS and through cuBLASLt. parity_cases.cpp
// has the grid, parity_steps.cpp what is done, parity_times.cpp how it is timed, this file the judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"
#include "parity_cases.h"

namespace lt_audit {
namespace {

using namespace cublas_parity;

constexpr CheckInfo kInfo{
    "cublas-parity", "cuBLAS and cuBLASLt both take the same product, both are right, and cuBLASLt is not slower",
    "cuBLAS 13.2 documentation, cublasGemmEx, cublas<t>gemm and cublasLtMatmul, tables of supported types; "
    "cublas_api.h 13.1.0, lines 170-218"};

constexpr std::string_view kKeepOnCublas = "keep this product on cuBLAS, and report it to NVIDIA with the repro line";
constexpr std::string_view kEitherRight = "right numbers from both libraries, or a refusal by status";

/// Reason code, title, what should happen, what to change.
struct Cause {
  std::string_view reason;
  std::string_view title;
  std::string_view expected;
  std::string_view remedy;
};
constexpr std::array kCauses{
    Cause{"audit-error", "A product could not be compared", "the audit runs the case",
          "look at the message, and run the audit again"},
    Cause{"both-wrong", "Both libraries accept a product and give wrong numbers", kEitherRight,
          "change the compute type or the layout of this product, and report it to NVIDIA with the repro line"},
    Cause{"context-lost", "A product leaves the CUDA context unusable", kEitherRight,
          "take the library that the end of the case does not name, and report it to NVIDIA with the repro line"},
    Cause{"crashed", "A product kills the process", kEitherRight,
          "run the case with --trace to see which library it was, and keep the product on the other one"},
    Cause{"cublas-accepts-what-lt-refuses", "cuBLAS runs a product that cuBLASLt refuses",
          "the same product through cuBLASLt, or a refusal that the port of the application expects",
          "keep this call on cuBLAS, or bring it into a form that cublasLtMatmul documents: the rule says which"},
    Cause{"cublas-refuses-what-lt-accepts", "cuBLAS refuses a documented product that cuBLASLt runs",
          "the same product through cuBLAS, whose tables list the combination",
          "call cublasLtMatmul for this product, and do not count on cuBLAS as a way out"},
    Cause{"cublas-wrong", "cuBLAS gives a wrong result where cuBLASLt is right", "the right numbers from both",
          "call cublasLtMatmul for this product, and report it to NVIDIA with the repro line"},
    Cause{"handle-default-changed", "A new cuBLAS handle does not have the documented modes",
          "scalars on the host, default math, no atomics",
          "set the mode after cublasCreate: cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), "
          "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST); look for a library in LD_PRELOAD that changes it"},
    Cause{"lt-first-result-slower", "The first result of the heuristic is slower than cuBLAS, and another is not",
          "the first result is the fastest one of the list",
          "time the results of cublasLtMatmulAlgoGetHeuristic for this product once, as many as were asked for here, "
          "and keep the fastest one"},
    Cause{"lt-refuses-documented-product", "cuBLASLt refuses a documented product", "cublasLtMatmul returns SUCCESS",
          kKeepOnCublas},
    Cause{"lt-slower", "cuBLASLt takes longer than cuBLAS", "no more time than cuBLAS takes, beyond noise",
          "keep this product on cuBLAS"},
    Cause{"lt-wrong-where-cublas-is-right", "cuBLASLt accepts a product and is wrong where cuBLAS is right",
          kEitherRight, kKeepOnCublas},
    Cause{"lt-wrong-where-cublas-refuses", "cuBLASLt accepts what cuBLAS refuses, and is wrong",
          "refused by cublasLtMatmulAlgoGetHeuristic as by cuBLAS, or the right numbers",
          "do not take SUCCESS as a sign of support: use a combination that the tables of cublasLtMatmul list"},
    Cause{"not-run", "A product was not compared", "both libraries run it",
          "see the sentence of the case: free memory on the GPU, or a libcublas that can be loaded"},
    Cause{"refused-late", "The heuristic accepts a product and cublasLtMatmul refuses it",
          "refused by cublasLtMatmulAlgoGetHeuristic, while the application can still choose another way",
          "run cublasLtMatmul once for each kind of product before the application depends on it"},
    Cause{"timed-out", "A product hangs", kEitherRight,
          "run the case with --trace to see which library it was, and keep the product on the other one"},
    Cause{"unproven", "A product runs, but the comparison proves nothing",
          "results that are mostly not zero, all compared", "run the case with other sizes: lt-audit replay"},
};

std::string what_cublas_did(const Observation& observation) {
  if (!observation.cublas || observation.cublas->call.empty()) return {};
  const auto outcome = outcome_of_cublas(observation);
  std::string_view how;
  if (outcome == Outcome::correct) how = " with the right numbers";
  if (outcome != Outcome::correct && outcome != Outcome::refused && outcome != Outcome::unproven) {
    // The words of the table, of which the name of the call is not the right one here.
    const auto text = describe(cublas_as_matmul(*observation.cublas));
    return fmt::format("; {} returns {}{}", observation.cublas->call, observation.cublas->status,
                       text.substr(std::min(text.find(';'), text.size())));
  }
  return fmt::format("; {} returns {}{}", observation.cublas->call, observation.cublas->status, how);
}

std::string sentence_of(const Case& the_case, const Observation& observation) {
  const auto& p = the_case.problem;
  std::string text = fmt::format("{} x {} -> {}, {}, {}x{}x{}, {}{}{}: {}{}", name_of(p.type_a), name_of(p.type_b),
                                 name_of(p.type_d), name_of(p.compute_type), p.m, p.n, p.k, name_of(p.transa),
                                 name_of(p.transb), p.batch_count > 1 ? fmt::format(", batch {}", p.batch_count) : "",
                                 describe(observation), what_cublas_did(observation));
  if (const auto ratio = observation.fact(kRatio); !ratio.empty()) {
    text += fmt::format("; {} us against {} us of cuBLAS, {} times as long, spread {}", observation.fact(kLtUs),
                        observation.fact(kCublasUs), ratio, observation.fact(kSpread));
  }
  if (const auto faster = observation.fact(kFasterResult); !faster.empty()) text += "; " + faster;
  return text;
}

/// True when both are right and cuBLASLt is slower by more than noise and by more than is worth a row of the table.
bool is_slower(const Observation& observation) {
  return observation.fact(kSpeed) == kCublasFaster &&
         std::strtod(observation.fact(kRatio).c_str(), nullptr) > kReportedRatio;
}

class CublasParity : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::optional<std::string> skip_reason(const Target& target) const override {
    if (target.cublaslt.loaded() && !target.cublas.loaded()) return "needs cuBLAS: no libcublas was loaded";
    return std::nullopt;
  }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    return cublas_parity::cases(target, depth);
  }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return cublas_parity::cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    return cublas_parity::observe(session, the_case);
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    const Outcome lt = outcome_of(observation);
    if (observation.end != ProcessEnd::survived || lt == Outcome::not_run || lt == Outcome::audit_error) {
      return judge_by_table(the_case.expectation, observation);
    }
    if (the_case.id == kDefaults) return judge_defaults(observation);
    const auto verdict = [&](Status status, Outcome outcome, std::string_view reason) {
      return Verdict{status, outcome, std::string(reason), sentence_of(the_case, observation)};
    };
    const bool promised = the_case.expectation == Expectation::must_work;
    const Outcome cublas = outcome_of_cublas(observation);
    if (lt == Outcome::refused || lt == Outcome::late_refusal) {
      if (promised) return verdict(Status::fail, lt, "lt-refuses-documented-product");
      if (cublas_is_right(observation)) return verdict(Status::warn, lt, "cublas-accepts-what-lt-refuses");
      if (cublas != Outcome::refused) return verdict(Status::fail, cublas, "cublas-wrong");
      return lt == Outcome::refused ? pass(lt) : verdict(Status::warn, lt, "refused-late");
    }
    if (!lt_is_right(observation)) {
      if (cublas_is_right(observation)) return verdict(Status::fail, lt, "lt-wrong-where-cublas-is-right");
      return verdict(Status::fail, lt, cublas == Outcome::refused ? "lt-wrong-where-cublas-refuses" : "both-wrong");
    }
    if (cublas == Outcome::refused) {
      return promised ? verdict(Status::warn, lt, "cublas-refuses-what-lt-accepts") : pass(lt);
    }
    if (!cublas_is_right(observation)) return verdict(Status::fail, cublas, "cublas-wrong");
    if (lt == Outcome::unproven || cublas == Outcome::unproven) {
      return verdict(Status::warn, Outcome::unproven, "unproven");
    }
    if (!is_slower(observation)) return pass(lt);
    const bool another = !observation.fact(kFasterResult).empty();
    return verdict(Status::warn, Outcome::slower, another ? "lt-first-result-slower" : "lt-slower");
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    const auto* const cause =
        std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& c) { return c.reason == verdict.reason; });
    if (cause == kCauses.end()) {
      return {"A product did not work as expected", std::string(kEitherRight), the_case.rule,
              std::string(kKeepOnCublas)};
    }
    return {std::string(cause->title), std::string(cause->expected), the_case.rule, remedy_of(*cause, the_case)};
  }

 private:
  static Verdict pass(Outcome outcome) {
    Verdict verdict;
    verdict.outcome = outcome;
    return verdict;
  }

  static Verdict judge_defaults(const Observation& observation) {
    const auto changed = observation.fact(kChanged);
    // No matmul was called: the outcome is about the modes.
    if (changed.empty()) return pass(Outcome::correct);
    return {Status::fail, Outcome::wrong_result, "handle-default-changed", "of a new handle " + changed};
  }

  /// A cuBLAS handle has a workspace of its own, so a low limit is the first thing to look at.
  static std::string remedy_of(const Cause& cause, const Case& the_case) {
    constexpr std::int64_t kPoolOfAHandle = std::int64_t{32} << 20;
    const bool low = the_case.problem.workspace_bytes < kPoolOfAHandle;
    if (cause.reason != "lt-slower" || !low) return std::string(cause.remedy);
    return fmt::format(
        "raise CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES and the buffer from {} bytes to 32 MiB, the "
        "size that the documentation recommends for sm_90; if that changes nothing, {}",
        the_case.problem.workspace_bytes, cause.remedy);
  }
};

}  // namespace

std::unique_ptr<Check> make_cublas_parity() { return std::make_unique<CublasParity>(); }

}  // namespace lt_audit
