// Pointers to scale factors and amax off their boundary, in host memory or null, factors of 0, and the sequences that
// say how the numbers come about.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "fp8_case_list.h"

namespace lt_audit::fp8_scaling {
namespace {

void add_pointers(CaseList& list) {
  for (const std::int64_t offset : {4, 8, 12, 16, 32, 64, 128, 252}) {
    const Depth from = offset == 4 || offset == 16 ? Depth::quick : Depth::normal;
    const auto id = [&](std::string_view what) { return fmt::format("pointer.{}.off{}", what, offset); };
    for (const bool of_a : {true, false}) {
      auto p = list.problem(kFirst, kBase);
      p.scale_a = p.scale_b = kScalar;
      (of_a ? p.scale_a_offset : p.scale_b_offset) = offset;
      list.add(from, id(of_a ? "a" : "b"), "scalar-pointer", p);
    }
    for (const auto& [name, form, operand] :
         {std::tuple{"c", kFirst, "c"}, std::tuple{"d", kFirstNarrow, "d"}, std::tuple{"amax", kFirstNarrow, "amax"}}) {
      auto p = list.problem(form, kBase);
      p.scale_a = p.scale_b = kScalar;
      if (std::string_view(name) == "c") p.scale_c = kScalar, p.beta = 1;
      if (std::string_view(name) == "d") p.scale_d = kScalar;
      if (std::string_view(name) == "amax") p.amax_d = true;
      Case* added = list.add_steps(from, id(name), kMoved, "scalar-pointer", p);
      if (added == nullptr) continue;
      added->parameters[kOperand] = operand;
      added->parameters[kOffset] = std::to_string(offset);
      added->expectation =
          offset % 16 != 0 && list.scope().library_number < 130201 ? Expectation::may_refuse : Expectation::must_work;
    }
    for (const auto& pair : kPairs) {
      for (const bool of_a : {true, false}) {
        auto p = with_pair(list.problem(kFirst, kTableBase), pair);
        (of_a ? p.scale_a_offset : p.scale_b_offset) = offset;
        const bool sample = offset == 4 && of_a && pair.name == "vec_vec";
        Depth depth = offset == 4 || offset == 16 ? Depth::normal : Depth::full;
        if (sample) depth = Depth::quick;
        list.add(depth, id(fmt::format("{}_{}", pair.name, of_a ? "a" : "b")), "table-pointer", p);
      }
    }
  }
}

// ---- Sequences -----------------------------------------------------------------------------------------------------

void set_operand(Case* added, std::string_view operand) {
  if (added != nullptr) added->parameters[kOperand] = operand;
}

void add_layouts(CaseList& list) {
  for (const auto& pair : kPairs) {
    if (pair.a == kOuter) continue;
    for (const auto* name : {"a", "b", "ab"}) {
      // Who misreads one table of vectors misreads the other.
      if ((pair.name == "vec_vec") != (std::string_view(name) == "ab")) continue;
      const auto id = fmt::format("layout.{}.{}", pair.name, name);
      set_operand(
          list.add_steps(Depth::quick, id, kLayout, "table-layout", with_pair(list.problem(kFirst, kTableBase), pair)),
          name);
    }
  }
}

void add_null_pointers(CaseList& list) {
  for (const auto* operand : {"a", "b", "c", "d", "abcd"}) {
    auto p = list.problem(kFirstNarrow, kBase);
    p.beta = 1;
    Case* added = list.add_steps(Depth::normal, fmt::format("null.scalar.{}", operand), kNull, "null-pointer", p);
    if (added == nullptr) continue;
    added->parameters[kOperand] = operand;
    added->rule =
        "a scale pointer that is set to NULL counts as a factor of 1 (cublasLt.h 13.1.0, "
        "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER to _D_SCALE_POINTER, lines 1417-1467)";
  }
  for (const auto& pair : kPairs) {
    for (const auto* operand : {"a", "b", "ab"}) {
      if (pair.name == "vec_vec" && std::string_view(operand) == "b") continue;
      Case* added = list.add_steps(Depth::full, fmt::format("null.{}.{}", pair.name, operand), kNull, "null-pointer",
                                   with_pair(list.problem(kFirst, kTableBase), pair));
      if (added == nullptr) continue;
      added->parameters[kOperand] = operand;
      added->isolated = true;
      added->expectation = Expectation::must_refuse;
      added->rule =
          "a mode other than SCALAR_32F needs a table: without a pointer there is none (cuBLAS 13.2 documentation, "
          "Narrow Precision Data Types Usage; the library's own message of BR-17)";
    }
  }
}

void add_host_pointers(CaseList& list) {
  constexpr std::string_view kRule =
      "scale and amax pointers are device pointers (cublasLt.h 13.1.0, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER to "
      "_AMAX_D_POINTER, lines 1417-1479); pinned memory is one under unified addressing (CUDA programming guide, "
      "Unified Virtual Address Space)";
  for (const auto* memory : {"pinned", "pageable"}) {
    const bool pinned = std::string_view(memory) == "pinned";
    for (const auto* operand : {"a", "b", "c", "d", "amax"}) {
      auto p = list.problem(kFirstNarrow, kBase);
      p.beta = 1;
      p.scale_a = p.scale_b = p.scale_c = p.scale_d = kScalar;
      p.amax_d = true;
      Case* added = list.add_steps(pinned ? Depth::normal : Depth::full, fmt::format("host.{}.{}", memory, operand),
                                   kHost, "host-pointer", p);
      if (added == nullptr) continue;
      added->parameters[kOperand] = operand;
      added->parameters[kMemory] = memory;
      added->rule = kRule;
      added->isolated = !pinned;
      if (!pinned) added->expectation = Expectation::must_refuse;
    }
  }
}

void add_zero(CaseList& list, Depth from, std::string id, std::string_view operand, const MatmulProblem& p) {
  Case* added = list.add_steps(from, std::move(id), kZero, "zero-factor", p);
  if (added == nullptr) return;
  added->parameters[kOperand] = operand;
  added->isolated = operand == "c";
}

/// Factors of 0. C's hung algorithm 66 (CUB-9627); it runs alone and with a time limit of its own.
void add_zero_factors(CaseList& list) {
  for (const auto* operand : {"a", "b", "d"}) {
    auto p = list.problem(kFirstNarrow, kBase);
    p.beta = 1;
    p.scale_a = p.scale_b = p.scale_c = p.scale_d = kScalar;
    // What is before D's factor has an amax whatever the factor is.
    p.amax_d = std::string_view(operand) != "d";
    add_zero(list, Depth::normal, fmt::format("zero.{}", operand), operand, p);
  }
  constexpr Shape kTile{"tile", {128, 128, 128}, {32, 24, 32}};
  constexpr Shape kMany{"many", {2048, 2048, 512}, {48, 40, 32}};
  struct Row {
    std::string_view name;
    Form form;
    Shape shape;
    double beta;
    Depth from;
  };
  const std::array rows{
      Row{"bf16", kFirst, kBase, 1, Depth::normal},
      Row{"e4m3", kFirstNarrow, kBase, 1, Depth::full},
      Row{"tile", kFirst, kTile, 1, Depth::full},
      Row{"many_tiles", kFirst, kMany, 1, Depth::full},
      Row{"f16", {kE4, kE4, kF16, kF16}, kBase, 1, Depth::full},
      Row{"f32", {kE4, kE4, kF32, kF32}, kBase, 2, Depth::full},
      Row{"many_tiles_e4m3", kFirstNarrow, kMany, 1, Depth::full},
      Row{"no_beta", kFirst, kBase, 0, Depth::full},
      Row{"mixed", {kE5, kE4, kBf16, kBf16}, kBase, -1, Depth::full},
  };
  for (const auto& row : rows) {
    auto p = list.problem(row.form, row.shape);
    p.beta = row.beta;
    p.scale_a = p.scale_b = p.scale_c = kScalar;
    add_zero(list, row.from, fmt::format("zero.c.{}", row.name), "c", p);
  }
}

void add_numbers(CaseList& list) {
  const Form f32{kE4, kE4, kF32, kF32};
  for (const std::int64_t k : {4096, 16384}) {
    auto p = list.problem(f32, {"", {64, 48, k}, {16, 8, 1024}});
    if (list.simulator() && k > 4096) continue;
    list.add_steps(k == 4096 ? Depth::quick : Depth::normal, fmt::format("accumulation.k{}", k), kAccumulation,
                   "accumulation", p);
  }
  auto p = list.problem(f32, {"", {144, 132, 128}, {144, 132, 128}});
  p.scale_a = p.scale_b = kScalar;
  list.add_steps(Depth::quick, "order.scalar", kOrder, "scale-order", p);
  for (const auto& pair : kPairs) {
    list.add_steps(Depth::quick, fmt::format("order.{}", pair.name), kOrder, "scale-order",
                   with_pair(list.problem(f32, {"", {144, 132, 128}, {144, 132, 128}}), pair));
  }
}

/// Modes of later GPUs, and factors of aux.
void add_others(CaseList& list) {
  auto p = list.problem(kFirst, {"", {256, 128, 256}, {128, 32, 64}});
  for (const auto& [name, mode] : {std::pair{"mxfp8", CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0},
                                   std::pair{"nvfp4", CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3}}) {
    Case* added = list.add_steps(Depth::quick, fmt::format("mode.{}", name), kBlockScaled, "block-scaled", p);
    if (added == nullptr) continue;
    added->parameters[kOperand] = name_of(mode);
    added->rule =
        "block scaling with 16 or 32 elements is for compute capability 10.0 and later (cuBLAS 13.2 documentation, "
        "Narrow Precision Data Types Usage)";
  }
  for (const auto* operand : {"aux_scale", "aux_amax"}) {
    auto aux = list.problem(kFirst, kBase);
    aux.epilogue = CUBLASLT_EPILOGUE_GELU_AUX;
    Case* added = list.add_steps(Depth::normal, fmt::format("{}.wide", operand), kAuxScale, "wide-output", aux);
    if (added == nullptr) continue;
    added->parameters[kOperand] = operand;
    added->expectation = Expectation::must_refuse;
    added->rule =
        "scale and amax of aux are for an FP8 aux; elsewhere the pointers are refused (KI-033, release notes 13.0, "
        "deprecations; cublasLt.h 13.1.0, lines 1499-1525)";
  }
}

}  // namespace

void add_sequences(CaseList& list) {
  add_pointers(list);
  add_layouts(list);
  add_null_pointers(list);
  add_host_pointers(list);
  add_zero_factors(list);
  add_numbers(list);
  add_others(list);
}

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  add_grid(list);
  add_sequences(list);
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  CaseList list(target, Depth::quick);
  if (!is_fp8(problem.type_a) || !is_fp8(problem.type_b) || problem.m * problem.n * problem.k == 0) return {};
  if (promise_of(problem, list.scope()).expectation != Expectation::must_work) return {};
  const Mode a = problem.scale_a.value_or(kScalar), b = problem.scale_b.value_or(kScalar);
  if (a == kScalar && b == kScalar) {
    auto p = problem;
    p.scale_a = p.scale_b = kScalar;
    p.scale_a_offset = p.scale_b_offset = 4;
    list.add(Depth::quick, "pointer.off4", "scalar-pointer", p);
    p = problem;
    p.scale_c = kScalar;
    if (problem.beta != 0) add_zero(list, Depth::quick, "zero.c", "c", p);
  }
  const auto has_table = [](Mode mode) { return mode == kVec128 || mode == kBlock; };
  const auto add = [&](std::string_view name) {
    set_operand(list.add_steps(Depth::quick, fmt::format("layout.{}", name), kLayout, "table-layout", problem), name);
  };
  if (a == kVec128 && b == kVec128) {
    add("ab");
  } else if (has_table(a) && has_table(b)) {
    add("a");
    add("b");
  }
  return list.take();
}

}  // namespace lt_audit::fp8_scaling
