// Check "alignment": every pointer, leading dimension and batch stride at every power of two that its type can have,
// with the alignment declared truthfully, not at all, or too high. alignment_cases.cpp has the table, this file the
// judgement.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alignment_cases.h"
#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {

namespace {

constexpr CheckInfo kInfo{
    "alignment", "Every pointer, leading dimension and batch stride works at the alignment that is declared for it",
    "cublasLt.h 13.1.0, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_x_BYTES (lines 2099-2133); cuBLAS 13.2 documentation, "
    "cublasLtMatmul and Tensor Core Usage"};

constexpr std::string_view kParity = "cublas-accepts-what-lt-refuses";

constexpr std::string_view kDeclareRemedy =
    "before cublasLtMatmulAlgoGetHeuristic set CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, _B_, _C_ and _D_ (uint32) "
    "to "
    "the largest power of two, at most 256, that divides the address; keep it in the key of any cache of algorithms";

/// What a case varies: the first part of its reason codes (parameter "subject"), the start of a finding's title, and
/// what an application can change about it.
struct Subject {
  std::string_view id;
  std::string_view title;
  std::string_view remedy;
};
constexpr std::array kSubjects{
    Subject{"aligned-pointer", "A product with all pointers on 256-byte boundaries",
            "nothing in the alignment of the call explains it: compare with another algorithm (heuristic result 1) and "
            "another version of the library"},
    Subject{"batch-stride", "A batch stride other than the packed one",
            "round CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET up to a multiple of 16 bytes (FP8: always; INT8: a "
            "multiple of 4 elements), or call once per matrix"},
    Subject{
        "bias", "A product with a bias vector",
        "copy the bias vector to an address that is a multiple of 16 bytes and set CUBLASLT_MATMUL_DESC_BIAS_POINTER "
        "before the heuristic query, since no preference declares its alignment; or add the bias in a kernel of "
        "your own"},
    Subject{"declared-pointer", "A pointer whose true alignment is declared",
            "copy the matrix to an address that is a multiple of 16 bytes (FP8: always; INT8: at least 4 bytes) and "
            "declare 16 with CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_x_BYTES"},
    Subject{
        "leading-dimension", "A padded leading dimension",
        "round CUBLASLT_MATRIX_LAYOUT_LD up to a multiple of 16 bytes (FP8: always; INT8: a multiple of 4 elements)"},
    Subject{"overdeclared-pointer", "A pointer below the declared alignment", kDeclareRemedy},
    Subject{"plane-offset", "A plane of imaginary parts off a 256-byte boundary",
            "make CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET a multiple of 16 bytes, so that the imaginary parts are as well "
            "aligned as the real ones, and the same in C and D; or set CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_x_BYTES to "
            "what both planes have"},
    Subject{
        "workspace", "A workspace that is not on a 256-byte boundary",
        "hand cublasLtMatmul a workspace whose address is a multiple of 256, as cudaMalloc gives it; round the start "
        "of a slice of a pool up to 256"},
};

/// What goes wrong: the second part of a reason code, the rest of the title, and what the contract expects instead.
struct Defect {
  std::string_view id;
  std::string_view title;
  std::string_view expected;
};
constexpr std::array kDefects{
    Defect{"accepted-against-rule", "is accepted and works although the documentation forbids it",
           "refused with a status, so that the application learns of it on this library and not on the next"},
    Defect{"audit-error", "could not be audited", "the audit runs the case"},
    Defect{"context-lost", "leaves the CUDA context unusable", "right numbers, or a refusal by status"},
    Defect{"crashed", "kills the process", "right numbers, or a refusal by status"},
    Defect{"input-changed", "is accepted and changes an input", "right numbers and unchanged inputs, or a refusal"},
    Defect{"not-run", "was not run", "enough free memory to run the case"},
    Defect{"out-of-bounds", "is accepted and memory outside D is overwritten", "nothing outside D is written"},
    Defect{"refused-late", "is refused only by cublasLtMatmul",
           "refused by cublasLtMatmulAlgoGetHeuristic, while the application can still choose another way"},
    Defect{"refused-though-documented", "is refused although the documentation promises that it works",
           "cublasLtMatmul returns SUCCESS with the right numbers"},
    Defect{"slower", "takes far longer than the same call should", "a call of this size returns in well under 0.25 s"},
    Defect{"timed-out", "hangs", "right numbers, or a refusal by status, within the time limit"},
    Defect{"unproven", "runs, but the comparison proves nothing", "results that are mostly not zero, all compared"},
    Defect{"unwritten", "is accepted and elements of D are never written", "every element of D is written"},
    Defect{"wrong-result", "is accepted and gives wrong numbers", "right numbers, or a refusal by status"},
};

const Subject& subject_of(const Case& the_case) {
  const auto found = the_case.parameters.find("subject");
  const auto* const subject = std::find_if(kSubjects.begin(), kSubjects.end(), [&](const Subject& s) {
    return found != the_case.parameters.end() && s.id == found->second;
  });
  return subject == kSubjects.end() ? kSubjects.front() : *subject;
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

/// "A has 8 bytes and 256 are declared; lda 97": what is not default about addresses and strides.
std::string placement_of(const MatmulProblem& p) {
  struct Place {
    const char* name;
    std::int64_t offset;
    std::uint32_t declared;
    std::int64_t ld;
    std::int64_t stride;
    std::int64_t plane;
  };
  const std::array<Place, 4> places{{{"A", p.a_offset, p.a_alignment, p.lda, p.stride_a, p.plane_a},
                                     {"B", p.b_offset, p.b_alignment, p.ldb, p.stride_b, p.plane_b},
                                     {"C", p.c_offset, p.c_alignment, p.ldc, p.stride_c, p.plane_c},
                                     {"D", p.d_offset, p.d_alignment, p.ldd, p.stride_d, p.plane_d}}};
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& place : places) {
    if (place.offset != 0 || place.declared != 256) {
      add(fmt::format("{} is aligned to {} bytes and declared as {}", place.name, alignment_of_offset(place.offset),
                      place.declared));
    }
    if (place.ld != 0) add(fmt::format("the leading dimension of {} is {} elements", place.name, place.ld));
    if (place.stride >= 0) add(fmt::format("the batch stride of {} is {} elements", place.name, place.stride));
    if (place.plane > 0) add(fmt::format("the plane offset of {} is {} bytes", place.name, place.plane));
  }
  if (has_bias(p.epilogue)) add(fmt::format("the bias is aligned to {} bytes", alignment_of_offset(p.bias_offset)));
  if (p.workspace_offset != 0) {
    add(fmt::format("the workspace is aligned to {} bytes", alignment_of_offset(p.workspace_offset)));
  }
  return text.empty() ? "all pointers are aligned to 256 bytes" : text;
}

std::string sentence_of(const Case& the_case, const Observation& observation) {
  const auto& p = the_case.problem;
  std::string text =
      fmt::format("{} ({} x {} -> {}, {}x{}x{}, {}{}): {}", placement_of(p), name_of(p.type_a), name_of(p.type_b),
                  name_of(p.type_d), p.m, p.n, p.k, name_of(p.transa), name_of(p.transb), describe(observation));
  if (observation.cublas && !observation.cublas->call.empty()) {
    text += fmt::format("; {} returns {}{}", observation.cublas->call, observation.cublas->status,
                        cublas_is_right(observation) ? " with the right numbers" : "");
  }
  return text;
}

class Alignment : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth depth) const override {
    return alignment_cases(scope_of(target), depth);
  }

  /// An application's pointers as they lie, when nothing is declared of them: what a port that forgets it meets.
  std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const override {
    if (problem.a_offset == 0 && problem.b_offset == 0 && problem.c_offset == 0 && problem.d_offset == 0) return {};
    Case undeclared;
    undeclared.id = "undeclared";
    undeclared.problem = problem;
    auto& p = undeclared.problem;
    p.a_alignment = p.b_alignment = p.c_alignment = p.d_alignment = 256;
    auto promise = promise_of(p, scope_of(target));
    undeclared.expectation = promise.expectation;
    undeclared.rule = std::move(promise.rule);
    undeclared.with_cublas = true;
    undeclared.parameters["subject"] = "overdeclared-pointer";
    return {undeclared};
  }

  Verdict judge(const Case& the_case, const Observation& observation) const override {
    const Outcome outcome = outcome_of(observation);
    const auto verdict = [&](Status status, std::string_view defect) {
      return Verdict{status, outcome, fmt::format("{}-{}", subject_of(the_case).id, defect),
                     sentence_of(the_case, observation)};
    };
    if (outcome == Outcome::correct) {
      // Breaking one's own promise without harm is a pass: a finding per tolerated offset would bury the real ones.
      if (the_case.expectation != Expectation::must_refuse) return {};
      return verdict(Status::warn, "accepted-against-rule");
    }
    if (outcome == Outcome::refused || outcome == Outcome::late_refusal) {
      if (the_case.expectation == Expectation::must_work) return verdict(Status::fail, "refused-though-documented");
      if (cublas_is_right(observation)) {
        return {Status::warn, outcome, std::string(kParity), sentence_of(the_case, observation)};
      }
      // The heuristic never sees the workspace, so matmul is the first stage that can refuse it.
      const bool trap = outcome == Outcome::late_refusal && the_case.problem.workspace_offset % 256 == 0;
      if (trap) return verdict(Status::warn, "refused-late");
      Verdict pass;
      pass.outcome = outcome;
      return pass;
    }
    // How the process ended, or that the audit could not run the case, is no matter of what was varied.
    if (observation.end != ProcessEnd::survived || outcome == Outcome::not_run || outcome == Outcome::audit_error) {
      return judge_by_table(the_case.expectation, observation);
    }
    return verdict(status_of(Expectation::must_work, outcome), kebab(name_of(outcome)));
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    if (verdict.reason == kParity) {
      return {"cuBLAS runs the product at this alignment and cuBLASLt refuses it",
              "the same product through cuBLASLt, or a refusal that the port of the application expects", the_case.rule,
              fmt::format("{}; or pad the leading dimension or batch stride to 16 bytes; or copy the matrix to an "
                          "aligned buffer; or keep this call on cuBLAS",
                          kDeclareRemedy)};
    }
    const Subject& subject = subject_of(the_case);
    const auto* const defect = std::find_if(kDefects.begin(), kDefects.end(), [&](const Defect& d) {
      return verdict.reason == d.id || verdict.reason == fmt::format("{}-{}", subject.id, d.id);
    });
    const bool known = defect != kDefects.end();
    return {fmt::format("{} {}", subject.title, known ? defect->title : "did not work as expected"),
            std::string(known ? defect->expected : "right numbers, or a refusal by status"), the_case.rule,
            std::string(verdict.status == Status::skip ? "free memory on the GPU and run the audit again"
                                                       : subject.remedy)};
  }
};

}  // namespace

std::unique_ptr<Check> make_alignment() { return std::make_unique<Alignment>(); }

}  // namespace lt_audit
