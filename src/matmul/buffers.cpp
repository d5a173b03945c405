#include "matmul/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lt_audit/contract.h"

namespace lt_audit {
namespace {

constexpr std::size_t kInputGuard = 4096;
constexpr std::size_t kOutputGuard = 64 * 1024;
/// A larger guard costs time to fill and to look at; it is spent only where an overrun of whole elements is plausible.
constexpr std::size_t kLargestListedGuard = 1024 * 1024;

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// A floating NaN, or an integer that exact inputs never reach (they stay within 127 and 2^30).
std::uint8_t poison_of(cudaDataType_t type) { return is_integer(type) ? 0x80 : 0xFF; }

std::size_t bytes_of_shape(const MatrixShape& shape) { return static_cast<std::size_t>(shape.bytes()); }

/// Behind D: a library that takes D's elements for wider ones writes up to 8 times its bytes (FP64 for FP8).
std::size_t guard_behind_d(const MatmulProblem& p, std::size_t d_bytes) {
  const bool listed = promise_of_types(p, ContractScope{}).refused_by == RefusedBy::nothing;
  const std::size_t wide = std::max(kOutputGuard, aligned(8 * d_bytes));
  return listed ? std::min(wide, kLargestListedGuard) : wide;
}

class Carver {
 public:
  Carver(BufferPlan& plan, void* slab) : plan_(plan), slab_(static_cast<std::byte*>(slab)) {}

  /// One matrix between guard zones, its first element `offset` bytes behind a 256-byte boundary.
  void* matrix(RegionRole role, RegionContent content, const MatrixShape& shape, const ValuePattern& pattern,
               std::int64_t offset, std::size_t behind) {
    Region region;
    region.role = role;
    region.content = content;
    region.shape = shape;
    region.pattern = pattern;
    region.poison = poison_of(shape.type);
    region.data_offset = (role == RegionRole::d ? kOutputGuard : kInputGuard) + static_cast<std::size_t>(offset);
    region.bytes = aligned(region.data_offset + bytes_of_shape(shape) + behind);
    return add(region);
  }

  /// What the call writes beside D: poison, and the comparison says what must be there.
  void* output(RegionRole role, const MatrixShape& shape, std::int64_t offset) {
    void* data = matrix(role, RegionContent::poison, shape, {}, offset, kOutputGuard);
    plan_.regions.region.at(static_cast<std::size_t>(plan_.regions.count - 1)).inside_is_free = true;
    return data;
  }

  /// The workspace: its inside belongs to the library, so only the two guard zones are regions.
  void* workspace(std::int64_t bytes, std::int64_t offset) {
    Region guard;
    guard.role = RegionRole::workspace;
    guard.content = RegionContent::poison;
    guard.shape = {CUDA_R_8I, 0, 0, 0, CUBLASLT_ORDER_COL, 1, 0};
    guard.bytes = guard.data_offset = kInputGuard;
    add(guard);
    void* inside = at(plan_.total_bytes + static_cast<std::size_t>(offset));
    plan_.total_bytes += aligned(static_cast<std::size_t>(bytes + offset));
    guard.data_offset = 0;
    add(guard);
    return inside;
  }

 private:
  void* add(Region region) {
    region.begin = at(plan_.total_bytes);
    void* data = at(plan_.total_bytes + region.data_offset);
    plan_.total_bytes += region.bytes;
    plan_.regions.region.at(static_cast<std::size_t>(plan_.regions.count++)) = region;
    return data;
  }

  /// Without a slab only sizes are asked for.
  void* at(std::size_t offset) const { return slab_ == nullptr ? nullptr : slab_ + offset; }

  BufferPlan& plan_;
  std::byte* slab_;
};

constexpr MatrixShape kOneFloat{CUDA_R_32F, 1, 1, 1, CUBLASLT_ORDER_COL, 1, 0};

/// Tables of scale factors and what goes with them.
void plan_scales(Carver& carve, BufferPlan& plan, const MatmulProblem& p, const ExactInputs& inputs) {
  const auto table = [&](const std::optional<cublasLtMatmulMatrixScale_t>& mode, std::int64_t outer,
                         const ValuePattern& pattern, std::int64_t offset) -> void* {
    if (!mode) return nullptr;
    return carve.matrix(RegionRole::scale, RegionContent::values, shape_scale(*mode, outer, p.k), pattern, offset,
                        kInputGuard);
  };
  plan.scale_a = table(p.scale_a, p.m, inputs.scale_a, p.scale_a_offset);
  plan.scale_b = table(p.scale_b, p.n, inputs.scale_b, p.scale_b_offset);
  plan.scale_c = table(p.scale_c, p.m, inputs.scale_c, 0);
  plan.scale_d = table(p.scale_d, p.m, inputs.scale_d, 0);
  if (p.amax_d) plan.amax_d = carve.output(RegionRole::scale, kOneFloat, 0);
}

struct NamedOperand {
  const char* name;
  MatrixShape shape;
  std::int64_t offset;
};

/// Planes that hold each other's numbers, or lie where the audit does not put them.
std::optional<std::string> cannot_place_plane(const NamedOperand& operand) {
  const auto& shape = operand.shape;
  if (!shape.is_planar()) return std::nullopt;
  if (!is_complex(shape.type)) return fmt::format("{} is real and has no plane of imaginary parts", operand.name);
  const auto part = static_cast<std::int64_t>(bytes_of(shape.stored_type()));
  MatrixShape one = shape;
  one.batch_count = 1;
  const auto plane = one.span() * part;
  const bool apart = shape.plane_offset >= shape.span() * part;
  // Real and imaginary parts of one matrix after those of the other.
  const bool alternate = shape.plane_offset >= plane && shape.batch_stride * part >= shape.plane_offset + plane;
  if (shape.plane_offset % part != 0 || !(apart || alternate)) {
    return fmt::format("the planes of {} must not overlap: a plane offset of {} bytes, {} to a plane", operand.name,
                       shape.plane_offset, plane);
  }
  return std::nullopt;
}

std::optional<std::string> cannot_place(const NamedOperand& operand) {
  const auto size = static_cast<std::int64_t>(bytes_of(operand.shape.stored_type()));
  if (size == 0) return fmt::format("the audit cannot fill {} of type {}", operand.name, name_of(operand.shape.type));
  if (operand.offset % size != 0) {
    return fmt::format("an offset of {} bytes splits the {}-byte elements of {}; use a multiple of {}", operand.offset,
                       size, operand.name, size);
  }
  // Checked in floating point first: the product of untrusted sizes may not fit 64 bits.
  const auto& shape = operand.shape;
  const bool by_row = shape.order == CUBLASLT_ORDER_ROW;
  const double lines = static_cast<double>(by_row ? shape.rows : shape.cols);
  const double bytes = (static_cast<double>(shape.batch_count) * static_cast<double>(shape.batch_stride) +
                        lines * static_cast<double>(shape.ld) + static_cast<double>(by_row ? shape.cols : shape.rows)) *
                       static_cast<double>(size);
  if (bytes > 0x1p46) return fmt::format("{} needs more than 64 TiB", operand.name);
  return cannot_place_plane(operand);
}

/// What the verifier does not know of scale factors.
std::optional<std::string> cannot_scale(const MatmulProblem& p) {
  for (const auto& mode : {p.scale_a, p.scale_b}) {
    if (!mode) continue;
    if (shape_scale(*mode, p.m, p.k).rows == 0) {
      return fmt::format("the audit cannot fill scale factors of mode {} yet", name_of(*mode));
    }
    // How the tables of several batches follow each other is documented nowhere.
    if (*mode != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F && p.batch_count > 1) {
      return fmt::format("the audit cannot lay out scale factors of mode {} for several batches", name_of(*mode));
    }
  }
  for (const auto& mode : {p.scale_c, p.scale_d}) {
    if (mode && *mode != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) {
      return fmt::format("the audit cannot fill scale factors of mode {} for C and D yet", name_of(*mode));
    }
  }
  return std::nullopt;
}

/// What the verifier does not know of epilogues and types.
std::optional<std::string> cannot_verify(const MatmulProblem& p) {
  const bool complex = is_complex(p.type_a);
  for (const auto type : {p.type_b, p.type_c, p.type_d}) {
    if (is_complex(type) != complex) return "the audit cannot verify products of real and complex matrices";
  }
  if (!(complex && is_complex(p.scale_type)) && (p.alpha_imaginary != 0 || p.beta_imaginary != 0)) {
    return "imaginary parts of alpha and beta need complex matrices and a complex scale type";
  }
  if (complex && p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    return fmt::format("the audit cannot verify epilogue {} of complex matrices", name_of(p.epilogue));
  }
  const bool beside = has_aux(p.epilogue) || has_bias_gradient(p.epilogue);
  if (beside && p.order_d == CUBLASLT_ORDER_ROW) {
    return fmt::format("the audit cannot verify epilogue {} with D in order row", name_of(p.epilogue));
  }
  if (has_bias_gradient(p.epilogue) && p.batch_count > 1 && p.stride_bias < shape_bias(p).rows) {
    return "the bias gradients of several batches would lie in the same memory; set stride_bias";
  }
  return std::nullopt;
}

}  // namespace

BufferPlan plan_buffers(const MatmulProblem& p, const ExactInputs& inputs, void* slab) {
  BufferPlan plan;
  Carver carve(plan, slab);
  using enum RegionRole;
  plan.a = carve.matrix(a, RegionContent::values, shape_a(p), inputs.a, p.a_offset, kInputGuard);
  plan.b = carve.matrix(b, RegionContent::values, shape_b(p), inputs.b, p.b_offset, kInputGuard);
  if (!p.in_place) plan.c = carve.matrix(c, RegionContent::values, shape_c(p), inputs.c, p.c_offset, kInputGuard);
  if (has_bias(p.epilogue)) {
    plan.bias = carve.matrix(bias, RegionContent::values, shape_bias(p), inputs.bias, p.bias_offset, kInputGuard);
  } else if (has_bias_gradient(p.epilogue)) {
    plan.bias = carve.output(bias, shape_bias(p), p.bias_offset);
  }
  if (reads_aux(p.epilogue)) {
    plan.aux = carve.matrix(aux, RegionContent::values, shape_aux(p), inputs.aux, p.aux_offset, kInputGuard);
  } else if (has_aux(p.epilogue)) {
    plan.aux = carve.output(aux, shape_aux(p), p.aux_offset);
  }
  plan_scales(carve, plan, p, inputs);
  if (p.workspace_bytes > 0) plan.workspace = carve.workspace(p.workspace_bytes, p.workspace_offset);
  const auto d_shape = shape_d(p);
  plan.d = carve.matrix(d, p.in_place ? RegionContent::values : RegionContent::poison, d_shape, inputs.c, p.d_offset,
                        guard_behind_d(p, bytes_of_shape(d_shape)));
  plan.d_poison = poison_of(d_shape.type);
  if (p.in_place) plan.c = plan.d;
  return plan;
}

std::optional<std::string> cannot_lay_out(const MatmulProblem& p) {
  if (auto reason = cannot_verify(p)) return reason;
  if (auto reason = cannot_scale(p)) return reason;
  std::vector<NamedOperand> operands{{"A", shape_a(p), p.a_offset},
                                     {"B", shape_b(p), p.b_offset},
                                     {"C", shape_c(p), p.in_place ? 0 : p.c_offset},
                                     {"D", shape_d(p), p.d_offset}};
  if (has_bias(p.epilogue) || has_bias_gradient(p.epilogue)) {
    operands.push_back({"the bias", shape_bias(p), p.bias_offset});
  }
  if (has_aux(p.epilogue)) operands.push_back({"aux", shape_aux(p), p.aux_offset});
  if (p.scale_a) operands.push_back({"the scale of A", shape_scale(*p.scale_a, p.m, p.k), p.scale_a_offset});
  if (p.scale_b) operands.push_back({"the scale of B", shape_scale(*p.scale_b, p.n, p.k), p.scale_b_offset});
  for (const auto& operand : operands) {
    if (auto reason = cannot_place(operand)) return reason;
  }
  return std::nullopt;
}

}  // namespace lt_audit
