// What a planted fault is made of: the call that it may spoil, read back through the tables, and the hooks that put it
// between caller and platform. Faults use nothing but the tables, so they work over the simulator and a real GPU alike,
// and they never touch device memory from the host.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/owners.h"
#include "lt_audit/platform.h"

namespace lt_audit::faults {

/// Descriptor and layouts, as every cuBLASLt call on a matmul takes them.
struct Operands {
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr;
  cublasLtMatrixLayout_t b = nullptr;
  cublasLtMatrixLayout_t c = nullptr;
  cublasLtMatrixLayout_t d = nullptr;
};

/// The arguments of one cublasLtMatmul.
struct MatmulCall {
  cublasLtHandle_t handle = nullptr;
  Operands operands;
  const void* alpha = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* beta = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  const cublasLtMatmulAlgo_t* algo = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
};

/// The arguments of one cublasLtMatmulAlgoGetHeuristic.
struct HeuristicCall {
  cublasLtHandle_t handle = nullptr;
  Operands operands;
  cublasLtMatmulPreference_t preference = nullptr;
  int requested = 0;
  cublasLtMatmulHeuristicResult_t* results = nullptr;
  int* returned = nullptr;
};

/// What descriptor and layouts say of a call.
struct CallFacts {
  MatrixShape a, b, c, d;
  cublasOperation_t transa = CUBLAS_OP_N;
  cublasOperation_t transb = CUBLAS_OP_N;
  cublasComputeType_t compute_type = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale_type = CUDA_R_32F;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cublasLtPointerMode_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  const void* bias = nullptr;

  std::int64_t k() const { return transa == CUBLAS_OP_N ? a.cols : a.rows; }
  bool inputs_are(cudaDataType_t type) const { return a.type == type && b.type == type; }
  bool inputs_are_16_bit() const;
  bool inputs_are_fp8() const;
  /// One of the compute types that the documentation lists for FP32 matrices alone: FAST_16F, FAST_16BF, FAST_TF32,
  /// BF16x9.
  bool is_fast_fp32() const;
};

/// Reads the facts through get_attribute; nothing when descriptor or a layout is missing or refuses to answer.
std::optional<CallFacts> read_facts(const LtApi& lt, const Operands& operands);

/// An attribute of the call's descriptor; `value` where the library does not answer.
template <class Value>
Value attribute_of(const LtApi& lt, const MatmulCall& call, cublasLtMatmulDescAttributes_t attribute, Value value) {
  std::size_t written = 0;
  static_cast<void>(lt.matmul_desc_get_attribute(call.operands.desc, attribute, &value, sizeof value, &written));
  return value;
}

/// Sends the call to the library as it is.
cublasStatus_t send(const Platform& real, const MatmulCall& call);
cublasStatus_t send(const Platform& real, const HeuristicCall& call);

/// Sends a call whose shapes were changed: with the first algorithm that the library offers for what the call now is,
/// since an algorithm chosen for other shapes would be refused. NOT_SUPPORTED when it offers none.
cublasStatus_t send_with_own_algorithm(const Platform& real, MatmulCall call);

/// Sends the call with other layouts for A and B and an algorithm of its own. A fault that the library cannot be
/// brought to run leaves the call alone.
cublasStatus_t send_with_inputs(const Platform& real, const MatmulCall& call, const MatrixShape& a,
                                const MatrixShape& b);

/// Bytes of workspace that the algorithm of the call needs; 0 without an algorithm.
std::uint64_t needed_workspace(const Platform& real, const MatmulCall& call);

/// Sends the call without the last 16 of k; as it is when k is no longer than that.
cublasStatus_t send_without_k_tail(const Platform& real, const CallFacts& facts, const MatmulCall& call);

/// A layout with the type, sizes, order and batch of the shape; an empty owner when the library refuses.
MatrixLayout make_layout(const LtApi& lt, const MatrixShape& shape);

/// Sets an attribute of the caller's descriptor and puts the old value back at the end of its life. A copy of the
/// descriptor would lose the attributes that its maker does not know.
template <class Value>
class BorrowedAttribute {
 public:
  BorrowedAttribute(const LtApi& lt, cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, Value value)
      : lt_(lt), desc_(desc), attribute_(attribute) {
    std::size_t written = 0;
    borrowed_ = lt_.matmul_desc_get_attribute(desc, attribute, &old_, sizeof old_, &written) == CUBLAS_STATUS_SUCCESS &&
                lt_.matmul_desc_set_attribute(desc, attribute, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
  }
  BorrowedAttribute(const BorrowedAttribute&) = delete;
  BorrowedAttribute& operator=(const BorrowedAttribute&) = delete;
  ~BorrowedAttribute() {
    if (borrowed_) static_cast<void>(lt_.matmul_desc_set_attribute(desc_, attribute_, &old_, sizeof old_));
  }

 private:
  const LtApi& lt_;
  cublasLtMatmulDesc_t desc_;
  cublasLtMatmulDescAttributes_t attribute_;
  Value old_ = {};
  bool borrowed_ = false;
};

/// Device memory of a fault, kept between calls.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  /// At least so many bytes, 256-byte aligned, contents undefined. Null when there is no memory or when the stream is
  /// being captured, where allocating would invalidate the capture.
  void* at_least(const Platform& real, std::size_t bytes, cudaStream_t stream);

 private:
  Fn<cudaError_t(void*)> free_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What happens to a matmul instead. Called only for calls whose facts can be read; `real` is the platform underneath.
using MatmulFault = std::function<cublasStatus_t(const Platform& real, const CallFacts&, const MatmulCall&)>;
void on_matmul(Platform& platform, MatmulFault fault);

using HeuristicFault = std::function<cublasStatus_t(const Platform& real, const CallFacts&, const HeuristicCall&)>;
void on_heuristic(Platform& platform, HeuristicFault fault);

/// What a library that misreads descriptor or layouts sees in place of them, in the heuristic, AlgoCheck and matmul.
struct Disguise {
  Operands operands;
  std::vector<MatrixLayout> layouts;
  std::shared_ptr<void> attribute;
};
/// Nothing = the call is left alone.
using MakeDisguise = std::function<std::optional<Disguise>(const Platform& real, const CallFacts&, const Operands&)>;
void on_operands(Platform& platform, MakeDisguise disguise);

/// 0 or 1 in a scale type, as alpha and beta are passed.
struct Scalar {
  alignas(16) std::byte bytes[16] = {};
};
Scalar scalar_of(cudaDataType_t scale_type, bool one);
/// A copy of one in host memory.
Scalar scalar_at(cudaDataType_t scale_type, const void* host);
/// True when the call passes its scalars in host memory and this one has the value 0 or 1.
bool host_scalar_is(const CallFacts& facts, const void* scalar, bool one);
/// True when the call passes its scalars in host memory.
bool has_host_scalars(const CallFacts& facts);

/// True when the algorithm sums k in parts; false for null.
bool splits_k(const LtApi& lt, const cublasLtMatmulAlgo_t* algo);

/// Overwrites bytes on the stream with two patterns in turn, so that at least every second byte changes whatever they
/// held.
void scribble(const Platform& real, void* begin, std::size_t bytes, cudaStream_t stream);

/// Overwrites one element in the middle of D on the call's stream, away from the edges that a tile's boundary handling
/// would get wrong. Bytes of 0x3D are no integer in any floating-point type and out of reach of the sums of any small
/// problem.
void spoil_middle_element(const Platform& real, const CallFacts& facts, const MatmulCall& call);

/// The byte `offset` elements behind a matrix's first element.
void* element(void* matrix, const MatrixShape& shape, std::int64_t offset);
/// Offset in elements of a contiguous line (a column, a row when the order is row) of the last batch, from 0.
std::int64_t line_offset(const MatrixShape& shape, std::int64_t line);
/// Contiguous lines of one matrix, and elements in each.
std::int64_t line_count(const MatrixShape& shape);
std::int64_t line_length(const MatrixShape& shape);

/// Bytes above the last multiple of `alignment` (a power of two).
std::size_t misalignment(const void* pointer, std::size_t alignment);

}  // namespace lt_audit::faults
