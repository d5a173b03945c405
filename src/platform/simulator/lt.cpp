// The cuBLASLt table: handles, host objects, heuristic, algo check, algo attributes, logger. The product itself is in
// lt_matmul.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "platform/simulator/lt_log.h"
#include "platform/simulator/lt_matmul.h"

namespace lt_audit::simulator {
namespace {

constexpr const char* kHeuristic = "cublasLtMatmulAlgoGetHeuristic";

/// More than a handful of results helps nobody; the real library returns 3 to 8 of 8.
constexpr std::size_t kMostResults = 6;

/// A library function under the machine's lock.
template <class... Arguments, class Body>
Fn<cublasStatus_t(Arguments...)> locked(const std::shared_ptr<Library>& library, Body body) {
  return [library, body = std::move(body)](Arguments... arguments) {
    const std::lock_guard guard(library->world->machine.mutex);
    return body(*library, arguments...);
  };
}

cublasStatus_t create_handle(Library& library, cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Context* context = nullptr;
  if (library.world->machine.current(&context) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = library.lt_handles.add(LtHandleState{context->device});
  library.logger.log(Logger::api, "cublasLtCreate", fmt::format("lightHandle={}", address_text(handle)));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroy_handle(Library& library, cublasLtHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (!library.lt_handles.remove(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  // It synchronises the device (cuBLAS documentation, cublasLtDestroy): the status is its own, but a capture that is on
  // becomes invalid (measured).
  static_cast<void>(library.world->streams.synchronize_device());
  return CUBLAS_STATUS_SUCCESS;
}

/// The device of a handle; a cublasHandle_t may be cast to one of cuBLASLt (cuBLAS documentation, cublasLtHandle_t).
bool handle_exists(const Library& library, cublasLtHandle_t handle) { return device_of_handle(library, handle) >= 0; }

AlgorithmLimits limits_of(const Attributes& preference) {
  AlgorithmLimits limits;
  limits.workspace_bytes = preference.as<std::uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  limits.reduction_mask = preference.as<std::uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
  limits.max_waves = preference.as<float>(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT);
  limits.impl_mask = preference.as<std::uint64_t>(CUBLASLT_MATMUL_PREF_IMPL_MASK);
  return limits;
}

cublasStatus_t refuse(const Library& library, const char* function, const Refusal& refusal) {
  for (const auto& line : refusal.lines) library.logger.log(line.level, function, line.text);
  return refusal.status;
}

cublasStatus_t get_heuristic(Library& library, cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                             cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                             cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int requested,
                             cublasLtMatmulHeuristicResult_t* results, int* returned) {
  if (returned != nullptr) *returned = 0;
  if (!handle_exists(library, handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Objects objects{library.descs.find(desc), library.layouts.find(a), library.layouts.find(b),
                        library.layouts.find(c),  library.layouts.find(d), library.preferences.find(preference)};
  if (!objects.complete() || objects.preference == nullptr || requested <= 0 || results == nullptr ||
      returned == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // Written before validation, as the real library does, so that a refused query still shows what was asked.
  if (library.logger.wants(Logger::api)) library.logger.log(Logger::api, kHeuristic, heuristic_text(objects));
  AlgorithmLimits limits = limits_of(*objects.preference);
  if (objects.preference->as<std::uint32_t>(CUBLASLT_MATMUL_PREF_SEARCH_MODE) == CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID) {
    const auto preset = decode(results[0].algo, library.number());
    if (!preset) return CUBLAS_STATUS_INVALID_VALUE;
    limits.only_id = preset->algorithm.id;
  }
  MatmulProblem problem;
  if (const auto refusal = build_problem(objects, &problem)) return refuse(library, kHeuristic, *refusal);
  if (const auto refusal = refuse_by_contract(problem, library.scope(), RefusedBy::heuristic)) {
    return refuse(library, kHeuristic, *refusal);
  }
  const auto rated = rated_algorithms(problem, limits, kMultiprocessors);
  if (rated.empty()) {
    return refuse(library, kHeuristic, {CUBLAS_STATUS_NOT_SUPPORTED, {{Logger::error, "Failed to query heuristics."}}});
  }
  const std::size_t count = std::min({rated.size(), static_cast<std::size_t>(requested), kMostResults});
  std::string ids;
  for (std::size_t i = 0; i < count; ++i) {
    results[i] = cublasLtMatmulHeuristicResult_t{};
    results[i].algo = encode(rated[i].algorithm, problem, library.number());
    results[i].workspaceSize = rated[i].algorithm.workspace_bytes;
    results[i].state = CUBLAS_STATUS_SUCCESS;
    results[i].wavesCount = rated[i].waves;
    ids += fmt::format("{}{}", i == 0 ? "" : " ", rated[i].algorithm.id);
  }
  *returned = static_cast<int>(count);
  library.logger.log(Logger::info, kHeuristic, fmt::format(" heuristicResults=[{}]", ids));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_algo(Library& library, cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                          cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                          cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algo,
                          cublasLtMatmulHeuristicResult_t* result) {
  if (!handle_exists(library, handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Objects objects{library.descs.find(desc), library.layouts.find(a), library.layouts.find(b),
                        library.layouts.find(c),  library.layouts.find(d), nullptr};
  if (!objects.complete() || algo == nullptr || result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  MatmulProblem problem;
  if (const auto refusal = build_problem(objects, &problem))
    return refuse(library, "cublasLtMatmulAlgoCheck", *refusal);
  if (const auto refusal = refuse_by_contract(problem, library.scope(), RefusedBy::heuristic)) {
    return refuse(library, "cublasLtMatmulAlgoCheck", *refusal);
  }
  const auto decoded = decode(*algo, library.number());
  if (!decoded || decoded->problem_key != problem_key(problem)) return CUBLAS_STATUS_INVALID_VALUE;
  // result.algo is never written here (cublasLt.h 13.1.0, cublasLtMatmulAlgoCheck).
  result->workspaceSize = decoded->algorithm.workspace_bytes;
  result->state = CUBLAS_STATUS_SUCCESS;
  result->wavesCount = waves_of(decoded->algorithm, problem, kMultiprocessors);
  return CUBLAS_STATUS_SUCCESS;
}

void add_handles(const std::shared_ptr<Library>& library, LtApi* api) {
  api->create = locked<cublasLtHandle_t*>(library, create_handle);
  api->destroy = locked<cublasLtHandle_t>(library, destroy_handle);
  const int number = library->number();
  api->get_version = [number] { return static_cast<std::size_t>(number); };
  api->get_property = [number](libraryPropertyType property, int* value) {
    return library_property(number, property, value);
  };
  // The callback and the level belong to the process, not to a handle, as in the real library.
  api->logger_set_callback =
      locked<cublasLtLoggerCallback_t>(library, [](Library& l, cublasLtLoggerCallback_t callback) {
        l.logger.set_callback(callback);
        return CUBLAS_STATUS_SUCCESS;
      });
  api->logger_set_level = locked<int>(library, [](Library& l, int level) {
    if (level < 0 || level > Logger::api) return CUBLAS_STATUS_INVALID_VALUE;
    l.logger.set_level(level);
    return CUBLAS_STATUS_SUCCESS;
  });
}

/// destroy of one kind of object: unknown and null handles are INVALID_VALUE.
template <class Handle, class Table>
Fn<cublasStatus_t(Handle)> destroyer(const std::shared_ptr<Library>& library, Table Library::*table) {
  return locked<Handle>(library, [table](Library& l, Handle handle) {
    return (l.*table).remove(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  });
}

template <class Handle, class Attribute, class Table>
Fn<cublasStatus_t(Handle, Attribute, const void*, std::size_t)> setter(const std::shared_ptr<Library>& library,
                                                                       Table Library::*table) {
  return locked<Handle, Attribute, const void*, std::size_t>(
      library, [table](Library& l, Handle handle, Attribute attribute, const void* value, std::size_t bytes) {
        Attributes* const object = (l.*table).find(handle);
        return object == nullptr ? CUBLAS_STATUS_INVALID_VALUE : object->set(attribute, value, bytes);
      });
}

template <class Handle, class Attribute, class Table>
Fn<cublasStatus_t(Handle, Attribute, void*, std::size_t, std::size_t*)> getter(const std::shared_ptr<Library>& library,
                                                                               Table Library::*table) {
  return locked<Handle, Attribute, void*, std::size_t, std::size_t*>(
      library,
      [table](Library& l, Handle handle, Attribute attribute, void* value, std::size_t bytes, std::size_t* written) {
        const Attributes* const object = (l.*table).find(handle);
        return object == nullptr ? CUBLAS_STATUS_INVALID_VALUE : object->get(attribute, value, bytes, written);
      });
}

void add_objects(const std::shared_ptr<Library>& library, LtApi* api) {
  api->matmul_desc_create = locked<cublasLtMatmulDesc_t*, cublasComputeType_t, cudaDataType_t>(
      library, [](Library& l, cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
        if (desc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
        *desc = l.descs.add(matmul_desc_rules());
        l.descs.find(*desc)->put(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute);
        l.descs.find(*desc)->put(CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale);
        return CUBLAS_STATUS_SUCCESS;
      });
  // Creating a layout validates nothing (observed with 13.1.0: ld below rows, ld 0, unknown types).
  api->matrix_layout_create =
      locked<cublasLtMatrixLayout_t*, cudaDataType_t, std::uint64_t, std::uint64_t, std::int64_t>(
          library, [](Library& l, cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::uint64_t rows,
                      std::uint64_t cols, std::int64_t ld) {
            if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
            *layout = l.layouts.add(matrix_layout_rules());
            Attributes& created = *l.layouts.find(*layout);
            created.put(CUBLASLT_MATRIX_LAYOUT_TYPE, type);
            created.put(CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
            created.put(CUBLASLT_MATRIX_LAYOUT_COLS, cols);
            created.put(CUBLASLT_MATRIX_LAYOUT_LD, ld);
            return CUBLAS_STATUS_SUCCESS;
          });
  api->matmul_preference_create =
      locked<cublasLtMatmulPreference_t*>(library, [](Library& l, cublasLtMatmulPreference_t* p) {
        if (p == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
        *p = l.preferences.add(preference_rules());
        return CUBLAS_STATUS_SUCCESS;
      });
  api->matmul_desc_destroy = destroyer<cublasLtMatmulDesc_t>(library, &Library::descs);
  api->matrix_layout_destroy = destroyer<cublasLtMatrixLayout_t>(library, &Library::layouts);
  api->matmul_preference_destroy = destroyer<cublasLtMatmulPreference_t>(library, &Library::preferences);
  api->matmul_desc_set_attribute =
      setter<cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t>(library, &Library::descs);
  api->matrix_layout_set_attribute =
      setter<cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t>(library, &Library::layouts);
  api->matmul_preference_set_attribute =
      setter<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t>(library, &Library::preferences);
  api->matmul_desc_get_attribute =
      getter<cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t>(library, &Library::descs);
  api->matrix_layout_get_attribute =
      getter<cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t>(library, &Library::layouts);
}

}  // namespace

cublasStatus_t library_property(int library_number, libraryPropertyType property, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (property) {
    case MAJOR_VERSION:
      *value = library_number / 10000;
      return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = library_number / 100 % 100;
      return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = library_number % 100;
      return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

LtApi make_lt_api(const std::shared_ptr<Library>& library) {
  LtApi api;
  add_handles(library, &api);
  add_objects(library, &api);
  api.matmul_algo_get_heuristic =
      locked<cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
             cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
             cublasLtMatmulHeuristicResult_t*, int*>(library, get_heuristic);
  api.matmul_algo_check = locked<cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                 cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*,
                                 cublasLtMatmulHeuristicResult_t*>(library, check_algo);
  const int number = library->number();
  api.matmul_algo_config_get_attribute = [number](const cublasLtMatmulAlgo_t* algo, auto attribute, void* value,
                                                  std::size_t bytes, std::size_t* written) {
    return config_attribute(number, algo, attribute, value, bytes, written);
  };
  api.matmul_algo_cap_get_attribute = [number](const cublasLtMatmulAlgo_t* algo, auto attribute, void* value,
                                               std::size_t bytes, std::size_t* written) {
    return cap_attribute(number, algo, attribute, value, bytes, written);
  };
  api.matmul = locked<cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*, cublasLtMatrixLayout_t,
                      const void*, cublasLtMatrixLayout_t, const void*, const void*, cublasLtMatrixLayout_t, void*,
                      cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t>(
      library, [](Library& l, cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                  cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                  const void* c, cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                  const cublasLtMatmulAlgo_t* algo, void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
        return run_matmul(l, {handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algo,
                              workspace, workspace_bytes, stream});
      });
  return api;
}

}  // namespace lt_audit::simulator
