// The table: types x orders, operations, sizes, scalars, algorithms and epilogues of INT8 inputs.
#include "int8_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "lt_audit/contract.h"

namespace lt_audit::int8 {
namespace {

struct Form {
  std::string_view name;
  cudaDataType_t d;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};
constexpr Form kI32{"i32", CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I};
constexpr Form kI8{"i8", CUDA_R_8I, CUBLAS_COMPUTE_32I, CUDA_R_32F};
constexpr Form kF32{"f32", CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
constexpr std::array kForms{kI32, kI8, kF32};

struct Op {
  std::string_view name;
  cublasOperation_t a, b;
};
constexpr std::array kOps{Op{"tn", CUBLAS_OP_T, CUBLAS_OP_N}, Op{"nn", CUBLAS_OP_N, CUBLAS_OP_N},
                          Op{"nt", CUBLAS_OP_N, CUBLAS_OP_T}, Op{"tt", CUBLAS_OP_T, CUBLAS_OP_T}};

struct Size {
  std::int64_t m, n, k;
};
/// Several tiles on a GPU; the simulator multiplies on the host.
struct Shape {
  std::string_view name;
  Size on_gpu, on_simulator;
};
constexpr Shape kBase{"base", {272, 208, 144}, {48, 40, 32}};
constexpr Shape kLongK{"long_k", {64, 48, 16384}, {32, 24, 1024}};

/// Sums of 127 times 127 reach 2^31 from this k on, with room for the low digits.
constexpr std::int64_t kEdgeK = 133168;

/// Collects the cases that the depth asks for and takes their expectation from the contract.
class CaseList {
 public:
  CaseList(const Target& target, Depth depth)
      : scope_(scope_of(target)), depth_(depth), simulator_(target.kind == PlatformKind::simulator) {}

  bool full() const { return depth_ == Depth::full; }
  const ContractScope& scope() const { return scope_; }

  static MatmulProblem problem(const Form& form, const Size& size) {
    auto p = uniform_problem(CUDA_R_8I, size.m, size.n, size.k);
    p.type_c = p.type_d = form.d;
    p.compute_type = form.compute;
    p.scale_type = form.scale;
    p.transa = CUBLAS_OP_T;
    p.transb = CUBLAS_OP_N;
    return p;
  }
  MatmulProblem problem(const Form& form, const Shape& shape) const {
    return problem(form, simulator_ ? shape.on_simulator : shape.on_gpu);
  }

  /// The case, or null when the depth leaves it out.
  Case* add(Depth from, std::string id, std::string_view subject, const MatmulProblem& problem) {
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

  Case* add_steps(Depth from, std::string id, std::string_view subject, const char* steps,
                  const MatmulProblem& problem) {
    Case* added = add(from, std::move(id), subject, problem);
    if (added == nullptr) return nullptr;
    added->parameters[kSteps] = steps;
    added->scenario = true;
    return added;
  }

  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  bool simulator_;
  std::vector<Case> list_;
};

// ---- Orders and operations ---------------------------------------------------------------------------------------

void add_orders(CaseList& list) {
  constexpr auto letter = [](cublasLtOrder_t order) { return order == CUBLASLT_ORDER_COL ? 'c' : 'r'; };
  for (const auto& form : kForms) {
    for (const auto& op : kOps) {
      for (int bits = 0; bits < 8; ++bits) {
        const auto order = [bits](int bit) { return (bits & bit) != 0 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL; };
        auto p = list.problem(form, kBase);
        p.transa = op.a;
        p.transb = op.b;
        p.order_a = order(1);
        p.order_b = order(2);
        p.order_c = p.order_d = order(4);
        const bool uniform = bits == 0 || bits == 7;
        const bool tn = op.name == "tn";
        Depth from = Depth::full;
        if (uniform) from = tn && form.name != kF32.name ? Depth::quick : Depth::normal;
        if (tn && !uniform) from = form.name == kI32.name ? Depth::quick : Depth::normal;
        const auto id = fmt::format("{}.{}.order_{}{}{}", form.name, op.name, letter(p.order_a), letter(p.order_b),
                                    letter(p.order_d));
        list.add(from, id, bits == 0 ? (tn ? "regular" : "transpose") : "row-order", p);
      }
    }
  }
}

/// What is documented nowhere and works at one size may be refused at the next.
void add_operations_at_sizes(CaseList& list) {
  for (const auto& form : kForms) {
    for (const auto& op : kOps) {
      if (op.name == "tn") continue;
      auto p = list.problem(form, kBase);
      p.transa = op.a;
      p.transb = op.b;
      for (const char* many : {"few", "many"}) {
        Depth from = std::string_view(many) == "many" ? Depth::full : Depth::normal;
        if (from == Depth::normal && form.name == kI32.name && op.name == "nn") from = Depth::quick;
        Case* added =
            list.add_steps(from, fmt::format("{}.{}.{}_sizes", form.name, op.name, many), "transpose", kSizes, p);
        if (added != nullptr) added->parameters[kHowMany] = many;
      }
    }
  }
}

/// A, C and D in COL32 and B in an order of its own, A not transposed and B transposed.
void add_imma_orders(CaseList& list) {
  for (const auto& form : {kI32, kI8}) {
    for (const auto& [order, name] : {std::pair{CUBLASLT_ORDER_COL4_4R2_8C, "COL4_4R2_8C"},
                                      std::pair{CUBLASLT_ORDER_COL32_2R_4R4, "COL32_2R_4R4"}}) {
      // The orders are in the parameter: a problem has no words for them.
      auto p = list.problem(form, Size{64, 64, 64});
      p.transa = CUBLAS_OP_N;
      p.transb = CUBLAS_OP_T;
      Case* added =
          list.add_steps(Depth::quick, fmt::format("{}.nt.imma_{}", form.name, name), "imma-order", kImmaOrder, p);
      if (added == nullptr) continue;
      added->parameters[kOrder] = name;
      auto promise = promise_of_imma_order(order, list.scope());
      added->expectation = promise.expectation;
      added->rule = std::move(promise.rule);
    }
  }
}

// ---- Multiples of 4 and sizes ------------------------------------------------------------------------------------

/// One size or leading dimension above its smallest. A ldd of its own is in check "alignment", since it faults.
void add_multiples(CaseList& list) {
  for (const auto& form : kForms) {
    const auto base = list.problem(form, kBase);
    for (const std::int64_t more : {1, 2, 3, 4, 8}) {
      const auto add = [&](std::string_view what, const MatmulProblem& p) {
        Depth from = form.name == kF32.name || more == 3 || more == 8 ? Depth::full : Depth::normal;
        if (form.name != kF32.name && (more == 1 || more == 4)) from = Depth::quick;
        list.add(from, fmt::format("{}.tn.{}_plus{}", form.name, what, more), "multiples-of-4", p);
      };
      auto p = base;
      p.m += more;
      add("m", p);
      p = base;
      p.k += more;
      add("k", p);
      p = base;
      p.lda = p.k + more;
      add("lda", p);
      p = base;
      p.ldb = p.k + more;
      add("ldb", p);
      p = base;
      p.ldc = p.ldd = p.m + more;
      p.beta = 1;
      add("ldc", p);
    }
  }
}

void add_sizes(CaseList& list) {
  const auto add = [&list](Depth from, const Form& form, const Size& size) {
    list.add(from, fmt::format("{}.tn.size_{}x{}x{}", form.name, size.m, size.n, size.k), "size",
             CaseList::problem(form, size));
  };
  // BR-27 (pytorch/pytorch#107671): 16x17x16; BR-32 (NVIDIA/MatX#538): next to nothing.
  constexpr std::array kSamples{Size{4, 1, 4}, Size{4, 3, 8}, Size{16, 17, 16}, Size{20, 1, 36}, Size{36, 67, 12}};
  const auto sampled = [&](const Size& size) {
    return std::any_of(kSamples.begin(), kSamples.end(),
                       [&](const Size& s) { return s.m == size.m && s.n == size.n && s.k == size.k; });
  };
  for (const auto& form : kForms) {
    for (const auto& size : kSamples) add(form.name == kF32.name ? Depth::normal : Depth::quick, form, size);
    // BR-30 (CTranslate2#1865): the vocabulary of a speech model.
    add(Depth::full, form, {24, 51865, 1280});
    if (!list.full()) continue;
    for (const std::int64_t m : {4, 8, 12, 16, 20, 36, 68, 132}) {
      for (const std::int64_t n : {1, 3, 8, 17, 33, 67}) {
        for (const std::int64_t k : {4, 8, 12, 20, 36, 68, 132, 1028}) {
          if (!sampled({m, n, k})) add(Depth::full, form, {m, n, k});
        }
      }
    }
  }
}

/// KI-061: many columns, or a batch, into INT32.
void add_many(CaseList& list) {
  for (const auto& form : kForms) {
    const bool first = form.name == kI32.name;
    for (const std::int64_t n : {65535, 65536, 65537, 70000, 131073, 655360}) {
      Depth from = n > 70000 ? Depth::full : Depth::normal;
      if (n == 65537 && first) from = Depth::quick;
      Case* added = list.add(from, fmt::format("{}.tn.columns_{}", form.name, n), "many-columns",
                             CaseList::problem(form, {4, n, 16}));
      if (added != nullptr) added->with_cublas = first && n > 65536;
    }
    for (const Size& size :
         {Size{64, 70000, 144}, Size{272, 65537, 64}, Size{1024, 70000, 272}, Size{16, 262148, 16}}) {
      const Shape shape{"", size, {4, 4100, 16}};
      list.add(Depth::full, fmt::format("{}.tn.columns_{}.rows_{}", form.name, size.n, size.m), "many-columns",
               list.problem(form, shape));
    }
    for (const std::int64_t m : {65536, 65540, 131076}) {
      list.add(m == 65540 ? Depth::normal : Depth::full, fmt::format("{}.tn.rows_{}", form.name, m), "many-rows",
               CaseList::problem(form, {m, 5, 16}));
    }
    for (const std::int32_t batch : {2, 3, 17}) {
      auto p = list.problem(form, Shape{"batch", {144, 112, 80}, {32, 24, 16}});
      p.batch_count = batch;
      const auto add = [&](Depth from, std::string_view what) {
        Case* added = list.add(from, fmt::format("{}.tn.{}_{}", form.name, what, batch), "batch", p);
        if (added != nullptr) added->with_cublas = first;
      };
      add(batch == 2 ? Depth::quick : (batch == 3 ? Depth::normal : Depth::full), "batch");
      if (batch != 3) continue;
      p.stride_a = p.m * p.k + 16;
      p.stride_b = p.n * p.k + 32;
      p.stride_c = p.stride_d = p.m * p.n + 48;
      add(Depth::normal, "batch_padded");
      p.stride_a = 0;
      add(Depth::normal, "batch_shared_a");
      p.stride_a = -1;
      p.stride_b = 0;
      add(Depth::normal, "batch_shared_b");
    }
    auto both = list.problem(form, Shape{"", {16, 65537, 32}, {4, 4100, 16}});
    both.batch_count = 3;
    list.add(Depth::full, fmt::format("{}.tn.batch_3.columns_65537", form.name), "batch", both);
  }
}

// ---- Scalars -----------------------------------------------------------------------------------------------------

std::string word_of(double value) {
  auto text = fmt::format("{}", value);
  std::replace(text.begin(), text.end(), '-', 'm');
  std::replace(text.begin(), text.end(), '.', 'p');
  return text;
}

void add_scalars(CaseList& list) {
  struct Pair {
    double alpha, beta;
  };
  constexpr std::array kWhole{Pair{1, 1}, Pair{0, 1}, Pair{2, 0}, Pair{-1, 0}, Pair{1, 2}, Pair{1, -1}, Pair{3, 2}};
  constexpr std::array kFractions{Pair{0.5, 0}, Pair{0.25, 1}, Pair{1, 0.5}, Pair{-0.75, 0.25}};
  for (const auto& form : kForms) {
    const auto add = [&](const Pair& pair, cublasLtPointerMode_t mode) {
      const bool device = mode == CUBLASLT_POINTER_MODE_DEVICE;
      auto p = list.problem(form, kBase);
      p.alpha = pair.alpha;
      p.beta = pair.beta;
      p.pointer_mode = mode;
      Case* added = list.add(form.name == kF32.name || device ? Depth::normal : Depth::quick,
                             fmt::format("{}.tn.alpha_{}_beta_{}{}", form.name, word_of(pair.alpha), word_of(pair.beta),
                                         device ? ".device" : ""),
                             "scalars", p);
      if (added != nullptr) added->with_cublas = form.scale == CUDA_R_32I && !device;
    };
    for (const auto mode : {CUBLASLT_POINTER_MODE_HOST, CUBLASLT_POINTER_MODE_DEVICE}) {
      for (const auto& pair : kWhole) add(pair, mode);
      // An INT32 scalar has no fractions.
      if (form.scale == CUDA_R_32I) continue;
      for (const auto& pair : kFractions) add(pair, mode);
    }
  }
  // The same with other algorithms: split-K has the scalars in its reduction.
  for (const auto& shape : {kBase, kLongK}) {
    auto p = list.problem(kI32, shape);
    p.alpha = -3;
    p.beta = 2;
    list.add_steps(Depth::normal, fmt::format("i32.tn.alpha_m3_beta_2.every_result.{}", shape.name), "scalars",
                   kAllResults, p);
    p.algo = AlgoChoice::null;
    list.add(Depth::normal, fmt::format("i32.tn.alpha_m3_beta_2.null_algorithm.{}", shape.name), "scalars", p);
  }
}

// ---- Planted values ----------------------------------------------------------------------------------------------

void add_planted(CaseList& list) {
  const auto add = [&list](Depth from, std::string_view what, std::string_view subject, const MatmulProblem& p,
                           std::string_view form) {
    return list.add_steps(from, fmt::format("{}.tn.{}", form, what), subject, kPlanted, p);
  };
  for (const auto& form : {kI32, kF32}) {
    const Depth from = form.name == kI32.name ? Depth::quick : Depth::normal;
    add(from, "sums_24_bits", "sum", CaseList::problem(form, {16, 8, 2048}), form.name);
    // FP32 holds more than INT32: there the sums go to 1.5 times 2^31.
    const auto p = CaseList::problem(form, {16, 4, form.name == kI32.name ? kEdgeK : 2 * kEdgeK});
    Case* added = add(from, "sums_32_bits", "sum", p, form.name);
    if (added != nullptr) added->parameters[kRequested] = "1";
    add(Depth::normal, "sums_32_bits.every_result", "sum", p, form.name);
  }
  for (const auto& shape : {Shape{"many_tiles", {144, 136, kEdgeK}, {32, 8, kEdgeK}},
                            Shape{"k_plus4", {16, 8, kEdgeK + 4}, {16, 8, kEdgeK + 4}},
                            Shape{"longer_k", {16, 8, 4 * kEdgeK}, {16, 8, 4 * kEdgeK}}}) {
    add(Depth::full, fmt::format("sums_32_bits.{}", shape.name), "sum", list.problem(kI32, shape), kI32.name);
  }
  auto p = CaseList::problem(kI32, {32, 8, 64});
  p.beta = 1;
  add(Depth::quick, "sums_32_bits_of_c", "sum", p, kI32.name);
  // What INT8 makes of the sums: alpha alone, and alpha with C.
  for (const double alpha : {1.0, 0.5, 0.25}) {
    for (const double beta : {0.0, 1.0}) {
      p = CaseList::problem(kI8, {64, 8, 1040});
      p.alpha = alpha;
      p.beta = beta;
      const bool early = alpha == 0.5 || (alpha == 1 && beta == 0);
      add(early ? Depth::quick : Depth::normal, fmt::format("convert_alpha_{}_beta_{}", word_of(alpha), beta),
          "conversion", p, kI8.name);
    }
  }
  struct Fine {
    std::string_view id, alpha;
    std::int64_t k;
    Depth from;
  };
  for (const auto& fine : {Fine{"tenth", "0.1", 1040, Depth::normal}, Fine{"thousandth", "0.001", 1040, Depth::normal},
                           Fine{"millionth", "0.000001", kEdgeK, Depth::full}}) {
    p = CaseList::problem(kI8, {64, 4, fine.k});
    Case* added = add(fine.from, fmt::format("convert_alpha_{}", fine.id), "conversion", p, kI8.name);
    if (added != nullptr) added->parameters[kAlpha] = fine.alpha;
  }
  for (const auto epilogue : {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_RELU}) {
    for (const double alpha : {1.0, 0.5}) {
      p = CaseList::problem(kI8, {64, 8, 1040});
      p.epilogue = epilogue;
      p.alpha = alpha;
      add(alpha == 0.5 && epilogue == CUBLASLT_EPILOGUE_BIAS ? Depth::quick : Depth::normal,
          fmt::format("convert_alpha_{}.{}", word_of(alpha), name_of(epilogue)), "epilogue-conversion", p, kI8.name);
    }
  }
}

// ---- Algorithms and epilogues ------------------------------------------------------------------------------------

void add_algorithms(CaseList& list) {
  // k that 2, 3, 4 and 8 divide and do not divide.
  constexpr std::array kShapes{kBase, kLongK, Shape{"long_k_plus4", {64, 48, 16388}, {32, 24, 1028}},
                               Shape{"long_k_plus12", {16, 16, 65548}, {16, 16, 1036}}};
  for (const auto& form : kForms) {
    for (const auto& shape : kShapes) {
      const bool early = form.name != kF32.name && shape.name == kLongK.name;
      const auto p = list.problem(form, shape);
      list.add_steps(early ? Depth::quick : Depth::normal, fmt::format("{}.tn.every_result.{}", form.name, shape.name),
                     "algorithm", kAllResults, p);
      if (shape.name != kBase.name && shape.name != kLongK.name) continue;
      for (const std::int64_t workspace : {std::int64_t{0}, p.workspace_bytes}) {
        auto q = p;
        q.workspace_bytes = workspace;
        const std::string_view with = workspace == 0 ? "no_workspace" : "workspace";
        // BR-27 and BR-28: algorithm NULL without a workspace, as PyTorch calls it.
        q.algo = AlgoChoice::null;
        list.add(early && workspace == 0 ? Depth::quick : Depth::normal,
                 fmt::format("{}.tn.null_algorithm.{}.{}", form.name, with, shape.name), "algorithm", q);
        q.algo = AlgoChoice::heuristic;
        if (workspace == 0) {
          list.add(early ? Depth::quick : Depth::normal, fmt::format("{}.tn.{}.{}", form.name, with, shape.name),
                   "algorithm", q);
        }
      }
    }
  }
}

/// BR-28 (pytorch/pytorch#187094): no algorithm and no workspace, as PyTorch calls it, takes far longer.
void add_null_times(CaseList& list) {
  for (const auto& form : {kI32, kI8}) {
    for (const Size& size : {Size{2048, 512, 1024}, Size{4096, 4096, 4096}, Size{4096, 32, 4096}}) {
      const auto p = list.problem(form, Shape{"", size, {48, 40, 32}});
      list.add_steps(size.n == 512 ? Depth::normal : Depth::full,
                     fmt::format("{}.tn.null_time.{}x{}x{}", form.name, size.m, size.n, size.k), "algorithm", kNullTime,
                     p);
    }
  }
}

/// What the bias of an INT8 D may be: two tables and two texts disagree.
void add_bias_types(CaseList& list) {
  constexpr std::array kTypes{CUDA_R_32F, CUDA_R_8I, CUDA_R_32I, CUDA_R_16F, CUDA_R_16BF};
  for (const auto epilogue : {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS}) {
    auto p = list.problem(kI8, kBase);
    p.epilogue = epilogue;
    const auto early = epilogue == CUBLASLT_EPILOGUE_BIAS ? Depth::quick : Depth::normal;
    list.add(early, fmt::format("i8.tn.{}", name_of(epilogue)), "epilogue", p);
    for (const auto type : kTypes) {
      p.type_bias = type;
      list.add(type == CUDA_R_8I ? early : Depth::normal,
               fmt::format("i8.tn.bias_type_{}.{}", name_of(type), name_of(epilogue)), "bias-type", p);
    }
    p.type_bias.reset();
    p.batch_count = 3;
    p.stride_bias = (p.m + 31) / 16 * 16;
    list.add(Depth::normal, fmt::format("i8.tn.batch_3.{}", name_of(epilogue)), "epilogue", p);
    p = CaseList::problem(kI8, {4, 65537, 16});
    p.epilogue = epilogue;
    list.add(Depth::full, fmt::format("i8.tn.columns_65537.{}", name_of(epilogue)), "epilogue", p);
  }
}

/// Matrices that are copied from the host in no time; the simulator multiplies there too, once for each algorithm.
bool is_small_enough(const MatmulProblem& p, PlatformKind kind) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
  constexpr std::int64_t kMostProducts = std::int64_t{1} << 26;
  for (const auto& shape : {shape_a(p), shape_b(p), shape_d(p)}) {
    if (shape.span() > kMostElements) return false;
  }
  return kind != PlatformKind::simulator || p.m * p.n * p.k * p.batch_count <= kMostProducts;
}

}  // namespace

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  add_orders(list);
  add_operations_at_sizes(list);
  add_imma_orders(list);
  add_multiples(list);
  add_sizes(list);
  add_many(list);
  add_scalars(list);
  add_planted(list);
  add_algorithms(list);
  add_null_times(list);
  add_bias_types(list);
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  CaseList list(target, Depth::quick);
  if (problem.type_a != CUDA_R_8I || problem.type_b != CUDA_R_8I || problem.k < 32) return {};
  if (!is_small_enough(problem, target.kind)) return {};
  if (promise_of(problem, scope_of(target)).expectation == Expectation::must_refuse) return {};
  const bool plain = problem.epilogue == CUBLASLT_EPILOGUE_DEFAULT || problem.epilogue == CUBLASLT_EPILOGUE_BIAS ||
                     problem.epilogue == CUBLASLT_EPILOGUE_RELU || problem.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  const bool known = problem.type_d == CUDA_R_8I || problem.type_d == CUDA_R_32I || problem.type_d == CUDA_R_32F;
  // Values of C are planted before every run, which a D in the same memory does not leave there.
  const bool keeps_c = problem.beta == 0 || !problem.in_place;
  if (plain && known && keeps_c && problem.alpha != 0) {
    list.add_steps(Depth::quick, problem.type_d == CUDA_R_8I ? "convert" : "sums",
                   problem.type_d == CUDA_R_8I ? "conversion" : "sum", kPlanted, problem);
  }
  return list.take();
}

}  // namespace lt_audit::int8
