// One problem laid out in device memory with its cuBLASLt objects, for checks that need a sequence of calls instead of
// the engine's one: two captures, two streams, two contexts. Every step is the caller's; what went before is verified
// like a run of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/platform.h"

namespace lt_audit {

class Bench;

/// A case cannot be run here although it applies: its message becomes Observation::not_run. Thrown by the steps below
/// and by checks ("needs a second GPU, this machine has one").
class NotRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the operands of a run hold.
enum class Inputs {
  exact,  ///< small integers, exact in every type and in any order of summation
  /// For FP32 and FP64, exact otherwise: one product of whole significands for each element of D and zeros beside it,
  /// so that D is right only when nothing rounded A or B, whatever the order of summation.
  single_products,
};

/// How a problem is run, apart from what the problem says.
struct RunOptions {
  Inputs inputs = Inputs::exact;
  /// After a right run once more with inputs whose sums round: the hash of D's bits becomes the fact kDBitsFact
  /// (lt_audit/measured_facts.h), and that of cuBLAS, where it can express the product in place, kCublasDBitsFact.
  bool digest = false;
};

/// Records a step in the observation. True when it succeeded.
bool record(Observation& observation, const char* name, const char* call, cublasStatus_t status);
bool record(Observation& observation, const char* name, const char* call, cudaError_t error);

/// What cublasLtMatmulAlgoGetHeuristic answered: the results are as many as it returned.
struct HeuristicAnswer {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  std::vector<cublasLtMatmulHeuristicResult_t> results;
};

/// Device addresses of the operands. bias is null without a bias epilogue, workspace without a workspace.
struct OperandPointers {
  void* a = nullptr;
  void* b = nullptr;
  void* c = nullptr;
  void* d = nullptr;
  void* bias = nullptr;
  void* workspace = nullptr;
};

/// The operands of one cublasLtMatmul: addresses and layouts.
struct CallOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  cublasLtMatrixLayout_t a_layout = nullptr;
  cublasLtMatrixLayout_t b_layout = nullptr;
  cublasLtMatrixLayout_t c_layout = nullptr;
  cublasLtMatrixLayout_t d_layout = nullptr;
};

/// How a product is put to cuBLAS. By default cublasGemmEx, or cublasGemmStridedBatchedEx for a batch, on a handle as
/// cublasCreate leaves it.
struct CublasForm {
  /// cublasSgemm or cublasDgemm: no batch, and no compute type, since the math mode stands for it.
  bool by_type = false;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  /// cublasSetWorkspace with the problem's workspace, in place of the handle's own pool.
  bool own_workspace = false;
  friend bool operator==(const CublasForm&, const CublasForm&) = default;
};

/// Why cublasGemmEx and cublasGemmStridedBatchedEx cannot express the problem; empty when they can.
std::string why_not_cublas(const MatmulProblem& problem);

class PreparedMatmul {
 public:
  /// Memory for the problem in the bench's context. Throws NotRun when it does not fit; AuditError for the audit's own
  /// calls. Made by Session::prepare and Session::prepare_apart.
  PreparedMatmul(std::shared_ptr<Bench> bench, const MatmulProblem& problem, std::uint64_t seed);
  ~PreparedMatmul();
  PreparedMatmul(PreparedMatmul&&) noexcept;
  PreparedMatmul& operator=(PreparedMatmul&&) noexcept;

  const MatmulProblem& problem() const;
  const OperandPointers& pointers() const;
  /// alpha where a call with a device pointer mode reads it, from the first fill on; null with a host pointer mode.
  void* device_alpha() const;
  /// The stream on which buffers are filled and verified: non-blocking, of the bench's context.
  cudaStream_t stream() const;

  /// Descriptor, layouts and preference with all attributes of the problem. False, and the step recorded, when the
  /// library refused one.
  bool describe(Observation& observation);
  cublasLtMatmulDesc_t desc() const;
  cublasLtMatrixLayout_t a_layout() const;
  cublasLtMatrixLayout_t b_layout() const;
  cublasLtMatrixLayout_t c_layout() const;
  cublasLtMatrixLayout_t d_layout() const;
  cublasLtMatmulPreference_t preference() const;
  /// Destroy what describe made, now; nothing else may be called that needs it.
  void destroy_desc();
  void destroy_layouts();
  void destroy_preference();

  /// cublasLtMatmulAlgoGetHeuristic with the objects of describe.
  HeuristicAnswer query(cublasLtHandle_t handle, int requested_results) const;
  /// The same recorded: the stage "heuristic" and the results in the observation. The first algorithm, or null when
  /// there is none to run.
  const cublasLtMatmulAlgo_t* choose(cublasLtHandle_t handle, Observation& observation);
  /// A result with its configuration read.
  HeuristicResult read(const cublasLtMatmulHeuristicResult_t& result) const;
  /// cublasLtMatmulAlgoCheck; fills workspaceSize and wavesCount of `checked`.
  cublasStatus_t check(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algo,
                       cublasLtMatmulHeuristicResult_t* checked) const;

  /// alpha and beta of the next calls; in device memory when the pointer mode is device. Synchronises the stream.
  void set_scalars(double alpha, double beta);
  /// Inputs, poison and guard zones; another variant gives other values at the same addresses. Synchronises the stream.
  void fill(std::uint64_t variant = 0);
  /// Inputs whose sums round, so that the bits of D depend on the order of summation: to compare runs, not to verify
  /// them. Sets alpha to one that keeps D in range, until fill or set_scalars. With integer inputs nothing rounds.
  void fill_rounding(std::uint64_t variant = 0);
  /// Fills the whole workspace with one byte. Synchronises the stream.
  void fill_workspace(unsigned char byte);

  /// cublasLtMatmul on the operands; a null algorithm is the library's own choice.
  cublasStatus_t matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream) const;
  /// The same, recorded as the stage "matmul". True for SUCCESS.
  bool matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
              Observation& observation) const;
  /// cublasLtMatmul with another workspace than the problem's: none, a part of it, or another size than it has.
  cublasStatus_t matmul_with_workspace(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                                       void* workspace, std::size_t workspace_bytes) const;
  /// What matmul hands over: the problem's operands and the layouts of describe.
  CallOperands operands() const;
  /// cublasLtMatmul on other operands: null, overlapping, in memory of the check's own, under another layout. Scalars
  /// and workspace are the problem's.
  cublasStatus_t matmul_on(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                           const CallOperands& operands) const;

  /// The same product through cuBLAS with the same scalars and pointer mode, recorded as the stage "cublas", with C and
  /// D in D's memory: for a problem that is in_place. Empty when it was called, and recorded with the function that
  /// refused when that was one that sets a mode; otherwise why cuBLAS cannot express it.
  std::string cublas(Observation& observation, const CublasForm& form = {});

  /// Microseconds that the GPU takes for what `work` launches on stream(); synchronises it. Nothing where the platform
  /// has no clock; the simulator's is the host's.
  std::optional<double> gpu_us(const std::function<void()>& work);

  /// Hash of the bits of D's elements, padding left out; -0 and 0 differ. Synchronises stream().
  std::uint64_t d_digest();

  /// From here on D is expected to hold this other matmul's bias, as filled there: for a descriptor that points at it.
  /// `other` may be this matmul itself.
  void expect_bias_of(const PreparedMatmul& other);
  /// The same with the first column of this matmul's C for a bias: for a C whose columns are all that one (ldc = 0).
  void expect_c_as_bias();

  /// Compares all memory with what `expected`, a problem with the same buffers and perhaps other scalars or another
  /// epilogue, makes of the last fill. Sets Observation::verification, or its end when the context is lost. Work on
  /// other streams must have ended. True when everything is right.
  bool verify(Observation& observation, const MatmulProblem& expected);
  bool verify(Observation& observation) { return verify(observation, problem()); }
  /// The same for a call that must not have run: true when D still holds what fill put there and nothing else changed,
  /// and Observation::verification is then empty.
  bool verify_untouched(Observation& observation);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lt_audit
