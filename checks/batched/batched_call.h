// A prepared product called with layouts and pointers of the check's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"

namespace lt_audit::batched {

inline constexpr std::string_view kOperandNames = "abcd";

/// One of A, B, C and D as a call gets it.
struct Operand {
  MatrixShape shape;
  /// The first matrix, or the array of pointers.
  void* pointer = nullptr;
  bool pointer_array = false;
};

class OwnCall {
 public:
  /// Both must outlive it. The operands start as those of the problem.
  OwnCall(Session& session, PreparedMatmul& matmul);

  /// By its place in kOperandNames.
  Operand& operand(std::size_t index) { return operands_.at(index); }
  const Operand& operand(std::size_t index) const { return operands_.at(index); }

  /// Descriptor and preference are those of `matmul`, which are made when they are not there yet; then heuristic,
  /// matmul and synchronisation, recorded. True when D may be looked at.
  bool run(Observation& observation);

 private:
  bool make_layouts(Observation& observation);

  Session& session_;
  PreparedMatmul& matmul_;
  std::array<Operand, 4> operands_;
  std::array<MatrixLayout, 4> layouts_;
  bool described_ = false;
};

/// Bytes of one matrix of the shape, from its first element to its last.
std::size_t bytes_of_one(const MatrixShape& shape);
/// The matrix `batch`, counted in the shape's stride.
void* matrix_at(void* first, const MatrixShape& shape, std::int64_t batch);

/// Device memory of the size, or NotRun with how much is free.
DeviceMemory allocate(Session& session, std::size_t bytes);

std::vector<std::byte> fetch(Session& session, const void* from, std::size_t bytes, cudaStream_t stream);

/// Sets what a sequence found, unless something was found before.
void set_defect(Observation& observation, const char* defect, std::string detail);

/// The steps of batched_steps.cpp and batched_memory.cpp.
Observation run_unequal_counts(Session& session, const Case& the_case);
Observation run_far(Session& session, const Case& the_case);
Observation run_shared(Session& session, const Case& the_case);
Observation run_pointers(Session& session, const Case& the_case);

}  // namespace lt_audit::batched
