// Faults of INT8 products: sums, conversion and scalars, and what is refused or left out when there are many columns.
#include <cstdint>
#include <memory>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

/// Elements of D that a fault goes through one by one, each a call of the runtime.
constexpr std::int64_t kMostElements = 1024;

bool is_small(const MatrixShape& d) { return d.batch_count == 1 && d.rows * d.cols <= kMostElements; }

std::int64_t offset_of(const MatrixShape& shape, std::int64_t row, std::int64_t col) {
  return shape.order == CUBLASLT_ORDER_ROW ? row * shape.ld + col : col * shape.ld + row;
}

bool is_into(const CallFacts& facts, cudaDataType_t d) { return facts.inputs_are(CUDA_R_8I) && facts.d.type == d; }

/// 0 and 1 as they are, anything else as 1.
Scalar as_0_or_1(const CallFacts& facts, const void* scalar) {
  return scalar_of(facts.scale_type, !host_scalar_is(facts, scalar, false));
}

}  // namespace

void plant_int32_low_bits_lost(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    // From 2^17 products on a sum can reach 2^31, where FP32 keeps multiples of 256.
    const bool targeted = is_into(facts, CUDA_R_32I) && is_small(facts.d) && facts.k() >= (std::int64_t{1} << 17);
    if (status != CUBLAS_STATUS_SUCCESS || !targeted) return status;
    for (std::int64_t col = 0; col < facts.d.cols; ++col) {
      for (std::int64_t row = 0; row < facts.d.rows; ++row) {
        void* const low = element(call.d, facts.d, offset_of(facts.d, row, col));
        static_cast<void>(real.cuda.memset_async(low, 0, 1, call.stream));
      }
    }
    return status;
  });
}

void plant_int8_alpha_ignored(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, MatmulCall call) {
    if (!is_into(facts, CUDA_R_32I) || facts.scale_type != CUDA_R_32I || !has_host_scalars(facts)) {
      return send(real, call);
    }
    const Scalar alpha = as_0_or_1(facts, call.alpha);
    const Scalar beta = as_0_or_1(facts, call.beta);
    call.alpha = alpha.bytes;
    call.beta = beta.bytes;
    return send(real, call);
  });
}

void plant_int8_columns_cut(Platform& platform) {
  constexpr std::int64_t kColumns = 65536;
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!facts.inputs_are(CUDA_R_8I) || facts.d.cols <= kColumns) return send(real, call);
    MatrixShape b = facts.b, c = facts.c, d = facts.d;
    (facts.transb == CUBLAS_OP_N ? b.cols : b.rows) = kColumns;
    c.cols = d.cols = kColumns;
    const MatrixLayout b_layout = make_layout(real.lt, b);
    const MatrixLayout c_layout = make_layout(real.lt, c);
    const MatrixLayout d_layout = make_layout(real.lt, d);
    MatmulCall cut = call;
    cut.operands.b = b_layout.get();
    cut.operands.c = c_layout.get();
    cut.operands.d = d_layout.get();
    return b_layout && c_layout && d_layout ? send_with_own_algorithm(real, cut) : send(real, call);
  });
}

void plant_int8_many_refused(Platform& platform) {
  on_heuristic(platform, [](const Platform& real, const CallFacts& facts, const HeuristicCall& call) {
    const bool many = facts.d.cols > 65536 || facts.d.batch_count > 1;
    if (!is_into(facts, CUDA_R_32I) || !many) return send(real, call);
    if (call.returned != nullptr) *call.returned = 0;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  });
}

void plant_int8_rounded_before_bias(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!is_into(facts, CUDA_R_8I) || !has_bias(facts.epilogue) || !has_host_scalars(facts)) return send(real, call);
    {
      // 13.1.0 refuses a bias pointer beside the default epilogue.
      const auto& desc = call.operands.desc;
      const BorrowedAttribute<std::uint32_t> plain(real.lt, desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                   std::uint32_t{CUBLASLT_EPILOGUE_DEFAULT});
      const BorrowedAttribute<const void*> no_bias(real.lt, desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr);
      if (send_with_own_algorithm(real, call) != CUBLAS_STATUS_SUCCESS) return send(real, call);
    }
    // The epilogue of what D holds now.
    const Scalar zero = scalar_of(facts.scale_type, false);
    const Scalar one = scalar_of(facts.scale_type, true);
    MatmulCall second = call;
    second.alpha = zero.bytes;
    second.beta = one.bytes;
    second.operands.c = call.operands.d;
    second.c = call.d;
    return send_with_own_algorithm(real, second);
  });
}

void plant_int8_wraps(Platform& platform) {
  auto scratch = std::make_shared<Scratch>();
  on_matmul(platform, [scratch](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const bool plain = facts.epilogue == CUBLASLT_EPILOGUE_DEFAULT && host_scalar_is(facts, call.alpha, true) &&
                       host_scalar_is(facts, call.beta, false);
    if (!is_into(facts, CUDA_R_8I) || !is_small(facts.d) || !plain) return send(real, call);
    const MatrixShape sums{CUDA_R_32I, facts.d.rows, facts.d.cols, facts.d.rows, CUBLASLT_ORDER_COL, 1, 0};
    void* const memory = scratch->at_least(real, static_cast<std::size_t>(sums.span()) * 4, call.stream);
    const MatrixLayout layout = make_layout(real.lt, sums);
    if (memory == nullptr || !layout) return send(real, call);
    const Scalar one = scalar_of(CUDA_R_32I, true);
    const Scalar zero = scalar_of(CUDA_R_32I, false);
    const BorrowedAttribute<std::int32_t> scale(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE,
                                                std::int32_t{CUDA_R_32I});
    MatmulCall wide = call;
    wide.operands.c = wide.operands.d = layout.get();
    wide.c = wide.d = memory;
    wide.alpha = one.bytes;
    wide.beta = zero.bytes;
    const cublasStatus_t status = send_with_own_algorithm(real, wide);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    // The low byte of each sum.
    for (std::int64_t col = 0; col < facts.d.cols; ++col) {
      for (std::int64_t row = 0; row < facts.d.rows; ++row) {
        static_cast<void>(real.cuda.memcpy_async(element(call.d, facts.d, offset_of(facts.d, row, col)),
                                                 element(memory, sums, offset_of(sums, row, col)), 1,
                                                 cudaMemcpyDeviceToDevice, call.stream));
      }
    }
    return status;
  });
}

}  // namespace lt_audit::faults
