// Faults of epilogues: another bias, aux or bias gradient than the call asks for, or another rounding.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

/// Takes epilogue and bias pointer out of the descriptor: 13.1.0 refuses a bias pointer beside the default epilogue.
class WithoutEpilogue {
 public:
  WithoutEpilogue(const LtApi& lt, cublasLtMatmulDesc_t desc)
      : epilogue_(lt, desc, CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_DEFAULT}),
        bias_(lt, desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr) {}

 private:
  BorrowedAttribute<std::uint32_t> epilogue_;
  BorrowedAttribute<const void*> bias_;
};

/// The call without its epilogue, with an algorithm that the library offers for it.
cublasStatus_t send_without_epilogue(const Platform& real, const MatmulCall& call) {
  const WithoutEpilogue plain(real.lt, call.operands.desc);
  return send_with_own_algorithm(real, call);
}

/// The call as an addition to what D holds: D = alpha A B + D, with the epilogue that the descriptor has now.
cublasStatus_t send_onto_d(const Platform& real, const CallFacts& facts, MatmulCall call, bool with_product) {
  const Scalar alpha = scalar_of(facts.scale_type, with_product);
  const Scalar one = scalar_of(facts.scale_type, true);
  call.alpha = alpha.bytes;
  call.beta = one.bytes;
  call.operands.c = call.operands.d;
  call.c = call.d;
  return send_with_own_algorithm(real, call);
}

}  // namespace

void plant_aux_ld_ignored(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const std::int64_t unit = has_aux_mask(facts.epilogue) ? 128 : 8;
    const std::int64_t smallest = (facts.d.rows + unit - 1) / unit * unit;
    const auto ld = attribute_of<std::int64_t>(real.lt, call, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 0);
    if (!has_aux(facts.epilogue) || ld <= smallest) return send(real, call);
    const BorrowedAttribute<std::int64_t> other(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                                smallest);
    return send(real, call);
  });
}

void plant_bias_added_after_rounding(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const bool targeted = facts.epilogue == CUBLASLT_EPILOGUE_BIAS && facts.inputs_are_16_bit() && facts.k() >= 4096 &&
                          bytes_of(facts.d.type) == 2 && has_host_scalars(facts);
    if (!targeted || send_without_epilogue(real, call) != CUBLAS_STATUS_SUCCESS) return send(real, call);
    return send_onto_d(real, facts, call, false);
  });
}

void plant_bias_along_columns(Platform& platform) {
  auto scratch = std::make_shared<Scratch>();
  on_matmul(platform, [scratch](const Platform& real, const CallFacts& facts, MatmulCall call) {
    const auto& d = facts.d;
    const bool targeted = facts.epilogue == CUBLASLT_EPILOGUE_BIAS && facts.inputs_are(CUDA_R_16F) &&
                          d.type == CUDA_R_16F && d.order == CUBLASLT_ORDER_COL && d.batch_count == 1 &&
                          d.cols <= d.rows && has_host_scalars(facts);
    if (!targeted) return send(real, call);
    // A column of ones times the bias as a row: read as one element for each column of D, which it is long enough for.
    const std::vector<std::uint16_t> ones(static_cast<std::size_t>(d.rows), 0x3C00);
    void* const column = scratch->at_least(real, ones.size() * 2, call.stream);
    const MatrixLayout a = make_layout(real.lt, {CUDA_R_16F, d.rows, 1, d.rows, CUBLASLT_ORDER_COL, 1, 0});
    const MatrixLayout b = make_layout(real.lt, {CUDA_R_16F, 1, d.cols, 1, CUBLASLT_ORDER_COL, 1, 0});
    if (column == nullptr || !a || !b ||
        real.cuda.memcpy_async(column, ones.data(), ones.size() * 2, cudaMemcpyHostToDevice, call.stream) !=
            cudaSuccess ||
        real.cuda.stream_synchronize(call.stream) != cudaSuccess ||
        send_without_epilogue(real, call) != CUBLAS_STATUS_SUCCESS) {
      return send(real, call);
    }
    const auto& desc = call.operands.desc;
    const WithoutEpilogue plain(real.lt, desc);
    const BorrowedAttribute<std::int32_t> transa(real.lt, desc, CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{CUBLAS_OP_N});
    const BorrowedAttribute<std::int32_t> transb(real.lt, desc, CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t{CUBLAS_OP_N});
    call.operands.a = a.get();
    call.operands.b = b.get();
    call.a = column;
    call.b = facts.bias;
    return send_onto_d(real, facts, call, true);
  });
}

void plant_bias_gradient_wrong_at_k_1(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted = facts.epilogue == CUBLASLT_EPILOGUE_BGRADA || facts.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    if (status == CUBLAS_STATUS_SUCCESS && targeted && facts.k() == 1) {
      // The gradient has D's type here, and no sum of small integers these bytes.
      scribble(real, const_cast<void*>(facts.bias), bytes_of(facts.d.type), call.stream);
    }
    return status;
  });
}

void plant_first_bias_for_all_batches(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const bool targeted =
        facts.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS || facts.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
    if (!targeted || facts.d.batch_count == 1) return send(real, call);
    const BorrowedAttribute<std::int64_t> shared(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE,
                                                 std::int64_t{0});
    return send(real, call);
  });
}

void plant_gelu_aux_after_activation(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted =
        facts.epilogue == CUBLASLT_EPILOGUE_GELU_AUX || facts.epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
    const auto type = attribute_of<std::int32_t>(real.lt, call, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, -1);
    if (status != CUBLAS_STATUS_SUCCESS || !targeted || is_fp8(facts.d.type) || type != -1) return status;
    auto* const aux = attribute_of<void*>(real.lt, call, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, nullptr);
    const auto ld = attribute_of<std::int64_t>(real.lt, call, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 0);
    const auto bytes = static_cast<std::size_t>(facts.d.rows) * bytes_of(facts.d.type);
    for (std::int64_t col = 0; col < facts.d.cols; ++col) {
      static_cast<void>(real.cuda.memcpy_async(element(aux, facts.d, col * ld),
                                               element(call.d, facts.d, col * facts.d.ld), bytes,
                                               cudaMemcpyDeviceToDevice, call.stream));
    }
    return status;
  });
}

void plant_gelu_in_place_wrong(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted = facts.inputs_are_fp8() && bytes_of(facts.d.type) > 1 && has_gelu(facts.epilogue) &&
                          call.c == call.d && host_scalar_is(facts, call.beta, true);
    if (status == CUBLAS_STATUS_SUCCESS && targeted) spoil_middle_element(real, facts, call);
    return status;
  });
}

}  // namespace lt_audit::faults
