// Which byte of a guarded region is what, and what prepare wrote there; shared by the host and the device like
// audit_math.h. Regions are walked in chunks of 16 bytes: an element never straddles two of them.
#pragma once

#include <algorithm>

#include "platform/audit_math.h"

namespace lt_audit {

inline constexpr std::int64_t kChunkBytes = 16;
struct alignas(16) Chunk {
  std::uint8_t byte[kChunkBytes];
};

/// A region as the kernels take it.
struct RegionWork {
  std::uint8_t* begin = nullptr;
  std::int64_t chunks = 0;
  std::int64_t data_offset = 0;
  /// Elements from the first to one past the last, padding included. Of a planar matrix real numbers, in both planes.
  std::int64_t span = 0;
  /// The same of one plane, and where the plane of imaginary parts begins; 0 = there is none.
  std::int64_t plane_span = 0;
  std::int64_t plane = 0;
  /// The matrix in memory order: `minors` contiguous elements per column (order col) or row (order row).
  std::int64_t minors = 0;
  std::int64_t majors = 0;
  Divisor ld;
  std::int64_t batch_count = 1;
  Divisor batch_stride;
  /// The pattern's sparse_block.
  Divisor block;
  /// Batches lie inside each other's padding: a batch's span reaches past the start of the next.
  bool interleaved = false;
  /// The contiguous direction is the op-row direction.
  bool minor_is_op_row = true;
  bool has_values = false;
  /// Elements may have changed: D and the workspace.
  bool elements_are_free = false;
  /// Chunks [skip_begin, skip_end) hold nothing but free elements.
  std::int64_t skip_begin = 0;
  std::int64_t skip_end = 0;
  std::int64_t op_rows = 0;
  cudaDataType_t type = CUDA_R_8I;
  std::int32_t bytes_per_element = 1;
  ValuePattern pattern;
  std::uint8_t poison = 0xFF;
  int role = 0;

  __host__ __device__ std::int64_t data_end() const { return data_offset + span * bytes_per_element; }
};

/// Where an element of the span lies.
struct ElementPlace {
  std::int64_t batch = 0;
  std::int64_t major = 0;
  std::int64_t minor = 0;
  bool is_element = false;
  /// It lies in the plane of imaginary parts.
  bool is_imaginary = false;
};

/// The place of element `index` (0 <= index < plane_span) of a plane, or padding. With interleaved batches the last
/// batch that has the element is the one.
__host__ __device__ inline ElementPlace locate_in_plane(const RegionWork& work, std::int64_t index) {
  ElementPlace place;
  if (work.batch_count > 1) {
    place.batch = work.batch_stride.quotient(index);
    if (place.batch >= work.batch_count) place.batch = work.batch_count - 1;
  }
  for (;;) {
    const std::int64_t offset = index - place.batch * work.batch_stride.value();
    place.major = work.ld.quotient(offset);
    place.minor = offset - place.major * work.ld.value();
    place.is_element = place.major < work.majors && place.minor < work.minors;
    if (place.is_element || !work.interleaved || place.batch == 0) return place;
    --place.batch;
  }
}

/// The place of element `index` (0 <= index < span), or padding. Planes may lie in each other's padding.
__host__ __device__ inline ElementPlace locate(const RegionWork& work, std::int64_t index) {
  if (work.plane == 0) return locate_in_plane(work, index);
  ElementPlace place;
  if (index < work.plane_span) place = locate_in_plane(work, index);
  if (place.is_element || index < work.plane) return place;
  place = locate_in_plane(work, index - work.plane);
  place.is_imaginary = place.is_element;
  return place;
}

/// True when so many elements from the place on lie behind one column and before the next: most of a region whose
/// leading dimension is far above its rows.
__host__ __device__ inline bool is_inside_padding(const RegionWork& work, const ElementPlace& place,
                                                  std::int64_t elements) {
  return work.plane == 0 && !place.is_element && !work.interleaved && place.major < work.majors &&
         place.minor >= work.minors && place.minor + elements <= work.ld.value();
}

/// fill_chunk for a chunk that is not inside one column: borders of the matrix, of columns and of batches. Out of line,
/// since its dynamic indices would put the common path's registers into local memory. Writes whole elements:
/// through single bytes, converted 16-bit values came out wrong (nvcc 13.0.88, sm_90).
template <cudaDataType_t Type>
__host__ __device__ __attribute__((noinline)) void fill_border_chunk(const RegionWork& work, PatternReader& reader,
                                                                     std::int64_t first, bool keep,
                                                                     typename Element<Type>::Bits* bits) {
  constexpr std::int64_t kElements = kChunkBytes / static_cast<std::int64_t>(sizeof *bits);
  for (std::int64_t i = 0; i < kElements; ++i) {
    const std::int64_t element = first + i;
    const bool in_span = element >= 0 && element < work.span;
    const ElementPlace place = in_span ? locate(work, element) : ElementPlace{};
    if (!place.is_element) {
      memset(&bits[i], work.poison, sizeof *bits);
    } else if (!keep) {
      reader.set_batch(place.batch);
      const std::int32_t value =
          work.minor_is_op_row ? reader.at(place.minor, place.major) : reader.at(place.major, place.minor);
      bits[i] = Element<Type>::from_int(place.is_imaginary ? imaginary_of(value) : value);
    }
  }
}

/// The chunk as prepare writes it: values in elements, poison elsewhere. With keep_free, free elements stay as they
/// are.
template <cudaDataType_t Type>
__host__ __device__ inline void fill_chunk(const RegionWork& work, PatternReader& reader, std::int64_t index,
                                           bool keep_free, Chunk& chunk) {
  using Bits = typename Element<Type>::Bits;
  constexpr int kElements = static_cast<int>(kChunkBytes / static_cast<std::int64_t>(sizeof(Bits)));
  const bool keep = keep_free && work.elements_are_free;
  const std::int64_t first = (index * kChunkBytes - work.data_offset) / static_cast<std::int64_t>(sizeof(Bits));
  if (first + kElements <= 0 || first >= work.span || !(work.has_values || keep)) {
    memset(&chunk, work.poison, sizeof chunk);
    return;
  }
  const ElementPlace place = locate_in_plane(work, first < 0 ? 0 : first);
  if (is_inside_padding(work, place, kElements) && first >= 0 && first + kElements <= work.span) {
    memset(&chunk, work.poison, sizeof chunk);
    return;
  }
  // Planar matrices are rare: the long way costs the others one comparison.
  if (first < 0 || first + kElements > work.span || !place.is_element || place.minor + kElements > work.minors ||
      work.plane != 0) {
    Bits border[kElements];
    memcpy(border, &chunk, kChunkBytes);
    fill_border_chunk<Type>(work, reader, first, keep, border);
    memcpy(&chunk, border, kChunkBytes);
    return;
  }
  if (keep) return;
  reader.set_batch(place.batch);
  std::int32_t values[kElements];
  if (work.minor_is_op_row) {
    reader.read_column(place.minor, place.major, values);
  } else {
    reader.read_row(place.major, place.minor, values);
  }
  Bits bits[kElements];
  for (int i = 0; i < kElements; ++i) bits[i] = Element<Type>::from_int(values[i]);
  memcpy(&chunk, bits, kChunkBytes);
}

/// What a byte of a region belongs to.
enum class ByteKind { before, element, padding, behind };

__host__ __device__ inline ByteKind kind_of_byte(const RegionWork& work, std::int64_t byte) {
  if (byte < work.data_offset) return ByteKind::before;
  if (byte >= work.data_end()) return ByteKind::behind;
  const std::int64_t index = (byte - work.data_offset) / work.bytes_per_element;
  return locate(work, index).is_element ? ByteKind::element : ByteKind::padding;
}

/// The request in the form above. Regions without an element (span 0) are poison throughout.
inline RegionWork make_region_work(const Region& region) {
  const MatrixShape& shape = region.shape;
  RegionWork work;
  work.begin = static_cast<std::uint8_t*>(region.begin);
  work.chunks = static_cast<std::int64_t>(region.bytes) / kChunkBytes;
  work.data_offset = static_cast<std::int64_t>(region.data_offset);
  const bool by_col = shape.order == CUBLASLT_ORDER_COL;
  work.minors = by_col ? shape.rows : shape.cols;
  work.majors = by_col ? shape.cols : shape.rows;
  // Of a single column no leading dimension is used; one below its length would make padding of its elements.
  const std::int64_t least = work.majors == 1 && work.minors > 0 ? work.minors : 1;
  const std::int64_t ld = shape.ld > least ? shape.ld : least;
  work.ld = Divisor(ld);
  work.batch_count = shape.batch_stride > 0 ? shape.batch_count : 1;
  const std::int64_t stride = work.batch_count > 1 ? shape.batch_stride : 1;
  work.batch_stride = Divisor(stride);
  work.block = Divisor(region.pattern.sparse_block);
  const std::int64_t one = work.minors > 0 && work.majors > 0 ? (work.majors - 1) * ld + work.minors : 0;
  work.type = shape.stored_type();
  work.bytes_per_element = element_bytes(work.type);
  work.plane_span = one > 0 ? (work.batch_count - 1) * stride + one : 0;
  work.plane = shape.plane_offset / std::max(work.bytes_per_element, 1);
  work.span = one > 0 ? work.plane + work.plane_span : 0;
  work.interleaved = work.batch_count > 1 && stride < one;
  work.minor_is_op_row = by_col != region.pattern.transposed;
  work.op_rows = region.pattern.transposed ? shape.cols : shape.rows;
  work.pattern = region.pattern;
  work.poison = region.poison;
  work.has_values = region.content == RegionContent::values;
  work.role = static_cast<int>(region.role);
  work.elements_are_free =
      region.role == RegionRole::d || region.role == RegionRole::workspace || region.inside_is_free;
  const bool packed =
      (work.majors == 1 || ld == work.minors) && (work.batch_count == 1 || stride == work.majors * work.minors);
  if (work.elements_are_free && packed && work.plane == 0) {
    work.skip_begin = (work.data_offset + kChunkBytes - 1) / kChunkBytes;
    work.skip_end = work.data_end() / kChunkBytes;
    if (work.skip_end < work.skip_begin) work.skip_end = work.skip_begin;
  }
  return work;
}

}  // namespace lt_audit
