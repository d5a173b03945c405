// The cases of check "shape-limits" and the words that its files share.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit::shape_limits {

/// Parameter: what an application can change about the case, the first part of its reason codes.
inline constexpr const char* kSubject = "subject";
/// Parameter: how the case is run, one of the words below; absent for one run of the engine.
inline constexpr const char* kSteps = "steps";
/// Every algorithm that the heuristic returns, each on freshly filled buffers.
inline constexpr const char* kEveryResult = "every-result";
/// A leading dimension that a problem cannot say, set in the layout: of the matrix kOperand ("a" to "d"), with the
/// value kLd.
inline constexpr const char* kSetLd = "set-ld";
inline constexpr const char* kOperand = "operand";
inline constexpr const char* kLd = "ld";
/// Subject of the case whose C has the leading dimension 0.
inline constexpr const char* kBroadcastC = "c-broadcast";
/// Subject of a product without elements of D.
inline constexpr const char* kEmpty = "empty";

/// Fact: the algorithms that ran and gave the right numbers.
inline constexpr const char* kResultsRight = "results_right";
/// Fact: the algorithm that did not, "algorithm 66, tile 20, stages 36, split-K 1 (result 2 of 8)".
inline constexpr const char* kAlgorithm = "algorithm";

/// Types of a product. The first has every sample, the others come later.
struct Form {
  std::string_view name;
  cudaDataType_t type;
  enum class Tier { first, common, rest } tier = Tier::rest;

  /// FP8 and INT8: TN alone, dimensions in multiples of 16.
  bool is_narrow() const { return bytes_of(type) == 1; }
};
inline constexpr std::array kForms{
    Form{"f16", CUDA_R_16F, Form::Tier::first},
    Form{"f32", CUDA_R_32F, Form::Tier::first},
    Form{"bf16", CUDA_R_16BF, Form::Tier::common},
    Form{"f64", CUDA_R_64F, Form::Tier::common},
    Form{"e4m3", CUDA_R_8F_E4M3, Form::Tier::common},
    Form{"i8", CUDA_R_8I, Form::Tier::common},
    Form{"c32", CUDA_C_32F},
    Form{"c64", CUDA_C_64F},
};

struct Op {
  std::string_view name;
  cublasOperation_t a, b;
};
inline constexpr Op kNn{"nn", CUBLAS_OP_N, CUBLAS_OP_N};
inline constexpr Op kTn{"tn", CUBLAS_OP_T, CUBLAS_OP_N};
inline constexpr Op kNt{"nt", CUBLAS_OP_N, CUBLAS_OP_T};
inline constexpr Op kTt{"tt", CUBLAS_OP_T, CUBLAS_OP_T};

struct Size {
  std::int64_t m, n, k;
};

/// alpha is 2, so that an ignored one shows, where the type allows more than 0 and 1.
MatmulProblem product(const Form& form, const Op& op, const Size& size);

/// One of the four matrices, with the members of a problem that belong to it.
struct Operand {
  std::string_view name;
  std::int64_t MatmulProblem::*ld;
  MatrixShape (*shape)(const MatmulProblem&);
};
inline constexpr std::array kOperands{
    Operand{"a", &MatmulProblem::lda, shape_a},
    Operand{"b", &MatmulProblem::ldb, shape_b},
    Operand{"c", &MatmulProblem::ldc, shape_c},
    Operand{"d", &MatmulProblem::ldd, shape_d},
};

/// Gives the matrix so many rows and columns in memory: two of m, n and k.
void resize(MatmulProblem& problem, const Operand& operand, std::int64_t rows, std::int64_t cols);

class CaseList {
 public:
  CaseList(const Target& target, Depth depth)
      : scope_(scope_of(target)), depth_(depth), simulator_(target.kind == PlatformKind::simulator) {}

  /// Cases of gigabytes, and those that a host would multiply for seconds, are for a GPU.
  bool is_simulator() const { return simulator_; }

  /// The case, or null when the depth leaves it out.
  Case* add(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem);
  /// The same with every algorithm of the heuristic.
  Case* add_every_result(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem);

  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  bool simulator_;
  std::vector<Case> list_;
};

/// Spans, leading dimensions, tiles and vectors beyond 32 bits (shape_large.cpp).
void add_large(CaseList& list);

std::vector<Case> cases(const Target& target, Depth depth);
/// The application's own product with every algorithm, when it stands at one of the limits; nothing otherwise.
std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem);

/// Runs a case.
Observation observe(Session& session, const Case& the_case);

}  // namespace lt_audit::shape_limits
