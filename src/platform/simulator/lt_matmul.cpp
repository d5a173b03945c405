// cublasLtMatmul: what it refuses at the call, and the work that it gives to the stream.
#include "platform/simulator/lt_matmul.h"

#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "platform/simulator/arithmetic.h"
#include "platform/simulator/lt_log.h"

namespace lt_audit::simulator {
namespace {

constexpr const char* kMatmul = "cublasLtMatmul";

std::int64_t offset_of(const void* pointer) {
  return static_cast<std::int64_t>(std::bit_cast<std::uintptr_t>(pointer) % 256);
}

/// A call on its way: checked step by step, then turned into a Product.
struct Plan {
  Objects objects;
  MatmulProblem problem;
  Algorithm algorithm;
  Stream* stream = nullptr;
  bool host_mode = true;
  /// The four matrix arguments are arrays of pointers in device memory.
  bool pointer_arrays = false;
};

cublasStatus_t refuse(const Library& library, const Refusal& refusal) {
  for (const auto& line : refusal.lines) library.logger.log(line.level, kMatmul, line.text);
  return refusal.status;
}

/// Null pointers and unknown objects.
cublasStatus_t check_arguments(const Library& library, const MatmulCall& call, Plan* plan) {
  if (device_of_handle(library, call.handle) < 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  plan->objects = {library.descs.find(call.desc),       library.layouts.find(call.a_layout),
                   library.layouts.find(call.b_layout), library.layouts.find(call.c_layout),
                   library.layouts.find(call.d_layout), nullptr};
  if (!plan->objects.complete() || call.alpha == nullptr || call.beta == nullptr || call.d == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Fills in what only the call knows: pointers, scalars in host memory.
void complete_problem(const MatmulCall& call, Plan* plan) {
  MatmulProblem& p = plan->problem;
  p.a_offset = offset_of(call.a);
  p.b_offset = offset_of(call.b);
  p.c_offset = offset_of(call.c);
  p.d_offset = offset_of(call.d);
  p.bias_offset = offset_of(device_pointer(*plan->objects.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
  p.aux_offset = offset_of(device_pointer(*plan->objects.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER));
  p.scale_a_offset = offset_of(device_pointer(*plan->objects.desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
  p.scale_b_offset = offset_of(device_pointer(*plan->objects.desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER));
  p.workspace_offset = offset_of(call.workspace);
  p.workspace_bytes = static_cast<std::int64_t>(call.workspace_bytes);
  plan->pointer_arrays = uses_pointer_arrays(plan->objects);
  // The host cannot see where the members of an array point.
  if (plan->pointer_arrays) p.a_offset = p.b_offset = p.c_offset = p.d_offset = 0;
  p.in_place = call.c == call.d;
  p.algo = call.algo == nullptr ? AlgoChoice::null : AlgoChoice::heuristic;
  plan->host_mode = p.pointer_mode == CUBLASLT_POINTER_MODE_HOST;
  p.alpha = plan->host_mode ? load_value(p.scale_type, call.alpha) : 1;
  p.beta = plan->host_mode ? load_value(p.scale_type, call.beta) : 1;
  p.alpha_imaginary = plan->host_mode ? load_imaginary(p.scale_type, call.alpha) : 0;
  p.beta_imaginary = plan->host_mode ? load_imaginary(p.scale_type, call.beta) : 0;
  if (call.algo != nullptr) {
    // What was declared to the heuristic is in the algorithm's needs; the call itself promises no more than its
    // pointers hold.
    p.a_alignment = alignment_of_offset(p.a_offset);
    p.b_alignment = alignment_of_offset(p.b_offset);
    p.c_alignment = alignment_of_offset(p.c_offset);
    p.d_alignment = alignment_of_offset(p.d_offset);
  }
}

/// The given algorithm, or the one of the implicit heuristic: default preferences, the call's workspace as the limit.
cublasStatus_t choose_algorithm(const Library& library, const MatmulCall& call, Plan* plan) {
  if (call.algo == nullptr) {
    AlgorithmLimits limits;
    const bool usable = call.workspace != nullptr;
    limits.workspace_bytes = usable ? call.workspace_bytes : 0;
    const auto rated = rated_algorithms(plan->problem, limits, kMultiprocessors);
    if (rated.empty()) return CUBLAS_STATUS_NOT_SUPPORTED;
    plan->algorithm = rated.front().algorithm;
    return CUBLAS_STATUS_SUCCESS;
  }
  const auto decoded = decode(*call.algo, library.number());
  if (!decoded || decoded->problem_key != problem_key(plan->problem)) return CUBLAS_STATUS_INVALID_VALUE;
  plan->algorithm = decoded->algorithm;
  return CUBLAS_STATUS_SUCCESS;
}

/// Device, context and stream: everything of another device fails at the launch (measured on two H200).
cublasStatus_t check_context(Library& library, const MatmulCall& call, Plan* plan) {
  World& world = *library.world;
  Context* context = nullptr;
  if (world.machine.current(&context) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (device_of_handle(library, call.handle) != context->device) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (world.streams.resolve(call.stream, &plan->stream) != cudaSuccess || plan->stream->context != context) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// D in the memory of an input, other than exactly C's: no document allows it, and one matrix would be written while
/// the other is read.
bool overlaps_an_input(const MatmulCall& call, const MatmulProblem& p) {
  const auto d_begin = std::bit_cast<std::uintptr_t>(call.d);
  const auto overlaps = [&](const void* input, const MatrixShape& shape) {
    const auto begin = std::bit_cast<std::uintptr_t>(input);
    return input != nullptr && begin < d_begin + bytes_of_span(shape_d(p)) && d_begin < begin + bytes_of_span(shape);
  };
  return (p.k > 0 && (overlaps(call.a, shape_a(p)) || overlaps(call.b, shape_b(p)))) ||
         (!p.in_place && p.reads_c() && overlaps(call.c, shape_c(p)));
}

cublasStatus_t check_pointers(const MatmulCall& call, const Plan& plan) {
  const MatmulProblem& p = plan.problem;
  // cublasLt.h 13.1.0, lines 1002-1004. The workspace's alignment is the contract's, since it depends on the version.
  if (call.workspace_bytes < plan.algorithm.workspace_bytes ||
      (call.workspace == nullptr && plan.algorithm.workspace_bytes > 0)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if ((p.k > 0 && (call.a == nullptr || call.b == nullptr)) || (call.c == nullptr && p.reads_c())) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // Of pointer arrays the addresses are not those of matrices.
  if (!plan.pointer_arrays && overlaps_an_input(call, p)) return CUBLAS_STATUS_INVALID_VALUE;
  const Attributes& desc = *plan.objects.desc;
  const bool vector = has_bias(p.epilogue) || has_bias_gradient(p.epilogue);
  if (vector && device_pointer(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER) == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (has_aux(p.epilogue) && device_pointer(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER) == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return pointers_fit(plan.algorithm, p) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

void* output_pointer(const Attributes& desc, int attribute) { return desc.as<void*>(attribute); }

/// Scalar factors as factors, others as tables.
void add_scales(const Attributes& desc, const MatmulProblem& p, Product* product) {
  const auto factor = [&](const std::optional<cublasLtMatmulMatrixScale_t>& mode, int pointer) {
    const bool scalar = mode && *mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
    return Factor{1, scalar ? device_pointer(desc, pointer) : nullptr, CUDA_R_32F};
  };
  const auto table = [&](const std::optional<cublasLtMatmulMatrixScale_t>& mode, int pointer, std::int64_t outer) {
    if (!mode || *mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) return ScaleTable{};
    return ScaleTable{device_pointer(desc, pointer), *mode, outer, p.k};
  };
  product->scale_a = factor(p.scale_a, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
  product->scale_b = factor(p.scale_b, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
  product->scale_c = factor(p.scale_c, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER);
  product->scale_d = factor(p.scale_d, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER);
  product->table_a = table(p.scale_a, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, p.m);
  product->table_b = table(p.scale_b, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, p.n);
  product->amax_d = output_pointer(desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER);
}

void add_epilogue(const Attributes& desc, const MatmulProblem& p, Product* product) {
  product->epilogue = p.epilogue;
  if (has_bias(p.epilogue) || has_bias_gradient(p.epilogue)) {
    product->bias = output_pointer(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
    product->bias_type = bias_type(p);
    product->bias_batch_stride = p.stride_bias;
  }
  if (!has_aux(p.epilogue)) return;
  product->aux = output_pointer(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  product->aux_type = aux_type(p);
  product->aux_ld = p.ldaux;
  product->aux_batch_stride = p.batch_count > 1 ? p.stride_aux : 0;
}

Product make_product(const Library& library, const MatmulCall& call, const Plan& plan) {
  const MatmulProblem& p = plan.problem;
  Product product;
  product.m = p.m, product.n = p.n, product.k = p.k;
  product.a = {call.a, shape_a(p), p.transa != CUBLAS_OP_N, p.transa == CUBLAS_OP_C};
  product.b = {call.b, shape_b(p), p.transb != CUBLAS_OP_N, p.transb == CUBLAS_OP_C};
  product.c = {call.c, shape_c(p), false};
  product.d = call.d;
  product.d_shape = shape_d(p);
  product.alpha = {p.alpha, plan.host_mode ? nullptr : call.alpha, p.scale_type, p.alpha_imaginary};
  product.beta = {p.beta, plan.host_mode ? nullptr : call.beta, p.scale_type, p.beta_imaginary};
  add_scales(*plan.objects.desc, p, &product);
  add_epilogue(*plan.objects.desc, p, &product);
  product.split_k = plan.algorithm.split_k;
  product.workspace = call.workspace;
  product.accumulator = accumulator_of(p.compute_type);
  product.factor_bits = factor_bits_of(p.compute_type, library.tf32_is_off);
  return product;
}

/// What goes with the epilogue, and the scale factors.
void add_accesses_beside(const MatmulProblem& problem, const Product& p, std::vector<Access>* accesses) {
  if (p.bias != nullptr) accesses->push_back({p.bias, bytes_of_span(shape_bias(problem))});
  if (p.aux != nullptr) accesses->push_back({p.aux, bytes_of_span(shape_aux(problem))});
  if (p.amax_d != nullptr) accesses->push_back({p.amax_d, sizeof(float)});
  for (const ScaleTable* table : {&p.table_a, &p.table_b}) {
    if (table->data != nullptr) {
      accesses->push_back({table->data, bytes_of_span(shape_scale(table->mode, table->outer, table->k))});
    }
  }
  for (const Factor* factor : {&p.alpha, &p.beta, &p.scale_a, &p.scale_b, &p.scale_c, &p.scale_d}) {
    if (factor->device_pointer != nullptr) accesses->push_back({factor->device_pointer, bytes_of(factor->type)});
  }
}

std::vector<Access> accesses_of(const MatmulProblem& problem, const Product& p, std::uint64_t workspace_bytes) {
  std::vector<Access> accesses{{p.d, bytes_of_span(p.d_shape)}};
  if (p.k > 0) {
    accesses.push_back({p.a.data, bytes_of_span(p.a.shape)});
    accesses.push_back({p.b.data, bytes_of_span(p.b.shape)});
  }
  const bool reads_c = p.beta.device_pointer != nullptr || p.beta.value != 0 || p.beta.imaginary != 0;
  if (reads_c) accesses.push_back({p.c.data, bytes_of_span(p.c.shape)});
  if (workspace_bytes > 0) accesses.push_back({p.workspace, workspace_bytes});
  add_accesses_beside(problem, p, &accesses);
  return accesses;
}

/// One of the four arrays of pointers.
const void* member(const void* array, std::int64_t index) {
  const void* pointer = nullptr;
  std::memcpy(&pointer, static_cast<const std::byte*>(array) + index * static_cast<std::int64_t>(sizeof pointer),
              sizeof pointer);
  return pointer;
}

/// The arrays themselves are read before anything else of the batch.
std::vector<Access> accesses_of_arrays(const MatmulProblem& problem, const Product& p, std::uint64_t workspace_bytes) {
  const auto bytes = static_cast<std::size_t>(problem.batch_count) * sizeof(void*);
  std::vector<Access> accesses{{p.d, bytes}};
  if (p.k > 0) {
    accesses.push_back({p.a.data, bytes});
    accesses.push_back({p.b.data, bytes});
  }
  if (p.beta.device_pointer != nullptr || p.beta.value != 0) accesses.push_back({p.c.data, bytes});
  if (workspace_bytes > 0) accesses.push_back({p.workspace, workspace_bytes});
  add_accesses_beside(problem, p, &accesses);
  return accesses;
}

/// Matrix by matrix, each with the pointers that its members of the arrays have when the work runs; a member that
/// nobody owns faults as on the device.
void run_pointer_arrays(const Machine& machine, Context& context, MatmulProblem problem, const Product& batch,
                        std::uint64_t workspace_bytes) {
  const auto count = problem.batch_count;
  problem.batch_count = 1;
  Product one = batch;
  for (auto* shape : {&one.a.shape, &one.b.shape, &one.c.shape, &one.d_shape}) shape->batch_count = 1;
  const bool reads_c = batch.beta.get() != 0;
  for (std::int64_t index = 0; index < count; ++index) {
    if (batch.k > 0) one.a.data = member(batch.a.data, index);
    if (batch.k > 0) one.b.data = member(batch.b.data, index);
    if (reads_c) one.c.data = member(batch.c.data, index);
    one.d = const_cast<void*>(member(batch.d, index));
    for (const auto& access : accesses_of(problem, one, workspace_bytes)) {
      if (machine.reach(context, access) == Reach::live) continue;
      context.fault = cudaErrorIllegalAddress;
      return;
    }
    run_product(one);
  }
}

void log_call(const Library& library, const MatmulCall& call, const Plan& plan) {
  if (!library.logger.wants(Logger::trace)) return;
  MatmulTrace trace{call.a, call.b, call.c, call.d, call.workspace, call.workspace_bytes, call.stream, std::nullopt};
  if (plan.host_mode && plan.problem.beta_imaginary == 0) trace.beta = plan.problem.beta;
  library.logger.log(Logger::trace, kMatmul, matmul_text(plan.objects, plan.algorithm, trace));
}

}  // namespace

int device_of_handle(const Library& library, cublasLtHandle_t handle) {
  if (const auto* state = library.lt_handles.find(handle)) return state->device;
  // A cublasHandle_t contains a cuBLASLt handle and may be cast to one (cuBLAS documentation, cublasLtHandle_t).
  if (const auto* state = library.blas_handles.find(std::bit_cast<cublasHandle_t>(handle)))
    return state->context->device;
  return -1;
}

cublasStatus_t run_matmul(Library& library, const MatmulCall& call) {
  Plan plan;
  if (const auto status = check_arguments(library, call, &plan); status != CUBLAS_STATUS_SUCCESS) return status;
  if (const auto refusal = build_problem(plan.objects, &plan.problem)) return refuse(library, *refusal);
  complete_problem(call, &plan);
  // In the order of the stages: what the heuristic refuses too, the algorithm, then what only this call can be refused
  // for.
  MatmulProblem without_pointers = plan.problem;
  without_pointers.a_offset = without_pointers.b_offset = without_pointers.c_offset = without_pointers.d_offset = 0;
  if (const auto refusal = refuse_by_contract(without_pointers, library.scope(), RefusedBy::heuristic)) {
    return refuse(library, *refusal);
  }
  if (const auto status = choose_algorithm(library, call, &plan); status != CUBLAS_STATUS_SUCCESS) return status;
  log_call(library, call, plan);
  if (const auto refusal = refuse_by_contract(plan.problem, library.scope(), RefusedBy::matmul)) {
    return refuse(library, *refusal);
  }
  if (const auto status = check_pointers(call, plan); status != CUBLAS_STATUS_SUCCESS) return status;
  if (const auto status = check_context(library, call, &plan); status != CUBLAS_STATUS_SUCCESS) return status;

  const Product product = make_product(library, call, plan);
  const auto workspace_bytes = plan.algorithm.workspace_bytes;
  std::vector<Access> accesses = plan.pointer_arrays ? accesses_of_arrays(plan.problem, product, workspace_bytes)
                                                     : accesses_of(plan.problem, product, workspace_bytes);
  for (const auto& access : accesses) {
    // Memory that nobody owns is refused without being touched; a span that runs past its allocation faults on the
    // device.
    if (library.world->machine.reach(*plan.stream->context, access) == Reach::unknown) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
  }
  std::function<void()> work = [product] { run_product(product); };
  if (plan.pointer_arrays) {
    work = [&machine = library.world->machine, context = plan.stream->context, problem = plan.problem, product,
            workspace_bytes] { run_pointer_arrays(machine, *context, problem, product, workspace_bytes); };
  }
  const cudaError_t error =
      library.world->streams.submit(*plan.stream, {nullptr, std::move(accesses), std::move(work)});
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace lt_audit::simulator
