// Faults of sizes: dimensions of 0 and 1, more columns than 16 bits count, leading dimensions below and far above the
// rows.
#include <cstdint>
#include <optional>

#include "platform/faults/fault.h"
#include "platform/faults/fault_list.h"

namespace lt_audit::faults {
namespace {

/// Columns that a grid of 16 bits has room for.
constexpr std::int64_t kMostColumns = 65535;

/// Any product has some ratio of leading dimension to rows; this one is no padding.
constexpr std::int64_t kFar = 16;

bool is_far(const MatrixShape& shape) {
  return shape.order == CUBLASLT_ORDER_COL && shape.cols > 1 && shape.ld >= kFar * shape.rows;
}

}  // namespace

void plant_columns_beyond_65535_lost(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, MatmulCall call) {
    if (facts.d.cols <= kMostColumns || facts.d.order != CUBLASLT_ORDER_COL) return send(real, call);
    MatrixShape b = facts.b;
    MatrixShape c = facts.c;
    MatrixShape d = facts.d;
    (facts.transb == CUBLAS_OP_N ? b.cols : b.rows) = kMostColumns;
    c.cols = d.cols = kMostColumns;
    const MatrixLayout b_layout = make_layout(real.lt, b);
    const MatrixLayout c_layout = make_layout(real.lt, c);
    const MatrixLayout d_layout = make_layout(real.lt, d);
    if (!b_layout || !c_layout || !d_layout) return send(real, call);
    call.operands.b = b_layout.get();
    call.operands.c = c_layout.get();
    call.operands.d = d_layout.get();
    return send_with_own_algorithm(real, call);
  });
}

void plant_empty_product_writes(Platform& platform) {
  on_operands(platform, [](const Platform& real, const CallFacts& facts, const Operands& operands) {
    std::optional<Disguise> seen;
    if (facts.d.rows > 0 && facts.d.cols > 0) return seen;
    seen.emplace();
    const auto disguised = [&](MatrixShape shape) {
      if (shape.rows == 0) shape.rows = 1;
      if (shape.cols == 0) shape.cols = 1;
      seen->layouts.push_back(make_layout(real.lt, shape));
      return seen->layouts.back().get();
    };
    seen->operands = {operands.desc, disguised(facts.a), disguised(facts.b), disguised(facts.c), disguised(facts.d)};
    return seen;
  });
}

void plant_far_leading_dimension_halved(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    MatrixShape a = facts.a;
    MatrixShape b = facts.b;
    for (MatrixShape* shape : {&a, &b}) {
      if (is_far(*shape)) shape->ld /= 2;
    }
    const bool targeted = a.ld != facts.a.ld || b.ld != facts.b.ld;
    return targeted ? send_with_inputs(real, call, a, b) : send(real, call);
  });
}

void plant_ld_below_rows_accepted(Platform& platform) {
  on_operands(platform, [](const Platform& real, const CallFacts& facts, const Operands& operands) {
    std::optional<Disguise> seen;
    if (facts.a.order != CUBLASLT_ORDER_COL || facts.a.cols < 2 || facts.a.ld >= facts.a.rows) return seen;
    MatrixShape a = facts.a;
    a.ld = a.rows;
    seen.emplace();
    seen->operands = operands;
    seen->layouts.push_back(make_layout(real.lt, a));
    seen->operands.a = seen->layouts[0].get();
    return seen;
  });
}

void plant_vector_with_bias_wrong(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    const cublasStatus_t status = send(real, call);
    const bool vector = facts.d.rows == 1 || facts.d.cols == 1;
    if (status == CUBLAS_STATUS_SUCCESS && vector && facts.epilogue == CUBLASLT_EPILOGUE_BIAS) {
      spoil_middle_element(real, facts, call);
    }
    return status;
  });
}

void plant_zero_k_skipped(Platform& platform) {
  on_matmul(platform, [](const Platform& real, const CallFacts& facts, const MatmulCall& call) {
    return facts.k() == 0 ? CUBLAS_STATUS_SUCCESS : send(real, call);
  });
}

}  // namespace lt_audit::faults
