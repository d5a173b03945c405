// The trace over the scripted library: one line per call, with names, decoded attributes, results and status.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "platform/audit_kernels.h"
#include "platform/faults/scripted_library.h"
#include "platform/platforms.h"

namespace lt_audit {
namespace {

class Trace : public testing::Test {
 protected:
  /// The last line without its time, and without what follows "=0x" (addresses differ between runs).
  std::string last() const {
    std::string line = lines.empty() ? "" : lines.back();
    line = line.substr(0, line.rfind("  ("));
    for (auto at = line.find("0x"); at != std::string::npos; at = line.find("0x", at + 2)) {
      const auto end = line.find_first_not_of("0123456789abcdef", at + 2);
      line.erase(at + 2, (end == std::string::npos ? line.size() : end) - at - 2);
    }
    return line;
  }

  faults::ScriptedLibrary library;
  std::vector<std::string> lines;
  Platform traced = trace_calls(library.platform(), [this](const std::string& line) { lines.push_back(line); });
};

TEST_F(Trace, ShowsNameArgumentsStatusAndTime) {
  void* memory = nullptr;
  traced.cuda.malloc(&memory, 512);
  EXPECT_EQ(last(), "cudaMalloc(*devPtr=0x, size=512) = cudaSuccess");
  EXPECT_NE(lines.back().find(" us)"), std::string::npos);
  traced.cuda.memset_async(memory, 255, 16, nullptr);
  EXPECT_EQ(last(), "cudaMemsetAsync(devPtr=0x, value=255, count=16, stream=0) = cudaSuccess");
  traced.cuda.memcpy_async(memory, memory, 16, cudaMemcpyDeviceToDevice, nullptr);
  EXPECT_EQ(last(), "cudaMemcpyAsync(dst=0x, src=0x, count=16, kind=device to device, stream=0) = cudaSuccess");
}

TEST_F(Trace, DecodesAttributesThatAreSet) {
  cublasLtMatmulDesc_t desc = nullptr;
  traced.lt.matmul_desc_create(&desc, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F);
  EXPECT_EQ(last(), "cublasLtMatmulDescCreate(*desc=0x, computeType=32f_fast_tf32, scaleType=f32) = SUCCESS");
  const std::uint32_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  traced.lt.matmul_desc_set_attribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  EXPECT_EQ(last(), "cublasLtMatmulDescSetAttribute(desc=0x, EPILOGUE, relu_bias) = SUCCESS");
  const void* bias = nullptr;
  traced.lt.matmul_desc_set_attribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  EXPECT_EQ(last(), "cublasLtMatmulDescSetAttribute(desc=0x, BIAS_POINTER, 0) = SUCCESS");
  cublasLtMatrixLayout_t layout = nullptr;
  traced.lt.matrix_layout_create(&layout, CUDA_R_16BF, 16, 8, 17);
  EXPECT_EQ(last(), "cublasLtMatrixLayoutCreate(*layout=0x, type=bf16, rows=16, cols=8, ld=17) = SUCCESS");
  const std::int64_t stride = 136;
  traced.lt.matrix_layout_set_attribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  EXPECT_EQ(last(), "cublasLtMatrixLayoutSetAttribute(layout=0x, STRIDED_BATCH_OFFSET, 136) = SUCCESS");
}

TEST_F(Trace, ShowsAttributesThatWereReadAndHidesThemAfterAFailure) {
  cublasLtMatrixLayout_t layout = nullptr;
  traced.lt.matrix_layout_create(&layout, CUDA_R_16BF, 16, 8, 17);
  std::uint64_t rows = 0;
  std::size_t written = 0;
  traced.lt.matrix_layout_get_attribute(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows, &written);
  EXPECT_EQ(last(), "cublasLtMatrixLayoutGetAttribute(layout=0x, ROWS, 16) = SUCCESS");
  std::uint16_t wrong = 7;
  traced.lt.matrix_layout_get_attribute(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &wrong, sizeof wrong, &written);
  EXPECT_EQ(last(), "cublasLtMatrixLayoutGetAttribute(layout=0x, ROWS, no value) = INVALID_VALUE");
}

TEST_F(Trace, NamesAnUnknownAttributeByNumber) {
  cublasLtMatmulDesc_t desc = nullptr;
  traced.lt.matmul_desc_create(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const std::int32_t value = 1;
  traced.lt.matmul_desc_set_attribute(desc, static_cast<cublasLtMatmulDescAttributes_t>(29), &value, sizeof value);
  EXPECT_EQ(last(), "cublasLtMatmulDescSetAttribute(desc=0x, attribute 29, 4 bytes) = SUCCESS");
}

TEST_F(Trace, ShowsResultsOfTheHeuristicOnlyAfterSuccess) {
  faults::ScriptedRun run;
  MatmulProblem p = uniform_problem(CUDA_R_32F, 16, 8, 32);
  p.workspace_bytes = 64;
  const auto heuristic_line = [&] {
    lines.clear();
    run.run(traced, p);
    for (const std::string& line : lines) {
      if (line.starts_with("cublasLtMatmulAlgoGetHeuristic")) return line;
    }
    return std::string();
  };
  EXPECT_NE(heuristic_line().find("requested=8, results=0x"), std::string::npos);
  EXPECT_NE(heuristic_line().find(", *returned=1) = SUCCESS"), std::string::npos);
  library.heuristic_status = CUBLAS_STATUS_NOT_SUPPORTED;
  EXPECT_NE(heuristic_line().find(", returned=0x"), std::string::npos);
  EXPECT_NE(heuristic_line().find(") = NOT_SUPPORTED"), std::string::npos);
}

TEST_F(Trace, ReportsTheAuditsKernelsInOneLine) {
  traced.kernels.prepare({}, nullptr);
  EXPECT_EQ(last(), "audit kernel prepare(stream=0) = cudaSuccess");
}

TEST_F(Trace, ShowsAFaultThatWasPlantedUnderneath) {
  const Platform planted = inject_fault(library.platform(), "valid-call-refused");
  const Platform over = trace_calls(planted, [this](const std::string& line) { lines.push_back(line); });
  faults::ScriptedRun run;
  run.run(over, uniform_problem(CUDA_R_8I, 16, 8, 32));
  const auto refused = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("cublasLtMatmulAlgoGetHeuristic") && line.find("NOT_SUPPORTED") != std::string::npos;
  });
  EXPECT_EQ(refused, 1);
}

TEST_F(Trace, LeavesEmptyFunctionsEmpty) {
  EXPECT_FALSE(static_cast<bool>(traced.lt.logger_set_callback));
  EXPECT_FALSE(static_cast<bool>(traced.blas.gemm_ex));
}

}  // namespace
}  // namespace lt_audit
