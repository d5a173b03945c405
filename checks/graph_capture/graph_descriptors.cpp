// Descriptors, layouts, preferences and handles that are changed or destroyed around a capture.
#include <cstring>
#include <optional>
#include <utility>

#include "graph_scenarios.h"
#include "lt_audit/error.h"

namespace lt_audit::graph_capture {
namespace {

/// Two FP32 scale factors in device memory, 1 and 2, apart from each other as the alignment of a scale may ask for.
class ScaleFactors {
 public:
  explicit ScaleFactors(Session& session) : cuda_(session.platform().cuda) {
    void* memory = nullptr;
    require(cuda_.malloc(&memory, 2 * kApart), "cudaMalloc");
    memory_ = DeviceMemory(cuda_, memory);
  }
  const void* at(std::size_t index) const { return static_cast<std::byte*>(memory_.get()) + index * kApart; }
  void write(std::size_t index, float value, cudaStream_t stream) {
    value_ = value;
    require(cuda_.memcpy_async(static_cast<std::byte*>(memory_.get()) + index * kApart, &value_, sizeof value_,
                               cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
    require(cuda_.stream_synchronize(stream), "cudaStreamSynchronize");
  }

 private:
  static constexpr std::size_t kApart = 256;
  const CudaApi& cuda_;
  DeviceMemory memory_;
  float value_ = 0;
};

/// What a scenario changes: the second state of descriptor and expectation.
class Change {
 public:
  Change(Session& session, const Case& the_case, CapturedProduct& product, Observation& observation)
      : session_(session),
        subject_(parameter(the_case, kSubject)),
        product_(product),
        observation_(observation),
        before_{the_case.problem, nullptr},
        after_(before_) {
    if (subject_ == "epilogue") after_.problem.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    if (subject_ == "alpha" || subject_ == "scale-pointer") after_.problem.alpha = 2;
    if (subject_ == "bias-pointer") {
      other_.emplace(session.prepare_apart(the_case.problem));
      other_->fill(7);
      after_.bias = &*other_;
    }
    if (subject_ == "scale-pointer") {
      scales_.emplace(session);
      scales_->write(0, 1, product.matmul().stream());
      scales_->write(1, 2, product.matmul().stream());
    }
  }

  /// The first state, where it is more than describe sets.
  bool prepare() { return !scales_ || set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales_->at(0)); }

  bool apply() {
    if (subject_ == "epilogue") {
      return set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(CUBLASLT_EPILOGUE_RELU_BIAS));
    }
    if (subject_ == "bias-pointer") {
      return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(other_->pointers().bias));
    }
    if (subject_ == "compute-type") {
      return set(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, static_cast<std::int32_t>(CUBLAS_COMPUTE_32F_PEDANTIC));
    }
    if (subject_ == "scale-pointer") return set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales_->at(1));
    if (subject_ == "alpha") product_.matmul().set_scalars(2, 0);
    if (subject_ == "layout") return widen_layout();
    if (subject_ == "preference") return lower_workspace_limit();
    return true;
  }

  const Expected& before() const { return before_; }
  const Expected& after() const { return after_; }

 private:
  template <class Value>
  bool set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    const auto status =
        session_.platform().lt.matmul_desc_set_attribute(product_.matmul().desc(), attribute, &value, sizeof value);
    return record(observation_, "change", "cublasLtMatmulDescSetAttribute", status);
  }

  bool widen_layout() {
    const std::int64_t ld = shape_d(before_.problem).ld * 2;
    const auto status = session_.platform().lt.matrix_layout_set_attribute(product_.matmul().d_layout(),
                                                                           CUBLASLT_MATRIX_LAYOUT_LD, &ld, sizeof ld);
    return record(observation_, "change", "cublasLtMatrixLayoutSetAttribute", status);
  }

  bool lower_workspace_limit() {
    const std::uint64_t limit = 0;
    const auto status = session_.platform().lt.matmul_preference_set_attribute(
        product_.matmul().preference(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
    return record(observation_, "change", "cublasLtMatmulPreferenceSetAttribute", status);
  }

  Session& session_;
  std::string subject_;
  CapturedProduct& product_;
  Observation& observation_;
  std::optional<PreparedMatmul> other_;
  std::optional<ScaleFactors> scales_;
  Expected before_;
  Expected after_;
};

}  // namespace

/// Two captures with a change between them: each graph has the state of its own capture.
Observation changed_between(Session& session, const Case& the_case) {
  Observation observation;
  CapturedProduct product(session, the_case.problem, observation);
  Change change(session, the_case, product, observation);
  if (!product.matmul().describe(observation) || !change.prepare() || !product.choose()) return observation;
  Recording first(session, observation);
  if (!product.capture(first)) return observation;
  if (!change.apply() || !product.choose()) return observation;
  Recording second(session, observation);
  if (!product.capture(second)) return observation;
  if (!replay_and_verify(second, product, 1, change.after(), change.before(), "stale", observation)) return observation;
  replay_and_verify(first, product, 2, change.before(), change.after(), "follows-descriptor", observation);
  return observation;
}

/// A change after the capture: the graph keeps what it captured.
Observation changed_after(Session& session, const Case& the_case) {
  Observation observation;
  CapturedProduct product(session, the_case.problem, observation);
  Change change(session, the_case, product, observation);
  if (!product.matmul().describe(observation) || !change.prepare() || !product.choose()) return observation;
  Recording recording(session, observation);
  if (!product.capture(recording) || !change.apply()) return observation;
  for (const std::uint64_t contents : {1U, 2U}) {
    if (!replay_and_verify(recording, product, contents, change.before(), change.after(), "follows-descriptor",
                           observation)) {
      break;
    }
  }
  return observation;
}

/// What the capture needed is destroyed before the graph runs.
Observation destroyed_before_replay(Session& session, const Case& the_case) {
  const auto subject = parameter(the_case, kSubject);
  const bool all = subject == "everything";
  const auto& platform = session.platform();
  Observation observation;
  CapturedProduct product(session, the_case.problem, observation);
  if (!product.choose()) return observation;
  cublasLtHandle_t made = nullptr;
  require(platform.lt.create(&made), "cublasLtCreate");
  LtHandle handle(platform.lt, made);
  auto& matmul = product.matmul();
  const auto* algo = matmul.choose(handle.get(), observation);
  if (algo == nullptr) return observation;
  Recording recording(session, observation);
  const auto call = [&] { return matmul.matmul(handle.get(), algo, product.stream(), observation); };
  if (!recording.capture(product.stream(), cudaStreamCaptureModeGlobal, call)) return observation;
  if (all || subject == "descriptor") matmul.destroy_desc();
  if (all || subject == "layouts") matmul.destroy_layouts();
  if (all || subject == "preference") matmul.destroy_preference();
  if (all || subject == "handle") handle.reset();
  if (all || subject == "graph") recording.destroy_graph();
  if (all || subject == "stream") product.destroy_stream();
  const cudaStream_t stream = all || subject == "stream" ? matmul.stream() : product.stream();
  for (const std::uint64_t contents : {1U, 2U}) {
    matmul.fill(contents);
    if (!recording.replay(stream) || !matmul.verify(observation)) break;
  }
  return observation;
}

/// A scale factor in device memory that changes between replays.
Observation scale_content(Session& session, const Case& the_case) {
  MatmulProblem doubled = the_case.problem;
  doubled.alpha = 2;
  Observation observation;
  CapturedProduct product(session, the_case.problem, observation);
  if (!product.matmul().describe(observation)) return observation;
  ScaleFactors scales(session);
  scales.write(0, 1, product.matmul().stream());
  const void* pointer = scales.at(0);
  const auto status = session.platform().lt.matmul_desc_set_attribute(
      product.matmul().desc(), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &pointer, sizeof pointer);
  if (!record(observation, "set_attribute", "cublasLtMatmulDescSetAttribute", status) || !product.choose()) {
    return observation;
  }
  Recording recording(session, observation);
  if (!product.capture(recording)) return observation;
  if (!replay_and_verify(recording, product, 1, {the_case.problem}, {doubled}, "wrong-scalar", observation)) {
    return observation;
  }
  scales.write(0, 2, product.matmul().stream());
  replay_and_verify(recording, product, 2, {doubled}, {the_case.problem}, "stale", observation);
  return observation;
}

}  // namespace lt_audit::graph_capture
