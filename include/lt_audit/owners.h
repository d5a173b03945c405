// Owners and typed attribute setters over the function tables. An owner destroys what it created through the same
// platform.
#pragma once

#include <concepts>
#include <utility>

#include "lt_audit/error.h"
#include "lt_audit/platform.h"

namespace lt_audit {

/// Move-only owner of one object of a function table: the table and the object. `destroy` is a member of the table.
template <class Api, class Object, auto Destroy>
class Owner {
 public:
  Owner() = default;
  Owner(const Api& api, Object object) : api_(&api), object_(object) {}
  Owner(Owner&& other) noexcept : api_(std::exchange(other.api_, nullptr)), object_(std::exchange(other.object_, {})) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset();
      api_ = std::exchange(other.api_, nullptr);
      object_ = std::exchange(other.object_, {});
    }
    return *this;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { reset(); }

  Object get() const { return object_; }
  explicit operator bool() const { return api_ != nullptr; }
  const Api& api() const { return *api_; }

  /// Gives the object away: who takes it destroys it.
  Object release() {
    api_ = nullptr;
    return object_;
  }

  /// Destroys now. A destructor cannot report, so the status is dropped: a check that asks about destroy calls the
  /// table.
  void reset() {
    if (api_ != nullptr) static_cast<void>((api_->*Destroy)(object_));
    api_ = nullptr;
  }

 private:
  const Api* api_ = nullptr;
  Object object_ = {};
};

using LtHandle = Owner<LtApi, cublasLtHandle_t, &LtApi::destroy>;
using BlasHandle = Owner<BlasApi, cublasHandle_t, &BlasApi::destroy>;
using Stream = Owner<CudaApi, cudaStream_t, &CudaApi::stream_destroy>;
using Event = Owner<CudaApi, cudaEvent_t, &CudaApi::event_destroy>;
using Graph = Owner<CudaApi, cudaGraph_t, &CudaApi::graph_destroy>;
using GraphExec = Owner<CudaApi, cudaGraphExec_t, &CudaApi::graph_exec_destroy>;
using DeviceMemory = Owner<CudaApi, void*, &CudaApi::free>;
using HostMemory = Owner<CudaApi, void*, &CudaApi::free_host>;

/// The value type of an attribute, as the header states it; no specialisation, no setter.
template <auto Attribute>
struct AttributeValue;

#define LT_AUDIT_ATTRIBUTE(attribute, value_type) \
  template <>                                     \
  struct AttributeValue<attribute> {              \
    using type = value_type;                      \
  }
// cublasLt.h 13.1.0, lines 1113-1184 (layout), 1274-1594 (descriptor), 2082-2150 (preference).
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, const void*);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, std::int64_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, void*);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, std::int64_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, const void*);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, const void*);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, const void*);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, const void*);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, void*);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, std::int64_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t);
LT_AUDIT_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t);
#undef LT_AUDIT_ATTRIBUTE

/// A matmul descriptor, matrix layout or preference with setters that fix the value type per attribute: a value of
/// another type does not compile (the library would answer INVALID_VALUE to a wrong size, cublasLt.h 13.1.0 line 1640).
template <class Object, class AttributeEnum, auto Destroy, auto SetAttribute>
class Attributed : public Owner<LtApi, Object, Destroy> {
 public:
  using Owner<LtApi, Object, Destroy>::Owner;

  template <AttributeEnum Attribute, class Value>
  requires std::same_as<Value, typename AttributeValue<Attribute>::type> cublasStatus_t set(Value value)
  const { return (this->api().*SetAttribute)(this->get(), Attribute, &value, sizeof value); }
};

using MatmulDesc = Attributed<cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, &LtApi::matmul_desc_destroy,
                              &LtApi::matmul_desc_set_attribute>;
using MatrixLayout = Attributed<cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, &LtApi::matrix_layout_destroy,
                                &LtApi::matrix_layout_set_attribute>;
using MatmulPreference = Attributed<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                    &LtApi::matmul_preference_destroy, &LtApi::matmul_preference_set_attribute>;

}  // namespace lt_audit
