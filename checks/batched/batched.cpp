// Check "batched": shared, interleaved, overlapping, distant and numerous matrices, layouts that disagree about their
// number, and arrays of pointers. batched_cases.cpp has the table, batched_steps.cpp and batched_memory.cpp the cases
// that are sequences, this file the judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "batched_cases.h"
#include "lt_audit/check.h"

namespace lt_audit {
namespace {

using namespace batched;

constexpr CheckInfo kInfo{
    "batched", "Every form of a batch gives each matrix its own product, or is refused by a status",
    "cublasLt.h 13.1.0, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, _STRIDED_BATCH_OFFSET and _BATCH_MODE (lines 1090-1184); "
    "cuBLAS 13.2 documentation, cublasLtMatmul and Problem Size Limitations; CUDA 13.1 release notes, 5645772"};

constexpr std::string_view kParity = "cublas-accepts-what-lt-refuses";
constexpr std::string_view kCopy = "copy the matrices to packed ones, or call once for each matrix";
constexpr std::string_view kEqualCounts =
    "set the same CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT in all four layouts, and a batch stride of 0 where one matrix is "
    "used for all";

/// First part of a reason code, start of a finding's title, and what an application can change.
struct Subject {
  std::string_view id;
  std::string_view title;
  std::string_view remedy;
};
constexpr std::array kSubjects{
    Subject{"epilogue", "An epilogue of a batch",
            "use CUBLASLT_EPILOGUE_DEFAULT for the batch and apply the epilogue in a kernel of your own, or call once "
            "for each matrix"},
    Subject{"far-stride", "A batch whose matrices lie more than 2^31 elements or bytes apart",
            "keep the matrices of a batch within 2^31 elements, or call once for each matrix with its own pointer"},
    Subject{"interleaved", "A batch whose matrices lie side by side within the leading dimension", kCopy},
    Subject{"many-matrices", "A batch of more than 65535 matrices",
            "split the batch into calls of at most 65535 matrices, in chunks that keep the alignment of the pointers"},
    Subject{"narrow-types", "A batch of FP8 matrices with scale factors", "call once for each matrix"},
    Subject{"negative-stride", "A batch with a negative stride",
            "point at the matrix with the lowest address and use a positive stride, with the order of all operands "
            "turned round"},
    Subject{"odd-stride", "A batch stride that is no multiple of 8 elements",
            "round CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET up to a multiple of 8 elements"},
    Subject{
        "overlapping-d", "A batch whose matrices of D overlap",
        "give each matrix of D memory of its own: a batch stride of at least ldd times the columns of D. To add the "
        "products up, make k longer or sum D in a kernel of your own"},
    Subject{"overlapping-input", "A batch whose matrices of A or B overlap", kCopy},
    Subject{"plain", "A packed batch",
            "nothing in the batch explains it: compare with another algorithm and another version of the library"},
    Subject{"pointer-array", "A batch of arrays of pointers",
            "use CUBLASLT_BATCH_MODE_STRIDED, or cublasGemmBatchedEx for matrices that lie anywhere"},
    Subject{
        "pointer-array-epilogue", "An epilogue of a batch of arrays of pointers",
        "use CUBLASLT_EPILOGUE_DEFAULT with CUBLASLT_BATCH_MODE_POINTER_ARRAY and apply the epilogue in a kernel of "
        "your own"},
    Subject{"row-order", "A batch in order row", "keep the matrices in CUBLASLT_ORDER_COL and swap A and B"},
    Subject{"shared-operand", "A batch with one matrix for all (batch stride 0)", kCopy},
    Subject{"some-arrays", "Arrays of pointers in some of the four layouts",
            "set CUBLASLT_MATRIX_LAYOUT_BATCH_MODE to the same value in all four layouts"},
    Subject{"unaligned-members", "Arrays of pointers with members on element boundaries, declared as such",
            "put each matrix of the batch on a 16-byte boundary, and declare 16 bytes"},
    Subject{
        "undeclared-members", "Arrays of pointers with members below the declared alignment",
        "set CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, _B_, _C_ and _D_ to the smallest alignment of all members: "
        "cublasLtMatmul cannot see where they point"},
    Subject{"unequal-counts", "A product whose layouts have different batch counts", kEqualCounts},
    Subject{"vector", "A batch of products with a side of 1",
            "use a kernel of your own for matrix-vector products, or cublasGemmStridedBatchedEx"},
};

/// What goes wrong: the second part of a reason code, the rest of the title, and what the contract expects instead.
struct Defect {
  std::string_view id;
  std::string_view title;
  std::string_view expected;
  /// Only for those that a sequence finds itself; the others have the status of their outcome.
  Status status = Status::fail;
};
constexpr std::string_view kRightOrRefused = "right numbers, or a refusal by status";
constexpr std::string_view kRefusedOrEqual = "refused with a status, since the layouts contradict each other";
constexpr std::array kDefects{
    Defect{"accepted-against-rule", "is accepted and works although the documentation forbids it",
           "refused with a status, so that the application learns of it on this library and not on the next"},
    Defect{"accepted-silently", "is accepted: which value an element gets is left to chance",
           "refused with a status, since two matrices write the same element", Status::warn},
    Defect{"audit-error", "could not be audited", "the audit runs the case"},
    Defect{"capability-denied", "works with an algorithm whose capability attribute denies it",
           "CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT or _STRIDED_BATCH_SUPPORT of an algorithm that the heuristic "
           "offers for the mode is not 0",
           Status::warn},
    Defect{"context-lost", "leaves the CUDA context unusable", kRightOrRefused},
    Defect{"crashed", "kills the process", kRightOrRefused},
    Defect{"input-changed", "is accepted and changes an input", "right numbers and unchanged inputs, or a refusal"},
    Defect{"not-run", "was not run", "enough free memory to run the case"},
    Defect{"out-of-bounds", "is accepted and memory outside D is overwritten", "nothing outside D is written"},
    Defect{"reads-past-the-last", "is accepted and reads matrices that its layout does not have", kRefusedOrEqual},
    Defect{"refused-late", "is refused only by cublasLtMatmul",
           "refused by cublasLtMatmulAlgoGetHeuristic, while the application can still choose another way"},
    Defect{"refused-though-documented", "is refused although the documentation promises that it works",
           "cublasLtMatmul returns SUCCESS with the right numbers"},
    Defect{"rest-ignored", "is accepted, and what one layout has more is left out", kRefusedOrEqual, Status::warn},
    Defect{"rest-unwritten", "is accepted and leaves matrices of D unwritten", kRefusedOrEqual},
    Defect{"slower", "takes far longer than the same call should", "a call of this size returns in well under 0.25 s"},
    Defect{"taken-as-shared", "is accepted, and the single matrix is used for all", kRefusedOrEqual, Status::warn},
    Defect{"timed-out", "hangs", "right numbers, or a refusal by status, within the time limit"},
    Defect{"unproven", "runs, but the comparison proves nothing", "results that are mostly not zero, all compared"},
    Defect{"unwritten", "is accepted and elements of D are never written", "every element of D is written"},
    Defect{"writes-past-the-last", "is accepted and writes matrices that the layout of D does not have",
           kRefusedOrEqual},
    Defect{"wrong-result", "is accepted and gives wrong numbers", kRightOrRefused},
};

const Subject& subject_of(const Case& the_case) {
  const auto found = the_case.parameters.find(kSubject);
  const auto* const subject = std::find_if(kSubjects.begin(), kSubjects.end(), [&](const Subject& s) {
    return found != the_case.parameters.end() && s.id == found->second;
  });
  return subject == kSubjects.end() ? kSubjects.front() : *subject;
}

const Defect* defect_named(std::string_view id) {
  const auto* const found =
      std::find_if(kDefects.begin(), kDefects.end(), [id](const Defect& defect) { return defect.id == id; });
  return found == kDefects.end() ? nullptr : &*found;
}

std::string kebab(std::string_view words) {
  std::string text(words);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

bool cublas_is_right(const Observation& observation) {
  if (!observation.cublas || observation.cublas->status != "SUCCESS" || !observation.cublas->verification) return false;
  const auto& seen = *observation.cublas->verification;
  return seen.all_right() && seen.nothing_else_written();
}

/// "3 of 96x80x64, f16 x f16 -> f16, NN; batch stride of A 0": what decides of the case.
std::string what_is_called(const Case& the_case) {
  const auto& p = the_case.problem;
  std::string text = fmt::format("{} of {}x{}x{} ({} x {} -> {}, {}{}", p.batch_count, p.m, p.n, p.k, name_of(p.type_a),
                                 name_of(p.type_b), name_of(p.type_d), name_of(p.transa), name_of(p.transb));
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    text += fmt::format(", {}, bias stride {}", name_of(p.epilogue), p.stride_bias);
  }
  const std::array strides{p.stride_a, p.stride_b, p.stride_c, p.stride_d};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (strides.at(i) >= 0) text += fmt::format(", batch stride of {} {}", "ABCD"[i], strides.at(i));
  }
  const auto parameter = [&](const char* name, std::string_view words) {
    const auto found = the_case.parameters.find(name);
    if (found != the_case.parameters.end()) text += fmt::format(", {} {}", words, found->second);
  };
  parameter(kFar, "moved apart:");
  parameter(kFarStride, "by");
  parameter(kArrays, "arrays of pointers for");
  return text + ")";
}

std::string sentence_of(const Case& the_case, const Observation& observation) {
  const auto detail = observation.fact(kDefectDetail);
  std::string text = fmt::format("{}: {}", what_is_called(the_case), detail.empty() ? describe(observation) : detail);
  if (observation.cublas && !observation.cublas->call.empty()) {
    text += fmt::format("; {} returns {}{}", observation.cublas->call, observation.cublas->status,
                        cublas_is_right(observation) ? " with the right numbers" : "");
  }
  return text;
}

class Batched : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override { return batched::cases(target, depth); }

  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    return batched::cases_about(target, problem);
  }

  Observation observe(Session& session, const Case& the_case) const override {
    return the_case.parameters.count(kSteps) > 0 ? run_steps(session, the_case) : Check::observe(session, the_case);
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    Outcome outcome = outcome_of(observation);
    if (observation.end != ProcessEnd::survived || outcome == Outcome::not_run || outcome == Outcome::audit_error) {
      return judge_by_table(the_case.expectation, observation);
    }
    const auto verdict = [&](Status status, std::string_view defect) {
      return Verdict{status, outcome, fmt::format("{}-{}", subject_of(the_case).id, defect),
                     sentence_of(the_case, observation)};
    };
    const auto* const own = defect_named(observation.fact(kDefect));
    const bool memory_is_right = !observation.verification || observation.verification->nothing_else_written();
    if (own != nullptr && memory_is_right) {
      outcome = own->status == Status::fail ? Outcome::wrong_result : Outcome::correct;
      return verdict(own->status, own->id);
    }
    switch (outcome) {
      case Outcome::correct:
        return the_case.expectation == Expectation::must_refuse ? verdict(Status::warn, "accepted-against-rule")
                                                                : pass(outcome);
      case Outcome::refused:
      case Outcome::late_refusal:
        if (the_case.expectation == Expectation::must_work) return verdict(Status::fail, "refused-though-documented");
        if (cublas_is_right(observation)) {
          return {Status::warn, outcome, std::string(kParity), sentence_of(the_case, observation)};
        }
        return outcome == Outcome::refused ? pass(outcome) : verdict(Status::warn, "refused-late");
      default:
        return verdict(status_of(Expectation::must_work, outcome), kebab(name_of(outcome)));
    }
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    const Subject& subject = subject_of(the_case);
    if (verdict.reason == kParity) {
      return {"cuBLAS runs the batch and cuBLASLt refuses it",
              "the same batch through cuBLASLt, or a refusal that the port of the application expects", the_case.rule,
              fmt::format("{}; or keep this call on cublasGemmStridedBatchedEx", subject.remedy)};
    }
    const auto* const defect = std::find_if(kDefects.begin(), kDefects.end(), [&](const Defect& d) {
      return verdict.reason == d.id || verdict.reason == fmt::format("{}-{}", subject.id, d.id);
    });
    const bool known = defect != kDefects.end();
    return {fmt::format("{} {}", subject.title, known ? defect->title : "did not work as expected"),
            std::string(known ? defect->expected : kRightOrRefused), the_case.rule,
            std::string(verdict.status == Status::skip ? "free memory on the GPU and run the audit again"
                                                       : subject.remedy)};
  }

 private:
  static Verdict pass(Outcome outcome) {
    Verdict verdict;
    verdict.outcome = outcome;
    return verdict;
  }
};

}  // namespace

std::unique_ptr<Check> make_batched() { return std::make_unique<Batched>(); }

}  // namespace lt_audit
