// The audit's kernels on the host. Plain loops: the simulator's problems are small.
#include "platform/host_kernels.h"

#include <algorithm>
#include <vector>

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

std::int64_t product_sum(const CompareSpec& spec, const ExpectedInputs& inputs, std::int64_t row, std::int64_t col) {
  std::int64_t sum = 0;
  const std::int64_t blocks = inputs.b.blocks();
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t l = spec.b.sparse_block > 1 ? inputs.b.nonzero_row(block, col) : block;
    sum += static_cast<std::int64_t>(inputs.a.at(row, l)) * inputs.b.at(l, col);
  }
  return sum;
}

struct MultiplyMatrix {
  const ProductOperand& operand;
  const std::vector<std::uint64_t>& in;
  std::vector<std::uint64_t>& out;

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
        out[static_cast<std::size_t>(to)] += value * in[static_cast<std::size_t>(from)];
      }
    }
  }
};

std::vector<std::uint64_t> multiply(const ProductOperand& operand, std::int64_t rows,
                                    const std::vector<std::uint64_t>& in) {
  std::vector<std::uint64_t> out(static_cast<std::size_t>(rows));
  MultiplyMatrix function{operand, in, out};
  with_element_type(operand.type, function);
  return out;
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

void fingerprint_on_host(const FingerprintSpec& spec, VerificationRecord* record) {
  for (int r = 0; r < spec.regions.count; ++r) {
    const Region& region = spec.regions.region[static_cast<std::size_t>(r)];
    if (region.content != RegionContent::values) continue;
    std::uint64_t sum = 0;
    const auto words = region.bytes / sizeof(std::uint32_t);
    const auto* memory = static_cast<const std::byte*>(region.begin);
    for (std::size_t i = 0; i < words; ++i) {
      std::uint32_t word = 0;
      std::memcpy(&word, memory + i * sizeof word, sizeof word);
      sum += fingerprint_term(word, i);
    }
    record->fingerprint[spec.after_call ? 1 : 0][static_cast<std::size_t>(region.role)] += sum;
  }
}

void compare_on_host(const CompareSpec& spec, VerificationRecord* record) {
  ExpectedInputs inputs(spec);
  for (std::int64_t batch = 0; batch < spec.batch_count; ++batch) {
    inputs.set_batch(spec, batch);
    for (std::int64_t col = 0; col < spec.n; ++col) {
      for (std::int64_t row = 0; row < spec.m; ++row) {
        const double expected = expected_value(spec, inputs, product_sum(spec, inputs, row, col), row, col);
        const ElementResult result = compare_element(spec, inputs, expected, row, col, batch);
        ++record->compared;
        if (expected != 0) ++record->expected_nonzero;
        if (result.unwritten) ++record->unwritten;
        if (!result.wrong) continue;
        ++record->wrong;
        const auto index = static_cast<unsigned long long>((batch * spec.n + col) * spec.m + row);
        if (index >= record->first_wrong) continue;
        record->first_wrong = index;
        record->first_expected = expected;
        record->first_actual = result.actual;
      }
    }
  }
}

void freivalds_on_host(const ProductSpec& spec, VerificationRecord* record) {
  const ProductScale scale = product_scale(spec);
  for (std::int32_t batch = 0; batch < spec.d_shape.batch_count; ++batch) {
    const ProductOperands operands = product_operands(spec, batch, scale);
    std::vector<bool> disagrees(static_cast<std::size_t>(spec.m));
    for (int vector = 0; vector < spec.vectors; ++vector) {
      std::vector<std::uint64_t> x(static_cast<std::size_t>(spec.n));
      std::uint64_t x_sum = 0;
      for (std::int64_t j = 0; j < spec.n; ++j) {
        const auto entry = static_cast<std::uint64_t>(static_cast<std::int64_t>(vector_entry(spec.seed, vector, j)));
        x[static_cast<std::size_t>(j)] = entry;
        x_sum += entry;
      }
      const auto z = multiply(operands.a, spec.m, multiply(operands.b, spec.k, x));
      const auto w = multiply(operands.d, spec.m, x);
      const auto v = scale.beta != 0 ? multiply(operands.c, spec.m, x) : std::vector<std::uint64_t>(w.size());
      for (std::size_t i = 0; i < w.size(); ++i) {
        const std::uint64_t expected = product_row(spec, scale, z[i], v[i], x_sum, static_cast<std::int64_t>(i));
        if (expected != w[i]) disagrees[i] = true;
      }
    }
    record->rows_disagree += static_cast<unsigned long long>(std::count(disagrees.begin(), disagrees.end(), true));
  }
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
  api.fingerprint = [](const FingerprintSpec& spec, VerificationRecord* record, cudaStream_t) {
    fingerprint_on_host(spec, record);
    return cudaSuccess;
  };
  api.freivalds = [](const ProductSpec& spec, VerificationRecord* record, cudaStream_t) {
    if (!product_is_exact(spec)) return cudaErrorInvalidValue;
    freivalds_on_host(spec, record);
    return cudaSuccess;
  };
  return api;
}

std::size_t product_scratch_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int) {
  return ProductScratch(nullptr, m, n, k).bytes;
}

}  // namespace lt_audit
