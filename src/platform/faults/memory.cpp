// Faults that write where nothing may be written, or leave unwritten what must be written.
#include <memory>
#include <optional>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

/// A memory fault comes after a matmul that worked: `damage` then acts on its stream.
using Applies = bool (*)(const CallFacts&, const MatmulCall&);
using Damage = void (*)(const Platform& real, const CallFacts&, const MatmulCall&);
void after_success(Platform& platform, Applies applies, Damage damage) {
  on_matmul(platform, [applies, damage](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    if (status == CUBLAS_STATUS_SUCCESS && applies(facts, call)) damage(real, facts, call);
    return status;
  });
}

bool is_half_nn(const CallFacts& facts, const MatmulCall&) {
  return facts.inputs_are(CUDA_R_16F) && facts.transa == CUBLAS_OP_N && facts.transb == CUBLAS_OP_N;
}

}  // namespace

void plant_empty_success(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    return facts.inputs_are(CUDA_R_64F) ? CUBLAS_STATUS_SUCCESS : send(real, call);
  });
}

void plant_guard_overwritten(Platform& platform) {
  after_success(platform, is_half_nn, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    scribble(real, element(call.d, facts.d, facts.d.span()), 8, call.stream);
  });
}

void plant_input_changed(Platform& platform) {
  const auto is_bf16 = [](const CallFacts& facts, const MatmulCall&) { return facts.inputs_are(CUDA_R_16BF); };
  after_success(platform, is_bf16, [](const Platform& real, const CallFacts&, const MatmulCall& call) {
    // 0x7F as low byte needs an integer of eight significant bits, all ones: inputs are smaller than that.
    static_cast<void>(real.cuda.memset_async(const_cast<void*>(call.a), 0x7F, 1, call.stream));
  });
}

void plant_padding_overwritten(Platform& platform) {
  const auto has_padding = [](const CallFacts& facts, const MatmulCall&) {
    return facts.d.ld > line_length(facts.d) && line_count(facts.d) > 2;
  };
  after_success(platform, has_padding, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    // One byte behind the first column and one behind the second, different, so that one of them changes for certain.
    const std::int64_t behind = line_offset(facts.d, 0) + line_length(facts.d);
    static_cast<void>(real.cuda.memset_async(element(call.d, facts.d, behind), 0x5A, 1, call.stream));
    static_cast<void>(real.cuda.memset_async(element(call.d, facts.d, behind + facts.d.ld), 0xA5, 1, call.stream));
  });
}

void plant_short_write(Platform& platform) {
  auto scratch = std::make_shared<Scratch>();
  on_matmul(platform, [scratch](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!facts.inputs_are_fp8() || line_count(facts.d) < 1) return send(real, call);
    const auto bytes = static_cast<std::size_t>(line_length(facts.d)) * bytes_of(facts.d.stored_type());
    void* last = element(call.d, facts.d, line_offset(facts.d, line_count(facts.d) - 1));
    void* kept = scratch->at_least(real, bytes, call.stream);
    if (kept == nullptr ||
        real.cuda.memcpy_async(kept, last, bytes, cudaMemcpyDeviceToDevice, call.stream) != cudaSuccess) {
      return send(real, call);
    }
    const cublasStatus_t status = send(real, call);
    if (status == CUBLAS_STATUS_SUCCESS) {
      static_cast<void>(real.cuda.memcpy_async(last, kept, bytes, cudaMemcpyDeviceToDevice, call.stream));
    }
    return status;
  });
}

void plant_unlisted_d_type_overrun(Platform& platform) {
  on_operands(platform, [](const Platform& real, const CallFacts& facts, const Operands& operands) {
    std::optional<Disguise> seen;
    if (!facts.is_fast_fp32() || !facts.inputs_are(CUDA_R_32F) || facts.d.type == CUDA_R_32F) return seen;
    MatrixShape c = facts.c;
    MatrixShape d = facts.d;
    c.type = d.type = CUDA_R_32F;
    seen.emplace();
    seen->operands = operands;
    seen->layouts.push_back(make_layout(real.lt, c));
    seen->layouts.push_back(make_layout(real.lt, d));
    seen->operands.c = seen->layouts[0].get();
    seen->operands.d = seen->layouts[1].get();
    return seen;
  });
}

void plant_workspace_overrun(Platform& platform) {
  const auto has_workspace = [](const CallFacts& facts, const MatmulCall& call) {
    return facts.inputs_are(CUDA_R_32F) && call.workspace != nullptr && call.workspace_bytes > 0;
  };
  after_success(platform, has_workspace, [](const Platform& real, const CallFacts&, const MatmulCall& call) {
    scribble(real, static_cast<std::byte*>(call.workspace) + call.workspace_bytes, 16, call.stream);
  });
}

}  // namespace lt_audit::faults
