// Logger texts.
#include "platform/simulator/lt_log.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>

namespace lt_audit::simulator {
namespace {

/// Keyed by number, not by enumerator: an object may hold any number.
struct Spelling {
  int value;
  std::string_view text;
};

template <std::size_t size, class Value>
std::string spelled(const std::array<Spelling, size>& table, Value value) {
  for (const auto& entry : table) {
    if (entry.value == static_cast<int>(value)) return std::string(entry.text);
  }
  return fmt::format("{}", value);
}

constexpr std::array<Spelling, 13> kTypes{{{CUDA_R_64F, "R_64F"},
                                           {CUDA_R_32F, "R_32F"},
                                           {CUDA_R_16F, "R_16F"},
                                           {CUDA_R_16BF, "R_16BF"},
                                           {CUDA_R_8F_E4M3, "R_8F_E4M3"},
                                           {CUDA_R_8F_E5M2, "R_8F_E5M2"},
                                           {CUDA_R_8I, "R_8I"},
                                           {CUDA_R_32I, "R_32I"},
                                           {CUDA_C_32F, "C_32F"},
                                           {CUDA_C_64F, "C_64F"},
                                           {CUDA_C_16F, "C_16F"},
                                           {CUDA_C_16BF, "C_16BF"},
                                           {CUDA_C_8I, "C_8I"}}};

constexpr std::array<Spelling, 13> kComputeTypes{
    {{CUBLAS_COMPUTE_16F, "COMPUTE_16F"},
     {CUBLAS_COMPUTE_16F_PEDANTIC, "COMPUTE_16F_PEDANTIC"},
     {CUBLAS_COMPUTE_32F, "COMPUTE_32F"},
     {CUBLAS_COMPUTE_32F_PEDANTIC, "COMPUTE_32F_PEDANTIC"},
     {CUBLAS_COMPUTE_32F_FAST_16F, "COMPUTE_32F_FAST_16F"},
     {CUBLAS_COMPUTE_32F_FAST_16BF, "COMPUTE_32F_FAST_16BF"},
     {CUBLAS_COMPUTE_32F_FAST_TF32, "COMPUTE_32F_FAST_TF32"},
     {CUBLAS_COMPUTE_32F_EMULATED_16BFX9, "COMPUTE_32F_EMULATED_16BFX9"},
     {CUBLAS_COMPUTE_64F, "COMPUTE_64F"},
     {CUBLAS_COMPUTE_64F_PEDANTIC, "COMPUTE_64F_PEDANTIC"},
     {CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, "COMPUTE_64F_EMULATED_FIXEDPOINT"},
     {CUBLAS_COMPUTE_32I, "COMPUTE_32I"},
     {CUBLAS_COMPUTE_32I_PEDANTIC, "COMPUTE_32I_PEDANTIC"}}};

constexpr std::array<Spelling, 4> kTiles{{{CUBLASLT_MATMUL_TILE_32x32, "MATMUL_TILE_32x32"},
                                          {CUBLASLT_MATMUL_TILE_64x64, "MATMUL_TILE_64x64"},
                                          {CUBLASLT_MATMUL_TILE_128x64, "MATMUL_TILE_128x64"},
                                          {CUBLASLT_MATMUL_TILE_128x128, "MATMUL_TILE_128x128"}}};

constexpr std::array<Spelling, 4> kStages{{{CUBLASLT_MATMUL_STAGES_64xAUTO, "MATMUL_STAGES_64xAUTO"},
                                           {CUBLASLT_MATMUL_STAGES_64x3, "MATMUL_STAGES_64x3"},
                                           {CUBLASLT_MATMUL_STAGES_8x5, "MATMUL_STAGES_8x5"},
                                           {CUBLASLT_MATMUL_STAGES_16x6, "MATMUL_STAGES_16x6"}}};

constexpr std::array<Spelling, 2> kClusters{
    {{CUBLASLT_CLUSTER_SHAPE_1x1x1, "CLUSTER_SHAPE_1x1x1"}, {CUBLASLT_CLUSTER_SHAPE_2x1x1, "CLUSTER_SHAPE_2x1x1"}}};

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& letter : upper) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return upper;
}

std::string layout_text(const Attributes& layout) {
  std::string text = fmt::format(
      "[type={} rows={} cols={} ld={}", spelled(kTypes, layout.as<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_TYPE)),
      layout.as<std::uint64_t>(CUBLASLT_MATRIX_LAYOUT_ROWS), layout.as<std::uint64_t>(CUBLASLT_MATRIX_LAYOUT_COLS),
      layout.as<std::int64_t>(CUBLASLT_MATRIX_LAYOUT_LD));
  if (layout.as<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_ORDER) == CUBLASLT_ORDER_ROW) text += " order=ORDER_ROW";
  const auto batch_count = layout.as<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  const auto stride = layout.as<std::int64_t>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  if (batch_count != 1) text += fmt::format(" batchCount={}", batch_count);
  if (stride != 0) text += fmt::format(" stridedBatchOffset={}", stride);
  const auto plane = layout.as<std::int64_t>(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET);
  if (plane != 0) text += fmt::format(" planeOffsetBytes={}", plane);
  return text + "]";
}

std::string layouts_text(const Objects& objects) {
  return fmt::format("Adesc={} Bdesc={} Cdesc={} Ddesc={}", layout_text(*objects.a), layout_text(*objects.b),
                     layout_text(*objects.c), layout_text(*objects.d));
}

std::string pointer_text(const Attributes& desc, int attribute, const char* key) {
  const void* const pointer = device_pointer(desc, attribute);
  return pointer == nullptr ? std::string() : fmt::format(" {}={}", key, pointer);
}

std::string epilogue_text(std::int32_t number) {
  for (const auto& entry : epilogues()) {
    if (entry.value == number) return "EPILOGUE_" + upper_case(entry.name);
  }
  return fmt::format("{}", number);
}

std::string desc_text(const Attributes& desc) {
  std::string text = fmt::format("[computeType={} scaleType={}",
                                 spelled(kComputeTypes, desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE)),
                                 spelled(kTypes, desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_SCALE_TYPE)));
  for (const auto& [attribute, key] :
       {std::pair(CUBLASLT_MATMUL_DESC_TRANSA, "transa"), std::pair(CUBLASLT_MATMUL_DESC_TRANSB, "transb")}) {
    const auto operation = desc.as<std::int32_t>(attribute);
    if (operation != CUBLAS_OP_N) text += fmt::format(" {}=OP_{}", key, operation == CUBLAS_OP_T ? 'T' : 'C');
  }
  const auto epilogue = desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE);
  if (epilogue != CUBLASLT_EPILOGUE_DEFAULT) text += " epilogue=" + epilogue_text(epilogue);
  text += pointer_text(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, "biasPointer");
  text += pointer_text(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, "epilogueAuxPointer");
  text += pointer_text(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, "aScalePointer");
  text += pointer_text(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, "bScalePointer");
  const auto bias_type = desc.as<std::int32_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  if (bias_type != -1) text += fmt::format(" biasDataType={}", bias_type);
  if (desc.as<std::int8_t>(CUBLASLT_MATMUL_DESC_FAST_ACCUM) != 0) text += " fastAccumulationFlag=1";
  return text + "]";
}

std::string preference_text(const Attributes& preference) {
  std::string text = fmt::format("[maxWavesCount={:.1f} maxWorkspaceSizeinBytes={}",
                                 preference.as<float>(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT),
                                 preference.as<std::uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  for (const auto& [attribute, key] : {std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 'A'),
                                       std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 'B'),
                                       std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 'C'),
                                       std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 'D')}) {
    const auto bytes = preference.as<std::uint32_t>(attribute);
    if (bytes != 256) text += fmt::format(" minBytesAlignment{}={}", key, bytes);
  }
  const auto mask = preference.as<std::uint64_t>(CUBLASLT_MATMUL_PREF_IMPL_MASK);
  if (mask != ~std::uint64_t{0}) text += fmt::format(" implMask={}", mask);
  return text + "]";
}

std::string algorithm_text(const Algorithm& algorithm) {
  std::string text = fmt::format("[algoId={}", algorithm.id);
  if (algorithm.tile != CUBLASLT_MATMUL_TILE_UNDEFINED) text += " tile=" + spelled(kTiles, algorithm.tile);
  if (algorithm.stages != CUBLASLT_MATMUL_STAGES_UNDEFINED) text += " stages=" + spelled(kStages, algorithm.stages);
  if (algorithm.split_k > 1) {
    text += fmt::format(" reductionScheme=REDUCTION_SCHEME_COMPUTE_TYPE numSplitsK={}", algorithm.split_k);
  }
  if (algorithm.cluster != CUBLASLT_CLUSTER_SHAPE_AUTO)
    text += " clusterShape=" + spelled(kClusters, algorithm.cluster);
  return text + "]";
}

}  // namespace

std::string address_text(const void* pointer) { return fmt::format("0X{:X}", std::bit_cast<std::uintptr_t>(pointer)); }

std::string heuristic_text(const Objects& objects) {
  return fmt::format("{} preference={} computeDesc={}", layouts_text(objects), preference_text(*objects.preference),
                     desc_text(*objects.desc));
}

std::string matmul_text(const Objects& objects, const Algorithm& algorithm, const MatmulTrace& call) {
  const bool plain_beta = call.beta && (*call.beta == 0 || *call.beta == 1);
  return fmt::format(
      "A={} Adesc={} B={} Bdesc={} C={} Cdesc={} D={} Ddesc={} computeDesc={} algo={} workSpace={} "
      "workSpaceSizeInBytes={} beta={} outOfPlace={} stream={}",
      address_text(call.a), layout_text(*objects.a), address_text(call.b), layout_text(*objects.b),
      address_text(call.c), layout_text(*objects.c), address_text(call.d), layout_text(*objects.d),
      desc_text(*objects.desc), algorithm_text(algorithm), address_text(call.workspace), call.workspace_bytes,
      plain_beta ? fmt::format("{}", *call.beta) : "?", call.c == call.d ? 0 : 1, address_text(call.stream));
}

}  // namespace lt_audit::simulator
