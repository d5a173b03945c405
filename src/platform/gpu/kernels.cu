// prepare, inspect and compare on the GPU. A problem costs four launches of these: launches, not arithmetic, bound the
// audit's rate on small problems.
#include <algorithm>

#include "platform/expected_math.h"
#include "platform/gpu/kernels.h"
#include "platform/region_math.h"

namespace lt_audit {
namespace {

constexpr int kThreads = 256;
/// Enough blocks to fill the largest GPU several times over; loops stride over the rest.
constexpr std::int64_t kMaxBlocks = 2048;

struct RegionWorks {
  RegionWork work[std::tuple_size_v<decltype(RegionSet::region)>];
};

__device__ void count_byte(const RegionWork& work, std::int64_t byte, VerificationRecord* record) {
  switch (kind_of_byte(work, byte)) {
    case ByteKind::before:
      atomicAdd(&record->guard_before[work.role], 1ULL);
      return;
    case ByteKind::element:
      atomicAdd(&record->changed[work.role], 1ULL);
      return;
    case ByteKind::padding:
      atomicAdd(&record->padding[work.role], 1ULL);
      return;
    case ByteKind::behind:
      atomicAdd(&record->guard_behind[work.role], 1ULL);
      atomicMax(&record->reach_behind[work.role], static_cast<unsigned long long>(byte + 1 - work.data_end()));
      return;
  }
}

/// Out of line and by words: rare, and a dynamic index into registers would cost the fast path its registers.
__device__ __noinline__ void count_chunk(const RegionWork& work, std::int64_t index, const uint4& actual,
                                         const uint4& expected, VerificationRecord* record) {
  const auto* a = reinterpret_cast<const std::uint8_t*>(&actual);
  const auto* e = reinterpret_cast<const std::uint8_t*>(&expected);
  for (int i = 0; i < kChunkBytes; ++i) {
    if (a[i] != e[i]) count_byte(work, index * kChunkBytes + i, record);
  }
}

template <bool kInspect>
struct WalkRegion {
  const RegionWork& work;
  VerificationRecord* record;

  template <cudaDataType_t Type>
  __device__ void run() {
    PatternReader reader(work.pattern, work.op_rows, work.block);
    const std::int64_t skipped = kInspect ? work.skip_end - work.skip_begin : 0;
    const std::int64_t count = work.chunks - skipped;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += stride) {
      const std::int64_t index = kInspect && i >= work.skip_begin ? i + skipped : i;
      auto* memory = reinterpret_cast<uint4*>(work.begin) + index;
      uint4 actual{};
      if (kInspect) actual = __ldcs(memory);
      Chunk chunk;
      memcpy(&chunk, &actual, sizeof chunk);
      fill_chunk<Type>(work, reader, index, kInspect, chunk);
      uint4 expected;
      memcpy(&expected, &chunk, sizeof expected);
      if (!kInspect) {
        *memory = expected;
      } else if (((actual.x ^ expected.x) | (actual.y ^ expected.y) | (actual.z ^ expected.z) |
                  (actual.w ^ expected.w)) != 0) {
        // Copies, so that only this branch has them in local memory.
        const uint4 a = actual;
        const uint4 e = expected;
        count_chunk(work, index, a, e, record);
      }
    }
  }
};

template <bool kInspect>
__global__ void __launch_bounds__(kThreads)
    walk_kernel(const __grid_constant__ RegionWorks works, VerificationRecord* record) {
  WalkRegion<kInspect> function{works.work[blockIdx.y], record};
  with_element_type(works.work[blockIdx.y].type, function);
}

template <bool kInspect>
cudaError_t walk(const RegionSet& regions, VerificationRecord* record, cudaStream_t stream) {
  if (regions.count <= 0) return cudaSuccess;
  RegionWorks works;
  std::int64_t most = 1;
  for (int r = 0; r < regions.count; ++r) {
    works.work[r] = make_region_work(regions.region[static_cast<std::size_t>(r)]);
    most = std::max(most, works.work[r].chunks);
  }
  const auto blocks = static_cast<unsigned>(std::min((most + kThreads - 1) / kThreads, kMaxBlocks));
  walk_kernel<kInspect><<<dim3(blocks, static_cast<unsigned>(regions.count)), kThreads, 0, stream>>>(works, record);
  return cudaPeekAtLastError();
}

/// D is compared in tiles of kTile by kTile elements, kTile / 16 squared of them a thread; kDepth nonzeros of B's
/// columns are hashed at a time, once for the tile, and kept in shared memory.
constexpr int kTile = 32;
constexpr int kDepth = 32;
constexpr int kPart = 16;
constexpr int kEach = kTile / kPart;

struct CompareTile {
  /// Dense B: A's value at (row, l). Sparse B: the hash of A's column l, by B's column.
  std::int32_t a[kDepth][kTile];
  std::int32_t b[kDepth][kTile];
};

__device__ void load_tile(const CompareSpec& spec, const ExpectedInputs& inputs, std::int64_t row0, std::int64_t col0,
                          std::int64_t step0, CompareTile& tile) {
  const bool sparse = spec.b.sparse_block > 1;
  const std::int64_t steps = inputs.b.blocks();
  const int t = static_cast<int>(threadIdx.x) % kTile;
  for (int d = static_cast<int>(threadIdx.x) / kTile; d < kDepth; d += kThreads / kTile) {
    const std::int64_t step = step0 + d;
    const bool inside = step < steps;
    const std::int64_t l = inside && sparse ? inputs.b.nonzero_row(step, col0 + t) : step;
    tile.b[d][t] = inside ? inputs.b.nonzero_at(l, inputs.b.col_hash(col0 + t)) : 0;
    const std::uint32_t hash = inputs.a.col_hash(l);
    tile.a[d][t] = sparse ? static_cast<std::int32_t>(hash) : inputs.a.nonzero_at(row0 + t, hash);
  }
}

/// The sums for this thread's elements (row0 + x + kPart * i, col0 + y + kPart * j). All threads of the block call it,
/// also those outside of D.
__device__ void tile_sums(const CompareSpec& spec, const ExpectedInputs& inputs, std::int64_t row0, std::int64_t col0,
                          CompareTile& tile, std::int64_t (&sum)[kEach][kEach]) {
  const int x = static_cast<int>(threadIdx.x) % kPart;
  const int y = static_cast<int>(threadIdx.x) / kPart;
  const std::int64_t steps = inputs.b.blocks();
  for (std::int64_t step0 = 0; step0 < steps; step0 += kDepth) {
    load_tile(spec, inputs, row0, col0, step0, tile);
    __syncthreads();
    const int depth = static_cast<int>(steps - step0 < kDepth ? steps - step0 : kDepth);
    if (spec.b.sparse_block > 1) {
      for (int d = 0; d < depth; ++d) {
        for (int j = 0; j < kEach; ++j) {
          const auto hash = static_cast<std::uint32_t>(tile.a[d][y + kPart * j]);
          const std::int64_t b = tile.b[d][y + kPart * j];
          for (int i = 0; i < kEach; ++i) sum[i][j] += b * inputs.a.nonzero_at(row0 + x + kPart * i, hash);
        }
      }
    } else {
#pragma unroll 4
      for (int d = 0; d < depth; ++d) {
        for (int j = 0; j < kEach; ++j) {
          const std::int64_t b = tile.b[d][y + kPart * j];
          for (int i = 0; i < kEach; ++i) sum[i][j] += b * tile.a[d][x + kPart * i];
        }
      }
    }
    __syncthreads();
  }
}

/// What one thread of compare found.
struct CompareCounts {
  int nonzero = 0;
  int wrong = 0;
  int unwritten = 0;
  int aux_wrong = 0;
  double amax = 0;
  unsigned long long first = ~0ULL;

  __device__ void add(const CompareSpec& spec, const ElementResult& result, std::int64_t row, std::int64_t col,
                      std::int64_t batch) {
    nonzero += result.nonzero ? 1 : 0;
    unwritten += result.unwritten ? 1 : 0;
    if (!result.wrong) return;
    ++wrong;
    const auto index = static_cast<unsigned long long>((batch * spec.n + col) * spec.m + row);
    first = index < first ? index : first;
  }

  /// All threads of a warp call it.
  __device__ void write(VerificationRecord* record) {
    for (int offset = 16; offset > 0; offset /= 2) nonzero += __shfl_down_sync(~0U, nonzero, offset);
    if (threadIdx.x % 32 == 0 && nonzero > 0) {
      atomicAdd(&record->expected_nonzero, static_cast<unsigned long long>(nonzero));
    }
    if (amax > 0) {
      atomicMax(&record->amax_expected, static_cast<unsigned long long>(__double_as_longlong(amax)));
    }
    if (aux_wrong > 0) atomicAdd(&record->aux_wrong, static_cast<unsigned long long>(aux_wrong));
    if (wrong == 0) return;
    atomicAdd(&record->wrong, static_cast<unsigned long long>(wrong));
    atomicAdd(&record->unwritten, static_cast<unsigned long long>(unwritten));
    atomicMin(&record->first_wrong, first);
  }
};

/// Plain problems: nearly all, and the fast way.
__global__ void __launch_bounds__(kThreads)
    compare_kernel(const __grid_constant__ CompareSpec spec, std::int64_t tiles_m, std::int64_t tiles,
                   VerificationRecord* record) {
  __shared__ CompareTile tile;
  const std::int64_t tiles_n = (spec.n + kTile - 1) / kTile;
  ExpectedInputs inputs(spec);
  CompareCounts counts;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t row0 = t % tiles_m * kTile;
    const std::int64_t col0 = t / tiles_m % tiles_n * kTile;
    const std::int64_t batch = t / tiles_m / tiles_n;
    inputs.set_batch(spec, batch);
    std::int64_t sum[kEach][kEach] = {};
    tile_sums(spec, inputs, row0, col0, tile, sum);
    for (int j = 0; j < kEach; ++j) {
      for (int i = 0; i < kEach; ++i) {
        const std::int64_t row = row0 + threadIdx.x % kPart + kPart * i;
        const std::int64_t col = col0 + threadIdx.x / kPart + kPart * j;
        if (row >= spec.m || col >= spec.n) continue;
        const ComplexValue x = before_activation<true>(spec, inputs, {sum[i][j], 0}, row, col);
        counts.add(spec, compare_element<true>(spec, inputs, x, row, col, batch), row, col, batch);
      }
    }
  }
  counts.write(record);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    atomicAdd(&record->compared, static_cast<unsigned long long>(spec.m * spec.n * spec.batch_count));
  }
}

/// Every other problem, an element a thread: complex types, factors inside the sum, GELU, aux, amax.
__global__ void __launch_bounds__(kThreads)
    compare_fully_kernel(const __grid_constant__ CompareSpec spec, VerificationRecord* record) {
  const std::int64_t elements = spec.m * spec.n * spec.batch_count;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const bool writes_aux = spec.aux_use == AuxUse::mask_out || spec.aux_use == AuxUse::values_out;
  ExpectedInputs inputs(spec);
  CompareCounts counts;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < elements; i += stride) {
    const std::int64_t row = i % spec.m;
    const std::int64_t col = i / spec.m % spec.n;
    const std::int64_t batch = i / spec.m / spec.n;
    inputs.set_batch(spec, batch);
    const ComplexValue x = before_activation(spec, inputs, sum_of(spec, inputs, row, col), row, col);
    counts.add(spec, compare_element(spec, inputs, x, row, col, batch), row, col, batch);
    if (writes_aux && !aux_is_right(spec, x.real, row, col, batch)) ++counts.aux_wrong;
    if (spec.amax_memory != nullptr)
      counts.amax = fmax(counts.amax, fabs(activated(spec, inputs, x.real, row, col).value));
  }
  counts.write(record);
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  atomicAdd(&record->compared, static_cast<unsigned long long>(elements));
  if (writes_aux) atomicAdd(&record->aux_compared, static_cast<unsigned long long>(elements));
  if (spec.amax_memory != nullptr) record->amax_actual = decode(CUDA_R_32F, spec.amax_memory);
}

/// Sum over the block, in thread 0.
__device__ double block_sum(double value) {
  __shared__ double parts[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0U, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x != 0) return 0;
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

/// The bias gradient, an element a block.
__global__ void __launch_bounds__(kThreads)
    compare_gradient_kernel(const __grid_constant__ CompareSpec spec, VerificationRecord* record) {
  const std::int64_t length = gradient_length(spec);
  ExpectedInputs inputs(spec);
  for (std::int64_t i = blockIdx.x; i < length * spec.batch_count; i += gridDim.x) {
    const std::int64_t index = i % length;
    inputs.set_batch(spec, i / length);
    const ExpectedValue part = gradient_sum(spec, inputs, index, threadIdx.x, kThreads);
    const ExpectedValue sum{block_sum(part.value), block_sum(part.tolerance)};
    if (threadIdx.x != 0) continue;
    atomicAdd(&record->gradient_compared, 1ULL);
    if (!gradient_is_right(spec, sum, index, i / length)) atomicAdd(&record->gradient_wrong, 1ULL);
  }
}

/// One block: computes the first wrong element again for its two values. Returns at once when nothing is wrong.
__global__ void __launch_bounds__(kThreads)
    first_wrong_kernel(const __grid_constant__ CompareSpec spec, VerificationRecord* record) {
  __shared__ unsigned long long sums[2];
  if (record->wrong == 0 || record->first_wrong == ~0ULL) return;
  const auto index = static_cast<std::int64_t>(record->first_wrong);
  const std::int64_t row = index % spec.m;
  const std::int64_t col = index / spec.m % spec.n;
  const std::int64_t batch = index / spec.m / spec.n;
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  ExpectedInputs inputs(spec);
  inputs.set_batch(spec, batch);
  const ComplexSum part = sum_of(spec, inputs, row, col, threadIdx.x, kThreads);
  atomicAdd(&sums[0], static_cast<unsigned long long>(part.real));
  atomicAdd(&sums[1], static_cast<unsigned long long>(part.imaginary));
  __syncthreads();
  if (threadIdx.x != 0) return;
  const ComplexSum sum{static_cast<std::int64_t>(sums[0]), static_cast<std::int64_t>(sums[1])};
  const ComplexValue x = before_activation(spec, inputs, sum, row, col);
  const ElementResult result = compare_element(spec, inputs, x, row, col, batch);
  record->first_expected = result.expected;
  record->first_actual = result.actual;
}

__device__ void wait_for(std::int64_t nanoseconds) {
  const auto now = [] {
    std::uint64_t time = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return static_cast<std::int64_t>(time);
  };
  const std::int64_t start = now();
  while (now() - start < nanoseconds) __nanosleep(100);
}

__global__ void occupy_kernel(std::int64_t nanoseconds) { wait_for(nanoseconds); }

constexpr int kCopyBlocks = 32;

/// PTX ISA 8.5, griddepcontrol: dependents may start when all blocks have said so, and the wait lasts until the work in
/// front has ended and its writes can be seen.
__global__ void copy_late_kernel(unsigned char* to, const unsigned char* from, std::size_t bytes,
                                 std::int64_t nanoseconds) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  wait_for(nanoseconds);
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += step) to[i] = from[i];
}

}  // namespace

cudaError_t prepare_on_gpu(const PrepareSpec& spec, cudaStream_t stream) {
  return walk<false>(spec.regions, nullptr, stream);
}

cudaError_t inspect_on_gpu(const InspectSpec& spec, VerificationRecord* record, cudaStream_t stream) {
  return walk<true>(spec.regions, record, stream);
}

cudaError_t occupy_on_gpu(std::int64_t nanoseconds, cudaStream_t stream) {
  occupy_kernel<<<1, 1, 0, stream>>>(nanoseconds);
  return cudaPeekAtLastError();
}

cudaError_t copy_late_on_gpu(void* to, const void* from, std::size_t bytes, std::int64_t nanoseconds,
                             cudaStream_t stream) {
  int device = 0;
  int major = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  if (const cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      error != cudaSuccess) {
    return error;
  }
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kCopyBlocks);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = major >= 9 ? 1 : 0;
  return cudaLaunchKernelEx(&config, copy_late_kernel, static_cast<unsigned char*>(to),
                            static_cast<const unsigned char*>(from), bytes, nanoseconds);
}

cudaError_t compare_on_gpu(const CompareSpec& spec, VerificationRecord* record, cudaStream_t stream) {
  const std::int64_t tiles_m = (spec.m + kTile - 1) / kTile;
  const std::int64_t tiles = tiles_m * ((spec.n + kTile - 1) / kTile) * spec.batch_count;
  if (tiles <= 0) return cudaSuccess;
  if (is_plain(spec)) {
    const auto blocks = static_cast<unsigned>(std::min(tiles, kMaxBlocks * 32));
    compare_kernel<<<blocks, kThreads, 0, stream>>>(spec, tiles_m, tiles, record);
  } else {
    const std::int64_t elements = spec.m * spec.n * spec.batch_count;
    const auto blocks = static_cast<unsigned>(std::min((elements + kThreads - 1) / kThreads, kMaxBlocks * 4));
    compare_fully_kernel<<<blocks, kThreads, 0, stream>>>(spec, record);
  }
  if (spec.gradient != GradientOf::none) {
    const auto blocks = static_cast<unsigned>(std::min(gradient_length(spec) * spec.batch_count, kMaxBlocks * 4));
    compare_gradient_kernel<<<blocks, kThreads, 0, stream>>>(spec, record);
  }
  first_wrong_kernel<<<1, kThreads, 0, stream>>>(spec, record);
  return cudaPeekAtLastError();
}

}  // namespace lt_audit
