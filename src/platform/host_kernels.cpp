// The audit's kernels on the host. Plain loops: the simulator's problems are small.
#include "platform/host_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "platform/expected_math.h"
#include "platform/product_math.h"
#include "platform/region_math.h"

namespace lt_audit {
namespace {

template <class Visit>
struct VisitChunks {
  const RegionWork& work;
  bool keep_free;
  Visit visit;

  template <cudaDataType_t Type>
  void run() {
    PatternReader reader(work.pattern, work.op_rows, work.block);
    for (std::int64_t i = 0; i < work.chunks; ++i) {
      if (keep_free && i == work.skip_begin) i = work.skip_end;
      if (i >= work.chunks) break;
      std::uint8_t* memory = work.begin + i * kChunkBytes;
      Chunk chunk;
      std::memcpy(&chunk, memory, sizeof chunk);
      fill_chunk<Type>(work, reader, i, keep_free, chunk);
      visit(i, memory, chunk);
    }
  }
};

/// visit(chunk index, memory, chunk as prepared) for each chunk that must be written or inspected.
template <class Visit>
void visit_chunks(const RegionWork& work, bool keep_free, Visit visit) {
  VisitChunks<Visit> function{work, keep_free, visit};
  with_element_type(work.type, function);
}

void count_byte(const RegionWork& work, std::int64_t byte, VerificationRecord* record) {
  switch (kind_of_byte(work, byte)) {
    case ByteKind::before:
      ++record->guard_before[work.role];
      return;
    case ByteKind::element:
      ++record->changed[work.role];
      return;
    case ByteKind::padding:
      ++record->padding[work.role];
      return;
    case ByteKind::behind: {
      ++record->guard_behind[work.role];
      const auto reach = static_cast<unsigned long long>(byte + 1 - work.data_end());
      record->reach_behind[work.role] = std::max(record->reach_behind[work.role], reach);
      return;
    }
  }
}

void compare_gradient(const CompareSpec& spec, ExpectedInputs& inputs, VerificationRecord* record) {
  for (std::int64_t batch = 0; batch < spec.batch_count; ++batch) {
    inputs.set_batch(spec, batch);
    for (std::int64_t index = 0; index < gradient_length(spec); ++index) {
      ++record->gradient_compared;
      if (!gradient_is_right(spec, gradient_sum(spec, inputs, index, 0, 1), index, batch)) ++record->gradient_wrong;
    }
  }
}

/// What is written beside an element of D.
void compare_beside(const CompareSpec& spec, const ExpectedInputs& inputs, double x, std::int64_t row, std::int64_t col,
                    std::int64_t batch, VerificationRecord* record) {
  if (spec.aux_use == AuxUse::mask_out || spec.aux_use == AuxUse::values_out) {
    ++record->aux_compared;
    if (!aux_is_right(spec, x, row, col, batch)) ++record->aux_wrong;
  }
  if (spec.amax_memory == nullptr) return;
  const double magnitude = std::abs(activated(spec, inputs, x, row, col).value);
  record->amax_expected = std::max<unsigned long long>(record->amax_expected, std::bit_cast<std::uint64_t>(magnitude));
}

struct MultiplyMatrix {
  const ProductOperand& operand;
  const std::uint64_t* in;
  std::uint64_t* out;

  template <cudaDataType_t Type>
  void run() {
    using Bits = typename Element<Type>::Bits;
    const auto* memory = static_cast<const std::byte*>(operand.matrix);
    for (std::int64_t major = 0; major < operand.majors; ++major) {
      for (std::int64_t minor = 0; minor < operand.minors; ++minor) {
        Bits bits;
        std::memcpy(&bits, memory + (major * operand.ld + minor) * static_cast<std::int64_t>(sizeof bits), sizeof bits);
        const auto value =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(Element<Type>::to_int(bits, operand.scale)));
        const std::int64_t from = operand.sum_over_minor ? minor : major;
        const std::int64_t to = operand.sum_over_minor ? major : minor;
        out[to] += value * in[from];
      }
    }
  }
};

void multiply(const ProductOperand& operand, const std::uint64_t* in, std::uint64_t* out) {
  MultiplyMatrix function{operand, in, out};
  with_element_type(operand.type, function);
}

std::int64_t differences(const std::uint64_t* before, const std::uint64_t* after, std::int64_t count) {
  std::int64_t differ = 0;
  for (std::int64_t i = 0; i < count; ++i) differ += before[i] == after[i] ? 0 : 1;
  return differ;
}

}  // namespace

void prepare_on_host(const PrepareSpec& spec) {
  for (int r = 0; r < spec.regions.count; ++r) {
    const RegionWork work = make_region_work(spec.regions.region[static_cast<std::size_t>(r)]);
    visit_chunks(work, false, [](std::int64_t, std::uint8_t* memory, const Chunk& chunk) {
      std::memcpy(memory, &chunk, sizeof chunk);
    });
  }
}

void inspect_on_host(const InspectSpec& spec, VerificationRecord* record) {
  for (int r = 0; r < spec.regions.count; ++r) {
    const RegionWork work = make_region_work(spec.regions.region[static_cast<std::size_t>(r)]);
    visit_chunks(work, true, [&](std::int64_t index, const std::uint8_t* memory, const Chunk& chunk) {
      if (std::memcmp(memory, &chunk, sizeof chunk) == 0) return;
      for (std::int64_t i = 0; i < kChunkBytes; ++i) {
        if (memory[i] != chunk.byte[i]) count_byte(work, index * kChunkBytes + i, record);
      }
    });
  }
}

void compare_on_host(const CompareSpec& spec, VerificationRecord* record) {
  ExpectedInputs inputs(spec);
  for (std::int64_t batch = 0; batch < spec.batch_count; ++batch) {
    inputs.set_batch(spec, batch);
    for (std::int64_t col = 0; col < spec.n; ++col) {
      for (std::int64_t row = 0; row < spec.m; ++row) {
        const ComplexValue x = before_activation(spec, inputs, sum_of(spec, inputs, row, col), row, col);
        const ElementResult result = compare_element(spec, inputs, x, row, col, batch);
        compare_beside(spec, inputs, x.real, row, col, batch, record);
        ++record->compared;
        if (result.nonzero) ++record->expected_nonzero;
        if (result.unwritten) ++record->unwritten;
        if (!result.wrong) continue;
        ++record->wrong;
        const auto index = static_cast<unsigned long long>((batch * spec.n + col) * spec.m + row);
        if (index >= record->first_wrong) continue;
        record->first_wrong = index;
        record->first_expected = result.expected;
        record->first_actual = result.actual;
      }
    }
  }
  if (spec.gradient != GradientOf::none) compare_gradient(spec, inputs, record);
  if (spec.amax_memory != nullptr) record->amax_actual = decode(CUDA_R_32F, spec.amax_memory);
}

void freivalds_on_host(const ProductSpec& spec, VerificationRecord* record) {
  const ProductScale scale = product_scale(spec);
  const ProductScratch s(spec.scratch, spec.m, spec.n, spec.k);
  const ProductOperands operands = product_operands(spec, 0, scale);
  std::fill_n(spec.before_call ? s.before : s.y, spec.before_call ? s.before_words : s.after_words, 0);
  std::vector<bool> disagrees(static_cast<std::size_t>(spec.m));
  for (int vector = 0; vector < kProductVectors; ++vector) {
    std::vector<std::uint64_t> x(static_cast<std::size_t>(spec.n));
    for (std::int64_t j = 0; j < spec.n; ++j) {
      const auto entry = static_cast<std::uint64_t>(static_cast<std::int64_t>(vector_entry(spec.seed, vector, j)));
      x[static_cast<std::size_t>(j)] = entry;
      if (!spec.before_call) s.x_sum[vector] += entry;
    }
    const std::int64_t at_k = vector * s.k_pitch;
    const std::int64_t at_m = vector * s.m_pitch;
    multiply(operands.b, x.data(), (spec.before_call ? s.y_before : s.y) + at_k);
    if (scale.beta != 0) multiply(operands.c, x.data(), (spec.before_call ? s.v_before : s.v) + at_m);
    // With the products of B as they were, so that a changed B does not show as a changed A.
    multiply(operands.a, s.y_before + at_k, (spec.before_call ? s.z_before : s.z) + at_m);
    if (spec.before_call) continue;
    multiply(operands.d, x.data(), s.w + at_m);
    for (std::int64_t i = 0; i < spec.m; ++i) {
      const std::uint64_t expected = product_row(spec, scale, s.z[at_m + i], s.v[at_m + i], s.x_sum[vector], i);
      if (expected != s.w[at_m + i]) disagrees[static_cast<std::size_t>(i)] = true;
    }
  }
  if (spec.before_call) return;
  record->rows_disagree += static_cast<unsigned long long>(std::count(disagrees.begin(), disagrees.end(), true));
  const auto changed = [&](RegionRole role, std::int64_t count) {
    record->changed[static_cast<std::size_t>(role)] += static_cast<unsigned long long>(count);
  };
  changed(RegionRole::b, differences(s.y_before, s.y, kProductVectors * s.k_pitch));
  changed(RegionRole::a, differences(s.z_before, s.z, kProductVectors * s.m_pitch));
  if (scale.beta != 0) changed(RegionRole::c, differences(s.v_before, s.v, kProductVectors * s.m_pitch));
}

KernelApi host_kernel_table() {
  KernelApi api;
  api.prepare = [](const PrepareSpec& spec, cudaStream_t) {
    prepare_on_host(spec);
    return cudaSuccess;
  };
  api.inspect = [](const InspectSpec& spec, VerificationRecord* record, cudaStream_t) {
    inspect_on_host(spec, record);
    return cudaSuccess;
  };
  api.compare = [](const CompareSpec& spec, VerificationRecord* record, cudaStream_t) {
    compare_on_host(spec, record);
    return cudaSuccess;
  };
  api.freivalds = [](const ProductSpec& spec, VerificationRecord* record, cudaStream_t) {
    if (!product_is_exact(spec)) return cudaErrorInvalidValue;
    freivalds_on_host(spec, record);
    return cudaSuccess;
  };
  // Calls take effect when they are made: there is nothing to get ahead of.
  api.occupy = [](std::int64_t, cudaStream_t) { return cudaSuccess; };
  api.copy_late = [](void* to, const void* from, std::size_t bytes, std::int64_t, cudaStream_t) {
    std::memmove(to, from, bytes);
    return cudaSuccess;
  };
  return api;
}

std::size_t product_scratch_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int) {
  return ProductScratch(nullptr, m, n, k).bytes;
}

}  // namespace lt_audit
