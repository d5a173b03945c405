// What the sequences of check "fp8-scaling" share: attributes and memory of scale factors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fp8_cases.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"

namespace lt_audit::fp8_scaling {

/// The pointer attribute of an operand's word.
cublasLtMatmulDescAttributes_t pointer_attribute(std::string_view operand);

/// A PreparedMatmul with its calls recorded, and its scale pointers in reach.
class Steps {
 public:
  Steps(Session& session, const Case& the_case);

  PreparedMatmul& matmul() { return matmul_; }
  const MatmulProblem& problem() const { return matmul_.problem(); }
  Observation& observation() { return observation_; }
  const CudaApi& cuda() const { return session_.platform().cuda; }
  const LtApi& lt() const { return session_.platform().lt; }
  Session& session() { return session_; }
  const Case& the_case() const { return case_; }
  std::string parameter(const char* name) const;

  /// Describes, and fills the memory. False when the library refused an attribute.
  bool begin();
  template <class Value>
  bool set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    return record(observation_, "set_attribute", "cublasLtMatmulDescSetAttribute",
                  lt().matmul_desc_set_attribute(matmul_.desc(), attribute, &value, sizeof value));
  }
  /// Where the engine has put a table of factors or amax.
  void* pointer_of(std::string_view operand);

  /// Queries and runs; false when something was refused or the context was lost.
  bool choose_and_run();
  bool choose();
  /// Matmul and synchronisation; after a refusal, that nothing was written.
  bool run();
  bool run_without_waiting();
  bool wait();
  /// Compares with what `expected` makes of the fill; after a refusal, that nothing was written.
  void verify(const MatmulProblem& expected);
  void verify() { verify(problem()); }

  void send(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyHostToDevice); }
  void fetch(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyDeviceToHost); }
  void move(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyDefault); }
  DeviceMemory device_memory(std::size_t bytes, unsigned char byte);
  void set_defect(const char* defect, std::string detail);
  Observation take() { return std::move(observation_); }

 private:
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

  Session& session_;
  const Case& case_;
  Observation observation_;
  PreparedMatmul matmul_;
  const cublasLtMatmulAlgo_t* algo_ = nullptr;
  bool refused_ = false;
};

// fp8_numbers.cpp
Observation run_layout(Session& session, const Case& the_case);
Observation run_accumulation(Session& session, const Case& the_case);
Observation run_order(Session& session, const Case& the_case);
Observation run_block_scaled(Session& session, const Case& the_case);

}  // namespace lt_audit::fp8_scaling
