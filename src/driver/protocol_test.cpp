// Messages survive the trip; everything else is refused.
#include "driver/protocol.h"

#include <gtest/gtest.h>

namespace lt_audit {
namespace {

std::string_view body(const std::string& line) { return std::string_view(line).substr(0, line.size() - 1); }

TEST(Protocol, StartRequestSurvivesTheTrip) {
  StartRequest request;
  request.worker.target = TargetChoice::simulator;
  request.worker.device = 3;
  request.worker.libraries = {"/a b/libcublasLt.so.13", "/c\"d/libcublas.so.13"};
  request.worker.fault = "crash";
  request.worker.seed = ~0ULL;
  request.worker.timeout_s = 2.5;
  request.worker.trace = true;
  request.selection.checks = {"align*", "compute-type"};
  request.selection.exclude = {"x"};
  request.selection.only_case = "f16.a";
  request.selection.problems = {"m=1,n=2,k=3,a=f32"};
  request.selection.depth = Depth::full;
  request.engine.seed = 7;
  request.engine.time_on_gpu = false;
  request.engine.requested_results = 2;
  request.engine.run = {.inputs = Inputs::single_products, .digest = true};
  const auto line = encode(Request(request));
  EXPECT_EQ(line.find('\n'), line.size() - 1);

  const auto copy = std::get<StartRequest>(decode_request(body(line)));
  EXPECT_EQ(copy.worker.target, TargetChoice::simulator);
  EXPECT_EQ(copy.worker.device, 3);
  EXPECT_EQ(copy.worker.libraries.cublaslt, request.worker.libraries.cublaslt);
  EXPECT_EQ(copy.worker.libraries.cublas, request.worker.libraries.cublas);
  EXPECT_EQ(copy.worker.fault, "crash");
  EXPECT_EQ(copy.worker.seed, ~0ULL);
  EXPECT_DOUBLE_EQ(copy.worker.timeout_s, 2.5);
  EXPECT_TRUE(copy.worker.trace);
  EXPECT_EQ(copy.selection.checks, request.selection.checks);
  EXPECT_EQ(copy.selection.exclude, request.selection.exclude);
  EXPECT_EQ(copy.selection.only_case, "f16.a");
  EXPECT_EQ(copy.selection.problems, request.selection.problems);
  EXPECT_EQ(copy.selection.depth, Depth::full);
  EXPECT_EQ(copy.engine.seed, 7U);
  EXPECT_FALSE(copy.engine.time_on_gpu);
  EXPECT_EQ(copy.engine.requested_results, 2);
  EXPECT_EQ(copy.engine.run.inputs, Inputs::single_products);
  EXPECT_TRUE(copy.engine.run.digest);
}

TEST(Protocol, CaseRequestSurvivesTheTrip) {
  const auto copy =
      std::get<CaseRequest>(decode_request(body(encode(Request(CaseRequest{812, 1, 44, "f16.a.off2.declared"})))));
  EXPECT_EQ(copy.sequence, 812U);
  EXPECT_EQ(copy.check, 1U);
  EXPECT_EQ(copy.index, 44U);
  EXPECT_EQ(copy.id, "f16.a.off2.declared");
}

TEST(Protocol, ReadyResponseCarriesTheTarget) {
  ReadyResponse ready;
  ready.target.kind = PlatformKind::gpu;
  ready.target.device = 1;
  ready.target.device_count = 2;
  ready.target.device_facts.name = "NVIDIA H200";
  ready.target.device_facts.compute_major = 9;
  ready.target.cublaslt = {13, 1, 0, 130100, "/usr/lib/libcublasLt.so.13", "ab12"};
  ready.no_gpu = "why";
  ready.library_s = 0.125;
  ready.context_s = 0.25;
  const auto copy = std::get<ReadyResponse>(decode_response(body(encode(Response(ready)))));
  EXPECT_EQ(copy.target.kind, PlatformKind::gpu);
  EXPECT_EQ(copy.target.device, 1);
  EXPECT_EQ(copy.target.device_count, 2);
  EXPECT_EQ(copy.target.device_facts.name, "NVIDIA H200");
  EXPECT_EQ(copy.target.cublaslt.number(), 130100);
  EXPECT_EQ(copy.no_gpu, "why");
  EXPECT_DOUBLE_EQ(copy.library_s, 0.125);
  EXPECT_DOUBLE_EQ(copy.context_s, 0.25);
}

TEST(Protocol, ResultCarriesTheObservationWhateverItsBytes) {
  ResultResponse result;
  result.sequence = 5;
  result.lost = true;
  result.observation.end = ProcessEnd::context_lost;
  result.observation.end_detail = "cudaErrorIllegalAddress";
  result.observation.stages = {{"matmul", "cublasLtMatmul", "SUCCESS"}};
  result.observation.log = {{1, "cublasLtMatmul", "line one\nline two \xff\xfe"}};
  const auto line = encode(Response(result));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto copy = std::get<ResultResponse>(decode_response(body(line)));
  EXPECT_EQ(copy.sequence, 5U);
  EXPECT_TRUE(copy.lost);
  EXPECT_EQ(copy.observation.end, ProcessEnd::context_lost);
  EXPECT_EQ(copy.observation.stages, result.observation.stages);
  EXPECT_EQ(copy.observation.log.at(0).text.substr(0, 17), "line one\nline two");
}

TEST(Protocol, FailureKeepsItsKindAndMessage) {
  const auto usage =
      std::get<FailedResponse>(decode_response(body(encode(Response(FailedResponse{ErrorKind::usage, "bad"})))));
  EXPECT_EQ(usage.kind, ErrorKind::usage);
  EXPECT_EQ(usage.message, "bad");
  const auto other =
      std::get<FailedResponse>(decode_response(body(encode(Response(FailedResponse{ErrorKind::cannot_run, "none"})))));
  EXPECT_EQ(other.kind, ErrorKind::cannot_run);
}

TEST(Protocol, ByeCarriesTheProfile) {
  MatmulEngine::Profile profile;
  profile.setup_us = 1;
  profile.cublas_us = 7.5;
  profile.steps_us = 9.5;
  const auto copy = std::get<ByeResponse>(decode_response(body(encode(Response(ByeResponse{profile})))));
  EXPECT_DOUBLE_EQ(copy.profile.setup_us, 1);
  EXPECT_DOUBLE_EQ(copy.profile.cublas_us, 7.5);
  EXPECT_DOUBLE_EQ(copy.profile.steps_us, 9.5);
}

TEST(Protocol, RefusesWhatIsNoMessage) {
  for (const auto* line : {"", "hello", "[]", "{}", "null", "{\"response\":\"result\"}", "{\"response\":7}",
                           "{\"response\":\"other\"}", "{\"response\":\"result\",\"sequence\":\"x\"}",
                           "{\"response\":\"result\",\"sequence\":1,\"lost\":false,\"observation\":7}",
                           "{\"response\":\"ready\",\"target\":{},\"no_gpu\":\"\",\"library_s\":0,\"context_s\":0}"}) {
    EXPECT_THROW(decode_response(line), ProtocolError) << line;
  }
  EXPECT_THROW(decode_request("{\"request\":\"case\"}"), ProtocolError);
}

TEST(LineBuffer, CutsLinesWhereverTheBytesWereSplit) {
  LineBuffer lines;
  std::vector<std::string> got;
  for (const char c : std::string("one\n\ntwo and\nrest")) {
    lines.append(&c, 1);
    while (auto line = lines.next()) got.push_back(*line);
  }
  EXPECT_EQ(got, (std::vector<std::string>{"one", "", "two and"}));
  lines.append("\n", 1);
  EXPECT_EQ(lines.next(), "rest");
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(LineBuffer, RefusesAnEndlessLine) {
  LineBuffer lines;
  const std::string piece(LineBuffer::kMaxLine / 2 + 1, 'x');
  lines.append(piece.data(), piece.size());
  EXPECT_EQ(lines.next(), std::nullopt);
  lines.append(piece.data(), piece.size());
  EXPECT_THROW(lines.next(), ProtocolError);
}

}  // namespace
}  // namespace lt_audit
