// The small cases: dimensions of 0 and 1, leading dimensions of 0, 1, below and far above the rows; and what is said of
// an application's product.
#include "shape_cases.h"

#include <fmt/format.h>

#include <algorithm>

namespace lt_audit::shape_limits {
namespace {

using Tier = Form::Tier;

/// Distinct, so that a mixed-up dimension shows, and multiples of 16, as FP8 and INT8 ask for.
constexpr Size kBase{96, 80, 64};

std::vector<Op> ops_of(const Form& form) {
  if (form.is_narrow()) return {kTn};
  return {kNn, kTn, kNt, kTt};
}
bool is_usual(const Form& form, const Op& op) { return op.name == (form.is_narrow() ? kTn : kNn).name; }

/// Quick for the first types, normal for the common ones.
Depth sampled(const Form& form) {
  if (form.tier == Tier::rest) return Depth::full;
  return form.tier == Tier::first ? Depth::quick : Depth::normal;
}
Depth common(const Form& form) { return form.tier == Tier::rest ? Depth::full : Depth::normal; }

/// Of a matrix without rows the leading dimension would be 0, which is another question. Narrow types want multiples.
void set_smallest_ld(MatmulProblem& p) {
  const std::int64_t least = bytes_of(p.type_a) == 1 ? 16 : 1;
  for (const auto& operand : kOperands) p.*operand.ld = std::max(operand.shape(p).ld, least);
}

// ---- Zero --------------------------------------------------------------------------------------------------------

void add_k_of_zero(CaseList& list, const Form& form, const Op& op) {
  const bool usual = is_usual(form, op);
  const auto add = [&](Depth from, std::string_view what, auto change) {
    auto p = product(form, op, {kBase.m, kBase.n, 0});
    change(p);
    set_smallest_ld(p);
    Case* added = list.add(usual ? from : std::max(from, Depth::normal),
                           fmt::format("{}.{}.k0.{}", form.name, op.name, what), "k-zero", p);
    if (added != nullptr) added->with_cublas = p.epilogue == CUBLASLT_EPILOGUE_DEFAULT && !is_fp8(form.type);
  };
  const Depth early = form.tier == Tier::rest ? Depth::full : Depth::quick;
  add(early, "beta0", [](MatmulProblem&) {});
  add(early, "beta1", [](MatmulProblem& p) { p.beta = 1; });
  if (!usual) return;
  add(common(form), "in_place", [](MatmulProblem& p) { p.beta = 1, p.in_place = true; });
  add(common(form), "null_algo", [](MatmulProblem& p) { p.beta = 1, p.algo = AlgoChoice::null; });
  add(common(form), "batch", [](MatmulProblem& p) { p.beta = 1, p.batch_count = 3; });
  if (!is_integer(form.type) && !is_complex(form.type)) {
    add(sampled(form), "bias", [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS; });
    add(common(form), "beta2", [](MatmulProblem& p) { p.beta = 2; });
  }
}

void add_empty(CaseList& list, const Form& form, const Op& op) {
  const bool usual = is_usual(form, op);
  struct Zero {
    std::string_view name;
    Size size;
  };
  for (const auto& zero : {Zero{"m0", {0, kBase.n, kBase.k}}, Zero{"n0", {kBase.m, 0, kBase.k}},
                           Zero{"m0n0", {0, 0, kBase.k}}, Zero{"n0k0", {kBase.m, 0, 0}}, Zero{"m0n0k0", {0, 0, 0}}}) {
    const bool one = zero.name.size() == 2;
    const auto add = [&](Depth from, std::string_view what, auto change) {
      auto p = product(form, op, zero.size);
      change(p);
      set_smallest_ld(p);
      Case* added = list.add(one && usual ? from : Depth::full,
                             fmt::format("{}.{}.{}.{}", form.name, op.name, zero.name, what), kEmpty, p);
      if (added != nullptr) added->with_cublas = p.epilogue == CUBLASLT_EPILOGUE_DEFAULT && !is_fp8(form.type);
    };
    add(sampled(form), "beta0", [](MatmulProblem&) {});
    add(common(form), "beta1", [](MatmulProblem& p) { p.beta = 1; });
    if (!usual || !one) continue;
    add(common(form), "null_algo", [](MatmulProblem& p) { p.algo = AlgoChoice::null; });
    add(Depth::full, "batch", [](MatmulProblem& p) { p.batch_count = 3; });
    if (!is_integer(form.type) && !is_complex(form.type)) {
      add(common(form), "bias", [](MatmulProblem& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS; });
    }
  }
}

// ---- One ---------------------------------------------------------------------------------------------------------

void add_ones(CaseList& list, const Form& form, const Op& op) {
  struct One {
    std::string_view name;
    Size size;
    bool sample;
  };
  constexpr std::array kOnes{One{"m1", {1, 80, 64}, true},   One{"n1", {96, 1, 64}, true},
                             One{"k1", {96, 80, 1}, true},   One{"m1n1", {1, 1, 64}, false},
                             One{"m1k1", {1, 80, 1}, false}, One{"n1k1", {96, 1, 1}, false},
                             One{"m1n1k1", {1, 1, 1}, true}};
  for (const auto& one : kOnes) {
    // What narrow types forbid is the matter of their own checks.
    if (form.is_narrow() && (one.size.m == 1 || one.size.k == 1)) continue;
    const std::string_view subject = one.size.m == 1 || one.size.n == 1 ? "vector" : "k-one";
    const bool usual = is_usual(form, op);
    const Depth from = usual && one.sample ? sampled(form) : common(form);
    auto p = product(form, op, one.size);
    p.beta = 1;
    const auto id = fmt::format("{}.{}.{}", form.name, op.name, one.name);
    Case* added = list.add(from, id, subject, p);
    if (added != nullptr) added->with_cublas = !is_fp8(form.type);
    if (usual) list.add_every_result(common(form), id + ".every_result", subject, p);
    if (is_integer(form.type) || is_complex(form.type)) continue;
    p.beta = 0;
    p.epilogue = CUBLASLT_EPILOGUE_BIAS;
    list.add(from, id + ".bias", subject, p);
    // One element that happens to be negative would prove nothing.
    if (one.size.m * one.size.n == 1) continue;
    p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    list.add(usual ? common(form) : Depth::full, id + ".relu_bias", subject, p);
  }
}

// ---- Leading dimensions ------------------------------------------------------------------------------------------

/// A leading dimension of 1 where the matrix is a single column: the stride of a dimension of size 1, as a framework
/// passes it.
void add_ld_of_one_column(CaseList& list, const Form& form) {
  const auto add = [&](std::string_view what, const Op& op, const Size& size, const Operand& operand) {
    auto p = product(form, op, size);
    p.beta = 1;
    p.*operand.ld = 1;
    Case* added = list.add(sampled(form), fmt::format("{}.{}.{}.ld{}_1", form.name, op.name, what, operand.name),
                           "one-column-ld", p);
    // cuBLAS has one leading dimension for C and D.
    if (added != nullptr) added->with_cublas = operand.name != "c";
  };
  if (form.is_narrow()) return;
  add("k1", kNn, {96, 80, 1}, kOperands[0]);
  for (std::size_t i = 1; i < kOperands.size(); ++i) add("n1", kNn, {96, 1, 64}, kOperands.at(i));
}

/// A leading dimension that a problem cannot say.
void add_set_ld(CaseList& list, Depth from, const Form& form, const Op& op, const Size& size, const Operand& operand,
                std::string_view what, std::int64_t ld) {
  auto p = product(form, op, size);
  p.beta = 1;
  const bool broadcast = operand.name == "c" && ld == 0;
  const auto dot = what.rfind('.') + 1;
  Case* added = list.add(
      from, fmt::format("{}.{}.{}ld{}_{}", form.name, op.name, what.substr(0, dot), operand.name, what.substr(dot)),
      broadcast ? kBroadcastC : "ld-below-rows", p);
  if (added == nullptr) return;
  added->parameters[kSteps] = kSetLd;
  added->parameters[kOperand] = operand.name;
  added->parameters[kLd] = fmt::to_string(ld);
  added->scenario = true;
  added->expectation = broadcast ? Expectation::may_refuse : Expectation::must_refuse;
  added->rule = broadcast
                    ? "a C that is not in D's memory may have a leading dimension of 0: its first column stands for "
                      "all (cuBLAS 13.2 documentation, cublasLtMatmul); wrong for some products before 13.3.0 "
                      "(5845724, release notes 13.2 Update 1)"
                    : "a leading dimension is not negative, and large enough that columns do not overlap "
                      "(cublasLt.h 13.1.0, CUBLASLT_MATRIX_LAYOUT_LD, lines 1137-1143)";
}

void add_ld_below_rows(CaseList& list, const Form& form) {
  const Op& op = form.is_narrow() ? kTn : kNn;
  for (const auto& operand : kOperands) {
    const auto add = [&](std::string_view what, std::int64_t ld) {
      auto p = product(form, op, kBase);
      p.beta = 1;
      p.*operand.ld = ld;
      list.add(what == "1" ? common(form) : sampled(form),
               fmt::format("{}.{}.ld{}_{}", form.name, op.name, operand.name, what), "ld-below-rows", p);
    };
    add("1", 1);
    add("below", operand.shape(product(form, op, kBase)).rows - 16);
    // A C of 0 is another question.
    if (operand.name != "c") add_set_ld(list, sampled(form), form, op, kBase, operand, "zero", 0);
    add_set_ld(list, common(form), form, op, kBase, operand, "negative", -96);
  }
}

/// A C with one column for all. No document says for which products it was wrong before 13.3.0, so the full depth
/// looks for them: vectors, odd sizes, sums that are split, several tiles.
void add_broadcast_c(CaseList& list, const Form& form, const Op& op) {
  // What the column adds is verified as a bias, and complex products have none.
  if (is_complex(form.type)) return;
  struct Shape {
    std::string_view name;
    Size size;
  };
  for (const auto& shape : {Shape{"", kBase}, Shape{"m1.", {1, 80, 64}}, Shape{"n1.", {96, 1, 64}},
                            Shape{"n2.", {96, 2, 64}}, Shape{"k1.", {96, 80, 1}}, Shape{"odd.", {93, 77, 61}},
                            Shape{"long_k.", {64, 48, 16384}}, Shape{"tiles.", {1024, 768, 256}}}) {
    const bool base = shape.name.empty();
    if (form.is_narrow() && (shape.size.m % 16 != 0 || shape.size.k % 16 != 0)) continue;
    if (list.is_simulator() && shape.name == "tiles.") continue;
    const Depth from = base && is_usual(form, op) ? sampled(form) : Depth::full;
    add_set_ld(list, from, form, op, shape.size, kOperands[2], fmt::format("{}zero", shape.name), 0);
  }
}

void add_far_ld(CaseList& list, const Form& form, const Op& op) {
  struct Far {
    std::string_view name;
    std::int64_t ld;
  };
  for (const auto& far : {Far{"2p12", (1 << 12) + 16}, Far{"2p16", (1 << 16) + 16}, Far{"2p20", (1 << 20) + 16}}) {
    if (list.is_simulator() && far.name != "2p12") continue;
    for (const auto& operand : kOperands) {
      auto p = product(form, op, kBase);
      p.beta = operand.name == "c" ? 1 : 0;
      p.*operand.ld = far.ld;
      const bool usual = is_usual(form, op);
      const Depth from =
          far.name == "2p12" && usual ? sampled(form) : (far.name == "2p16" && usual ? common(form) : Depth::full);
      list.add(from, fmt::format("{}.{}.ld{}_{}", form.name, op.name, operand.name, far.name), "far-ld", p);
    }
  }
}

// ---- Products of an application ----------------------------------------------------------------------------------

/// The limit that the product stands at: a subject, or nothing.
std::string_view limit_of(const MatmulProblem& p) {
  constexpr double kTwoGiB = 0x1p31;
  if (p.m == 0 || p.n == 0) return kEmpty;
  if (p.k == 0) return "k-zero";
  bool far = false;
  bool long_span = false;
  for (const auto& operand : kOperands) {
    const auto shape = operand.shape(p);
    const auto size = static_cast<double>(bytes_of(shape.type));
    const auto lines = static_cast<double>(shape.order == CUBLASLT_ORDER_ROW ? shape.rows : shape.cols);
    far = far || (lines > 1 && static_cast<double>(shape.ld) * size >= kTwoGiB);
    long_span = long_span || static_cast<double>(shape.ld) * lines * size >= kTwoGiB;
  }
  if (far) return "ld-above-int32";
  if (long_span) return "span";
  if (p.m > 65535 || p.n > 65535) return "many-tiles";
  if (p.m == 1 || p.n == 1) return "vector";
  return p.k == 1 ? "k-one" : "";
}

}  // namespace

MatmulProblem product(const Form& form, const Op& op, const Size& size) {
  auto p = uniform_problem(form.type, size.m, size.n, size.k);
  p.transa = op.a;
  p.transb = op.b;
  p.alpha = is_integer(form.type) ? 1 : 2;
  return p;
}

void resize(MatmulProblem& p, const Operand& operand, std::int64_t rows, std::int64_t cols) {
  const bool is_a = operand.name == "a";
  const bool is_b = operand.name == "b";
  const bool plain = is_a ? p.transa == CUBLAS_OP_N : (!is_b || p.transb == CUBLAS_OP_N);
  if (!plain) std::swap(rows, cols);
  (is_b ? p.k : p.m) = rows;
  (is_a ? p.k : p.n) = cols;
}

Case* CaseList::add(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem) {
  if (depth_ < from) return nullptr;
  Case added;
  added.id = std::move(id);
  added.problem = problem;
  auto promise = promise_of(problem, scope_);
  added.expectation = promise.expectation;
  added.rule = std::move(promise.rule);
  added.parameters[kSubject] = subject;
  list_.push_back(std::move(added));
  return &list_.back();
}

Case* CaseList::add_every_result(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem) {
  Case* added = add(from, std::move(id), subject, problem);
  if (added == nullptr) return nullptr;
  added->parameters[kSteps] = kEveryResult;
  added->scenario = true;
  return added;
}

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  for (const auto& form : kForms) {
    for (const auto& op : ops_of(form)) {
      add_k_of_zero(list, form, op);
      add_empty(list, form, op);
      add_ones(list, form, op);
      add_far_ld(list, form, op);
      add_broadcast_c(list, form, op);
    }
    add_ld_of_one_column(list, form);
    add_ld_below_rows(list, form);
  }
  add_large(list);
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  const auto subject = limit_of(problem);
  if (subject.empty()) return {};
  CaseList list(target, Depth::full);
  const bool one_call = problem.algo == AlgoChoice::given || subject == kEmpty || subject == "k-zero";
  if (one_call) {
    list.add(Depth::quick, "as_it_is", subject, problem);
  } else {
    auto asked = problem;
    asked.algo = AlgoChoice::heuristic;
    asked.algo_index = 0;
    list.add_every_result(Depth::quick, "every_result", subject, asked);
  }
  return list.take();
}

}  // namespace lt_audit::shape_limits
