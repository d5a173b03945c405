// The workload file both ways.
#include "workload/workload_json.h"

#include <gtest/gtest.h>

#include <sstream>

#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

Workload sample() {
  WorkloadProblem first;
  first.problem = problem_from_text("m=2304,n=1024,k=768,a=f16,epilogue=bias,in_place=1,b_offset=8,workspace=1MiB");
  first.api = "cublasLtMatmul";
  first.calls = 12;
  first.streams = 2;
  first.first = {"app.log", 7};
  first.algorithm = "algoId=66 tile=MATMUL_TILE_192x96";
  first.assumed = {"alpha", "declared alignment"};
  first.kept = {{"smCountTarget=132", 12}};
  WorkloadProblem second;
  second.problem = problem_from_text("m=96,n=80,k=64,a=c32,compute=32f,scale=c32");
  second.api = "cublasCgemm_v2";
  second.lone_queries = 1;
  second.first = {"app.log", 90};
  Workload workload;
  workload.problems = {first, second};
  workload.damaged = {{{"app.log", 3}, "m is missing"}};
  workload.damaged_lines = 4;
  return workload;
}

std::string written(const Workload& workload) {
  std::ostringstream out;
  write_workload(workload, "0.1.0", out);
  return out.str();
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read_workload(text));
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(WorkloadJson, SurvivesWritingAndReading) { EXPECT_EQ(read_workload(written(sample())), sample()); }

TEST(WorkloadJson, SaysTheAlignmentOfThePointersSeenFirst) {
  const auto text = written(sample());
  EXPECT_NE(text.find("\"b\": 8"), std::string::npos) << text;
  EXPECT_NE(text.find("\"a\": 256"), std::string::npos) << text;
}

TEST(WorkloadJson, IsToldFromALog) {
  EXPECT_TRUE(looks_like_workload(written(sample())));
  EXPECT_FALSE(looks_like_workload("[2026-11-29 18:47:10][cublasLt][524][Trace][cublasLtMatmul] A=0X0"));
  EXPECT_FALSE(looks_like_workload("{\"schema_version\": \"1.0.0\"}"));
}

TEST(WorkloadJson, MistakesNameTheField) {
  EXPECT_NE(error_of("{").find("not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("[]").find("must be an object"), std::string::npos);
  EXPECT_NE(error_of("{}").find("no workload"), std::string::npos);
  const std::string head = R"({"schema":"lt-audit-workload","schema_version":"1.4.0")";
  EXPECT_NE(error_of(R"({"schema":"lt-audit-workload","schema_version":"2.0.0"})").find("reads 1.x"),
            std::string::npos);
  EXPECT_EQ(read_workload(head + "}"), Workload{});
  EXPECT_NE(error_of(head + R"(,"problems":[{"problem":"m=1"}]})").find("problems[0].problem cannot be read"),
            std::string::npos);
  EXPECT_NE(error_of(head + R"(,"problems":[{"problem":"m=1,n=1,k=1,a=f16","calls":-1}]})").find("problems[0].calls"),
            std::string::npos);
  EXPECT_NE(error_of(head + R"(,"problems":[{"problem":"m=1,n=1,k=1,a=f16","kept":{"x":"y"}}]})").find("kept.x"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(40, '[')).find("nested"), std::string::npos);
}

}  // namespace
}  // namespace lt_audit
