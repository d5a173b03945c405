// Faults of FP8 scale factors: another factor than the documented place of the table holds, or none, and amax that is
// not written.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

using Mode = cublasLtMatmulMatrixScale_t;

/// The table of one operand as the descriptor has it.
struct Table {
  cublasLtMatmulDescAttributes_t attribute = CUBLASLT_MATMUL_DESC_A_SCALE_POINTER;
  const void* pointer = nullptr;
  Mode mode = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  MatrixShape shape;
};

Table table_of(const Platform& real, const CallFacts& facts, const MatmulCall& call, bool of_a) {
  Table table;
  if (!of_a) table.attribute = CUBLASLT_MATMUL_DESC_B_SCALE_POINTER;
  table.pointer = attribute_of<const void*>(real.lt, call, table.attribute, nullptr);
  const auto mode = attribute_of<std::int32_t>(
      real.lt, call, of_a ? CUBLASLT_MATMUL_DESC_A_SCALE_MODE : CUBLASLT_MATMUL_DESC_B_SCALE_MODE, 0);
  table.mode = static_cast<Mode>(mode);
  table.shape = shape_scale(table.mode, of_a ? facts.d.rows : facts.d.cols, facts.k());
  return table;
}

/// The place that a library which misreads the table reads in place of (row, col); -1 = the right one.
using Misreading = std::int64_t (*)(const Table& table, std::int64_t row, std::int64_t col);

/// A second table that a right library reads as the first one is misread; null when nothing can be misread.
const void* misread(const Platform& real, const MatmulCall& call, const Table& table, Scratch& scratch,
                    Misreading reading) {
  const auto& shape = table.shape;
  if (table.pointer == nullptr || shape.rows * shape.cols <= 1) return nullptr;
  std::vector<float> right(static_cast<std::size_t>(shape.span()));
  const auto bytes = right.size() * sizeof(float);
  void* const copy = scratch.at_least(real, bytes, call.stream);
  if (copy == nullptr ||
      real.cuda.memcpy_async(right.data(), table.pointer, bytes, cudaMemcpyDeviceToHost, call.stream) != cudaSuccess ||
      real.cuda.stream_synchronize(call.stream) != cudaSuccess) {
    return nullptr;
  }
  auto wrong = right;
  for (std::int64_t col = 0; col < shape.cols; ++col) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const std::int64_t place = reading(table, row, col);
      if (place >= 0) wrong[static_cast<std::size_t>(col * shape.ld + row)] = right[static_cast<std::size_t>(place)];
    }
  }
  const bool sent =
      real.cuda.memcpy_async(copy, wrong.data(), bytes, cudaMemcpyHostToDevice, call.stream) == cudaSuccess &&
      real.cuda.stream_synchronize(call.stream) == cudaSuccess;
  return sent ? copy : nullptr;
}

/// Every FP8 call with its tables misread.
void on_tables(Platform& platform, Misreading reading) {
  auto scratch_a = std::make_shared<Scratch>();
  auto scratch_b = std::make_shared<Scratch>();
  on_matmul(platform, [=](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!facts.inputs_are_fp8()) return send(real, call);
    std::vector<std::unique_ptr<BorrowedAttribute<const void*>>> borrowed;
    for (const bool of_a : {true, false}) {
      const Table table = table_of(real, facts, call, of_a);
      if (const void* other = misread(real, call, table, of_a ? *scratch_a : *scratch_b, reading)) {
        borrowed.push_back(
            std::make_unique<BorrowedAttribute<const void*>>(real.lt, call.operands.desc, table.attribute, other));
      }
    }
    return send(real, call);
  });
}

bool is_scalar_pointer_misplaced(const Platform& real, const MatmulCall& call) {
  struct Factor {
    cublasLtMatmulDescAttributes_t pointer, mode;
  };
  for (const auto& factor : {Factor{CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_MODE},
                             Factor{CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_MODE},
                             Factor{CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_C_SCALE_MODE},
                             Factor{CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_MODE}}) {
    const auto* const pointer = attribute_of<const void*>(real.lt, call, factor.pointer, nullptr);
    const auto mode = attribute_of<std::int32_t>(real.lt, call, factor.mode, 0);
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F && misalignment(pointer, 16) != 0) return true;
  }
  return false;
}

}  // namespace

void plant_amax_ignored(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!facts.inputs_are_fp8()) return send(real, call);
    const BorrowedAttribute<void*> none(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, nullptr);
    return send(real, call);
  });
}

void plant_block_scale_padding_ignored(Platform& platform) {
  on_tables(platform, [](const Table& table, std::int64_t row, std::int64_t col) {
    return table.mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F ? col * table.shape.rows + row : -1;
  });
}

void plant_first_scale_for_all_blocks(Platform& platform) {
  on_tables(platform, [](const Table& table, std::int64_t row, std::int64_t col) -> std::int64_t {
    // The blocks of k stand in columns, those of 128 x 128 in rows.
    if (table.mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F) return row;
    return table.mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F ? col * table.shape.ld : -1;
  });
}

void plant_scalar_scale_refused_below_16(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    return facts.inputs_are_fp8() && is_scalar_pointer_misplaced(real, call) ? CUBLAS_STATUS_NOT_SUPPORTED
                                                                             : send(real, call);
  });
}

void plant_scale_d_ignored(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    if (!is_fp8(facts.d.type)) return send(real, call);
    const BorrowedAttribute<const void*> none(real.lt, call.operands.desc, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
                                              nullptr);
    return send(real, call);
  });
}

void plant_vector_scales_read_along_k(Platform& platform) {
  on_tables(platform, [](const Table& table, std::int64_t row, std::int64_t col) {
    return table.mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F ? row * table.shape.cols + col : -1;
  });
}

void plant_wide_d_scale_ignored(Platform& platform) {
  on_operands(platform, [](const Platform& real, const CallFacts& facts, const Operands& operands) {
    std::optional<Disguise> seen;
    if (!facts.inputs_are_fp8() || is_fp8(facts.d.type)) return seen;
    seen.emplace();
    seen->operands = operands;
    seen->attribute = std::make_shared<BorrowedAttribute<const void*>>(real.lt, operands.desc,
                                                                       CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, nullptr);
    return seen;
  });
}

}  // namespace lt_audit::faults
