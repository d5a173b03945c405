#include "matmul/verifier.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <optional>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

/// Products the element comparison may form. Above it Freivalds' check reads each matrix once instead: 2^28 products
/// take an H200 well under a millisecond, and the simulator about a second.
constexpr double kMostComparedProducts = 0x1p28;
constexpr int kVectors = 2;

FactorTable factor_table(const std::optional<cublasLtMatmulMatrixScale_t>& mode, const ValuePattern& pattern) {
  using enum FactorTable::Layout;
  if (!mode) return {none, pattern};
  switch (*mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F:
      return {outer, pattern};
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
      return {vec128, pattern};
    case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
      return {block128, pattern};
    default:
      return {none, pattern};
  }
}

Activation activation_of(cublasLtEpilogue_t epilogue) {
  if (has_relu(epilogue)) return Activation::relu;
  if (has_gelu(epilogue)) return Activation::gelu;
  if (!reads_aux(epilogue)) return Activation::none;
  return has_aux_mask(epilogue) ? Activation::drelu : Activation::dgelu;
}

AuxUse aux_use_of(cublasLtEpilogue_t epilogue) {
  if (!has_aux(epilogue)) return AuxUse::none;
  if (has_aux_mask(epilogue)) return reads_aux(epilogue) ? AuxUse::mask_in : AuxUse::mask_out;
  return reads_aux(epilogue) ? AuxUse::values_in : AuxUse::values_out;
}

GradientOf gradient_of(cublasLtEpilogue_t epilogue) {
  if (!has_bias_gradient(epilogue)) return GradientOf::none;
  if (epilogue == CUBLASLT_EPILOGUE_BGRADA) return GradientOf::a;
  return epilogue == CUBLASLT_EPILOGUE_BGRADB ? GradientOf::b : GradientOf::d;
}

/// What the epilogue reads and writes beside D.
void set_epilogue(CompareSpec& spec, const MatmulProblem& p, const BufferPlan& buffers) {
  spec.has_bias = has_bias(p.epilogue);
  spec.bias_broadcast = p.stride_bias == 0;
  spec.activation = activation_of(p.epilogue);
  spec.aux_use = aux_use_of(p.epilogue);
  if (spec.aux_use != AuxUse::none) {
    spec.aux_memory = buffers.aux;
    spec.aux_shape = shape_aux(p);
  }
  spec.gradient = gradient_of(p.epilogue);
  if (spec.gradient != GradientOf::none) {
    spec.gradient_memory = buffers.bias;
    spec.gradient_shape = shape_bias(p);
  }
}

CompareSpec compare_spec(const MatmulProblem& p, const ExactInputs& inputs, const BufferPlan& buffers) {
  CompareSpec spec;
  spec.m = p.m;
  spec.n = p.n;
  spec.k = p.k;
  spec.batch_count = p.batch_count;
  spec.a = inputs.a;
  spec.b = inputs.b;
  spec.c = inputs.c;
  spec.bias = inputs.bias;
  spec.aux = inputs.aux;
  spec.a_broadcast = p.stride_a == 0;
  spec.b_broadcast = p.stride_b == 0;
  spec.c_broadcast = !p.in_place && p.stride_c == 0;
  spec.is_complex = is_complex(p.type_a);
  spec.conjugate_a = p.transa == CUBLAS_OP_C;
  spec.conjugate_b = p.transb == CUBLAS_OP_C;
  spec.scale_a = factor_table(p.scale_a, inputs.scale_a);
  spec.scale_b = factor_table(p.scale_b, inputs.scale_b);
  spec.alpha = p.alpha * inputs.alpha_factor;
  spec.beta = p.beta * inputs.beta_factor;
  spec.alpha_imaginary = p.alpha_imaginary * inputs.alpha_factor;
  spec.beta_imaginary = p.beta_imaginary * inputs.beta_factor;
  spec.d_scale = inputs.d_scale;
  spec.amax_memory = buffers.amax_d;
  spec.d = buffers.d;
  spec.d_shape = shape_d(p);
  spec.d_shape.type = spec.d_shape.stored_type();
  spec.poison = buffers.d_poison;
  spec.in_place = p.in_place;
  set_epilogue(spec, p, buffers);
  return spec;
}

ProductSpec product_spec(const MatmulProblem& p, const ExactInputs& inputs, const BufferPlan& buffers,
                         std::uint64_t seed, void* scratch) {
  ProductSpec spec;
  spec.m = p.m;
  spec.n = p.n;
  spec.k = p.k;
  spec.a = buffers.a;
  spec.b = buffers.b;
  spec.c = buffers.c;
  spec.d = buffers.d;
  spec.bias = buffers.bias;
  spec.a_shape = shape_a(p);
  spec.b_shape = shape_b(p);
  spec.c_shape = shape_c(p);
  spec.d_shape = shape_d(p);
  spec.bias_type = bias_type(p);
  spec.transa = p.transa != CUBLAS_OP_N;
  spec.transb = p.transb != CUBLAS_OP_N;
  spec.alpha = p.alpha * inputs.alpha_factor;
  spec.beta = p.beta * inputs.beta_factor;
  spec.seed = seed;
  spec.vectors = kVectors;
  spec.scratch = scratch;
  return spec;
}

std::size_t at(RegionRole role) { return static_cast<std::size_t>(role); }

std::uint64_t all_changes(const VerificationRecord& record, RegionRole role) {
  return record.changed[at(role)] + record.guard_before[at(role)] + record.guard_behind[at(role)] +
         record.padding[at(role)];
}

Verification verification_from(const VerificationRecord& record, const MatmulProblem& p) {
  Verification v;
  v.compared = record.compared;
  v.wrong = record.wrong;
  v.unwritten = record.unwritten;
  v.expected_nonzero = record.expected_nonzero;
  if (record.wrong > 0 && record.first_wrong != ~0ULL) {
    const auto index = static_cast<std::int64_t>(record.first_wrong);
    v.first_batch = index / (p.m * p.n);
    v.first_col = index % (p.m * p.n) / p.m;
    v.first_row = index % p.m;
    v.first_expected = record.first_expected;
    v.first_actual = record.first_actual;
  }
  v.bytes_before_d = record.guard_before[at(RegionRole::d)];
  v.bytes_behind_d = record.guard_behind[at(RegionRole::d)];
  v.reach_behind_d = record.reach_behind[at(RegionRole::d)];
  v.padding_bytes_changed = record.padding[at(RegionRole::d)];
  v.a_bytes_changed = all_changes(record, RegionRole::a);
  v.b_bytes_changed = all_changes(record, RegionRole::b);
  v.c_bytes_changed = all_changes(record, RegionRole::c);
  v.bias_bytes_changed = all_changes(record, RegionRole::bias);
  v.aux_bytes_changed = all_changes(record, RegionRole::aux);
  v.scale_bytes_changed = all_changes(record, RegionRole::scale);
  v.workspace_guard_bytes_changed = all_changes(record, RegionRole::workspace);
  v.aux_compared = record.aux_compared;
  v.aux_wrong = record.aux_wrong;
  v.gradient_compared = record.gradient_compared;
  v.gradient_wrong = record.gradient_wrong;
  if (p.amax_d && record.compared > 0) {
    v.amax_expected = std::bit_cast<double>(record.amax_expected);
    v.amax_actual = record.amax_actual;
  }
  return v;
}

/// The same regions with the elements of the inputs left out: the product check looks at them.
RegionSet without_elements(RegionSet regions) {
  for (auto& region : regions.region) region.inside_is_free = region.content == RegionContent::values;
  return regions;
}

/// D is a linear function of A, B and C with one factor for each, and nothing else is written.
bool is_linear(const MatmulProblem& p) {
  const auto table = [](const std::optional<cublasLtMatmulMatrixScale_t>& mode) {
    return mode && *mode != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  };
  return (p.epilogue == CUBLASLT_EPILOGUE_DEFAULT || p.epilogue == CUBLASLT_EPILOGUE_BIAS) && !is_complex(p.type_a) &&
         !table(p.scale_a) && !table(p.scale_b) && !p.scale_d && !p.amax_d;
}

/// What the product reads and writes.
std::size_t matrix_bytes(const MatmulProblem& p) {
  const auto bytes = [](const MatrixShape& shape) {
    return static_cast<std::size_t>(shape.rows * shape.cols) * bytes_of(shape.type);
  };
  return bytes(shape_a(p)) + bytes(shape_b(p)) + bytes(shape_d(p));
}

bool inputs_changed(const VerificationRecord& record) {
  return std::any_of(std::begin(record.changed), std::end(record.changed),
                     [](unsigned long long count) { return count != 0; });
}

}  // namespace

Verifier::Verifier(const Platform& platform, cudaStream_t stream, std::uint64_t seed)
    : platform_(platform), stream_(stream), seed_(seed) {
  void* memory = nullptr;
  require(platform_.cuda.malloc(&memory, sizeof(VerificationRecord)), "cudaMalloc");
  device_record_ = DeviceMemory(platform_.cuda, memory);
  require(platform_.cuda.malloc_host(&memory, 2 * sizeof(VerificationRecord)), "cudaMallocHost");
  host_record_ = HostMemory(platform_.cuda, memory);
  // The second half stays the empty record that every case starts from.
  auto* records = static_cast<VerificationRecord*>(memory);
  std::uninitialized_fill_n(records, 2, VerificationRecord{});
}

bool Verifier::uses_freivalds(const MatmulProblem& p, const ExactInputs& inputs) const {
  if (!inputs.exact_in_d || !is_linear(p) || p.in_place || p.batch_count != 1) return false;
  // A vector as long as 2^31 would need tables of 160 GiB, and its short sums are quickly compared.
  if (product_scratch_bytes(p.m, p.n, p.k, kVectors) > matrix_bytes(p)) return false;
  const double products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.batch_count) *
                          static_cast<double>(std::max<std::int64_t>(inputs.terms, 1));
  return products > kMostComparedProducts;
}

std::size_t Verifier::scratch_bytes(const MatmulProblem& problem, const ExactInputs& inputs) const {
  return uses_freivalds(problem, inputs) ? product_scratch_bytes(problem.m, problem.n, problem.k, kVectors) : 0;
}

void Verifier::prepare(const MatmulProblem& problem, const ExactInputs& inputs, const BufferPlan& buffers) {
  require(reset_record(), "cudaMemcpyAsync");
  require(platform_.kernels.prepare({buffers.regions}, stream_), "audit kernel prepare");
  if (!uses_freivalds(problem, inputs)) return;
  auto spec = product_spec(problem, inputs, buffers, seed_, scratch_);
  spec.before_call = true;
  require(platform_.kernels.freivalds(spec, device_record(), stream_), "audit kernel freivalds");
}

cudaError_t Verifier::reset_record() {
  const auto* empty = static_cast<const VerificationRecord*>(host_record_.get()) + 1;
  return platform_.cuda.memcpy_async(device_record(), empty, sizeof(VerificationRecord), cudaMemcpyHostToDevice,
                                     stream_);
}

cudaError_t Verifier::fetch_record() {
  return platform_.cuda.memcpy_async(host_record_.get(), device_record(), sizeof(VerificationRecord),
                                     cudaMemcpyDeviceToHost, stream_);
}

cudaError_t Verifier::launch(const MatmulProblem& problem, const ExactInputs& inputs, const BufferPlan& buffers,
                             bool accepted) {
  const bool large = accepted && uses_freivalds(problem, inputs);
  auto error = platform_.kernels.inspect({large ? without_elements(buffers.regions) : buffers.regions}, device_record(),
                                         stream_);
  if (error == cudaSuccess && large) {
    error =
        platform_.kernels.freivalds(product_spec(problem, inputs, buffers, seed_, scratch_), device_record(), stream_);
  } else if (error == cudaSuccess && accepted) {
    error = platform_.kernels.compare(compare_spec(problem, inputs, buffers), device_record(), stream_);
  }
  return error == cudaSuccess ? fetch_record() : error;
}

Verification Verifier::read(const MatmulProblem& problem, const ExactInputs& inputs, const BufferPlan& buffers,
                            bool accepted) {
  const auto* record = static_cast<const VerificationRecord*>(host_record_.get());
  if (!accepted || !uses_freivalds(problem, inputs)) {
    auto verification = verification_from(*record, problem);
    verification.method = accepted ? "elements" : "memory";
    return verification;
  }
  if (record->rows_disagree == 0 && !inputs_changed(*record)) {
    auto verification = verification_from(*record, problem);
    verification.method = "freivalds";
    verification.compared = static_cast<std::uint64_t>(problem.m);
    verification.expected_nonzero = verification.compared;
    return verification;
  }
  // Something is wrong: say what, byte by byte and element by element.
  require(reset_record(), "cudaMemcpyAsync");
  require(platform_.kernels.inspect({buffers.regions}, device_record(), stream_), "audit kernel inspect");
  require(platform_.kernels.compare(compare_spec(problem, inputs, buffers), device_record(), stream_),
          "audit kernel compare");
  require(fetch_record(), "cudaMemcpyAsync");
  require(platform_.cuda.stream_synchronize(stream_), "cudaStreamSynchronize");
  auto verification = verification_from(*record, problem);
  verification.method = "elements";
  return verification;
}

}  // namespace lt_audit
