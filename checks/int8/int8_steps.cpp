// How the cases that are more than one run of the engine are run.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "int8_cases.h"
#include "int8_planted.h"
#include "lt_audit/error.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"
#include "lt_audit/verdict.h"

namespace lt_audit::int8 {
namespace {

constexpr int kAll = 16;
/// A byte that no planted value leaves in D: 90, and 1515870810 as an INT32.
constexpr int kPoison = 0x5A;

void send(const CudaApi& cuda, const std::vector<std::byte>& memory, void* to, cudaStream_t stream) {
  if (to == nullptr || memory.empty()) return;
  require(cuda.memcpy_async(to, memory.data(), memory.size(), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  require(cuda.stream_synchronize(stream), "cudaStreamSynchronize");
}

std::vector<std::byte> fetch(const CudaApi& cuda, const void* from, std::size_t bytes, cudaStream_t stream) {
  std::vector<std::byte> memory(bytes);
  require(cuda.memcpy_async(memory.data(), from, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  require(cuda.stream_synchronize(stream), "cudaStreamSynchronize");
  return memory;
}

/// Matmul and synchronisation recorded; true when D may be looked at.
bool run(Session& session, const PreparedMatmul& matmul, const cublasLtMatmulAlgo_t* algo, Observation& observation) {
  if (!matmul.matmul(session.handle(), algo, matmul.stream(), observation)) return false;
  const auto error = session.platform().cuda.stream_synchronize(matmul.stream());
  if (record(observation, "synchronize", "cudaStreamSynchronize", error)) return true;
  observation.end = ProcessEnd::context_lost;
  observation.end_detail = name_of(error);
  return false;
}

/// Calls `each` for every usable result of the heuristic with the stages of that result alone; false ends it. For a
/// problem that wants no algorithm there is one, null.
template <class Each>
void for_each_result(Session& session, const PreparedMatmul& matmul, int requested, Observation& observation,
                     Each&& each) {
  if (matmul.problem().algo != AlgoChoice::heuristic) {
    if (each(nullptr, std::string("the call without an algorithm"))) observation.facts[kResults] = "1";
    return;
  }
  const auto answer = matmul.query(session.handle(), requested);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  const auto before = observation.stages.size();
  int ran = 0;
  std::string splits;
  for (std::size_t i = 0; i < answer.results.size(); ++i) {
    if (answer.results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    const auto read = observation.heuristic[i];
    observation.stages.resize(before);
    if (!each(&answer.results[i].algo,
              fmt::format("result {} (algorithm {}, split-K {})", i, read.algo_id, read.split_k))) {
      break;
    }
    ++ran;
    const auto split = fmt::format("{}", read.split_k);
    if (read.split_k > 1 && (" " + splits + " ").find(" " + split + " ") == std::string::npos) {
      splits += (splits.empty() ? "" : " ") + split;
    }
  }
  observation.facts[kResults] = fmt::format("{}", ran);
  if (!splits.empty()) observation.facts[kSplitK] = splits;
}

Observation run_planted(Session& session, const Case& the_case) {
  Observation observation;
  const auto& cuda = session.platform().cuda;
  auto matmul = session.prepare(the_case.problem);
  MatmulProblem p = matmul.problem();
  if (!matmul.describe(observation)) return observation;
  matmul.fill();
  if (const auto alpha = the_case.parameters.find(kAlpha); alpha != the_case.parameters.end()) {
    p.alpha = std::stod(alpha->second);
    matmul.set_scalars(p.alpha, p.beta);
  }
  const auto rows = planted_rows(p);
  const auto& at = matmul.pointers();
  send(cuda, planted_a(p, rows), at.a, matmul.stream());
  send(cuda, planted_b(p), at.b, matmul.stream());
  if (p.beta != 0) send(cuda, planted_c(p, rows), at.c, matmul.stream());
  if (has_bias(p.epilogue)) send(cuda, planted_bias(p, rows), at.bias, matmul.stream());
  const auto bytes = static_cast<std::size_t>(shape_d(p).span()) * bytes_of(p.type_d);
  const int requested = the_case.parameters.contains(kRequested) ? 1 : kAll;
  for_each_result(session, matmul, requested, observation,
                  [&](const cublasLtMatmulAlgo_t* algo, const std::string& who) {
                    require(cuda.memset_async(at.d, kPoison, bytes, matmul.stream()), "cudaMemsetAsync");
                    if (!run(session, matmul, algo, observation)) return false;
                    compare_planted(p, rows, fetch(cuda, at.d, bytes, matmul.stream()), who, observation);
                    return true;
                  });
  return observation;
}

/// The first result that is wrong stays in the observation.
Observation run_all_results(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  for_each_result(session, matmul, kAll, observation, [&](const cublasLtMatmulAlgo_t* algo, const std::string& who) {
    matmul.fill();
    if (!run(session, matmul, algo, observation)) {
      observation.facts[kDefectDetail] = who + " is refused or ends the context";
      return false;
    }
    if (matmul.verify(observation)) return true;
    observation.facts[kDefectDetail] = who + " is wrong";
    return false;
  });
  return observation;
}

/// Right numbers both ways, then the shortest of several times. Only a GPU has times that say something.
Observation run_null_time(Session& session, const Case& the_case) {
  constexpr int kRounds = 7;
  constexpr double kMuchSlower = 2;
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  if (!matmul.describe(observation)) return observation;
  const auto* const algo = matmul.choose(session.handle(), observation);
  if (algo == nullptr) return observation;
  matmul.fill();
  if (!run(session, matmul, algo, observation) || !matmul.verify(observation)) return observation;
  const auto without = [&] {
    return matmul.matmul_with_workspace(session.handle(), nullptr, matmul.stream(), nullptr, 0);
  };
  matmul.fill();
  if (!record(observation, "matmul", "cublasLtMatmul", without()) || !matmul.verify(observation)) return observation;
  std::optional<double> first, null;
  const auto keep_shorter = [](std::optional<double>& least, const std::optional<double>& us) {
    if (us && (!least || *us < *least)) least = us;
  };
  for (int round = 0; round < kRounds; ++round) {
    keep_shorter(first, matmul.gpu_us([&] { matmul.matmul(session.handle(), algo, matmul.stream()); }));
    keep_shorter(null, matmul.gpu_us([&] { without(); }));
  }
  if (!first || !null || session.target().kind != PlatformKind::gpu) return observation;
  observation.facts[kFirstUs] = fmt::format("{:.1f}", *first);
  observation.facts[kNullUs] = fmt::format("{:.1f}", *null);
  if (*null > kMuchSlower * *first) {
    observation.facts[kDefect] = "null-slower";
    observation.facts[kDefectDetail] =
        fmt::format("{:.1f} us without algorithm and workspace, {:.1f} us with the first result", *null, *first);
  }
  return observation;
}

// ---- Many sizes --------------------------------------------------------------------------------------------------

struct Size {
  std::int64_t m, n, k;
};

/// Multiples of 4, 16 and 64 and what lies between, and those of public reports: 16x17x16 (BR-27), 304x4096x4096 and
/// 6x12288x4096 (BR-29) in small.
std::vector<Size> sizes_of(const Case& the_case) {
  std::vector<Size> sizes{{64, 80, 96},   {272, 208, 144}, {16, 17, 16},   {64, 64, 64}, {128, 128, 128},
                          {64, 208, 144}, {272, 80, 144},  {272, 208, 96}, {96, 64, 80}, {256, 256, 256},
                          {36, 20, 12},   {304, 128, 128}, {8, 96, 128},   {80, 64, 96}, {4, 4, 4},
                          {1024, 16, 32}, {16, 1024, 32},  {64, 48, 2048}};
  const auto found = the_case.parameters.find(kHowMany);
  if (found == the_case.parameters.end() || found->second != "many") return sizes;
  for (const std::int64_t m : {4, 16, 20, 64, 80, 272}) {
    for (const std::int64_t n : {4, 17, 20, 64, 80, 208}) {
      for (const std::int64_t k : {4, 16, 20, 64, 80, 144}) sizes.push_back({m, n, k});
    }
  }
  return sizes;
}

/// The first size that is neither right nor refused stays in the observation, else the last that is right.
Observation run_sizes(Session& session, const Case& the_case) {
  Observation kept;
  int accepted = 0, refused = 0;
  std::string accepted_at, refused_at;
  for (const auto& size : sizes_of(the_case)) {
    auto p = the_case.problem;
    p.m = size.m, p.n = size.n, p.k = size.k;
    auto observation = session.run(p);
    const auto name = fmt::format("{}x{}x{}", size.m, size.n, size.k);
    const auto outcome = outcome_of(observation);
    if (outcome == Outcome::refused || outcome == Outcome::late_refusal) {
      if (refused < 12) refused_at += (refused_at.empty() ? "" : " ") + name;
      if (++refused == 1 && accepted == 0) kept = std::move(observation);
      continue;
    }
    kept = std::move(observation);
    if (outcome != Outcome::correct) {
      kept.facts[kDefectDetail] = "at " + name;
      return kept;
    }
    if (accepted++ == 0) accepted_at = name;
  }
  kept.facts[kAccepted] = fmt::format("{}", accepted);
  kept.facts[kRefused] = fmt::format("{}", refused);
  if (refused > 0) kept.facts[kRefusedSizes] = refused_at;
  if (accepted > 0 && refused > 0) {
    kept.facts[kDefect] = "depends-on-size";
    kept.facts[kDefectDetail] = fmt::format("right at {} sizes, {} among them, and refused at {}: {}", accepted,
                                            accepted_at, refused, refused_at);
  }
  return kept;
}

// ---- The orders of the IMMA kernels ------------------------------------------------------------------------------

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

struct OrderedMatrix {
  cudaDataType_t type;
  std::int64_t rows, cols;
  cublasLtOrder_t order;

  /// 32 columns lie together, in rows that the order pads (cublasLt.h 13.1.0, lines 1069-1088).
  std::int64_t ld() const {
    const std::int64_t step = order == CUBLASLT_ORDER_COL32 ? 1 : (order == CUBLASLT_ORDER_COL4_4R2_8C ? 8 : 32);
    return 32 * rounded_up(rows, step);
  }
  std::size_t bytes() const { return static_cast<std::size_t>(rounded_up(cols, 32) / 32 * ld()) * bytes_of(type); }
};

MatrixLayout make_layout(const LtApi& lt, const OrderedMatrix& matrix, Observation& observation) {
  cublasLtMatrixLayout_t made = nullptr;
  if (!record(observation, "create", "cublasLtMatrixLayoutCreate",
              lt.matrix_layout_create(&made, matrix.type, static_cast<std::uint64_t>(matrix.rows),
                                      static_cast<std::uint64_t>(matrix.cols), matrix.ld()))) {
    return {};
  }
  MatrixLayout layout(lt, made);
  const auto status = layout.set<CUBLASLT_MATRIX_LAYOUT_ORDER>(static_cast<std::int32_t>(matrix.order));
  if (record(observation, "set_attribute", "cublasLtMatrixLayoutSetAttribute", status)) return layout;
  return {};
}

DeviceMemory filled(const CudaApi& cuda, std::size_t bytes, int byte, cudaStream_t stream) {
  void* memory = nullptr;
  require(cuda.malloc(&memory, bytes), "cudaMalloc");
  DeviceMemory owner(cuda, memory);
  require(cuda.memset_async(memory, byte, bytes, stream), "cudaMemsetAsync");
  return owner;
}

/// Ones everywhere: D is k in every element, in whatever order it lies.
void verify_ones(const MatmulProblem& p, const std::vector<std::byte>& d, Observation& observation) {
  Verification seen;
  seen.method = "elements";
  const auto size = bytes_of(p.type_d);
  for (std::size_t at = 0; at < d.size(); at += size) {
    std::int32_t value = 0;
    std::memcpy(&value, d.data() + at, size);
    ++seen.compared;
    ++seen.expected_nonzero;
    if (value == p.k) continue;
    if (seen.wrong++ == 0) {
      seen.first_row = static_cast<std::int64_t>(at / size);
      seen.first_col = seen.first_batch = 0;
      seen.first_expected = static_cast<double>(p.k);
      seen.first_actual = value;
    }
  }
  observation.verification = seen;
}

Observation run_imma_order(Session& session, const Case& the_case) {
  Observation observation;
  const auto& lt = session.platform().lt;
  const auto& cuda = session.platform().cuda;
  const auto& p = the_case.problem;
  const auto order_b =
      the_case.parameters.at(kOrder) == "COL4_4R2_8C" ? CUBLASLT_ORDER_COL4_4R2_8C : CUBLASLT_ORDER_COL32_2R_4R4;
  const std::array matrices{OrderedMatrix{p.type_a, p.m, p.k, CUBLASLT_ORDER_COL32},
                            OrderedMatrix{p.type_b, p.n, p.k, order_b},
                            OrderedMatrix{p.type_d, p.m, p.n, CUBLASLT_ORDER_COL32}};
  cublasLtMatmulDesc_t made = nullptr;
  if (!record(observation, "create", "cublasLtMatmulDescCreate",
              lt.matmul_desc_create(&made, p.compute_type, p.scale_type))) {
    return observation;
  }
  const MatmulDesc desc(lt, made);
  cublasLtMatmulPreference_t made_preference = nullptr;
  require(lt.matmul_preference_create(&made_preference), "cublasLtMatmulPreferenceCreate");
  const MatmulPreference preference(lt, made_preference);
  if (!record(observation, "set_attribute", "cublasLtMatmulDescSetAttribute",
              desc.set<CUBLASLT_MATMUL_DESC_TRANSB>(std::int32_t{CUBLAS_OP_T}))) {
    return observation;
  }
  const auto a = make_layout(lt, matrices[0], observation), b = make_layout(lt, matrices[1], observation),
             d = make_layout(lt, matrices[2], observation);
  if (!a || !b || !d) return observation;
  cublasLtMatmulHeuristicResult_t result{};
  int returned = 0;
  const auto status = lt.matmul_algo_get_heuristic(session.handle(), desc.get(), a.get(), b.get(), d.get(), d.get(),
                                                   preference.get(), 1, &result, &returned);
  if (!record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", status) || returned == 0) return observation;
  observation.heuristic.emplace_back().state = name_of(result.state);
  if (result.state != CUBLAS_STATUS_SUCCESS) return observation;

  auto apart = session.prepare(p);
  const auto stream = apart.stream();
  const auto a_memory = filled(cuda, matrices[0].bytes(), 1, stream),
             b_memory = filled(cuda, matrices[1].bytes(), 1, stream),
             d_memory = filled(cuda, matrices[2].bytes(), kPoison, stream);
  const float one = 1, zero = 0;
  const std::int32_t whole_one = 1, whole_zero = 0;
  const bool whole = p.scale_type == CUDA_R_32I;
  const void* const alpha = whole ? static_cast<const void*>(&whole_one) : &one;
  const void* const beta = whole ? static_cast<const void*>(&whole_zero) : &zero;
  const auto ran = lt.matmul(session.handle(), desc.get(), alpha, a_memory.get(), a.get(), b_memory.get(), b.get(),
                             beta, d_memory.get(), d.get(), d_memory.get(), d.get(), &result.algo, nullptr, 0, stream);
  const bool accepted = record(observation, "matmul", "cublasLtMatmul", ran);
  const auto error = cuda.stream_synchronize(stream);
  if (!record(observation, "synchronize", "cudaStreamSynchronize", error)) {
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error);
    return observation;
  }
  if (accepted) verify_ones(p, fetch(cuda, d_memory.get(), matrices[2].bytes(), stream), observation);
  return observation;
}

}  // namespace

Observation observe(Session& session, const Case& the_case) {
  const auto found = the_case.parameters.find(kSteps);
  if (found == the_case.parameters.end()) {
    auto observation = session.run(the_case.problem);
    if (the_case.with_cublas && observation.not_run.empty() && observation.end == ProcessEnd::survived) {
      observation.cublas = session.run_cublas(the_case.problem);
    }
    return observation;
  }
  if (found->second == kPlanted) return run_planted(session, the_case);
  if (found->second == kAllResults) return run_all_results(session, the_case);
  if (found->second == kNullTime) return run_null_time(session, the_case);
  if (found->second == kSizes) return run_sizes(session, the_case);
  return run_imma_order(session, the_case);
}

}  // namespace lt_audit::int8
