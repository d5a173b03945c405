// The real logs of cuBLAS with their counts, every family of functions, and blocks that are damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "workload/importers/recorded_calls.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// What a text gives.
struct Imported : RecordedCalls {
  explicit Imported(std::string_view text) { feed(*make_cublas_log_importer(), text); }
};

/// A call without what depends on addresses: calls that differ in it are distinct.
std::string product_of(const ImportedCall& call) {
  auto problem = call.problem;
  problem.a_offset = problem.b_offset = problem.c_offset = problem.d_offset = 0;
  problem.a_alignment = problem.b_alignment = problem.c_alignment = problem.d_alignment = 256;
  auto text = to_text(problem) + " " + call.api;
  for (const auto& entry : call.kept) text += " " + entry;
  return text;
}

std::size_t products_of(const RecordedCalls& recorded) {
  std::set<std::string> products;
  for (const auto& [line, call] : recorded.calls) products.insert(product_of(call));
  return products.size();
}

constexpr std::string_view kProcess =
    "i!Process=7; Thread=1; GPU=0; Handle=POINTER (IN HEX:0x0xab00); StreamId=POINTER (IN HEX:0x0x50); "
    "MathMode=CUBLAS_DEFAULT_MATH\n";

/// A block with these fields, each "name=value".
std::string block(const std::string& function, const std::vector<std::string>& fields,
                  std::string_view process = kProcess) {
  auto text = "I! cuBLAS (v13.1.0) function cublasStatus_t " + function + "(cublasHandle_t, int) called:\n";
  for (const auto& field : fields) {
    const auto equals = field.find('=');
    text += "i!  " + field.substr(0, equals) + ": type=SOME TYPE; val=" + field.substr(equals + 1) + "\n";
  }
  text += "i! Time: 2026-11-29T18:33:30 elapsed from start 0.116667 minutes or 7.000000 seconds\n";
  return text + std::string(process) + "i! COMPILED WITH: GNU GCC/G++ / 8.5.0 20210514 (Red Hat 8.5.0-26)\n";
}

std::string with_math_mode(const std::string& mode) {
  const auto start = kProcess.substr(0, kProcess.find("MathMode="));
  return std::string(start) + "MathMode=" + mode + "\n";
}

const std::vector<std::string> kTyped{"handle=POINTER (IN HEX:0x0xab00)",
                                      "transa=CUBLAS_OP_T(1)",
                                      "transb=CUBLAS_OP_N(0)",
                                      "m=64",
                                      "n=32",
                                      "k=16",
                                      "alpha=POINTER (IN HEX:0x0x7ffc)",
                                      "A=POINTER (IN HEX:0x0x7f00)",
                                      "lda=16",
                                      "B=POINTER (IN HEX:0x0x7f10)",
                                      "ldb=20",
                                      "beta=POINTER (IN HEX:0x0x7ffd)",
                                      "C=POINTER (IN HEX:0x0x7f02)",
                                      "ldc=64"};

std::vector<std::string> with(std::vector<std::string> fields, const std::vector<std::string>& more) {
  for (const auto& field : more) {
    const auto name = field.substr(0, field.find('=') + 1);
    const auto old = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.starts_with(name); });
    if (old == fields.end()) {
      fields.push_back(field);
    } else {
      *old = field;
    }
  }
  return fields;
}

std::vector<std::string> without(std::vector<std::string> fields, const std::string& name) {
  std::erase_if(fields, [&](const auto& field) { return field.starts_with(name + "="); });
  return fields;
}

const std::vector<std::string> kExtended =
    with(kTyped, {"Atype=CUDA_R_16BF(14)", "Btype=CUDA_R_16BF(14)", "Ctype=CUDA_R_32F(0)",
                  "computeType=CUBLAS_COMPUTE_32F(68)", "algo=CUBLAS_GEMM_DEFAULT_TENSOR_OP(99)"});

ImportedCall only_call(const std::string& text) {
  const Imported imported(text);
  for (const auto& [line, reason] : imported.damages) ADD_FAILURE() << "line " << line << ": " << reason;
  EXPECT_EQ(imported.calls.size(), 1U) << text;
  return imported.calls.empty() ? ImportedCall{} : imported.calls[0].second;
}

/// Why the only block is damaged, and that it is reported with its first line.
std::string only_damage(const std::string& text) {
  const Imported imported(text);
  EXPECT_TRUE(imported.calls.empty()) << text;
  EXPECT_EQ(imported.damages.size(), 1U) << text;
  if (imported.damages.size() != 1) return "";
  EXPECT_EQ(imported.damages[0].first, 1U);
  return imported.damages[0].second;
}

TEST(CublasLog, RealLogsGiveTheirCalls) {
  const Imported mlp(file_text("cublas_mlp.log"));
  EXPECT_EQ(mlp.calls.size(), 4U);
  EXPECT_EQ(products_of(mlp), 4U);
  EXPECT_TRUE(mlp.damages.empty());
  const Imported bmm(file_text("cublas_bmm.log"));
  EXPECT_EQ(bmm.calls.size(), 25U);
  EXPECT_EQ(products_of(bmm), 20U);
  EXPECT_TRUE(bmm.damages.empty());
}

TEST(CublasLog, TheFirstCallOfARealLog) {
  const Imported mlp(file_text("cublas_mlp.log"));
  ASSERT_FALSE(mlp.calls.empty());
  const auto& [line, call] = mlp.calls[0];
  EXPECT_EQ(product_of(call), "m=4096,n=512,k=1024,a=bf16,in_place=1 cublasGemmEx");
  EXPECT_EQ(call.stream, 0U);
  // PyTorch gives 32 MiB in cublasSetWorkspace_v2, which is the default too.
  EXPECT_EQ(call.assumed, (std::vector<std::string>{"alpha", "beta", "pointer mode", "declared alignment"}));
  EXPECT_EQ(call.problem.workspace_bytes, 32 << 20);
}

TEST(CublasLog, ABroadcastOperandHasStrideZeroAndAPackedOneNone) {
  const Imported bmm(file_text("cublas_bmm.log"));
  const auto broadcast = std::find_if(bmm.calls.begin(), bmm.calls.end(),
                                      [](const auto& entry) { return entry.second.problem.stride_b == 0; });
  ASSERT_NE(broadcast, bmm.calls.end());
  EXPECT_EQ(product_of(broadcast->second),
            "m=80,n=64,k=96,a=f16,batch=12,stride_b=0,in_place=1 cublasGemmStridedBatchedEx");
}

TEST(CublasLog, TypedFunctionsGiveTheTypes) {
  const auto product = [](const std::string& function) {
    const auto call = only_call(block(function, kTyped));
    EXPECT_EQ(call.problem.in_place, true);
    return product_of(call);
  };
  const std::string sizes = "m=64,n=32,k=16,ta=t,a=";
  EXPECT_EQ(product("cublasSgemm_v2"), sizes + "f32,ldb=20,in_place=1 cublasSgemm_v2");
  EXPECT_EQ(product("cublasSgemm_v2_64"), sizes + "f32,ldb=20,in_place=1 cublasSgemm_v2_64");
  EXPECT_EQ(product("cublasDgemm"), sizes + "f64,ldb=20,in_place=1 cublasDgemm");
  EXPECT_EQ(product("cublasHgemm"), sizes + "f16,compute=16f,ldb=20,in_place=1 cublasHgemm");
  const auto single = only_call(block("cublasCgemm_v2", kTyped)).problem;
  EXPECT_EQ(single.type_a, CUDA_C_32F);
  EXPECT_EQ(single.scale_type, CUDA_C_32F);
  EXPECT_EQ(single.compute_type, CUBLAS_COMPUTE_32F);
  const auto twice = only_call(block("cublasZgemm_v2", kTyped)).problem;
  EXPECT_EQ(twice.type_d, CUDA_C_64F);
  EXPECT_EQ(twice.scale_type, CUDA_C_64F);
  EXPECT_EQ(twice.compute_type, CUBLAS_COMPUTE_64F);
}

TEST(CublasLog, ExtendedFunctionsNameTheTypes) {
  EXPECT_EQ(product_of(only_call(block("cublasGemmEx", kExtended))),
            "m=64,n=32,k=16,ta=t,a=bf16,d=f32,ldb=20,in_place=1 cublasGemmEx");
  const auto sgemm_ex = without(without(kExtended, "computeType"), "algo");
  EXPECT_EQ(only_call(block("cublasSgemmEx", sgemm_ex)).problem.type_a, CUDA_R_16BF);
  // Before CUDA 11 the compute type was a cudaDataType.
  const auto compute = [](const std::string& type) {
    return only_call(block("cublasGemmEx", with(kExtended, {"computeType=" + type}))).problem.compute_type;
  };
  EXPECT_EQ(compute("CUDA_R_32F(0)"), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(compute("CUDA_R_16F(2)"), CUBLAS_COMPUTE_16F);
  EXPECT_EQ(compute("CUDA_R_64F(1)"), CUBLAS_COMPUTE_64F);
  EXPECT_EQ(compute("CUDA_R_32I(10)"), CUBLAS_COMPUTE_32I);
  EXPECT_EQ(compute("CUBLAS_COMPUTE_32F_FAST_16BF(75)"), CUBLAS_COMPUTE_32F_FAST_16BF);
}

TEST(CublasLog, MathModeDecidesTheComputeType) {
  const auto compute = [](const std::string& function, const std::string& mode) {
    const bool extended = function == "cublasGemmEx";
    const auto fields = with(kExtended, {"Atype=CUDA_R_32F(0)", "Btype=CUDA_R_32F(0)"});
    return only_call(block(function, extended ? fields : kTyped, with_math_mode(mode))).problem.compute_type;
  };
  for (const char* function : {"cublasSgemm_v2", "cublasGemmEx"}) {
    EXPECT_EQ(compute(function, "CUBLAS_TF32_TENSOR_OP_MATH"), CUBLAS_COMPUTE_32F_FAST_TF32);
    EXPECT_EQ(compute(function, "CUBLAS_FP32_EMULATED_BF16X9_MATH"), CUBLAS_COMPUTE_32F_EMULATED_16BFX9);
    EXPECT_EQ(compute(function, "CUBLAS_TENSOR_OP_MATH"), CUBLAS_COMPUTE_32F_FAST_16F);
    EXPECT_EQ(compute(function, "CUBLAS_PEDANTIC_MATH"), CUBLAS_COMPUTE_32F_PEDANTIC);
  }
  EXPECT_EQ(compute("cublasDgemm_v2", "CUBLAS_TF32_TENSOR_OP_MATH"), CUBLAS_COMPUTE_64F);
  EXPECT_EQ(compute("cublasDgemm_v2", "CUBLAS_PEDANTIC_MATH"), CUBLAS_COMPUTE_64F_PEDANTIC);
  EXPECT_EQ(compute("cublasHgemm", "CUBLAS_PEDANTIC_MATH"), CUBLAS_COMPUTE_16F_PEDANTIC);
  // BF16 inputs know no TF32.
  const auto half = only_call(block("cublasGemmEx", kExtended, with_math_mode("CUBLAS_TF32_TENSOR_OP_MATH")));
  EXPECT_EQ(half.problem.compute_type, CUBLAS_COMPUTE_32F);
  EXPECT_TRUE(half.kept.empty());
}

TEST(CublasLog, AMathModeThatNoComputeTypeStandsForIsKept) {
  const auto call = only_call(block("cublasSgemm_v2", kTyped, with_math_mode("CUBLAS_TF32_TENSOR_OP_MATH | FLAG(16)")));
  EXPECT_EQ(call.problem.compute_type, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(call.kept, std::vector<std::string>{"MathMode=FLAG(16)"});
}

TEST(CublasLog, AddressesGiveOffsetsAndDeclaredAlignments) {
  const auto problem = only_call(block("cublasSgemm_v2", kTyped)).problem;
  EXPECT_EQ(problem.a_offset, 0);
  EXPECT_EQ(problem.a_alignment, 256U);
  EXPECT_EQ(problem.b_offset, 16);
  EXPECT_EQ(problem.b_alignment, 16U);
  EXPECT_EQ(problem.c_offset, 2);
  EXPECT_EQ(problem.d_offset, 2);
  EXPECT_EQ(problem.c_alignment, 2U);
  EXPECT_EQ(problem.d_alignment, 2U);
  const auto null = only_call(block("cublasSgemm_v2", with(kTyped, {"A=POINTER (IN HEX:0x(nil))"}))).problem;
  EXPECT_EQ(null.a_offset, 0);
}

TEST(CublasLog, StridesAndPointerArrays) {
  const auto strided =
      with(kTyped, {"strideA=1024", "strideB=640", "strideC=4096", "batchCount=12"});  // A and B packed
  EXPECT_EQ(product_of(only_call(block("cublasSgemmStridedBatched", strided))),
            "m=64,n=32,k=16,ta=t,a=f32,ldb=20,batch=12,stride_c=4096,stride_d=4096,in_place=1 "
            "cublasSgemmStridedBatched");
  auto arrays = with(without(without(without(kExtended, "A"), "B"), "C"), {"batchCount=3"});
  for (const char* name : {"Aarray", "Barray", "Carray"})
    arrays.push_back(std::string(name) + "=POINTER (IN HEX:0x0x1)");
  const auto call = only_call(block("cublasGemmBatchedEx_64", arrays));
  EXPECT_EQ(product_of(call),
            "m=64,n=32,k=16,ta=t,a=bf16,d=f32,ldb=20,batch=3,in_place=1 cublasGemmBatchedEx_64 batch=pointer array");
  EXPECT_NE(std::find(call.assumed.begin(), call.assumed.end(), "alignment"), call.assumed.end());
  EXPECT_EQ(std::find(call.assumed.begin(), call.assumed.end(), "declared alignment"), call.assumed.end());
}

TEST(CublasLog, TheWorkspaceIsTheLastOneOfTheHandle) {
  const auto workspace = [](const std::string& handle, const std::string& bytes) {
    return block("cublasSetWorkspace_v2", {"handle=POINTER (IN HEX:0x0x" + handle + ")",
                                           "workspace=POINTER (IN HEX:0x0x7f00)", "workspaceSizeInBytes=" + bytes});
  };
  const auto product = block("cublasSgemm_v2", kTyped);
  const auto assumes = [](const ImportedCall& call) {
    return std::find(call.assumed.begin(), call.assumed.end(), "workspace") != call.assumed.end();
  };
  const auto given =
      only_call(workspace("ab00", "4096") + workspace("ab00", "8192") + workspace("cd00", "1") + product);
  EXPECT_EQ(given.problem.workspace_bytes, 8192);
  EXPECT_FALSE(assumes(given));
  const auto other = only_call(workspace("cd00", "4096") + product);
  EXPECT_EQ(other.problem.workspace_bytes, 32 << 20);
  EXPECT_TRUE(assumes(other));
  EXPECT_EQ(only_damage(workspace("ab00", "many")), "workspaceSizeInBytes cannot be read");
}

TEST(CublasLog, WhatNoProblemHoldsIsKeptWithoutPointers) {
  const auto fields =
      with(kExtended, {"algo=CUBLAS_GEMM_ALGO3_TENSOR_OP(103)", "mask=7\x01", "extra=POINTER (IN HEX:0x0x1)"});
  EXPECT_EQ(only_call(block("cublasGemmEx", fields)).kept,
            (std::vector<std::string>{"algo=CUBLAS_GEMM_ALGO3_TENSOR_OP(103)", "mask=7?"}));
  EXPECT_EQ(only_call(block("cublasGemmEx", kExtended)).stream, 0x50U);
}

TEST(CublasLog, DamagedBlocksSayWhy) {
  const auto sgemm = [](const std::vector<std::string>& fields) {
    return only_damage(block("cublasSgemm_v2", fields));
  };
  EXPECT_EQ(sgemm(without(kTyped, "m")), "m is missing");
  EXPECT_EQ(sgemm(with(kTyped, {"n=-3"})), "n cannot be read");
  EXPECT_EQ(sgemm(with(kTyped, {"k=281474976710657"})), "k is too large");
  EXPECT_EQ(sgemm(with(kTyped, {"ldb=15"})), "the leading dimension of B is smaller than its rows");
  EXPECT_EQ(sgemm(with(kTyped, {"ldc=281474976710656"})), "C is larger than any memory");
  EXPECT_EQ(sgemm(with(kTyped, {"transa=CUBLAS_OP_X(9)"})), "transa cannot be read");
  EXPECT_EQ(sgemm(with(kTyped, {"A=0x7f00"})), "A cannot be read");
  EXPECT_EQ(only_damage(block("cublasGemmEx", with(kExtended, {"Atype=CUDA_R_17F(99)"}))), "Atype cannot be read");
  EXPECT_EQ(only_damage(block("cublasGemmEx", with(kExtended, {"computeType=CUDA_R_8I(3)"}))),
            "computeType cannot be read");
  EXPECT_EQ(only_damage(block("cublasSgemm_v2", kTyped, "")), "the line of the process is missing");
  EXPECT_EQ(only_damage(block("cublasGemmGroupedBatchedEx", kTyped)),
            "this product is not one that cublasLtMatmul can replace");
  EXPECT_EQ(only_damage("I! cuBLAS (v13.1.0) func\n"), "the name of the function is missing");
  const auto strided = with(kTyped, {"strideA=0", "strideB=0", "strideC=0", "batchCount=2"});
  EXPECT_EQ(only_damage(block("cublasSgemmStridedBatched", strided)),
            "strideC is 0, so the products overwrite each other");
  EXPECT_EQ(only_damage(block("cublasSgemmStridedBatched", with(strided, {"batchCount=1073741825"}))),
            "batchCount is too large");
}

TEST(CublasLog, ABlockThatIsCutOffIsDamagedAndTheNextOneIsRead) {
  const auto whole = block("cublasSgemm_v2", kTyped);
  const auto cut = whole.substr(0, whole.find("i!  ldb"));
  const Imported imported(cut + whole);
  ASSERT_EQ(imported.damages.size(), 1U);
  EXPECT_EQ(imported.damages[0], (std::pair<std::uint64_t, std::string>(1, "ldb is missing")));
  ASSERT_EQ(imported.calls.size(), 1U);
  EXPECT_EQ(imported.calls[0].first, 12U);
  // Nothing but the closing line lost: all is known.
  EXPECT_EQ(Imported(whole.substr(0, whole.find("i! COMPILED")) + whole).calls.size(), 2U);
  EXPECT_EQ(Imported(whole.substr(0, whole.find("i! COMPILED"))).calls.size(), 1U);
}

TEST(CublasLog, LinesWithoutTheirFirstAreDamagedOnce) {
  const auto whole = block("cublasSgemm_v2", kTyped);
  const Imported imported(whole.substr(whole.find('\n') + 1) + whole);
  EXPECT_EQ(imported.damages.size(), 1U);
  EXPECT_EQ(imported.calls.size(), 1U);
}

TEST(CublasLog, MixedLinesOfTwoThreadsAreDamaged) {
  auto fields = kTyped;
  fields.push_back("m=65");
  EXPECT_EQ(only_damage(block("cublasSgemm_v2", fields)), "m stands twice");
}

TEST(CublasLog, OtherFunctionsAreForgotten) {
  const Imported imported(block("cublasCreate_v2", {"handle=junk"}) + block("cublasSgemv_v2", {"m=?", "m=?"}));
  EXPECT_TRUE(imported.calls.empty());
  EXPECT_TRUE(imported.damages.empty());
}

TEST(CublasLog, ClaimsItsLinesAndReadsCarriageReturns) {
  const auto importer = make_cublas_log_importer();
  EXPECT_TRUE(importer->claims("I! cuBLAS (v13.1.0) function"));
  EXPECT_TRUE(importer->claims("i!Process=582"));
  for (const char* line : {"", "I! cuDNN", "[2026-11-29 18:47:10][cublasLt][524]", "Validator,PT_VERSION,2.11.0"}) {
    EXPECT_FALSE(importer->claims(line)) << line;
  }
  std::string text;
  for (const char c : block("cublasSgemm_v2", kTyped)) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(product_of(only_call(text)), product_of(only_call(block("cublasSgemm_v2", kTyped))));
}

}  // namespace
}  // namespace lt_audit
