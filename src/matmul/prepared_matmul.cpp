#include "lt_audit/prepared_matmul.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lt_audit/error.h"
#include "lt_audit/verdict.h"
#include "matmul/bench.h"
#include "matmul/cublas_call.h"
#include "matmul/lt_call.h"

namespace lt_audit {
namespace {

/// As many as the engine asks for.
constexpr int kRequestedResults = 8;
/// FNV-1a over words of eight bytes instead of single ones, with a shift, since a word's high bits would not spread.
std::uint64_t add_to_digest(std::uint64_t digest, std::span<const std::byte> bytes) {
  const auto mix = [&digest](std::uint64_t word) {
    digest = (digest ^ word) * 0x100000001B3ULL;
    digest ^= digest >> 29;
  };
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    mix(word);
  }
  for (const auto byte : bytes) mix(static_cast<std::uint64_t>(byte) + 0x100);
  return digest;
}

/// Seeds of neighbouring runs differ by one.
constexpr std::uint64_t kVariantStep = 1'000'003;

}  // namespace

bool record(Observation& observation, const char* name, const char* call, cublasStatus_t status) {
  observation.stages.push_back({name, call, name_of(status)});
  return status == CUBLAS_STATUS_SUCCESS;
}

bool record(Observation& observation, const char* name, const char* call, cudaError_t error) {
  observation.stages.push_back({name, call, name_of(error)});
  return error == cudaSuccess;
}

struct PreparedMatmul::State {
  State(std::shared_ptr<Bench> the_bench, const MatmulProblem& the_problem, std::uint64_t the_seed)
      : bench(std::move(the_bench)),
        problem(the_problem),
        seed(the_seed),
        inputs(choose_inputs(problem, seed)),
        buffers(place()),
        call(bench->platform(), problem, buffers) {}

  BufferPlan place() {
    std::string not_run;
    auto plan = bench->place(problem, inputs, not_run);
    if (!plan) throw NotRun(not_run);
    pointers = {plan->a, plan->b, plan->c, plan->d, plan->bias, plan->workspace};
    return *plan;
  }

  void fill_with(const ExactInputs& values) {
    inputs = values;
    buffers = place();
    bench->verifier().prepare(problem, inputs, buffers);
    call.upload_scalars(bench->stream());
    synchronize();
  }

  /// The problem's own, alpha times the factor. fill_with brings them to the device.
  void set_scalars(double factor) {
    call.set_scalars(alpha_of(problem) * factor, beta_of(problem));
    alpha_factor = factor;
  }

  void synchronize() const {
    require(bench->platform().cuda.stream_synchronize(bench->stream()), "cudaStreamSynchronize");
  }

  /// cuBLAS with the modes of the form; null, and the function that refused in `result`, when one cannot be set. The
  /// bench's handle serves many problems, so that modes are set on another one.
  CublasCall* cublas_in(const CublasForm& form, CublasObservation& result) {
    if (form == CublasForm{.by_type = form.by_type} && problem.pointer_mode == CUBLASLT_POINTER_MODE_HOST) {
      return &bench->cublas();
    }
    if (own_cublas == nullptr || own_form != form) {
      own_cublas = std::make_unique<CublasCall>(bench->platform(), bench->stream());
      own_form = form;
      if (!own_cublas->set_modes(problem, buffers, form, result)) own_cublas.reset();
    }
    return own_cublas.get();
  }

  std::shared_ptr<Bench> bench;
  MatmulProblem problem;
  std::uint64_t seed;
  OperandPointers pointers;
  ExactInputs inputs;
  BufferPlan buffers;
  LtCall call;
  cublasLtMatmulAlgo_t chosen{};
  /// What fill_rounding multiplied alpha with.
  double alpha_factor = 1;
  std::optional<ValuePattern> expected_bias;
  std::unique_ptr<CublasCall> own_cublas;
  CublasForm own_form;
};

PreparedMatmul::PreparedMatmul(std::shared_ptr<Bench> bench, const MatmulProblem& problem, std::uint64_t seed)
    : state_(std::make_unique<State>(std::move(bench), problem, seed)) {}
PreparedMatmul::~PreparedMatmul() = default;
PreparedMatmul::PreparedMatmul(PreparedMatmul&&) noexcept = default;
PreparedMatmul& PreparedMatmul::operator=(PreparedMatmul&&) noexcept = default;

const MatmulProblem& PreparedMatmul::problem() const { return state_->problem; }
const OperandPointers& PreparedMatmul::pointers() const { return state_->pointers; }
void* PreparedMatmul::device_alpha() const {
  const bool on_device = problem().pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  return on_device ? const_cast<void*>(state_->call.scalars().alpha) : nullptr;
}
cudaStream_t PreparedMatmul::stream() const { return state_->bench->stream(); }

bool PreparedMatmul::describe(Observation& observation) { return state_->call.describe(observation); }
cublasLtMatmulDesc_t PreparedMatmul::desc() const { return state_->call.desc().get(); }
cublasLtMatrixLayout_t PreparedMatmul::a_layout() const { return state_->call.a_layout().get(); }
cublasLtMatrixLayout_t PreparedMatmul::b_layout() const { return state_->call.b_layout().get(); }
cublasLtMatrixLayout_t PreparedMatmul::c_layout() const { return state_->call.c_layout().get(); }
cublasLtMatrixLayout_t PreparedMatmul::d_layout() const { return state_->call.d_layout().get(); }
cublasLtMatmulPreference_t PreparedMatmul::preference() const { return state_->call.preference().get(); }
void PreparedMatmul::destroy_desc() { state_->call.desc().reset(); }
void PreparedMatmul::destroy_preference() { state_->call.preference().reset(); }
void PreparedMatmul::destroy_layouts() {
  auto& call = state_->call;
  for (auto* layout : {&call.a_layout(), &call.b_layout(), &call.c_layout(), &call.d_layout()}) layout->reset();
}

HeuristicAnswer PreparedMatmul::query(cublasLtHandle_t handle, int requested_results) const {
  return state_->call.query(handle, requested_results);
}

const cublasLtMatmulAlgo_t* PreparedMatmul::choose(cublasLtHandle_t handle, Observation& observation) {
  const auto answer = query(handle, kRequestedResults);
  record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  for (const auto& result : answer.results) observation.heuristic.push_back(read(result));
  if (answer.results.empty() || answer.results.front().state != CUBLAS_STATUS_SUCCESS) return nullptr;
  state_->chosen = answer.results.front().algo;
  return &state_->chosen;
}

HeuristicResult PreparedMatmul::read(const cublasLtMatmulHeuristicResult_t& result) const {
  return state_->call.read(result);
}

cublasStatus_t PreparedMatmul::check(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algo,
                                     cublasLtMatmulHeuristicResult_t* checked) const {
  return state_->call.check(handle, algo, checked);
}

void PreparedMatmul::set_scalars(double alpha, double beta) {
  state_->alpha_factor = 1;
  state_->call.set_scalars(alpha, beta);
  state_->call.upload_scalars(stream());
  state_->synchronize();
}

void PreparedMatmul::fill(std::uint64_t variant) {
  if (state_->alpha_factor != 1) state_->set_scalars(1);
  state_->fill_with(choose_inputs(state_->problem, state_->seed + variant * kVariantStep));
}

void PreparedMatmul::fill_rounding(std::uint64_t variant) {
  auto& state = *state_;
  const auto rounding = choose_rounding_inputs(state.problem, state.seed + variant * kVariantStep);
  state.set_scalars(rounding.alpha_factor);
  state.fill_with(rounding.inputs);
}

void PreparedMatmul::fill_workspace(unsigned char byte) {
  if (state_->pointers.workspace == nullptr) return;
  require(state_->bench->platform().cuda.memset_async(state_->pointers.workspace, byte,
                                                      static_cast<std::size_t>(problem().workspace_bytes), stream()),
          "cudaMemsetAsync");
  state_->synchronize();
}

cublasStatus_t PreparedMatmul::matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo,
                                      cudaStream_t stream) const {
  return state_->call.matmul(handle, algo, stream);
}

bool PreparedMatmul::matmul(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                            Observation& observation) const {
  return record(observation, "matmul", "cublasLtMatmul", matmul(handle, algo, stream));
}

cublasStatus_t PreparedMatmul::matmul_with_workspace(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo,
                                                     cudaStream_t stream, void* workspace,
                                                     std::size_t workspace_bytes) const {
  return state_->call.matmul(handle, algo, stream, workspace, workspace_bytes);
}

CallOperands PreparedMatmul::operands() const { return state_->call.operands(); }

cublasStatus_t PreparedMatmul::matmul_on(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algo, cudaStream_t stream,
                                         const CallOperands& operands) const {
  return state_->call.matmul(handle, algo, stream, operands);
}

std::string PreparedMatmul::cublas(Observation& observation, const CublasForm& form) {
  auto& state = *state_;
  const auto& problem = state.problem;
  if (!problem.in_place) throw std::logic_error("PreparedMatmul::cublas: cuBLAS has one matrix for C and D");
  if (auto reason = why_not_in_form(state.bench->platform().blas, problem, form); !reason.empty()) return reason;
  CublasObservation result;
  if (CublasCall* const call = state.cublas_in(form, result)) {
    const auto scalars = state.call.scalars();
    form.by_type ? call->gemm_by_type(problem, state.buffers, scalars, result)
                 : call->gemm(problem, state.buffers, scalars, result);
  }
  observation.stages.push_back({"cublas", result.call, result.status});
  return {};
}

std::optional<double> PreparedMatmul::gpu_us(const std::function<void()>& work) { return state_->bench->gpu_us(work); }

std::uint64_t PreparedMatmul::d_digest() {
  const auto& state = *state_;
  const auto shape = shape_d(state.problem);
  const auto size = static_cast<std::int64_t>(bytes_of(shape.stored_type()));
  std::vector<std::byte> copy(static_cast<std::size_t>(shape.bytes()));
  require(state.bench->platform().cuda.memcpy_async(copy.data(), state.buffers.d, copy.size(), cudaMemcpyDeviceToHost,
                                                    stream()),
          "cudaMemcpyAsync");
  state.synchronize();
  const bool by_col = shape.order == CUBLASLT_ORDER_COL;
  const auto run_bytes = static_cast<std::size_t>((by_col ? shape.rows : shape.cols) * size);
  std::uint64_t digest = 0;
  for (std::int64_t batch = 0; batch < shape.batch_count; ++batch) {
    for (std::int64_t major = 0; major < (by_col ? shape.cols : shape.rows); ++major) {
      const auto* run = copy.data() + (batch * shape.batch_stride + major * shape.ld) * size;
      digest = add_to_digest(digest, {run, run_bytes});
      if (shape.is_planar()) digest = add_to_digest(digest, {run + shape.plane_offset, run_bytes});
    }
  }
  return digest;
}

void PreparedMatmul::expect_bias_of(const PreparedMatmul& other) {
  state_->expected_bias.reset();
  if (&other != this) state_->expected_bias = other.state_->inputs.bias;
}

void PreparedMatmul::expect_c_as_bias() { state_->expected_bias = state_->inputs.c; }

bool PreparedMatmul::verify(Observation& observation, const MatmulProblem& expected) {
  auto& state = *state_;
  // What lies in memory is in the regions of the buffers; these decide the expected D alone.
  ExactInputs inputs = state.inputs;
  if (state.expected_bias) inputs.bias = *state.expected_bias;
  auto& verifier = state.bench->verifier();
  auto launched = verifier.reset_record();
  if (launched == cudaSuccess) launched = verifier.launch(expected, inputs, state.buffers, true);
  const auto error = state.bench->platform().cuda.stream_synchronize(stream());
  if (launched == cudaErrorMemoryAllocation && error == cudaSuccess) {
    // Another process took what the first launch of a kernel needs; the error is not sticky.
    static_cast<void>(state.bench->platform().cuda.get_last_error());
    throw NotRun("no GPU memory is left for the audit's kernels");
  }
  if (launched != cudaSuccess || error != cudaSuccess) {
    // The audit's kernels fault only when an earlier call has spoiled the context.
    observation.end = ProcessEnd::context_lost;
    observation.end_detail = name_of(error != cudaSuccess ? error : launched);
    return false;
  }
  observation.verification = verifier.read(expected, inputs, state.buffers, true);
  const auto& seen = *observation.verification;
  return seen.all_right() && seen.nothing_else_written();
}

bool PreparedMatmul::verify_untouched(Observation& observation) {
  if (verify(observation, problem()) || !observation.verification) return false;
  auto& seen = *observation.verification;
  // In place D holds C's values, and where the product would be the same nobody can tell.
  const bool nothing_written = problem().in_place ? seen.unwritten == seen.wrong : seen.unwritten == seen.compared;
  const bool untouched = nothing_written && seen.nothing_else_written();
  if (untouched) observation.verification.reset();
  return untouched;
}

}  // namespace lt_audit
