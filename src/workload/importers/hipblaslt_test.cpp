// Command lines of hipblaslt-bench and trace lines, with every option that a problem holds, and what is damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "workload/importers/recorded_calls.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// What a text gives.
struct Imported : RecordedCalls {
  explicit Imported(std::string_view text) { feed(*make_hipblaslt_importer(), text); }
};

ImportedCall only_call(const std::string& line) {
  const Imported imported(line);
  for (const auto& [number, reason] : imported.damages) ADD_FAILURE() << line << ": " << reason;
  EXPECT_EQ(imported.calls.size(), 1U) << line;
  return imported.calls.empty() ? ImportedCall{} : imported.calls[0].second;
}

std::string damage(const std::string& line) {
  const Imported imported(line);
  EXPECT_TRUE(imported.calls.empty()) << line;
  EXPECT_EQ(imported.damages.size(), 1U) << line;
  return imported.damages.empty() ? "" : imported.damages[0].second;
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const auto place = text.find(old);
  EXPECT_NE(place, std::string::npos) << old;
  return place == std::string::npos ? text : text.replace(place, old.size(), with);
}

bool assumes(const ImportedCall& call, std::string_view word) {
  return std::find(call.assumed.begin(), call.assumed.end(), word) != call.assumed.end();
}

/// As hipBLASLt prints it, blanks and all.
const std::string kLogged =
    "hipblaslt-bench --api_method c -m 1024 -n 512 -k 1024 --lda 1024 --ldb 1024 --ldc 1024 --ldd 1024  --stride_a 0 "
    "--stride_b 0 --stride_c 0 --stride_d 0  --alpha 1.000000 --beta 1.000000 --transA N --transB N --batch_count 1  "
    "--a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --scale_type f32_r --bias_type f32_r   --compute_type "
    "f32_r --algo_method index --solution_index 56073";

/// The shortest that says what is needed.
const std::string kShort =
    "hipblaslt-bench -m 64 -n 32 -k 16 --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type "
    "f32_r "
    "--scale_type f32_r --alpha 1 --beta 0";

std::string problem(const std::string& more) { return to_text(only_call(kShort + more).problem); }

const std::string kTrace =
    "[2023-06-12 21:16:46][HIPBLASLT][690719][Trace][rocblaslt_matmul] A=0x7f00 Adesc=[type=R_32F rows=2400 cols=128 "
    "ld=2400] B=0x7f10 Bdesc=[type=R_32F rows=2048 cols=2400 ld=2048] C=0x7f08 Cdesc=[type=R_32F rows=128 cols=2048 "
    "ld=128] D=0x7f08 Ddesc=[type=R_32F rows=128 cols=2048 ld=128] computeDesc=[computeType=COMPUTE_32F "
    "scaleType=R_32F transA=OP_T transB=OP_T epilogue=EPILOGUE_BIAS biasPointer=0x7f04] algo=[algoId=3 x=1] "
    "workSpace=0x7f00 workSpaceSizeInBytes=1048576 alpha=1 beta=0.5 stream=0x40";

TEST(Hipblaslt, ALoggedCommandLine) {
  const auto call = only_call(kLogged);
  EXPECT_EQ(to_text(call.problem), "m=1024,n=512,k=1024,a=f16,beta=1");
  EXPECT_EQ(call.api, "hipblasLtMatmul");
  EXPECT_EQ(call.algorithm, "solution_index=56073");
  EXPECT_EQ(call.assumed, (std::vector<std::string>{"alignment", "workspace"}));
  EXPECT_TRUE(call.kept.empty());
}

TEST(Hipblaslt, SizesStridesAndTranspositions) {
  EXPECT_EQ(problem(" --transA T --transB T --lda 20 --ldb 40 --ldc 64 --ldd 70"),
            "m=64,n=32,k=16,ta=t,tb=t,a=f16,lda=20,ldb=40,ldd=70");
  EXPECT_EQ(problem(" --batch_count 3 --stride_a 1024 --stride_b 0 --stride_c 4096 --stride_d 2048"),
            "m=64,n=32,k=16,a=f16,batch=3,stride_b=0,stride_c=4096");
  const auto no_strides = only_call(kShort + " --batch_count 3");
  EXPECT_EQ(to_text(no_strides.problem), "m=64,n=32,k=16,a=f16,batch=3");
  EXPECT_TRUE(assumes(no_strides, "batch strides"));
  EXPECT_EQ(problem(" --workspace 4096"), "m=64,n=32,k=16,a=f16,workspace=4KiB");
  EXPECT_FALSE(assumes(only_call(kShort + " --workspace 4096"), "workspace"));
}

TEST(Hipblaslt, TypeWords) {
  const auto typed = [](const std::string& types) {
    return to_text(only_call("hipblaslt-bench -m 64 -n 32 -k 16 --alpha 1 --beta 0 " + types).problem);
  };
  EXPECT_EQ(typed("--a_type f8_r --b_type bf8_r --c_type bf16_r --d_type bf16_r --compute_type f32_r"),
            "m=64,n=32,k=16,a=e4m3,b=e5m2,d=bf16");
  EXPECT_EQ(typed("--a_type i8_r --b_type i8_r --c_type i32_r --d_type i32_r --compute_type i32_r"),
            "m=64,n=32,k=16,a=i8,d=i32");
  EXPECT_EQ(typed("--precision f32_r --compute_type xf32_r"), "m=64,n=32,k=16,a=f32,compute=32f_fast_tf32");
  EXPECT_EQ(typed("-r f32_r --compute_type f32_bf16_r"), "m=64,n=32,k=16,a=f32,compute=32f_fast_16bf");
  EXPECT_EQ(typed("-r f64_r"), "m=64,n=32,k=16,a=f64");
  EXPECT_TRUE(assumes(only_call("hipblaslt-bench -m 64 -n 32 -k 16 -r f64_r"), "types"));
  EXPECT_FALSE(assumes(only_call(kShort), "types"));
  const auto fnuz = only_call(replaced(kShort, "--a_type f16_r", "--a_type f8_fnuz_r"));
  EXPECT_EQ(fnuz.problem.type_a, CUDA_R_8F_E4M3);
  EXPECT_EQ(fnuz.kept, std::vector<std::string>{"a_type=f8_fnuz_r"});
}

TEST(Hipblaslt, EpiloguesFromTheirOptions) {
  const auto epilogue = [](const std::string& options) { return only_call(kShort + " " + options).problem.epilogue; };
  EXPECT_EQ(epilogue("--activation_type none"), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(epilogue("--bias_type f16_r --bias_source d"), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(epilogue("--bias_vector --bias_source d"), CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(epilogue("--activation_type relu"), CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(epilogue("--activation_type relu --bias_vector"), CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_EQ(epilogue("--activation_type gelu --bias_vector --use_e"), CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  EXPECT_EQ(epilogue("--activation_type gelu --gradient"), CUBLASLT_EPILOGUE_DGELU);
  EXPECT_EQ(epilogue("--activation_type gelu --bias_vector --gradient"), CUBLASLT_EPILOGUE_DGELU_BGRAD);
  EXPECT_EQ(epilogue("--bias_vector --gradient --bias_source b"), CUBLASLT_EPILOGUE_BGRADB);
  const auto swish = only_call(kShort + " --activation_type swish --bias_vector --bias_type f32_r");
  EXPECT_EQ(swish.problem.epilogue, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(swish.kept, (std::vector<std::string>{"activation_type=swish", "bias_type=f32_r"}));
}

TEST(Hipblaslt, FactorsThatKeepProductsExactAreTaken) {
  const auto alpha = [](const std::string& text) {
    return only_call(replaced(kShort, "--alpha 1", "--alpha " + text));
  };
  EXPECT_EQ(alpha("-2.25").problem.alpha, -2.25);
  EXPECT_EQ(alpha("64.000000").problem.alpha, 64);
  EXPECT_FALSE(assumes(alpha("0"), "alpha"));
  for (const char* text : {"0.7", "0.1", "-3.1"}) {
    const auto call = alpha(text);
    EXPECT_EQ(call.problem.alpha, 0.5) << text;
    EXPECT_TRUE(assumes(call, "alpha"));
    EXPECT_EQ(call.kept, std::vector<std::string>{std::string("alpha=") + text});
  }
  EXPECT_EQ(alpha("65").problem.alpha, 1);
  EXPECT_EQ(alpha("1e30").problem.alpha, 1);
  const auto none = only_call(replaced(kShort, " --alpha 1 --beta 0", ""));
  EXPECT_TRUE(assumes(none, "alpha"));
  EXPECT_TRUE(assumes(none, "beta"));
  EXPECT_EQ(to_text(none.problem), "m=64,n=32,k=16,a=f16");
}

TEST(Hipblaslt, OtherOptionsAreKept) {
  EXPECT_EQ(only_call(kShort + " --scaleA 2 --swizzleA --iters 10 -i 3 --rotating 512 --new\x7f -1").kept,
            (std::vector<std::string>{"new?=-1", "scaleA=2", "swizzleA=1"}));
}

TEST(Hipblaslt, DamagedCommandLinesSayWhy) {
  const auto with = [](const std::string& old, const std::string& text) { return damage(replaced(kShort, old, text)); };
  EXPECT_EQ(with("-m 64 ", ""), "m is missing");
  EXPECT_EQ(with("-m 64", "-m"), "m cannot be read");
  EXPECT_EQ(with("-n 32", "-n -32"), "n cannot be read");
  EXPECT_EQ(with("-k 16", "-k 281474976710657"), "k cannot be read");
  EXPECT_EQ(with("-m 64", "-m 64 -m 65"), "m stands twice");
  EXPECT_EQ(with("--a_type f16_r ", ""), "a_type is missing");
  EXPECT_EQ(with("--b_type f16_r", "--b_type f17_r"), "b_type cannot be read");
  EXPECT_EQ(with("--compute_type f32_r", "--compute_type invalid"), "compute_type cannot be read");
  EXPECT_EQ(with("--alpha 1", "--alpha one"), "alpha cannot be read");
  EXPECT_EQ(with("--alpha 1", "--alpha 1 --transA X"), "transA cannot be read");
  EXPECT_EQ(damage(kShort + " --lda 63"), "the leading dimension of A is smaller than its rows");
  EXPECT_EQ(damage(kShort + " --ldd 281474976710656"), "D is larger than any memory");
  EXPECT_EQ(damage(kShort + " --batch_count 2 --stride_a 281474976710656"), "A is larger than any memory");
  EXPECT_EQ(damage(kShort + " --batch_count 2 --stride_d 0"), "stride_d is 0, so the products overwrite each other");
  EXPECT_EQ(damage(kShort + " --x " + std::string(1000, 'x')), "the line is too long");
}

TEST(Hipblaslt, ATraceLine) {
  const auto call = only_call(kTrace);
  EXPECT_EQ(to_text(call.problem),
            "m=128,n=2048,k=2400,ta=t,tb=t,a=f32,epilogue=bias,beta=0.5,in_place=1,b_offset=16,c_offset=8,d_offset=8,"
            "bias_offset=4,b_alignment=16,c_alignment=8,d_alignment=8,workspace=1MiB");
  EXPECT_EQ(call.api, "hipblasLtMatmul");
  EXPECT_EQ(call.algorithm, "algoId=3 x=1");
  EXPECT_EQ(call.stream, 0x40U);
  EXPECT_EQ(call.assumed, std::vector<std::string>{"declared alignment"});
  EXPECT_TRUE(call.kept.empty());
}

TEST(Hipblaslt, TraceLinesWithBatchesAndOtherSpellings) {
  auto text = kTrace;
  for (const char* group : {"cols=128 ld=2400", "cols=2400 ld=2048", "Cdesc=[type=R_32F rows=128 cols=2048 ld=128",
                            "Ddesc=[type=R_32F rows=128 cols=2048 ld=128"}) {
    text = replaced(text, group, std::string(group) + " batch_count=2 batch_stride=9830400");
  }
  text = replaced(text, "COMPUTE_32F ", "COMPUTE_32XF ");
  text = replaced(text, "EPILOGUE_BIAS", "EPILOGUE_DGELU_BGRADB");
  text = replaced(text, " D=0x7f08", " D=0x7e00");
  text = replaced(text, " alpha=1", "");
  const auto call = only_call(replaced(text, "0x7f04]", "0x7f04 newKey=2]"));
  EXPECT_EQ(to_text(call.problem),
            "m=128,n=2048,k=2400,ta=t,tb=t,a=f32,compute=32f_fast_tf32,batch=2,stride_a=9830400,stride_b=9830400,"
            "stride_c=9830400,stride_d=9830400,epilogue=bgradb,beta=0.5,b_offset=16,c_offset=8,b_alignment=16,"
            "c_alignment=8,workspace=1MiB");
  EXPECT_TRUE(assumes(call, "alpha"));
  EXPECT_EQ(call.kept, std::vector<std::string>{"computeDesc.newKey=2"});
}

TEST(Hipblaslt, DamagedTraceLinesSayWhy) {
  const auto with = [](const std::string& old, const std::string& text) { return damage(replaced(kTrace, old, text)); };
  EXPECT_EQ(with("cols=128 ld", "cols=127 ld"), "the sizes of the matrices contradict each other");
  EXPECT_EQ(with("cols=128 ld=2400", "cols=128 ld=2400 batch_count=2"), "the batch counts differ");
  EXPECT_EQ(with("rows=2400 ", ""), "Adesc.rows is missing");
  EXPECT_EQ(with("ld=2048]", "ld=x]"), "Bdesc.ld cannot be read");
  EXPECT_EQ(with("Adesc=[type=R_32F", "Adesc=[type=Invalid"), "Adesc.type cannot be read");
  EXPECT_EQ(with("computeType=COMPUTE_32F ", ""), "computeType is missing");
  EXPECT_EQ(with("EPILOGUE_BIAS", "Invalid epilogue"), "computeDesc.epilogue cannot be read");
  EXPECT_EQ(with("A=0x7f00", "A=0x.."), "A cannot be read");
  EXPECT_EQ(with("beta=0.5", "beta=?"), "beta cannot be read");
  EXPECT_EQ(damage(kTrace.substr(0, kTrace.find(" algo=") - 1)), "a bracket is not closed");
  EXPECT_EQ(damage(kTrace.substr(0, kTrace.find(" B="))), "computeType is missing");
}

TEST(Hipblaslt, OtherLinesOfTheLoggerAreForgotten) {
  const Imported imported(
      "[2023-06-12 21:16:46][HIPBLASLT][690719][Api][hipblasLtCreate] handle=0x1\n"
      "[2023-06-12 21:16:46][HIPBLASLT][690719][Api][rocblaslt_matmul] A=0x1\n");
  EXPECT_TRUE(imported.calls.empty());
  EXPECT_TRUE(imported.damages.empty());
}

TEST(Hipblaslt, ClaimsItsLinesAndReadsCarriageReturns) {
  const auto importer = make_hipblaslt_importer();
  EXPECT_TRUE(importer->claims("$ ./hipblaslt-bench -m 1"));
  EXPECT_TRUE(importer->claims("[2023-06-12 21:16:46][HIPBLASLT][690719][Info]"));
  for (const auto& line : {std::string(), std::string("hipblaslt-benchmark"), std::string(200, ' ') + kShort,
                           std::string("[2026-11-29 18:47:10][cublasLt][524][Trace][cublasLtMatmul]")}) {
    EXPECT_FALSE(importer->claims(line)) << line;
  }
  EXPECT_EQ(to_text(only_call("prefix: " + kShort + "\r\n").problem), "m=64,n=32,k=16,a=f16");
}

}  // namespace
}  // namespace lt_audit
