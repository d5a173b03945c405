// From cuBLASLt's host objects back to a MatmulProblem, and what a library that follows the contract answers to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lt_audit/contract.h"
#include "platform/simulator/library.h"

namespace lt_audit::simulator {

/// The host objects of one call. `preference` is null for matmul and algo_check.
struct Objects {
  const Attributes* desc = nullptr;
  const Attributes* a = nullptr;
  const Attributes* b = nullptr;
  const Attributes* c = nullptr;
  const Attributes* d = nullptr;
  const Attributes* preference = nullptr;

  bool complete() const { return desc != nullptr && a != nullptr && b != nullptr && c != nullptr && d != nullptr; }
};

/// A refusal with the lines that the logger gets.
struct Refusal {
  struct Line {
    Logger::Level level;
    std::string text;
  };
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  std::vector<Line> lines;
};

/// The problem that the objects describe; alignments and workspace limit come from the preference, pointer offsets stay
/// 0. Layouts whose sizes or batch counts contradict each other are refused with INVALID_VALUE, attributes that the
/// simulator does not model with NOT_SUPPORTED.
std::optional<Refusal> build_problem(const Objects& objects, MatmulProblem* problem);

/// The matrices of all four layouts are named by arrays of pointers.
bool uses_pointer_arrays(const Objects& objects);

/// What the contract refuses of the problem at this stage (heuristic, or heuristic and matmul).
std::optional<Refusal> refuse_by_contract(const MatmulProblem& problem, const ContractScope& scope, RefusedBy stage);

/// Device pointer attributes of the descriptor.
inline const void* device_pointer(const Attributes& desc, int attribute) { return desc.as<const void*>(attribute); }

}  // namespace lt_audit::simulator
