// Faults that make D's numbers wrong while every status says SUCCESS.
#include <algorithm>
#include <memory>
#include <optional>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

const void* rounded_down(const void* pointer) {
  return static_cast<const std::byte*>(pointer) - misalignment(pointer, 16);
}

/// The leading dimension whose stride is the next multiple of 16 bytes.
std::int64_t rounded_ld(const MatrixShape& shape) {
  const auto step = static_cast<std::int64_t>(16 / bytes_of(shape.type));
  return (shape.ld + step - 1) / step * step;
}

}  // namespace

void plant_alignment_misread(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts&, MatmulCall call) {
    call.a = rounded_down(call.a);
    call.b = rounded_down(call.b);
    return send(real, call);
  });
}

void plant_alpha_ignored(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, MatmulCall call) {
    const Scalar one = scalar_of(facts.scale_type, true);
    if (facts.inputs_are(CUDA_R_16F) && facts.d.type == CUDA_R_16F && has_host_scalars(facts)) call.alpha = one.bytes;
    return send(real, call);
  });
}

void plant_batch_stride_rounded(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    MatrixShape a = facts.a;
    MatrixShape b = facts.b;
    a.batch_stride -= a.batch_stride % 8;
    b.batch_stride -= b.batch_stride % 8;
    const bool targeted = a.batch_count > 1 && (a.batch_stride != facts.a.batch_stride ||  //
                                                b.batch_stride != facts.b.batch_stride);
    return targeted ? send_with_inputs(real, call, a, b) : send(real, call);
  });
}

void plant_beta_ignored(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, MatmulCall call) {
    const Scalar zero = scalar_of(facts.scale_type, false);
    if (facts.transa != CUBLAS_OP_N && has_host_scalars(facts)) call.beta = zero.bytes;
    return send(real, call);
  });
}

void plant_bias_ignored(Platform& platform) {
  auto scratch = std::make_shared<Scratch>();
  on_matmul(platform, [scratch](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!has_bias(facts.epilogue)) return send(real, call);
    // A vector of zeros instead of another epilogue: the algorithm was chosen for this one. Eight bytes an element are
    // enough for every bias type, and a batch has a vector of its own at most.
    const auto elements = facts.d.rows * std::max(facts.d.batch_count, 1);
    const auto bytes = static_cast<std::size_t>(elements) * 8;
    void* zeros = scratch->at_least(real, bytes, call.stream);
    if (zeros == nullptr || real.cuda.memset_async(zeros, 0, bytes, call.stream) != cudaSuccess) {
      return send(real, call);
    }
    const BorrowedAttribute<const void*> pointer(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, zeros);
    return send(real, call);
  });
}

void plant_c_read_at_beta_zero(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, MatmulCall call) {
    const Scalar one = scalar_of(facts.scale_type, true);
    if (facts.inputs_are(CUDA_R_32F) && call.c != nullptr && host_scalar_is(facts, call.beta, false)) {
      call.beta = one.bytes;
    }
    return send(real, call);
  });
}

void plant_k_tail_lost(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    return facts.inputs_are_16_bit() ? send_without_k_tail(real, facts, call) : send(real, call);
  });
}

void plant_leading_dimension_rounded(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (bytes_of(facts.a.type) == 0 || bytes_of(facts.b.type) == 0) return send(real, call);
    MatrixShape a = facts.a;
    MatrixShape b = facts.b;
    a.ld = rounded_ld(a);
    b.ld = rounded_ld(b);
    const bool targeted = a.ld != facts.a.ld || b.ld != facts.b.ld;
    return targeted ? send_with_inputs(real, call, a, b) : send(real, call);
  });
}

void plant_scale_type_misread(Platform& platform) {
  on_operands(platform, [](const Platform& real, const CallFacts& facts, const Operands& operands) {
    std::optional<Disguise> seen;
    if (facts.compute_type == CUBLAS_COMPUTE_16F && facts.scale_type == CUDA_R_32F) {
      seen.emplace();
      seen->operands = operands;
      seen->attribute = std::make_shared<BorrowedAttribute<std::int32_t>>(
          real.lt, operands.desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE, std::int32_t{CUDA_R_16F});
    }
    return seen;
  });
}

void plant_unlisted_input_as_fp32(Platform& platform) {
  on_operands(platform, [](const Platform& real, const CallFacts& facts, const Operands& operands) {
    std::optional<Disguise> seen;
    if (!facts.is_fast_fp32() || !facts.inputs_are_16_bit() || facts.d.type != CUDA_R_32F) return seen;
    MatrixShape a = facts.a;
    MatrixShape b = facts.b;
    a.type = b.type = CUDA_R_32F;
    seen.emplace();
    seen->operands = operands;
    seen->layouts.push_back(make_layout(real.lt, a));
    seen->layouts.push_back(make_layout(real.lt, b));
    seen->operands.a = seen->layouts[0].get();
    seen->operands.b = seen->layouts[1].get();
    return seen;
  });
}

void plant_wrong_element(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool targeted = facts.inputs_are(CUDA_R_8I) && facts.d.type == CUDA_R_32I;
    if (status == CUBLAS_STATUS_SUCCESS && targeted) spoil_middle_element(real, facts, call);
    return status;
  });
}

}  // namespace lt_audit::faults
