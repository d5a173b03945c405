// Host objects, the heuristic, algo check, algo attributes and the logger of the simulated cuBLASLt.
#include <algorithm>
#include <set>
#include <string>

#include "lt_audit/contract.h"
#include "platform/simulator/test_tools.h"

namespace lt_audit::simulator {
namespace {

class HostObjects : public SimulatorTest {};

TEST_F(HostObjects, CheckTheSizeOfAttributes) {
  cublasLtMatmulDesc_t desc = nullptr;
  ASSERT_EQ(lt.matmul_desc_create(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
  const std::int64_t wide = 1;
  EXPECT_EQ(lt.matmul_desc_set_attribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &wide, 8), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(lt.matmul_desc_set_attribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, nullptr, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(lt.matmul_desc_set_attribute(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &wide, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(lt.matmul_desc_set_attribute(nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &wide, 4), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(HostObjects, TellSizeAndValueOfAttributes) {
  cublasLtMatmulDesc_t desc = nullptr;
  ASSERT_EQ(lt.matmul_desc_create(&desc, CUBLAS_COMPUTE_64F, CUDA_R_64F), CUBLAS_STATUS_SUCCESS);
  std::size_t written = 0;
  EXPECT_EQ(lt.matmul_desc_get_attribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr, 0, &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(written, 8U);
  std::int32_t compute = 0;
  EXPECT_EQ(lt.matmul_desc_get_attribute(desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute, 4, &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(compute, CUBLAS_COMPUTE_64F);
  std::int32_t bias_type = 0;
  EXPECT_EQ(lt.matmul_desc_get_attribute(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias_type, 4, nullptr),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(bias_type, -1);
  EXPECT_EQ(lt.matmul_desc_get_attribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr, 0, nullptr),
            CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(HostObjects, LayoutsAreNotValidated) {
  cublasLtMatrixLayout_t layout = nullptr;
  EXPECT_EQ(lt.matrix_layout_create(&layout, CUDA_R_32F, 64, 64, 8), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(lt.matrix_layout_destroy(layout), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(lt.matrix_layout_destroy(layout), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(HostObjects, HandlesAreRefusedWhenNullOrDestroyed) {
  EXPECT_EQ(lt.create(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(lt.destroy(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  ProblemObjects objects(lt, uniform_problem(CUDA_R_32F, 8, 8, 8));
  EXPECT_EQ(objects.heuristic(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(lt.destroy(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST_F(HostObjects, VersionFollowsTheOptions) {
  const Platform other = make_simulator_platform({1, 80, 120901, 1 << 20});
  int minor = 0;
  EXPECT_EQ(other.lt.get_version(), 120901U);
  EXPECT_EQ(other.lt.get_property(MINOR_VERSION, &minor), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(minor, 9);
  EXPECT_EQ(other.cublaslt.version(), "12.9.1");
}

class Heuristic : public SimulatorTest {
 protected:
  int config(const cublasLtMatmulAlgo_t& algo, cublasLtMatmulAlgoConfigAttributes_t attribute) {
    std::int32_t value = -1;
    EXPECT_EQ(lt.matmul_algo_config_get_attribute(&algo, attribute, &value, 4, nullptr), CUBLAS_STATUS_SUCCESS);
    return value;
  }
  std::uint32_t alignment_of_a(const cublasLtMatmulAlgo_t& algo) {
    std::uint32_t value = 0;
    EXPECT_EQ(lt.matmul_algo_cap_get_attribute(&algo, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, &value, 4, nullptr),
              CUBLAS_STATUS_SUCCESS);
    return value;
  }
};

TEST_F(Heuristic, ReturnsSeveralAlgorithms) {
  ProblemObjects objects(lt, uniform_problem(CUDA_R_16F, 256, 256, 256));
  ASSERT_EQ(objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(objects.results.size(), 6U);
  std::set<int> ids;
  for (const auto& result : objects.results) {
    EXPECT_EQ(result.state, CUBLAS_STATUS_SUCCESS);
    EXPECT_GT(result.wavesCount, 0);
    ids.insert(config(result.algo, CUBLASLT_ALGO_CONFIG_ID));
  }
  EXPECT_GE(ids.size(), 3U);
  ASSERT_EQ(objects.heuristic(handle, 2), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(objects.results.size(), 2U);
  EXPECT_EQ(objects.heuristic(handle, 0), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Heuristic, OffersOnlyWhatTheWorkspaceLimitAllows) {
  MatmulProblem p = uniform_problem(CUDA_R_32F, 256, 256, 4096);
  ProblemObjects roomy(lt, p);
  ASSERT_EQ(roomy.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  const auto needs_workspace = [](const auto& result) { return result.workspaceSize > 0; };
  EXPECT_TRUE(std::any_of(roomy.results.begin(), roomy.results.end(), needs_workspace));
  EXPECT_FALSE(std::all_of(roomy.results.begin(), roomy.results.end(), needs_workspace));
  for (const auto& result : roomy.results) {
    EXPECT_EQ(result.workspaceSize > 0, config(result.algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) > 1);
  }
  p.workspace_bytes = 1024;
  ProblemObjects tight(lt, p);
  ASSERT_EQ(tight.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(std::none_of(tight.results.begin(), tight.results.end(), needs_workspace));
}

TEST_F(Heuristic, ReductionMaskExcludesSplitK) {
  ProblemObjects objects(lt, uniform_problem(CUDA_R_32F, 256, 256, 4096));
  objects.set_preference(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
  ASSERT_EQ(objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  for (const auto& result : objects.results) EXPECT_EQ(config(result.algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), 1);
}

TEST_F(Heuristic, DeclaredAlignmentExcludesWideLoads) {
  MatmulProblem p = uniform_problem(CUDA_R_16F, 256, 256, 256);
  ProblemObjects aligned(lt, p);
  ASSERT_EQ(aligned.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(alignment_of_a(aligned.results.front().algo), 16U);
  p.b_alignment = 2;
  ProblemObjects declared(lt, p);
  ASSERT_EQ(declared.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  for (const auto& result : declared.results) EXPECT_EQ(alignment_of_a(result.algo), 2U);
}

TEST_F(Heuristic, OddLeadingDimensionExcludesWideLoads) {
  MatmulProblem p = uniform_problem(CUDA_R_16F, 256, 256, 256);
  p.lda = 257;
  ProblemObjects objects(lt, p);
  ASSERT_EQ(objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  for (const auto& result : objects.results) EXPECT_EQ(alignment_of_a(result.algo), 2U);
}

TEST_F(Heuristic, RefusesWhatTheContractRefuses) {
  MatmulProblem narrow = uniform_problem(CUDA_R_32F, 64, 64, 64);
  narrow.type_d = narrow.type_c = CUDA_R_16F;
  EXPECT_EQ(ProblemObjects(lt, narrow).heuristic(handle), CUBLAS_STATUS_NOT_SUPPORTED);
  MatmulProblem fp8 = uniform_problem(CUDA_R_8F_E4M3, 64, 64, 24);
  EXPECT_EQ(ProblemObjects(lt, fp8).heuristic(handle), CUBLAS_STATUS_NOT_SUPPORTED);
  MatmulProblem short_ld = uniform_problem(CUDA_R_32F, 64, 64, 64);
  short_ld.lda = 32;
  EXPECT_EQ(ProblemObjects(lt, short_ld).heuristic(handle), CUBLAS_STATUS_INVALID_VALUE);
  MatmulProblem complex = uniform_problem(CUDA_C_32F, 64, 64, 64);
  EXPECT_EQ(ProblemObjects(lt, complex).heuristic(handle), CUBLAS_STATUS_SUCCESS);
  complex.epilogue = CUBLASLT_EPILOGUE_RELU;
  EXPECT_EQ(ProblemObjects(lt, complex).heuristic(handle), CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(Heuristic, AgreesWithTheContractOverAllTypes) {
  int accepted = 0, refused = 0;
  for (const auto& compute : compute_types()) {
    for (const auto& ab : matrix_types()) {
      for (const auto& cd : matrix_types()) {
        MatmulProblem p = uniform_problem(ab.value, 32, 32, 32);
        p.transa = CUBLAS_OP_T;
        p.compute_type = compute.value;
        p.scale_type = default_scale_type(compute.value, ab.value);
        p.type_c = p.type_d = cd.value;
        const Promise promise = promise_of(p, {90, 130100});
        const auto status = ProblemObjects(lt, p).heuristic(handle, 1);
        EXPECT_EQ(status, promise.refused_by == RefusedBy::heuristic ? promise.status : CUBLAS_STATUS_SUCCESS)
            << name_of(compute.value) << " " << ab.name << " " << cd.name << ": " << promise.rule;
        (status == CUBLAS_STATUS_SUCCESS ? accepted : refused) += 1;
      }
    }
  }
  EXPECT_GE(accepted, 20);
  EXPECT_GE(refused, 100);
}

TEST_F(Heuristic, RefusesLayoutsThatDoNotFitTogether) {
  ProblemObjects objects(lt, uniform_problem(CUDA_R_32F, 64, 64, 64));
  const std::uint64_t rows = 32;
  ASSERT_EQ(lt.matrix_layout_set_attribute(objects.b, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, 8), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Heuristic, RefusesNumbersThatAreNoEnumerator) {
  ProblemObjects objects(lt, uniform_problem(CUDA_R_32F, 64, 64, 64));
  objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{999});
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_NOT_SUPPORTED);
  objects.set_desc(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_DEFAULT});
  objects.set_desc(CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{999});
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Heuristic, RefusesAScalePointerOutsideOfFp8) {
  ProblemObjects objects(lt, uniform_problem(CUDA_R_16F, 64, 64, 64));
  objects.set_desc(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(device_bytes(4)));
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(Heuristic, AlgoCheckConfirmsAndRefuses) {
  ProblemObjects objects(lt, uniform_problem(CUDA_R_32F, 256, 256, 4096));
  ASSERT_EQ(objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  const auto check = [&](const ProblemObjects& o, const cublasLtMatmulAlgo_t& algo,
                         cublasLtMatmulHeuristicResult_t* result) {
    return lt.matmul_algo_check(handle, o.desc, o.a, o.b, o.c, o.d, &algo, result);
  };
  for (const auto& offered : objects.results) {
    cublasLtMatmulHeuristicResult_t result{};
    ASSERT_EQ(check(objects, offered.algo, &result), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(result.workspaceSize, offered.workspaceSize);
    EXPECT_EQ(result.algo.data[0], 0U) << "algo_check must not write the algorithm";
  }
  cublasLtMatmulHeuristicResult_t result{};
  cublasLtMatmulAlgo_t garbage = objects.results[0].algo;
  garbage.data[1] ^= 1;
  EXPECT_EQ(check(objects, garbage, &result), CUBLAS_STATUS_INVALID_VALUE);
  ProblemObjects other(lt, uniform_problem(CUDA_R_32F, 256, 256, 512));
  EXPECT_EQ(check(other, objects.results[0].algo, &result), CUBLAS_STATUS_INVALID_VALUE);
}

/// Lines of the logger; a plain function is all that the callback may be.
std::vector<std::pair<int, std::string>>& logged() {
  static std::vector<std::pair<int, std::string>> lines;
  return lines;
}
void keep_line(int level, const char* function, const char* message) {
  logged().emplace_back(level, std::string(function) + ": " + message);
}

TEST_F(Heuristic, LogsTheReasonOfARefusal) {
  logged().clear();
  ASSERT_EQ(lt.logger_set_callback(keep_line), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(lt.logger_set_level(5), CUBLAS_STATUS_SUCCESS);
  ProblemObjects objects(lt, uniform_problem(CUDA_R_8F_E4M3, 64, 64, 24));
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(logged().size(), 3U);
  EXPECT_EQ(logged()[0].first, 5);
  EXPECT_NE(logged()[0].second.find("Adesc=[type=R_8F_E4M3 rows=24 cols=64 ld=24] Bdesc=["), std::string::npos);
  EXPECT_NE(logged()[0].second.find("computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T]"),
            std::string::npos);
  EXPECT_EQ(logged()[1].first, 4);
  EXPECT_EQ(
      logged()[1].second,
      "cublasLtMatmulAlgoGetHeuristic: Unsupported K dimension for FP8 matrix multiplication. K must be divisible "
      "by 16. Got 24.");
  EXPECT_EQ(logged()[2].second, "cublasLtMatmulAlgoGetHeuristic: Failed to query heuristics.");
}

TEST_F(Heuristic, LogsNothingAboveTheLevel) {
  logged().clear();
  ASSERT_EQ(lt.logger_set_callback(keep_line), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(lt.logger_set_level(1), CUBLAS_STATUS_SUCCESS);
  ProblemObjects objects(lt, uniform_problem(CUDA_R_32F, 64, 64, 64));
  EXPECT_EQ(objects.heuristic(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(logged().empty());
}

}  // namespace
}  // namespace lt_audit::simulator
