// The Freivalds check on the GPU. Memory bound: each matrix is read once, for all vectors. See product_math.h for the
// arithmetic. In a TN problem A is summed along its contiguous direction and the others across it; both directions have
// a loop of their own, chosen so that a warp always reads contiguous memory.
#include <algorithm>
#include <type_traits>

#include "platform/gpu/kernels.h"
#include "platform/product_math.h"

namespace lt_audit {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kVectors = kProductVectors;
/// Columns that a warp multiplies at once when it sums along them: the vector's entries are loaded once for all.
constexpr int kColumns = 4;
/// Work is split until about this many warps have some.
constexpr std::int64_t kTargetWarps = 4096;

/// Sums modulo 2^64 of integer * entry. An entry of 64 bits is split in a signed low half and a high half, so that a
/// product costs two 32-bit multiply-adds, and only one while all high halves are 0, as they are for most matrices.
struct Sum {
  unsigned long long total = 0;

  template <class Entry>
  __device__ void add_low(std::int32_t value, Entry entry) {
    // One instruction. In C++ the compiler shares the widened value among the products and multiplies 64 by 64 bits.
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(total) : "r"(value), "r"(static_cast<std::int32_t>(entry)));
  }
  template <class Entry>
  __device__ void add_low(std::int64_t value, Entry entry) {
    total += static_cast<unsigned long long>(value * static_cast<std::int32_t>(entry));
  }
  template <class Integer>
  __device__ void add_high(Integer value, std::uint32_t entry_high) {
    total += static_cast<unsigned long long>(static_cast<std::uint32_t>(value) * entry_high) << 32;
  }
};

/// The high half that goes with the signed low half.
__device__ std::uint32_t high_half(std::int32_t) { return 0; }
__device__ std::uint32_t high_half(std::uint64_t entry) {
  return static_cast<std::uint32_t>(entry >> 32) + (static_cast<std::uint32_t>(entry) >> 31);
}

struct Multiplication {
  ProductOperand operand;
  const void* in = nullptr;
  std::int64_t in_pitch = 0;
  unsigned long long* out = nullptr;
  std::int64_t out_pitch = 0;
  /// Rows and columns of the memory may be read 16 bytes at a time.
  bool aligned = false;
  /// Work items along the summed direction.
  std::int64_t splits = 1;
};

template <cudaDataType_t Type>
struct Pack {
  using Bits = typename Element<Type>::Bits;
  /// 8 bytes of one-byte types: 16 elements times kVectors sums would not fit into registers.
  static constexpr int kElements = sizeof(Bits) == 1 ? 8 : static_cast<int>(16 / sizeof(Bits));
  static constexpr int kBytes = kElements * static_cast<int>(sizeof(Bits));
  Bits bits[kElements];

  /// The first `count` elements at memory, zeros behind them.
  __device__ void load(const Bits* memory, std::int64_t count, bool aligned) {
    if (aligned && count >= kElements) {
      if constexpr (kBytes == 8) {
        const uint2 word = __ldcs(reinterpret_cast<const uint2*>(memory));
        memcpy(bits, &word, sizeof bits);
      } else {
        const uint4 word = __ldcs(reinterpret_cast<const uint4*>(memory));
        memcpy(bits, &word, sizeof bits);
      }
      return;
    }
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (e < count) {
        bits[e] = memory[e];
      } else {
        memset(&bits[e], 0, sizeof(Bits));
      }
    }
  }
};

/// scale * elements as integers. Adding 1.5 * 2^23 puts a small integer into the low bits of the sum; conversion
/// instructions run at a quarter of the rate. What did not fit, or is no integer, shows in `odd` or `far` and goes the
/// slow way.
template <cudaDataType_t Type>
__device__ void to_integers(const Pack<Type>& data, float scale,
                            typename Element<Type>::Integer (&values)[Pack<Type>::kElements]) {
  if constexpr (std::is_same_v<typename Element<Type>::Integer, std::int64_t> || Type == CUDA_R_8I) {
#pragma unroll
    for (int e = 0; e < Pack<Type>::kElements; ++e) values[e] = Element<Type>::to_int(data.bits[e], scale);
  } else {
    constexpr float kShift = 12582912.0F;
    constexpr std::int32_t kShiftBits = 0x4B400000;
    std::int32_t odd = 0;
    std::int32_t far = 0;
#pragma unroll
    for (int e = 0; e < Pack<Type>::kElements; ++e) {
      const float value = Element<Type>::to_float(data.bits[e]);
      const float shifted = __fmaf_rn(value, scale, kShift);
      odd |= __float_as_int(__fmaf_rn(value, scale, kShift - shifted));
      far |= __float_as_int(shifted) ^ kShiftBits;
      values[e] = __float_as_int(shifted) - kShiftBits;
    }
    // -0 is no difference; in range is what keeps sign and exponent of kShift.
    if ((odd << 1) == 0 && (far >> 23) == 0) return;
#pragma unroll
    for (int e = 0; e < Pack<Type>::kElements; ++e) values[e] = Element<Type>::to_int(data.bits[e], scale);
  }
}

/// Reads 8 bytes at a time: the tables are padded and their rows aligned.
template <class Entry, int N>
__device__ void load_entries(const Entry* memory, Entry (&entries)[N]) {
  uint2 words[N * sizeof(Entry) / 8];
#pragma unroll
  for (int w = 0; w < static_cast<int>(N * sizeof(Entry) / 8); ++w)
    words[w] = reinterpret_cast<const uint2*>(memory)[w];
  memcpy(entries, words, sizeof words);
}

/// sums[v] += values[e] * entries[v][e] for all e.
template <class Integer, class Entry, int N>
__device__ void add_products(const Integer (&values)[N], const Entry (&entries)[kVectors][N], std::uint32_t any_high,
                             Sum (&sums)[kVectors]) {
#pragma unroll
  for (int e = 0; e < N; ++e) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) sums[v].add_low(values[e], entries[v][e]);
  }
  if (any_high == 0) return;
#pragma unroll
  for (int e = 0; e < N; ++e) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) sums[v].add_high(values[e], high_half(entries[v][e]));
  }
}

/// out[major] += sum over minor: a warp per kColumns majors and split.
template <cudaDataType_t Type, class Entry>
__device__ void sum_along(const Multiplication& job) {
  using Data = Pack<Type>;
  constexpr int kElements = Data::kElements;
  const auto* matrix = static_cast<const typename Data::Bits*>(job.operand.matrix);
  const auto* in = static_cast<const Entry*>(job.in);
  const std::int64_t lane = threadIdx.x % 32;
  const std::int64_t groups = (job.operand.majors + kColumns - 1) / kColumns;
  const std::int64_t packs = (job.operand.minors + kElements - 1) / kElements;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
       item < groups * job.splits; item += warps) {
    const std::int64_t major0 = item % groups * kColumns;
    Sum sums[kColumns][kVectors];
    for (std::int64_t p = item / groups * 32 + lane; p < packs; p += job.splits * 32) {
      const std::int64_t minor0 = p * kElements;
      Data data[kColumns];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const bool inside = major0 + c < job.operand.majors;
        data[c].load(matrix + (major0 + c) * job.operand.ld + minor0, inside ? job.operand.minors - minor0 : 0,
                     job.aligned);
      }
      Entry entries[kVectors][kElements];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) load_entries(in + v * job.in_pitch + minor0, entries[v]);
      std::uint32_t any_high = 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
#pragma unroll
        for (int e = 0; e < kElements; ++e) any_high |= high_half(entries[v][e]);
      }
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        typename Element<Type>::Integer values[kElements];
        to_integers<Type>(data[c], job.operand.scale, values);
        add_products(values, entries, any_high, sums[c]);
      }
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        unsigned long long total = sums[c][v].total;
        for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(~0U, total, offset);
        if (lane == 0 && major0 + c < job.operand.majors) atomicAdd(job.out + v * job.out_pitch + major0 + c, total);
      }
    }
  }
}

/// out[minor] += sum over major: a block per 32 packs of minors and split, each warp every kWarps-th major.
template <cudaDataType_t Type, class Entry>
__device__ void sum_across(const Multiplication& job, unsigned long long* tile) {
  using Data = Pack<Type>;
  constexpr int kElements = Data::kElements;
  constexpr int kUnroll = 4;
  constexpr int kTileMinors = 32 * kElements;
  const auto* matrix = static_cast<const typename Data::Bits*>(job.operand.matrix);
  const auto* in = static_cast<const Entry*>(job.in);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t groups = (job.operand.minors + kTileMinors - 1) / kTileMinors;
  for (std::int64_t item = blockIdx.x; item < groups * job.splits; item += gridDim.x) {
    const std::int64_t group0 = item % groups * kTileMinors;
    const std::int64_t minor0 = group0 + lane * kElements;
    const std::int64_t count = job.operand.minors - minor0;
    Sum sums[kElements][kVectors];
    const std::int64_t step = job.splits * kWarps;
    for (std::int64_t major = item / groups * kWarps + warp; major < job.operand.majors; major += kUnroll * step) {
      // Everything of this turn is asked for before anything is used; past the end some entry meets zeros.
      Data data[kUnroll];
      Entry entries[kUnroll][kVectors];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t at = major + u * step;
        const bool inside = at < job.operand.majors;
        data[u].load(matrix + at * job.operand.ld + minor0, inside ? count : 0, job.aligned);
#pragma unroll
        for (int v = 0; v < kVectors; ++v) entries[u][v] = in[v * job.in_pitch + (inside ? at : 0)];
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        typename Element<Type>::Integer values[kElements];
        to_integers<Type>(data[u], job.operand.scale, values);
        std::uint32_t any_high = 0;
#pragma unroll
        for (int v = 0; v < kVectors; ++v) any_high |= high_half(entries[u][v]);
#pragma unroll
        for (int e = 0; e < kElements; ++e) {
#pragma unroll
          for (int v = 0; v < kVectors; ++v) sums[e][v].add_low(values[e], entries[u][v]);
        }
        if (any_high == 0) continue;
#pragma unroll
        for (int e = 0; e < kElements; ++e) {
#pragma unroll
          for (int v = 0; v < kVectors; ++v) sums[e][v].add_high(values[e], high_half(entries[u][v]));
        }
      }
    }
    for (int turn = 0; turn < kWarps; ++turn) {
      if (turn == warp) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
#pragma unroll
          for (int e = 0; e < kElements; ++e) {
            unsigned long long& cell = tile[(v * kElements + e) * 32 + lane];
            cell = (turn == 0 ? 0 : cell) + sums[e][v].total;
          }
        }
      }
      __syncthreads();
    }
    for (int i = static_cast<int>(threadIdx.x); i < kVectors * kTileMinors; i += kThreads) {
      const std::int64_t minor = group0 + i % 32 * kElements + i / 32 % kElements;
      if (minor < job.operand.minors) atomicAdd(job.out + i / kTileMinors * job.out_pitch + minor, tile[i]);
    }
    __syncthreads();
  }
}

template <cudaDataType_t Type, class Entry>
__global__ void __launch_bounds__(kThreads, 2) multiply_kernel(const __grid_constant__ Multiplication job) {
  __shared__ unsigned long long tile[kVectors * 32 * Pack<Type>::kElements];
  if (job.operand.sum_over_minor) {
    sum_along<Type, Entry>(job);
  } else {
    sum_across<Type, Entry>(job, tile);
  }
}

template <class Entry>
struct LaunchMultiply {
  Multiplication job;
  cudaStream_t stream;

  template <cudaDataType_t Type>
  void run() {
    constexpr std::int64_t kElements = Pack<Type>::kElements;
    constexpr std::int64_t kBytes = Pack<Type>::kBytes;
    const ProductOperand& operand = job.operand;
    job.aligned = reinterpret_cast<std::uintptr_t>(operand.matrix) % kBytes == 0 && operand.ld % kElements == 0;
    const std::int64_t packs = (operand.minors + kElements - 1) / kElements;
    std::int64_t items = operand.sum_over_minor ? (operand.majors + kColumns - 1) / kColumns : (packs + 31) / 32;
    const std::int64_t target = operand.sum_over_minor ? kTargetWarps : kTargetWarps / kWarps;
    // A split that is too short costs more in atomic additions than it gains.
    const std::int64_t longest = operand.sum_over_minor ? packs / (32 * 4) : operand.majors / (kWarps * 8);
    job.splits =
        std::clamp<std::int64_t>(target / std::max<std::int64_t>(items, 1), 1, std::max<std::int64_t>(longest, 1));
    items *= job.splits;
    const std::int64_t blocks = operand.sum_over_minor ? (items + kWarps - 1) / kWarps : items;
    if (blocks <= 0) return;
    multiply_kernel<Type, Entry>
        <<<static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 20)), kThreads, 0, stream>>>(job);
  }
};

template <class Entry>
void launch_multiply(const ProductOperand& operand, const Entry* in, std::int64_t in_pitch, std::uint64_t* out,
                     std::int64_t out_pitch, cudaStream_t stream) {
  Multiplication job;
  job.operand = operand;
  job.in = in;
  job.in_pitch = in_pitch;
  job.out = reinterpret_cast<unsigned long long*>(out);
  job.out_pitch = out_pitch;
  LaunchMultiply<Entry> launch{job, stream};
  switch (operand.type) {
    case CUDA_R_64F:
      return launch.template run<CUDA_R_64F>();
    case CUDA_R_32F:
      return launch.template run<CUDA_R_32F>();
    case CUDA_R_16F:
      return launch.template run<CUDA_R_16F>();
    case CUDA_R_16BF:
      return launch.template run<CUDA_R_16BF>();
    case CUDA_R_8F_E4M3:
      return launch.template run<CUDA_R_8F_E4M3>();
    case CUDA_R_8F_E5M2:
      return launch.template run<CUDA_R_8F_E5M2>();
    case CUDA_R_8I:
      return launch.template run<CUDA_R_8I>();
    case CUDA_R_32I:
      return launch.template run<CUDA_R_32I>();
    default:
      return;
  }
}

/// Zeroes the sums and draws the random vectors.
__global__ void __launch_bounds__(kThreads)
    start_kernel(const __grid_constant__ ProductScratch scratch, std::uint64_t* table, std::int64_t words,
                 std::int64_t n, std::uint64_t seed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (std::int64_t i = thread; i < words; i += stride) table[i] = 0;
  for (int v = 0; v < kVectors; ++v) {
    for (std::int64_t j = thread; j < scratch.n_pitch; j += stride) {
      scratch.x[v * scratch.n_pitch + j] = j < n ? vector_entry(seed, v, j) : 0;
    }
  }
}

/// Sums of the random vectors, for the bias.
__global__ void __launch_bounds__(kThreads) x_sum_kernel(const __grid_constant__ ProductScratch scratch) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (int v = 0; v < kVectors; ++v) {
    std::int64_t sum = 0;
    for (std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; j < scratch.n_pitch;
         j += stride) {
      sum += scratch.x[v * scratch.n_pitch + j];
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0U, sum, offset);
    if (threadIdx.x % 32 == 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(scratch.x_sum + v), static_cast<unsigned long long>(sum));
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    agree_kernel(const __grid_constant__ ProductSpec spec, const __grid_constant__ ProductScratch scratch,
                 const __grid_constant__ ProductScale scale, VerificationRecord* record) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  int disagree = 0;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; row < spec.m; row += stride) {
    bool same = true;
    for (int v = 0; v < spec.vectors; ++v) {
      const std::int64_t at = v * scratch.m_pitch + row;
      same = same && product_row(spec, scale, scratch.z[at], scratch.v[at], scratch.x_sum[v], row) == scratch.w[at];
    }
    disagree += same ? 0 : 1;
  }
  if (disagree > 0) atomicAdd(&record->rows_disagree, static_cast<unsigned long long>(disagree));
}

/// Entries of products that are not what they were before the call.
__global__ void __launch_bounds__(kThreads) unchanged_kernel(const std::uint64_t* before, const std::uint64_t* after,
                                                             std::int64_t count, unsigned long long* changed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  int differ = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += stride) {
    differ += before[i] == after[i] ? 0 : 1;
  }
  if (differ > 0) atomicAdd(changed, static_cast<unsigned long long>(differ));
}

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, 2048));
}

}  // namespace

cudaError_t freivalds_on_gpu(const ProductSpec& spec, VerificationRecord* record, cudaStream_t stream) {
  if (!product_is_exact(spec)) return cudaErrorInvalidValue;
  const ProductScale scale = product_scale(spec);
  const ProductScratch s(spec.scratch, spec.m, spec.n, spec.k);
  const ProductOperands operands = product_operands(spec, 0, scale);
  const auto start = [&](std::uint64_t* table, std::int64_t words) {
    start_kernel<<<blocks_for(std::max(words, s.n_pitch)), kThreads, 0, stream>>>(s, table, words, spec.n, spec.seed);
  };
  if (spec.before_call) {
    start(s.before, s.before_words);
    launch_multiply(operands.b, s.x, s.n_pitch, s.y_before, s.k_pitch, stream);
    if (scale.beta != 0) launch_multiply(operands.c, s.x, s.n_pitch, s.v_before, s.m_pitch, stream);
    launch_multiply(operands.a, s.y_before, s.k_pitch, s.z_before, s.m_pitch, stream);
    return cudaPeekAtLastError();
  }
  start(s.y, s.after_words);
  launch_multiply(operands.b, s.x, s.n_pitch, s.y, s.k_pitch, stream);
  launch_multiply(operands.d, s.x, s.n_pitch, s.w, s.m_pitch, stream);
  if (scale.beta != 0) launch_multiply(operands.c, s.x, s.n_pitch, s.v, s.m_pitch, stream);
  // With the products of B as they were, so that a changed B does not show as a changed A.
  launch_multiply(operands.a, s.y_before, s.k_pitch, s.z, s.m_pitch, stream);
  if (spec.bias != nullptr) x_sum_kernel<<<blocks_for(s.n_pitch), kThreads, 0, stream>>>(s);
  agree_kernel<<<blocks_for(spec.m), kThreads, 0, stream>>>(spec, s, scale, record);
  const auto unchanged = [&](const std::uint64_t* before, const std::uint64_t* after, std::int64_t pitch,
                             RegionRole role) {
    unchanged_kernel<<<blocks_for(kVectors * pitch), kThreads, 0, stream>>>(before, after, kVectors * pitch,
                                                                            &record->changed[static_cast<int>(role)]);
  };
  unchanged(s.y_before, s.y, s.k_pitch, RegionRole::b);
  unchanged(s.z_before, s.z, s.m_pitch, RegionRole::a);
  if (scale.beta != 0) unchanged(s.v_before, s.v, s.m_pitch, RegionRole::c);
  return cudaPeekAtLastError();
}

}  // namespace lt_audit
