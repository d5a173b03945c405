// The table: forms of strided batches x types, each where its layout allows it.
#include "batched_cases.h"

#include <fmt/format.h>

#include "batched_list.h"

namespace lt_audit::batched {
namespace {

/// Stride 0 for each of A, B and C and for all sets of them.
void add_broadcasts(CaseList& list, const Form& form) {
  for (const std::string_view shared : {"none", "a", "b", "c", "ab", "ac", "bc", "abc"}) {
    auto p = list.problem(form, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      if (shared != "none" && shared.find(kNames[i]) != std::string_view::npos) p.*kStrides.at(i) = 0;
    }
    const bool sample = shared == "a" || shared == "b" || shared == "none";
    const bool quick = sample && form.name == "e4m3";
    list.add_beside(at_least(form.tier, Depth::quick, quick ? Depth::quick : Depth::normal, Depth::full),
                    fmt::format("{}.shared.{}", form.name, shared), shared == "none" ? "plain" : "shared-operand", p);
  }
}

/// Matrices side by side in the columns of one wide matrix: a batch stride below the leading dimension.
void add_interleaved(CaseList& list, const Form& form) {
  for (const std::string_view wide : {"a", "b", "c", "d", "cd", "abcd"}) {
    auto p = list.problem(form, 3);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (wide.find(kNames[i]) == std::string_view::npos) continue;
      const auto shape = shapes_of(p).at(i);
      p.*kLds.at(i) = 3 * shape.rows;
      p.*kStrides.at(i) = shape.rows;
    }
    const bool sample = wide == "abcd" || wide == "d";
    const bool quick = sample && (form.tier == Tier::first || form.name == "e4m3");
    list.add_beside(
        at_least(form.tier, quick ? Depth::quick : Depth::normal, quick ? Depth::quick : Depth::normal, Depth::full),
        fmt::format("{}.interleaved.{}", form.name, wide), "interleaved", p);
  }
}

/// Attention as frameworks call it: the heads of a token lie side by side.
void add_attention(CaseList& list) {
  for (const auto* name : {"f16", "bf16"}) {
    const std::int32_t heads = 12;
    const std::int64_t head = list.simulator() ? 16 : 64, tokens = list.simulator() ? 24 : 120;
    auto form = form_named(name);
    const Depth from = form.tier == Tier::first ? Depth::quick : Depth::normal;
    form.transa = CUBLAS_OP_T;
    auto scores = list.problem(form, {tokens, tokens, head}, heads);
    scores.lda = scores.ldb = heads * head;
    scores.stride_a = scores.stride_b = head;
    scores.beta = 0;
    list.add_beside(from, fmt::format("{}.attention.scores", name), "interleaved", scores);
    form.transa = CUBLAS_OP_N;
    auto context = list.problem(form, {head, tokens, tokens}, heads);
    context.lda = context.ldc = context.ldd = heads * head;
    context.stride_a = context.stride_c = context.stride_d = head;
    context.beta = 0;
    list.add_beside(from, fmt::format("{}.attention.context", name), "interleaved", context);
  }
}

/// Batch strides that are no multiple of 8 elements, all different, and packed ones of odd matrices.
void add_odd_strides(CaseList& list, const Form& form) {
  const Depth sample = at_least(form.tier, Depth::quick, Depth::normal, Depth::full);
  for (const std::int64_t step : {1, 2, 3, 4, 6}) {
    auto p = list.problem(form, 3);
    const auto shapes = shapes_of(p);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      p.*kStrides.at(i) = shapes.at(i).batch_stride + step * static_cast<std::int64_t>(2 * i + 1);
    }
    Case* added = list.add(step == 1 ? sample : std::max(sample, Depth::normal),
                           fmt::format("{}.stride.odd{}", form.name, step), "odd-stride", p);
    if (added == nullptr || !is_integer(form.ab)) continue;
    added->expectation = Expectation::may_refuse;
    added->rule =
        "INT8 wants multiples of 4 for m, k and every leading dimension, and nothing is said of batch strides (cuBLAS "
        "13.2 documentation, cublasLtMatmul, IMMA kernels)";
  }
  if (is_narrow(form)) return;
  for (const auto& size : {Size{7, 5, 3}, Size{33, 17, 9}, Size{95, 79, 63}, Size{129, 65, 257}}) {
    const bool small = size.m < 64;
    if (list.simulator() && !small) continue;
    list.add_beside(std::max(sample, Depth::normal),
                    fmt::format("{}.stride.{}x{}x{}", form.name, size.m, size.n, size.k), "odd-stride",
                    list.problem(form, size, 5));
  }
}

/// More matrices than a 16-bit number or one dimension of a grid holds.
void add_many(CaseList& list, const Form& form) {
  const Size size = is_narrow(form) ? Size{16, 2, 16} : (list.simulator() ? Size{4, 1, 2} : Size{8, 2, 4});
  const auto id = [&](std::string_view what, std::int32_t count) {
    return fmt::format("{}.many{}.{}", form.name, what, count);
  };
  for (const std::int32_t count : {65535, 65536, 65537, 131073, 1048577}) {
    const bool huge = count > 200000;
    if (huge && (is_narrow(form) || list.simulator())) continue;
    if (list.simulator() && form.tier != Tier::first && count != 65537) continue;
    const bool sample = count == 65537;
    const Depth from = huge ? Depth::full
                            : at_least(form.tier, sample ? Depth::quick : Depth::normal,
                                       sample ? Depth::normal : Depth::full, Depth::full);
    Case* added = list.add(from, id("", count), "many-matrices", list.problem(form, size, count));
    if (added != nullptr) added->with_cublas = from != Depth::quick && !list.simulator();
  }
  auto shared = list.problem(form, size, 65537);
  shared.stride_a = 0;
  list.add(at_least(form.tier, Depth::normal, Depth::full, Depth::full), id(".shared_a", 65537), "many-matrices",
           shared);
  if (is_narrow(form) || form.tier == Tier::rest) return;
  auto rows = list.problem(form, size, 65537);
  rows.order_a = rows.order_b = rows.order_c = rows.order_d = CUBLASLT_ORDER_ROW;
  list.add(at_least(form.tier, Depth::normal, Depth::full, Depth::full), id(".rows", 65537), "many-matrices", rows);
  // Whole tiles, and more than 2^31 elements of A in all.
  if (list.simulator()) return;
  for (const auto& large : {Size{32, 16, 64}, Size{128, 8, 264}}) {
    if (bytes_of(form.ab) > 2 && large.m == 128) continue;
    list.add(Depth::full, id(fmt::format(".{}x{}x{}", large.m, large.n, large.k), 65537), "many-matrices",
             list.problem(form, large, 65537));
  }
}

/// Shared, interleaved and odd strides in shapes that take other kernels: a search.
void add_sweep(CaseList& list, const Form& form) {
  if (form.tier == Tier::rest || is_integer(form.ab)) return;
  const auto rounded = [&](std::int64_t value) { return is_narrow(form) ? (value + 15) / 16 * 16 : value; };
  for (const auto& size : {Size{1, 8, 17}, Size{17, 1, 8}, Size{8, 17, 1}, Size{65, 33, 17}, Size{64, 256, 128},
                           Size{256, 64, 512}, Size{130, 257, 64}, Size{512, 16, 2048}, Size{16, 512, 4096}}) {
    if (list.simulator() && size.m * size.n * size.k > 65 * 33 * 17) continue;
    const Size real{rounded(size.m), size.n, rounded(size.k)};
    const auto add = [&](std::string_view what, const P& p) {
      list.add(Depth::full, fmt::format("{}.sweep.{}.{}x{}x{}", form.name, what, real.m, real.n, real.k),
               what == "interleaved" ? "interleaved" : (what == "odd" ? "odd-stride" : "shared-operand"), p);
    };
    const auto plain = list.problem(form, real, 7);
    for (const std::string_view shared : {"shared_a", "shared_b", "shared_abc"}) {
      auto p = plain;
      for (std::size_t i = 0; i < 3; ++i) {
        if (shared.find(kNames[i], 7) != std::string_view::npos) p.*kStrides.at(i) = 0;
      }
      add(shared, p);
    }
    auto wide = plain, odd = plain;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const auto shape = shapes_of(plain).at(i);
      wide.*kLds.at(i) = 7 * shape.rows;
      wide.*kStrides.at(i) = shape.rows;
      odd.*kStrides.at(i) = shape.batch_stride + (is_narrow(form) ? 16 : 1);
    }
    add("interleaved", wide);
    add("odd", odd);
  }
}

void add_row_order(CaseList& list, const Form& form) {
  if (is_narrow(form)) return;
  for (const std::string_view by_rows : {"abcd", "a", "b", "cd"}) {
    auto p = list.problem(form, 3);
    const auto row = [&](char name, cublasLtOrder_t& order) {
      if (by_rows.find(name) != std::string_view::npos) order = CUBLASLT_ORDER_ROW;
    };
    row('a', p.order_a), row('b', p.order_b), row('c', p.order_c), row('d', p.order_d);
    for (std::size_t i = 0; i < kNames.size(); ++i) p.*kStrides.at(i) = shapes_of(p).at(i).batch_stride + 16;
    list.add(at_least(form.tier, by_rows == "abcd" ? Depth::quick : Depth::normal, Depth::normal, Depth::full),
             fmt::format("{}.rows.{}", form.name, by_rows), "row-order", p);
  }
}

/// A side of 1, as a batch of matrix-vector products has it.
void add_vectors(CaseList& list, const Form& form) {
  if (is_narrow(form)) return;
  const auto base = list.base();
  struct Vector {
    std::string_view name;
    Size size;
  };
  for (const auto& [name, size] : {Vector{"row", {1, base.n, base.k}}, Vector{"col", {base.m, 1, base.k}},
                                   Vector{"outer", {base.m, base.n, 1}}, Vector{"dot", {1, 1, base.k}}}) {
    const Depth sample = at_least(form.tier, Depth::quick, Depth::normal, Depth::full);
    const bool quick = name == "row" || name == "col";
    list.add_beside(quick ? sample : std::max(sample, Depth::normal), fmt::format("{}.vector.{}", form.name, name),
                    "vector", list.problem(form, size, 5));
    auto shared = list.problem(form, size, 1000);
    shared.stride_a = 0;
    list.add_beside(std::max(sample, Depth::normal), fmt::format("{}.vector.{}.shared_a.1000", form.name, name),
                    "vector", shared);
    auto wide = list.problem(form, size, 5);
    wide.ldc = wide.ldd = size.m + 7;
    list.add(std::max(sample, Depth::normal), fmt::format("{}.vector.{}.ld", form.name, name), "vector", wide);
  }
}

/// What goes with an epilogue in a batch, beyond the strides that check "epilogue" has.
void add_epilogues(CaseList& list) {
  const auto add = [&](Depth from, std::string_view form, std::string_view what, P p, cublasLtEpilogue_t epilogue) {
    p.epilogue = epilogue;
    list.add(from, fmt::format("{}.epilogue.{}.{}", form, what, name_of(epilogue)), "epilogue", p);
  };
  for (const auto* name : {"f16", "bf16", "f32"}) {
    const auto& form = form_named(name);
    const Depth from = form.tier == Tier::first ? Depth::quick : Depth::normal;
    for (const auto epilogue : {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS}) {
      auto p = list.problem(form, 3);
      p.stride_bias = p.m + 1;
      add(from, name, "odd_bias", p, epilogue);
      p = list.problem(form, 3);
      p.stride_a = p.stride_c = 0;
      p.stride_bias = p.m;
      add(Depth::normal, name, "shared_ac", p, epilogue);
      p = list.problem(form, {8, 2, 4}, 65537);
      p.stride_bias = 8;
      add(epilogue == CUBLASLT_EPILOGUE_BIAS ? Depth::normal : Depth::full, name, "many", p, epilogue);
      p = list.problem(form, 3);
      p.ldc = p.ldd = 3 * p.m;
      p.stride_c = p.stride_d = p.stride_bias = p.m;
      add(Depth::normal, name, "interleaved_d", p, epilogue);
    }
    for (const auto epilogue : {CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS}) {
      auto p = list.problem(form, 3);
      p.stride_b = 0;
      p.stride_bias = p.m;
      p.ldaux = epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS ? 128 : p.m + 8;
      p.stride_aux = p.ldaux * (p.n + 1);
      add(Depth::normal, name, "aux_stride", p, epilogue);
    }
  }
  // NVIDIA/CUDALibrarySamples#187: refused on compute capability 8.9 by cuBLASLt 12.4.
  Form form = form_named("e4m3");
  form.c = form.d = CUDA_R_16F;
  auto p = list.problem(form, {16, 64, 32}, 2);
  p.beta = 0;
  add(Depth::quick, "e4m3_f16", "shared_bias", p, CUBLASLT_EPILOGUE_BIAS);
  p.stride_bias = 16;
  add(Depth::normal, "e4m3_f16", "own_bias", p, CUBLASLT_EPILOGUE_BIAS);
}

void add_settings(CaseList& list) {
  auto scaled = list.problem(form_named("e4m3"), 3);
  scaled.scale_a = scaled.scale_b = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  list.add(Depth::quick, "e4m3.scalar_scales", "narrow-types", scaled);
  scaled.stride_a = 0;
  list.add(Depth::normal, "e4m3.scalar_scales.shared_a", "narrow-types", scaled);
  for (const auto* name : {"f16", "f32", "f64"}) {
    auto p = list.problem(form_named(name), 3);
    p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    p.alpha = 2;
    list.add(Depth::normal, fmt::format("{}.device_scalars", name), "plain", p);
    p = list.problem(form_named(name), 3);
    p.in_place = true;
    list.add(Depth::normal, fmt::format("{}.in_place", name), "plain", p);
    p = list.problem(form_named(name), list.simulator() ? Size{16, 16, 1024} : Size{32, 24, 16384}, 3);
    list.add(Depth::normal, fmt::format("{}.long_k", name), "plain", p);
  }
}

/// Matrices that the simulator multiplies in no time.
bool is_small_enough(const P& p, PlatformKind kind) {
  constexpr double kMostProducts = 0x1p26;
  const double products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
                          static_cast<double>(p.batch_count);
  return kind != PlatformKind::simulator || products <= kMostProducts;
}

/// The layouts tell a library how the matrices of a strided batch are aligned; of arrays the application has to.
P with_declared_members(P p) {
  const auto shapes = shapes_of(p);
  const std::array offsets{p.a_offset, p.b_offset, p.c_offset, p.d_offset};
  const std::array alignments{&P::a_alignment, &P::b_alignment, &P::c_alignment, &P::d_alignment};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto step = shapes.at(i).batch_stride * static_cast<std::int64_t>(bytes_of(shapes.at(i).type));
    auto& declared = p.*alignments.at(i);
    declared = std::min(declared, alignment_of_offset(offsets.at(i) | step));
  }
  return p;
}

}  // namespace

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  for (const auto& form : kForms) {
    add_broadcasts(list, form);
    add_interleaved(list, form);
    add_odd_strides(list, form);
    add_many(list, form);
    add_sweep(list, form);
    add_row_order(list, form);
    add_vectors(list, form);
    add_pointer_arrays(list, form);
  }
  add_attention(list);
  add_epilogues(list);
  add_settings(list);
  add_unequal_counts(list);
  add_far(list);
  add_reverse(list);
  add_shared_memory(list);
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  CaseList list(target, Depth::quick);
  const auto plain = [](double value) { return value == 0 || value == 1; };
  const bool scalars = problem.scale_type != CUDA_R_16F || (plain(problem.alpha) && plain(problem.beta));
  if (problem.batch_count == 1 || !is_small_enough(problem, target.kind) || !scalars ||
      problem.pointer_mode != CUBLASLT_POINTER_MODE_HOST ||
      promise_of(problem, scope_of(target)).expectation == Expectation::must_refuse) {
    return {};
  }
  if (problem.epilogue == CUBLASLT_EPILOGUE_DEFAULT) {
    add_arrays(list, Depth::quick, "pointers", {}, with_declared_members(problem));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (problem.*kStrides.at(i) != 0) continue;
    Case* added = list.add_steps(Depth::quick, fmt::format("counts.{}1", kNames[i]), "unequal-counts", kUnequalCounts,
                                 problem, promise_of_unequal_batch_counts(list.scope(), false));
    std::array<std::int32_t, 4> counts{};
    counts.fill(problem.batch_count);
    counts.at(i) = 1;
    added->parameters[kCounts] = fmt::format("{} {} {} {}", counts[0], counts[1], counts[2], counts[3]);
  }
  return list.take();
}

}  // namespace lt_audit::batched
