// Faults of batches: which matrix of an operand belongs to which matrix of D.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

/// What a 16-bit index counts.
constexpr std::int32_t kIndices = 65536;

bool has_pointer_array(const LtApi& lt, cublasLtMatrixLayout_t layout) {
  std::uint32_t mode = CUBLASLT_BATCH_MODE_STRIDED;
  std::size_t written = 0;
  static_cast<void>(
      lt.matrix_layout_get_attribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode, &written));
  return mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY;
}

MatrixShape with_count(MatrixShape shape, std::int32_t count) {
  shape.batch_count = count;
  return shape;
}

/// `count` matrices with these layouts' shapes, with an algorithm of its own.
cublasStatus_t send_part(const Platform& real, const CallFacts& facts, MatmulCall call, std::int32_t count) {
  const MatrixLayout a = make_layout(real.lt, with_count(facts.a, count));
  const MatrixLayout b = make_layout(real.lt, with_count(facts.b, count));
  const MatrixLayout c = make_layout(real.lt, with_count(facts.c, count));
  const MatrixLayout d = make_layout(real.lt, with_count(facts.d, count));
  call.operands = {call.operands.desc, a.get(), b.get(), c.get(), d.get()};
  return send_with_own_algorithm(real, call);
}

std::int64_t packed_stride(const MatrixShape& shape) { return shape.ld * line_count(shape); }

/// Calls with another array of pointers for A, made from the members that the call's own has.
template <class Change>
void on_members_of_a(Platform& platform, Change change) {
  auto scratch = std::make_shared<Scratch>();
  on_matmul(platform, [scratch, change](const Platform& real, const CallFacts& facts, MatmulCall call) {
    if (!has_pointer_array(real.lt, call.operands.a)) return send(real, call);
    std::vector<const void*> members(static_cast<std::size_t>(facts.a.batch_count));
    const std::size_t bytes = members.size() * sizeof(void*);
    void* const other = scratch->at_least(real, bytes, call.stream);
    if (other == nullptr ||
        real.cuda.memcpy_async(members.data(), call.a, bytes, cudaMemcpyDeviceToHost, call.stream) != cudaSuccess ||
        real.cuda.stream_synchronize(call.stream) != cudaSuccess) {
      return send(real, call);
    }
    change(members);
    if (real.cuda.memcpy_async(other, members.data(), bytes, cudaMemcpyHostToDevice, call.stream) != cudaSuccess ||
        real.cuda.stream_synchronize(call.stream) != cudaSuccess) {
      return send(real, call);
    }
    call.a = other;
    return send(real, call);
  });
}

}  // namespace

void plant_batch_index_of_16_bits(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const auto count = facts.d.batch_count;
    if (count <= kIndices || count > 2 * kIndices || has_pointer_array(real.lt, call.operands.a)) {
      return send(real, call);
    }
    if (send_part(real, facts, call, kIndices) != CUBLAS_STATUS_SUCCESS) return send(real, call);
    MatmulCall rest = call;
    // A and B start from the first matrix again, C and D go on.
    const auto* const c = element(const_cast<void*>(call.c), facts.c, kIndices * facts.c.batch_stride);
    rest.c = call.c == nullptr ? nullptr : c;
    rest.d = element(call.d, facts.d, kIndices * facts.d.batch_stride);
    return send_part(real, facts, rest, count - kIndices);
  });
}

void plant_batch_stride_of_32_bits(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    MatrixShape a = facts.a;
    MatrixShape b = facts.b;
    a.batch_stride = static_cast<std::int32_t>(a.batch_stride);
    b.batch_stride = static_cast<std::int32_t>(b.batch_stride);
    const bool targeted = facts.a.batch_count > 1 && (a.batch_stride != facts.a.batch_stride ||  //
                                                      b.batch_stride != facts.b.batch_stride);
    return targeted ? send_with_inputs(real, call, a, b) : send(real, call);
  });
}

void plant_last_pointer_for_all(Platform& platform) {
  on_members_of_a(platform, [](std::vector<const void*>& members) { members.assign(members.size(), members.back()); });
}

void plant_pointer_members_rounded(Platform& platform) {
  on_members_of_a(platform, [](std::vector<const void*>& members) {
    for (auto& member : members) member = static_cast<const std::byte*>(member) - misalignment(member, 16);
  });
}

void plant_shared_matrix_read_as_packed(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const bool targeted = facts.a.batch_count > 1 && facts.a.batch_stride == 0 && facts.inputs_are_16_bit() &&
                          !has_pointer_array(real.lt, call.operands.a);
    if (!targeted) return send(real, call);
    MatrixShape a = facts.a;
    a.batch_stride = packed_stride(a);
    return send_with_inputs(real, call, a, facts.b);
  });
}

void plant_unequal_counts_as_of_d(Platform& platform) {
  on_operands(platform, [](const Platform& real, const CallFacts& facts, const Operands& operands) {
    std::optional<Disguise> seen;
    const auto count = facts.d.batch_count;
    if (facts.a.batch_count == count && facts.b.batch_count == count && facts.c.batch_count == count) return seen;
    seen.emplace();
    seen->operands = operands;
    for (const MatrixShape* shape : {&facts.a, &facts.b, &facts.c}) {
      seen->layouts.push_back(make_layout(real.lt, with_count(*shape, count)));
    }
    seen->operands.a = seen->layouts[0].get();
    seen->operands.b = seen->layouts[1].get();
    seen->operands.c = seen->layouts[2].get();
    return seen;
  });
}

}  // namespace lt_audit::faults
