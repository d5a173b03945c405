// Cases that are sequences: layouts that disagree about the number of matrices, matrices far apart, backwards,
// overlapping, and arrays of pointers.
#include <fmt/format.h>

#include "batched_list.h"

namespace lt_audit::batched {

/// Layouts that disagree about the number of matrices. The memory behind them is there.
void add_unequal_counts(CaseList& list) {
  struct Counts {
    std::string_view name;
    std::array<std::int32_t, 4> of;
    /// Operands with a batch stride of 0.
    std::string_view shared;
    bool quick = false;
  };
  constexpr std::array kAll{
      Counts{"a1", {1, 3, 3, 3}, "", true},     Counts{"a1.shared", {1, 3, 3, 3}, "a", true},
      Counts{"b1", {3, 1, 3, 3}, "", true},     Counts{"b1.shared", {3, 1, 3, 3}, "b"},
      Counts{"c1", {3, 3, 1, 3}, "", true},     Counts{"c1.shared", {3, 3, 1, 3}, "c"},
      Counts{"d1", {3, 3, 3, 1}, "", true},     Counts{"ab1", {1, 1, 3, 3}, ""},
      Counts{"ab1.shared", {1, 1, 3, 3}, "ab"}, Counts{"cd1", {3, 3, 1, 1}, ""},
      Counts{"abc1", {1, 1, 1, 3}, ""},         Counts{"a2", {2, 3, 3, 3}, ""},
      Counts{"b2", {3, 2, 3, 3}, ""},           Counts{"d2", {3, 3, 3, 2}, ""},
      Counts{"a3_rest2", {3, 2, 2, 2}, ""},     Counts{"b3_rest2", {2, 3, 2, 2}, ""},
      Counts{"a3_rest1", {3, 1, 1, 1}, ""},
  };
  for (const auto* name : {"f16", "f32", "e4m3", "bf16", "f64"}) {
    const auto& form = form_named(name);
    for (const auto& counts : kAll) {
      auto p = list.problem(form, 3);
      for (std::size_t i = 0; i < 3; ++i) {
        if (counts.shared.find(kNames[i]) != std::string_view::npos) p.*kStrides.at(i) = 0;
      }
      const Depth from = form.tier == Tier::first && counts.quick    ? Depth::quick
                         : form.name == "bf16" || form.name == "f64" ? Depth::full
                                                                     : Depth::normal;
      Case* added =
          list.add_steps(from, fmt::format("{}.counts.{}", name, counts.name), "unequal-counts", kUnequalCounts, p,
                         promise_of_unequal_batch_counts(list.scope(), counts.of[2] != counts.of[3]));
      if (added == nullptr) continue;
      added->parameters[kCounts] = fmt::format("{} {} {} {}", counts.of[0], counts.of[1], counts.of[2], counts.of[3]);
    }
  }
}

namespace {

struct Far {
  std::string_view form, operands;
  std::int64_t stride;
  std::int32_t batch_count;
  Depth from;
};

}  // namespace

/// Offsets beyond 2^31 and 2^32 elements and bytes. Only the matrices are touched, so that memory costs little time.
void add_far(CaseList& list) {
  constexpr std::int64_t k31 = std::int64_t{1} << 31, k32 = std::int64_t{1} << 32;
  std::vector<Far> all{{"e4m3", "a", k32 + 16, 2, Depth::quick},         {"e4m3", "b", k31 + 16, 2, Depth::normal},
                       {"e4m3", "a", (k31 >> 1) + 16, 4, Depth::normal}, {"i8", "a", k32 + 16, 2, Depth::normal},
                       {"f16", "d", (k31 >> 2) + 8, 5, Depth::normal},   {"f32", "d", k31 + 8, 2, Depth::normal},
                       {"f32", "b", (k31 >> 2) + 8, 2, Depth::normal}};
  for (const std::string_view operand : {"a", "b", "c", "d"}) {
    for (const std::int64_t stride : {k31 - 8, k31, k31 + 8, k32 + 8}) {
      const bool sample = stride == k31 + 8 || (stride == k32 + 8 && (operand == "a" || operand == "d"));
      all.push_back({"f16", operand, stride, 2, sample ? Depth::normal : Depth::full});
      for (const std::string_view form : {"bf16", "f32", "f64", "c32"}) {
        if (stride == k31 - 8 || (form == "f32" && operand == "d" && stride == k31 + 8)) continue;
        all.push_back({form, operand, stride, 2, Depth::full});
      }
    }
    all.push_back({"f16", operand, (k31 >> 1) + 8, 5, Depth::full});
    all.push_back({"f16", operand, 4 * k32, 2, Depth::full});
  }
  all.push_back({"f16", "abd", k32 + 8, 2, Depth::full});
  all.push_back({"f16", "a", 65536, 40000, Depth::full});
  for (const auto& far : all) {
    const auto p = list.problem(form_named(far.form), far.batch_count);
    Case* added =
        list.add_steps(far.from, fmt::format("{}.far.{}.{}x{}", far.form, far.operands, far.batch_count, far.stride),
                       "far-stride", kFar, p, promise_of(p, list.scope()));
    if (added == nullptr) continue;
    added->parameters[kFar] = far.operands;
    added->parameters[kFarStride] = fmt::format("{}", far.stride);
  }
}

void add_reverse(CaseList& list) {
  for (const auto* name : {"f16", "f32", "f64", "e4m3"}) {
    const auto& form = form_named(name);
    for (const auto* operands : {"a", "b", "c", "d", "abcd"}) {
      const auto p = list.problem(form, 3);
      // 13.1.0 faults on an H200 for 16- and 8-bit types.
      const bool wide = bytes_of(form.ab) >= 4;
      const bool sample = form.tier == Tier::first && std::string_view(operands) == "a";
      Case* added = list.add_steps(
          wide || sample ? Depth::normal : Depth::full, fmt::format("{}.reverse.{}", name, operands), "negative-stride",
          kFar, p,
          undocumented("the batch stride is a signed 64-bit number, and whether it may be negative is documented "
                       "nowhere (cublasLt.h 13.1.0, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, lines 1157-1171)"));
      if (added == nullptr) continue;
      added->isolated = !wide;
      added->parameters[kFar] = operands;
      added->parameters[kFarStride] = kReverse;
    }
  }
}

void add_shared_memory(CaseList& list) {
  for (const auto* name : {"f16", "f32", "bf16", "e4m3"}) {
    const auto& form = form_named(name);
    for (const std::string_view operand : {"a", "b", "d"}) {
      auto p = list.problem(form, 3);
      const auto shape = shapes_of(p).at(kNames.find(operand));
      const auto half = shape.ld * (shape.cols / 2);
      for (const auto& [what, stride] : {std::pair{"one", std::int64_t{1}}, std::pair{"column", shape.ld},
                                         std::pair{"half", half}, std::pair{"all", std::int64_t{0}}}) {
        const bool output = operand == "d";
        // An input with stride 0 is the engine's own, and FP8 wants multiples of 16.
        if (stride == 0 && !output) continue;
        if (stride == 1 && (output || is_narrow(form))) continue;
        // For the calls one by one, whose pointers start anywhere.
        p.a_alignment = p.b_alignment = stride == 1 ? static_cast<std::uint32_t>(bytes_of(form.ab)) : 16;
        auto promise = promise_of(p, list.scope());
        if (output) {
          promise = undocumented("matrices of D that overlap between batches are documented nowhere");
        }
        Case* added = list.add_steps(Depth::normal, fmt::format("{}.overlap.{}.{}", name, operand, what),
                                     output ? "overlapping-d" : "overlapping-input", kShared, p, promise);
        if (added == nullptr) continue;
        added->parameters[kSharedOperand] = operand;
        added->parameters[kSharedStride] = fmt::format("{}", stride);
      }
    }
  }
}

// ---- Arrays of pointers ---------------------------------------------------------------------------------------------

Case* add_arrays(CaseList& list, Depth from, std::string id, const Arrays& arrays, const P& problem) {
  Case* added = list.add_steps(from, std::move(id), arrays.subject, kPointers, problem,
                               promise_of_pointer_arrays(problem, list.scope(), arrays.in == kNames));
  if (added == nullptr) return nullptr;
  added->parameters[kArrays] = arrays.in;
  added->parameters[kMembers] = arrays.members;
  return added;
}

namespace {

/// Members that are aligned to their element alone, as matrices of odd sizes or slices of a pool are.
P with_odd_members(P p, bool declared) {
  const auto shapes = shapes_of(p);
  const std::array alignments{&P::a_alignment, &P::b_alignment, &P::c_alignment, &P::d_alignment};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    p.*kStrides.at(i) = shapes.at(i).batch_stride + 1;
    if (declared) p.*alignments.at(i) = static_cast<std::uint32_t>(bytes_of(shapes.at(i).type));
  }
  return p;
}

}  // namespace

void add_pointer_arrays(CaseList& list, const Form& form) {
  const Depth sample =
      form.name == "e4m3" ? Depth::quick : at_least(form.tier, Depth::quick, Depth::normal, Depth::full);
  const Depth common = at_least(form.tier, Depth::quick, Depth::normal, Depth::full);
  const auto id = [&](std::string_view what) { return fmt::format("{}.pointers.{}", form.name, what); };
  const auto plain = list.problem(form, 3);
  add_arrays(list, sample, id("in_order"), {}, plain);
  add_arrays(list, common, id("backwards"), {"pointer-array", kNames, kBackwards}, plain);
  auto beta0 = plain;
  beta0.beta = 0;
  add_arrays(list, common, id("beta0"), {}, beta0);
  auto shared = plain;
  shared.stride_a = 0;
  add_arrays(list, common, id("shared_a"), {}, shared);
  add_arrays(list, std::max(common, Depth::normal), id("ab_only"), {"some-arrays", "ab"}, plain);
  add_arrays(list, std::max(common, Depth::normal), id("cd_only"), {"some-arrays", "cd"}, plain);
  add_arrays(list, std::max(common, Depth::normal), id("a_only"), {"some-arrays", "a"}, plain);
  const Size small = is_narrow(form) ? Size{16, 2, 16} : Size{8, 2, 4};
  add_arrays(list, std::max(common, Depth::normal), id("many"), {}, list.problem(form, small, 65537));
  if (is_narrow(form)) return;
  add_arrays(list, std::max(common, Depth::normal), id("row"), {}, list.problem(form, {1, 80, 64}, 5));
  add_arrays(list, std::max(common, Depth::normal), id("7x5x3"), {}, list.problem(form, {7, 5, 3}, 5));
  add_arrays(list, common, id("odd.declared"), {"unaligned-members"}, with_odd_members(plain, true));
  const bool first = form.tier == Tier::first;
  Case* undeclared = add_arrays(list, first ? Depth::normal : Depth::full, id("odd.default"), {"undeclared-members"},
                                with_odd_members(plain, false));
  if (undeclared != nullptr) {
    // The host cannot see it, and a kernel that loads 16 bytes at once faults.
    undeclared->isolated = true;
    undeclared->rule =
        "matrices are promised to be aligned to 256 bytes unless the preference says otherwise, and an algorithm may "
        "rely on it; a strided call is refused by its pointer, and the members of an array are in device memory where "
        "cublasLtMatmul does not look (cublasLt.h 13.1.0, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, lines 2099-2133)";
  }
  if (form.tier == Tier::rest || form.ab == CUDA_R_64F) return;
  auto biased = plain;
  biased.epilogue = CUBLASLT_EPILOGUE_BIAS;
  add_arrays(list, common, id("bias"), {"pointer-array-epilogue"}, biased);
}

}  // namespace lt_audit::batched
