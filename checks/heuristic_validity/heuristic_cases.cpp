// The grid of queries: shapes x types x transposition, workspace limits x requested counts, and reuse of one result.
#include "heuristic_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "lt_audit/contract.h"

namespace lt_audit::heuristic_validity {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kUsualLimit = 32 * kMiB;
constexpr int kUsualRequest = 8;

/// Types of one product, and the depth from which it is asked about.
struct Form {
  std::string_view name;
  Depth from;
  cudaDataType_t input;
  cudaDataType_t output;
  cublasComputeType_t compute;
  /// FP8 and INT8 on sm_90 are documented for a transposed A alone.
  bool only_tn = false;
  /// Type of B where it is not A's.
  cudaDataType_t second = input;
};
constexpr std::array kForms{
    Form{"f64", Depth::quick, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    Form{"f32", Depth::quick, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"f16", Depth::quick, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    Form{"bf16", Depth::quick, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    Form{"e4m3", Depth::quick, CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, true},
    Form{"i8", Depth::quick, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, true},
    Form{"f16_f32", Depth::normal, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"bf16_f32", Depth::normal, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    Form{"tf32", Depth::normal, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    Form{"f16_16f", Depth::normal, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
    Form{"e5m2", Depth::normal, CUDA_R_8F_E5M2, CUDA_R_16BF, CUBLAS_COMPUTE_32F, true, CUDA_R_8F_E4M3},
    Form{"i8_i8", Depth::normal, CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I, true},
    Form{"c64", Depth::full, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F},
    Form{"c32", Depth::normal, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F},
    Form{"c16", Depth::normal, CUDA_C_16F, CUDA_C_16F, CUBLAS_COMPUTE_32F},
    Form{"c32_tf32", Depth::full, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    Form{"c16_c32", Depth::full, CUDA_C_16F, CUDA_C_32F, CUBLAS_COMPUTE_32F},
    Form{"cbf16", Depth::full, CUDA_C_16BF, CUDA_C_16BF, CUBLAS_COMPUTE_32F},
    Form{"e4m3_f32", Depth::full, CUDA_R_8F_E4M3, CUDA_R_32F, CUBLAS_COMPUTE_32F, true},
};

struct Shape {
  std::string_view name;
  std::int64_t m, n, k;
  Depth from = Depth::quick;
};
/// The sizes are small enough for the simulator; long k leaves most of a GPU idle, which brings split-K.
constexpr std::array kShapes{
    Shape{"square", 64, 64, 64},
    Shape{"wide", 16, 512, 64},
    Shape{"tall", 512, 16, 64},
    Shape{"odd", 61, 53, 47},
    Shape{"row", 1, 256, 128},
    Shape{"column", 256, 1, 128},
    Shape{"long_k", 32, 32, 2048},
    Shape{"tiny", 16, 16, 16, Depth::normal},
    Shape{"longer_k", 48, 32, 8192, Depth::full},
    Shape{"large", 512, 768, 256, Depth::full},
};

class CaseList {
 public:
  CaseList(const Target& target, Depth depth) : scope_(scope_of(target)), depth_(depth) {}

  /// The case, or null when the depth leaves it out.
  Case* add(Depth from, std::string id, std::string_view kind, const MatmulProblem& problem, int requested) {
    if (depth_ < from) return nullptr;
    Case added;
    added.id = std::move(id);
    added.problem = problem;
    auto promise = promise_of(problem, scope_);
    added.expectation = promise.expectation;
    added.rule = std::move(promise.rule);
    added.parameters = {{std::string(kKind), std::string(kind)}, {std::string(kRequested), fmt::to_string(requested)}};
    // A product through null or the first algorithm is the engine's own run.
    added.scenario = kind != kNullAlgorithm;
    list_.push_back(std::move(added));
    return &list_.back();
  }

  std::vector<Case> take() { return std::move(list_); }

 private:
  ContractScope scope_;
  Depth depth_;
  std::vector<Case> list_;
};

MatmulProblem problem_of(const Form& form, const Shape& shape, bool transposed) {
  auto problem = uniform_problem(form.input, shape.m, shape.n, shape.k);
  problem.type_b = form.second;
  problem.type_c = problem.type_d = form.output;
  problem.compute_type = form.compute;
  // INT8 into INT8 is scaled in FP32 (cuBLAS 13.2 documentation, cublasLtMatmul, IMMA kernels).
  problem.scale_type = form.output == CUDA_R_8I ? CUDA_R_32F : default_scale_type(form.compute, form.input);
  problem.transa = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  problem.workspace_bytes = kUsualLimit;
  return problem;
}

std::string limit_name(std::int64_t bytes) {
  if (bytes % kMiB == 0 && bytes > 0) return fmt::format("{}MiB", bytes / kMiB);
  return bytes % 1024 == 0 && bytes > 0 ? fmt::format("{}KiB", bytes / 1024) : fmt::to_string(bytes);
}

void add_shapes(CaseList& list, const Form& form) {
  for (const auto& shape : kShapes) {
    for (const bool transposed : {false, true}) {
      if (form.only_tn && !transposed) continue;
      // The quick depth has every shape and every type, once each way round.
      const bool second = transposed && !form.only_tn;
      list.add(std::max({form.from, shape.from, second ? Depth::normal : Depth::quick}),
               fmt::format("{}.{}.{}", form.name, shape.name, transposed ? "tn" : "nn"), kEveryAlgorithm,
               problem_of(form, shape, transposed), kUsualRequest);
    }
  }
}

/// Workspace limits and requested counts, on a product that needs none and on one whose best algorithms split k.
void add_limits(CaseList& list, const Form& form) {
  constexpr std::array<std::int64_t, 8> kLimits{0, 1, 4096, 65536, kMiB, 4 * kMiB, 16 * kMiB, kUsualLimit};
  constexpr std::array kRequests{1, 3, 8, 64};
  for (const auto& shape : {kShapes[0], kShapes[6]}) {
    for (const auto limit : kLimits) {
      for (const int requested : kRequests) {
        auto problem = problem_of(form, shape, form.only_tn);
        problem.workspace_bytes = limit;
        const bool sampled = form.name == "f16" && (limit == 0 || limit == 65536) && requested != 3;
        const bool common = limit == 0 || limit == 65536 || limit == kMiB || (limit == kUsualLimit && requested == 64);
        list.add(std::max(form.from, sampled ? Depth::quick : (common ? Depth::normal : Depth::full)),
                 fmt::format("{}.{}.limit{}.requested{}", form.name, shape.name, limit_name(limit), requested),
                 kEveryAlgorithm, problem, requested);
      }
    }
  }
}

/// Algorithms for pointers that promise less: their capabilities must not ask for more than was promised.
void add_promises(CaseList& list, const Form& form) {
  for (const std::uint32_t promised : {1U, 2U, 4U, 8U, 16U, 64U}) {
    auto problem = problem_of(form, kShapes[0], form.only_tn);
    if (promised < bytes_of(form.output) || promised < bytes_of(form.input)) continue;
    problem.a_alignment = problem.b_alignment = problem.c_alignment = problem.d_alignment = promised;
    problem.a_offset = problem.b_offset = problem.c_offset = problem.d_offset = promised;
    list.add(std::max(form.from, form.name == "f16" && promised < 16 ? Depth::quick : Depth::normal),
             fmt::format("{}.square.promised{}", form.name, promised), kEveryAlgorithm, problem, kUsualRequest);
  }
}

/// A batch and a bias epilogue, whose support an algorithm states as a capability.
void add_variants(CaseList& list, const Form& form) {
  auto batched = problem_of(form, kShapes[0], form.only_tn);
  batched.batch_count = 5;
  list.add(std::max(form.from, Depth::normal), fmt::format("{}.square.batch5", form.name), kEveryAlgorithm, batched,
           kUsualRequest);
  if (is_integer(form.input) || is_complex(form.input)) return;
  auto biased = problem_of(form, kShapes[0], form.only_tn);
  biased.epilogue = CUBLASLT_EPILOGUE_BIAS;
  list.add(std::max(form.from, Depth::normal), fmt::format("{}.square.bias", form.name), kEveryAlgorithm, biased,
           kUsualRequest);
}

constexpr std::string_view kStoredRule =
    "a cublasLtMatmulAlgo_t may be stored and used again with the same version of the library (cublasLt.h 13.1.0, "
    "lines 108-115)";
constexpr std::string_view kNoStreamRule =
    "the query has no stream and no data pointer, and the documentation advises to query once and reuse the result "
    "(cublasLt.h 13.1.0, lines 2270-2279; cuBLAS 13.2 documentation, Heuristics Cache)";

void add_reuse(CaseList& list, const Form& form) {
  const auto add = [&](Depth from, std::string_view kind, const Shape& shape, std::string_view rule) {
    Case* added = list.add(std::max(form.from, from), fmt::format("{}.{}.{}", form.name, shape.name, kind), kind,
                           problem_of(form, shape, form.only_tn), kUsualRequest);
    if (added != nullptr && !rule.empty()) added->rule = rule;
    return added;
  };
  const bool f16 = form.name == "f16";
  for (const auto& shape : {kShapes[0], kShapes[6]}) {
    add(f16 ? Depth::quick : Depth::normal, kRestored, shape, kStoredRule);
    Case* streams = add(f16 ? Depth::quick : Depth::normal, kOtherStreams, shape, kNoStreamRule);
    if (streams != nullptr) streams->parameters["claims"] = "C4=fails";
    add(Depth::normal, kOtherBuffers, shape, kNoStreamRule);
  }
  // Each starts a process, which takes half a second on a GPU.
  if (f16) add(Depth::quick, kOtherProcess, kShapes[6], kStoredRule);
  if (!f16) add(Depth::full, kOtherProcess, kShapes[0], kStoredRule);
}

void add_null_algorithms(CaseList& list, const Form& form) {
  for (const auto& shape : {kShapes[0], kShapes[3], kShapes[6]}) {
    for (const auto limit : {std::int64_t{0}, kUsualLimit}) {
      auto problem = problem_of(form, shape, form.only_tn);
      problem.workspace_bytes = limit;
      problem.algo = AlgoChoice::null;
      list.add(std::max(form.from, form.name == "f32" ? Depth::quick : Depth::normal),
               fmt::format("{}.{}.null.limit{}", form.name, shape.name, limit_name(limit)), kNullAlgorithm, problem, 0);
    }
  }
}

void add_misuse(CaseList& list) {
  const auto& f16 = kForms[2];
  const auto add = [&](std::string id, std::string_view kind, const Shape& shape, int requested,
                       Expectation expectation, const char* rule) {
    Case* added = list.add(Depth::quick, std::move(id), kind, problem_of(f16, shape, false), requested);
    if (added == nullptr) return added;
    added->expectation = expectation;
    added->rule = rule;
    return added;
  };
  for (const int requested : {0, -1}) {
    add(fmt::format("f16.square.requested{}", requested), kNoneRequested, kShapes[0], requested,
        Expectation::must_refuse,
        "a request for no result is CUBLAS_STATUS_INVALID_VALUE (cublasLt.h 13.1.0, lines 2264-2268)");
  }
  add("f16.split_k.workspace-withheld", kWorkspaceWithheld, Shape{"split_k", 32, 32, 32768}, kUsualRequest,
      Expectation::must_refuse,
      "less workspace than the algorithm asks for is CUBLAS_STATUS_INVALID_VALUE (cublasLt.h 13.1.0, lines 1002-1004)");
  Case* unused = add("f16.square.unused-results", kUnusedResults, kShapes[0], 64, Expectation::may_refuse,
                     "returnAlgoCount says how many results are valid, and each has a state; no field algoId exists "
                     "(cublasLt.h 13.1.0, lines 2221-2262)");
  if (unused != nullptr) unused->parameters["claims"] = "C3=unused_ids=-1";
}

}  // namespace

std::string_view kind_of(const Case& the_case) {
  const auto found = the_case.parameters.find(std::string(kKind));
  return found == the_case.parameters.end() ? kEveryAlgorithm : std::string_view(found->second);
}

std::vector<Case> cases(const Target& target, Depth depth) {
  CaseList list(target, depth);
  for (const auto& form : kForms) {
    add_shapes(list, form);
    add_limits(list, form);
    add_promises(list, form);
    add_variants(list, form);
    add_reuse(list, form);
    add_null_algorithms(list, form);
  }
  add_misuse(list);
  return list.take();
}

std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) {
  CaseList list(target, Depth::full);
  MatmulProblem queried = problem;
  queried.algo = AlgoChoice::heuristic;
  queried.algo_index = 0;
  list.add(Depth::quick, std::string(kEveryAlgorithm), kEveryAlgorithm, queried, kUsualRequest);
  return list.take();
}

}  // namespace lt_audit::heuristic_validity
