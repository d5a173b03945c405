#include "matmul/lt_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

/// Records a failed step; true when it went well.
bool step(Observation& observation, const char* stage, const char* call, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  observation.stages.push_back({stage, call, name_of(status)});
  return false;
}

template <class Owned, class Object>
bool create(Observation& observation, const LtApi& lt, const char* call, cublasStatus_t status, Object object,
            Owned& owned) {
  if (!step(observation, "create", call, status)) return false;
  owned = Owned(lt, object);
  return true;
}

int config(const LtApi& lt, const cublasLtMatmulAlgo_t& algo, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  int value = -1;
  std::size_t written = 0;
  if (!lt.matmul_algo_config_get_attribute) return -1;
  const auto status = lt.matmul_algo_config_get_attribute(&algo, attribute, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS ? value : -1;
}

}  // namespace

LtCall::LtCall(const Platform& platform, const MatmulProblem& problem, const BufferPlan& buffers)
    : platform_(platform),
      problem_(problem),
      buffers_(buffers),
      alpha_(alpha_of(problem), problem.scale_type),
      beta_(beta_of(problem), problem.scale_type) {}

bool LtCall::create_objects(Observation& observation) {
  const auto& lt = platform_.lt;
  cublasLtMatmulDesc_t desc = nullptr;
  auto status = lt.matmul_desc_create(&desc, problem_.compute_type, problem_.scale_type);
  if (!create(observation, lt, "cublasLtMatmulDescCreate", status, desc, desc_)) return false;
  const std::array<std::pair<MatrixLayout*, MatrixShape>, 4> layouts{
      {{&a_, shape_a(problem_)}, {&b_, shape_b(problem_)}, {&c_, shape_c(problem_)}, {&d_, shape_d(problem_)}}};
  for (const auto& [layout, shape] : layouts) {
    cublasLtMatrixLayout_t object = nullptr;
    status = lt.matrix_layout_create(&object, shape.type, static_cast<std::uint64_t>(shape.rows),
                                     static_cast<std::uint64_t>(shape.cols), shape.ld);
    if (!create(observation, lt, "cublasLtMatrixLayoutCreate", status, object, *layout)) return false;
    if (!set_layout(*layout, shape, observation)) return false;
  }
  cublasLtMatmulPreference_t preference = nullptr;
  status = lt.matmul_preference_create(&preference);
  return create(observation, lt, "cublasLtMatmulPreferenceCreate", status, preference, preference_);
}

bool LtCall::set_layout(const MatrixLayout& layout, const MatrixShape& shape, Observation& observation) {
  const auto set = [&](cublasStatus_t status) {
    return step(observation, "set_attribute", "cublasLtMatrixLayoutSetAttribute", status);
  };
  if (shape.order != CUBLASLT_ORDER_COL &&
      !set(layout.set<CUBLASLT_MATRIX_LAYOUT_ORDER>(static_cast<std::int32_t>(shape.order)))) {
    return false;
  }
  if (shape.is_planar() && !set(layout.set<CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET>(shape.plane_offset))) return false;
  if (shape.batch_count == 1) return true;
  return set(layout.set<CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT>(shape.batch_count)) &&
         set(layout.set<CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET>(shape.batch_stride));
}

bool LtCall::set_desc(Observation& observation) {
  const auto set = [&](cublasStatus_t status) {
    return step(observation, "set_attribute", "cublasLtMatmulDescSetAttribute", status);
  };
  const auto number = [](auto value) { return static_cast<std::int32_t>(value); };
  const auto& p = problem_;
  bool ok = set(desc_.set<CUBLASLT_MATMUL_DESC_TRANSA>(number(p.transa))) &&
            set(desc_.set<CUBLASLT_MATMUL_DESC_TRANSB>(number(p.transb)));
  if (ok && p.pointer_mode != CUBLASLT_POINTER_MODE_HOST) {
    ok = set(desc_.set<CUBLASLT_MATMUL_DESC_POINTER_MODE>(number(p.pointer_mode)));
  }
  if (ok && p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    ok = set(desc_.set<CUBLASLT_MATMUL_DESC_EPILOGUE>(static_cast<std::uint32_t>(p.epilogue)));
  }
  if (ok && p.fast_accum) ok = set(desc_.set<CUBLASLT_MATMUL_DESC_FAST_ACCUM>(std::int8_t{1}));
  if (ok && p.sm_count_target != 0) {
    ok = set(desc_.set<CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET>(number(p.sm_count_target)));
  }
  return ok && set_epilogue(observation) && set_scales(observation);
}

bool LtCall::set_epilogue(Observation& observation) {
  const auto set = [&](cublasStatus_t status) {
    return step(observation, "set_attribute", "cublasLtMatmulDescSetAttribute", status);
  };
  const auto number = [](auto value) { return static_cast<std::int32_t>(value); };
  const auto& p = problem_;
  bool ok = true;
  if (has_bias(p.epilogue) || has_bias_gradient(p.epilogue)) {
    // Before the query: the heuristic deduces the bias alignment from the pointer (cublasLt.h 13.1.0, lines 1334-1335).
    const void* bias = buffers_.bias;
    ok = set(desc_.set<CUBLASLT_MATMUL_DESC_BIAS_POINTER>(bias));
    if (ok && (p.type_bias || bias_type(p) != p.type_d)) {
      ok = set(desc_.set<CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE>(number(bias_type(p))));
    }
    if (ok && p.stride_bias != 0) ok = set(desc_.set<CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE>(p.stride_bias));
  }
  if (ok && has_aux(p.epilogue)) {
    const auto shape = shape_aux(p);
    // A mask's shape is in bytes, its attributes in bits.
    const std::int64_t unit = has_aux_mask(p.epilogue) ? 8 : 1;
    ok = set(desc_.set<CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER>(buffers_.aux)) &&
         set(desc_.set<CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD>(p.ldaux != 0 ? p.ldaux : shape.ld * unit));
    if (ok && p.batch_count > 1) {
      const auto stride = p.stride_aux >= 0 ? p.stride_aux : shape.batch_stride * unit;
      ok = set(desc_.set<CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE>(stride));
    }
    if (ok && p.type_aux) ok = set(desc_.set<CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE>(number(*p.type_aux)));
  }
  return ok;
}

bool LtCall::set_scales(Observation& observation) {
  const auto set = [&](cublasStatus_t status) {
    return step(observation, "set_attribute", "cublasLtMatmulDescSetAttribute", status);
  };
  const auto scale = [&]<cublasLtMatmulDescAttributes_t Pointer, cublasLtMatmulDescAttributes_t Mode>(
                         const std::optional<cublasLtMatmulMatrixScale_t>& mode, const void* table) {
    if (!mode) return true;
    if (!set(desc_.set<Pointer>(table))) return false;
    return *mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F || set(desc_.set<Mode>(static_cast<std::int32_t>(*mode)));
  };
  const auto& p = problem_;
  return scale.operator()<CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_MODE>(p.scale_a,
                                                                                                   buffers_.scale_a) &&
         scale.operator()<CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_MODE>(p.scale_b,
                                                                                                   buffers_.scale_b) &&
         scale.operator()<CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_C_SCALE_MODE>(p.scale_c,
                                                                                                   buffers_.scale_c) &&
         scale.operator()<CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_MODE>(p.scale_d,
                                                                                                   buffers_.scale_d) &&
         (!p.amax_d || set(desc_.set<CUBLASLT_MATMUL_DESC_AMAX_D_POINTER>(buffers_.amax_d)));
}

bool LtCall::set_preference(Observation& observation) {
  const auto set = [&](cublasStatus_t status) {
    return step(observation, "set_attribute", "cublasLtMatmulPreferenceSetAttribute", status);
  };
  bool ok = set(
      preference_.set<CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES>(static_cast<std::uint64_t>(problem_.workspace_bytes)));
  const auto& p = problem_;
  ok = ok && (p.a_alignment == 256 || set(preference_.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES>(p.a_alignment)));
  ok = ok && (p.b_alignment == 256 || set(preference_.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES>(p.b_alignment)));
  ok = ok && (p.c_alignment == 256 || set(preference_.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES>(p.c_alignment)));
  ok = ok && (p.d_alignment == 256 || set(preference_.set<CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES>(p.d_alignment)));
  return ok;
}

bool LtCall::describe(Observation& observation) {
  return create_objects(observation) && set_desc(observation) && set_preference(observation);
}

HeuristicResult LtCall::read(const cublasLtMatmulHeuristicResult_t& result) const {
  HeuristicResult out;
  out.state = name_of(result.state);
  // Other fields are valid only with state SUCCESS (cublasLt.h 13.1.0, lines 2233-2236).
  if (result.state != CUBLAS_STATUS_SUCCESS) return out;
  out.algo_id = config(platform_.lt, result.algo, CUBLASLT_ALGO_CONFIG_ID);
  out.tile = config(platform_.lt, result.algo, CUBLASLT_ALGO_CONFIG_TILE_ID);
  out.stages = config(platform_.lt, result.algo, CUBLASLT_ALGO_CONFIG_STAGES_ID);
  out.split_k = config(platform_.lt, result.algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  out.workspace_bytes = result.workspaceSize;
  out.waves = static_cast<double>(result.wavesCount);
  return out;
}

HeuristicAnswer LtCall::query(cublasLtHandle_t handle, int requested_results) const {
  HeuristicAnswer query;
  // A caller that asks for none, or fewer, still gets room for one: the library is asked what it was told to answer.
  query.results.resize(static_cast<std::size_t>(std::max(requested_results, 1)));
  int count = 0;
  query.status =
      platform_.lt.matmul_algo_get_heuristic(handle, desc_.get(), a_.get(), b_.get(), c_.get(), d_.get(),
                                             preference_.get(), requested_results, query.results.data(), &count);
  if (query.status != CUBLAS_STATUS_SUCCESS) count = 0;
  query.results.resize(static_cast<std::size_t>(std::clamp(count, 0, static_cast<int>(query.results.size()))));
  return query;
}

cublasStatus_t LtCall::check(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algo,
                             cublasLtMatmulHeuristicResult_t* checked) const {
  return platform_.lt.matmul_algo_check(handle, desc_.get(), a_.get(), b_.get(), c_.get(), d_.get(), &algo, checked);
}

bool LtCall::choose_algo(cublasLtHandle_t handle, int requested_results, Observation& observation) {
  if (problem_.algo == AlgoChoice::null) return true;
  if (problem_.algo == AlgoChoice::given) {
    std::copy(problem_.algo_words.begin(), problem_.algo_words.end(), std::begin(algo_.data));
  } else {
    const auto answer = query(handle, std::max(requested_results, problem_.algo_index + 1));
    observation.stages.push_back({"heuristic", "cublasLtMatmulAlgoGetHeuristic", name_of(answer.status)});
    for (const auto& result : answer.results) observation.heuristic.push_back(read(result));
    if (answer.results.empty()) return false;
    const auto index = static_cast<std::size_t>(problem_.algo_index);
    if (index >= answer.results.size()) {
      observation.not_run = fmt::format("the heuristic returned {} results, and number {} was asked for",
                                        answer.results.size(), problem_.algo_index);
      return false;
    }
    if (answer.results[index].state != CUBLAS_STATUS_SUCCESS) return false;
    algo_ = answer.results[index].algo;
  }
  cublasLtMatmulHeuristicResult_t checked{};
  observation.stages.push_back({"algo_check", "cublasLtMatmulAlgoCheck", name_of(check(handle, algo_, &checked))});
  return true;
}

void LtCall::set_scalars(std::complex<double> alpha, std::complex<double> beta) {
  alpha_ = Scalar(alpha, problem_.scale_type);
  beta_ = Scalar(beta, problem_.scale_type);
}

void LtCall::upload_scalars(cudaStream_t stream) {
  if (problem_.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE) return;
  const auto& cuda = platform_.cuda;
  if (!device_scalars_) {
    void* memory = nullptr;
    require(cuda.malloc(&memory, 2 * Scalar::kBytes), "cudaMalloc");
    device_scalars_ = DeviceMemory(cuda, memory);
  }
  auto* base = static_cast<std::byte*>(device_scalars_.get());
  require(cuda.memcpy_async(base, alpha_.data(), Scalar::kBytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  require(cuda.memcpy_async(base + Scalar::kBytes, beta_.data(), Scalar::kBytes, cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
}

CallOperands LtCall::operands() const {
  return {buffers_.a, buffers_.b, buffers_.c, buffers_.d, a_.get(), b_.get(), c_.get(), d_.get()};
}

ScalarPointers LtCall::scalars() const {
  if (problem_.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE) return {alpha_.data(), beta_.data()};
  const auto* on_device = static_cast<const std::byte*>(device_scalars_.get());
  return {on_device, on_device + Scalar::kBytes};
}

cublasStatus_t LtCall::matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream) const {
  return matmul(handle, algo, stream, buffers_.workspace, static_cast<std::size_t>(problem_.workspace_bytes));
}

cublasStatus_t LtCall::matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                              void* workspace, std::size_t workspace_bytes) const {
  return send(handle, algo, stream, operands(), workspace, workspace_bytes);
}

cublasStatus_t LtCall::matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                              const CallOperands& operands) const {
  return send(handle, algo, stream, operands, buffers_.workspace, static_cast<std::size_t>(problem_.workspace_bytes));
}

cublasStatus_t LtCall::send(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                            const CallOperands& o, void* workspace, std::size_t workspace_bytes) const {
  const auto [alpha, beta] = scalars();
  return platform_.lt.matmul(handle, desc_.get(), alpha, o.a, o.a_layout, o.b, o.b_layout, beta, o.c, o.c_layout, o.d,
                             o.d_layout, algo, workspace, workspace_bytes, stream);
}

bool LtCall::matmul(cublasLtHandle_t handle, cudaStream_t stream, Observation& observation) const {
  const auto status = matmul(handle, problem_.algo == AlgoChoice::null ? nullptr : &algo_, stream);
  observation.stages.push_back({"matmul", "cublasLtMatmul", name_of(status)});
  return status == CUBLAS_STATUS_SUCCESS;
}

}  // namespace lt_audit
