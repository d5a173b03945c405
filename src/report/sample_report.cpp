// The hand-made reports.
#include "report/sample_report.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "report/observation_json.h"

namespace lt_audit {
namespace {

Target sample_target() {
  Target target;
  target.device_count = 2;
  target.device_facts = {"NVIDIA H200", 9, 0, 132, 150754820096, "GPU-7a1c0000-0000-0000-0000-000000000001",
                         "0000:18:00.0"};
  target.cublaslt = {13, 1, 0, 130100, "/home/alice/cuda 13/lib64/libcublasLt.so.13.1.0.3", "0123abcd"};
  target.cublas = {13, 1, 0, 130100, "/usr/local/cuda/lib64/libcublas.so.13", "4567ef89"};
  target.driver_version = 13000;
  target.runtime_version = 13000;
  target.driver_text = "580.159.04";
  return target;
}

Environment sample_environment() {
  Environment environment;
  environment.host = "gpu01.example.org";
  environment.user = "alice";
  environment.os = "Debian GNU/Linux 12, Linux 6.1.0";
  environment.compiled_against = "13.1.0";
  environment.variables = {{"CUBLASLT_LOG_FILE", "/home/alice/my logs/lt.log"},
                           {"LD_LIBRARY_PATH", "/home/alice:/usr/local/cuda/lib64:/home/alice/lib"}};
  environment.warnings = {
      "LD_PRELOAD names '/home/alice/my shim.so', which may replace functions of cuBLASLt on gpu01"};
  return environment;
}

Finding compute_type_finding() {
  Finding finding;
  finding.id = "compute-type.must-refuse-out-of-bounds";
  finding.check = "compute-type";
  finding.status = Status::fail;
  finding.title = "FP32 inputs into a narrower D are accepted and written as FP32";
  finding.count = 2;
  finding.measured =
      "cublasLtMatmul returns SUCCESS and writes 131072 bytes behind D (FP32 x FP32 -> FP16, 32F_FAST_TF32, "
      "256x256x256; heuristic and AlgoCheck accept too)";
  finding.expected = "refused: the combination is in no documented table; cublasGemmEx refuses it";
  finding.remedy = "keep C and D in FP32 under the FAST compute types, or convert in a second kernel";
  finding.repro = "lt-audit replay 'm=256,n=256,k=256,a=f32,d=f16,compute=32f_fast_tf32'";
  finding.cases = {"f32.f16.n", "f32.f16.t"};
  return finding;
}

Finding alignment_finding() {
  Finding finding;
  finding.id = "alignment.must-work-late-refusal";
  finding.check = "alignment";
  finding.status = Status::warn;
  finding.title = "A pointer below 16 bytes is refused only by matmul";
  finding.count = 1;
  finding.measured = "the heuristic returns 8 results, cublasLtMatmul returns NOT_SUPPORTED";
  finding.expected = "a heuristic that was told the alignment returns only results that run";
  finding.rule = "cublasLt.h 13.1.0, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES";
  finding.remedy = "declare the smallest alignment that the application can have";
  finding.repro = "lt-audit replay 'm=64,n=64,k=64,a=f16,a_offset=2'";
  finding.cases = {"f16.a.off2"};
  return finding;
}

}  // namespace

CaseResult sample_case(const std::string& id, const std::string& problem, Status status, Outcome outcome) {
  Observation observation;
  observation.stages = {
      {"create", "cublasLtMatmulDescCreate", "SUCCESS"},
      {"heuristic", "cublasLtMatmulAlgoGetHeuristic", outcome == Outcome::refused ? "NOT_SUPPORTED" : "SUCCESS"}};
  CaseResult result;
  result.id = id;
  result.problem = problem;
  result.status = status;
  result.outcome = outcome;
  if (status != Status::pass) {
    result.reason = "may-refuse-" + std::string(name_of(outcome));
    result.sentence = "the case " + id + " ended as " + std::string(name_of(outcome));
  }
  result.observation = observation_to_json(observation).dump();
  return result;
}

Observation full_observation() {
  Observation observation;
  observation.stages = {{"create", "cublasLtMatmulDescCreate", "SUCCESS"},
                        {"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"},
                        {"matmul", "cublasLtMatmul", "NOT_SUPPORTED"}};
  observation.heuristic = {{"SUCCESS", 66, 20, 35, 1, 1024, 0.24242}, {"NOT_SUPPORTED", -1, -1, -1, -1, 0, 0}};
  Verification verification;
  verification.method = "elements";
  verification.compared = 65536;
  verification.wrong = 12;
  verification.unwritten = 3;
  verification.expected_nonzero = 65000;
  verification.first_row = 3;
  verification.first_col = 4;
  verification.first_batch = 0;
  verification.first_expected = -17;
  verification.first_actual = std::numeric_limits<double>::quiet_NaN();
  verification.bytes_before_d = 1;
  verification.bytes_behind_d = 131072;
  verification.reach_behind_d = 131080;
  verification.padding_bytes_changed = 2;
  verification.a_bytes_changed = 3;
  verification.b_bytes_changed = 4;
  verification.c_bytes_changed = 5;
  verification.bias_bytes_changed = 6;
  verification.aux_bytes_changed = 8;
  verification.scale_bytes_changed = 9;
  verification.workspace_guard_bytes_changed = 7;
  verification.aux_compared = 65536;
  verification.aux_wrong = 10;
  verification.gradient_compared = 256;
  verification.gradient_wrong = 11;
  verification.amax_expected = 96;
  verification.amax_actual = 95.5;
  observation.verification = verification;
  observation.cublas = CublasObservation{"cublasGemmEx", "NOT_SUPPORTED", "", Verification{}};
  observation.log = {{1, "cublasLtMatmul", "K must be divisible by 16. Got 24. See /home/alice/notes.txt"}};
  observation.end = ProcessEnd::crashed;
  observation.end_detail = "SIGSEGV";
  observation.not_run = "needs 12.0 GiB";
  observation.audit_error = "cudaMalloc failed";
  observation.facts = {{"replays", "3"}};
  observation.times = {120.5, 30.25, 7.125, 4.5, 2.25};
  return observation;
}

Report sample_report() {
  Report report;
  report.tool_version = "0.1.0";
  report.arguments = {"run", "--json", "/home/alice/my reports/lt-audit.json", "--cublaslt=/opt/x y/libcublasLt.so"};
  report.started = "2026-11-29T20:16:22Z";
  report.elapsed_s = 2.9;
  report.depth = "default";
  report.seed = 7;
  report.complete = true;
  report.exit_code = 1;
  report.target = sample_target();
  report.environment = sample_environment();

  CheckResult alignment{"alignment", Status::warn, "", 0.6, {}};
  alignment.cases = {sample_case("f16.a.off0", "m=64,n=64,k=64,a=f16", Status::pass, Outcome::correct),
                     sample_case("f16.a.off2", "m=64,n=64,k=64,a=f16,a_offset=2", Status::warn, Outcome::late_refusal),
                     sample_case("f16.huge", "m=99999,n=99999,k=64,a=f16", Status::skip, Outcome::not_run),
                     sample_case("f16.broken", "m=64,n=64,k=64,a=f16,b_offset=2", Status::error, Outcome::audit_error)};
  alignment.cases[1].observation = observation_to_json(full_observation()).dump();
  alignment.cases[1].rule = "alignment of A is as declared (cublasLt.h 13.1.0, line 2100)";
  alignment.cases[1].parameters = {{"declared", "256"}};

  CheckResult compute{"compute-type", Status::fail, "", 1.1, {}};
  const std::string base = "m=256,n=256,k=256,a=f32";
  compute.cases = {
      sample_case("f32.f32.n", base, Status::pass, Outcome::correct),
      sample_case("f32.f32.t", base + ",ta=t", Status::pass, Outcome::correct),
      sample_case("f32.f16.n", base + ",d=f16,compute=32f_fast_tf32", Status::fail, Outcome::out_of_bounds),
      sample_case("f32.f16.t", base + ",ta=t,d=f16,compute=32f_fast_tf32", Status::fail, Outcome::out_of_bounds),
      sample_case("f32.f64.n", base + ",d=f64", Status::pass, Outcome::refused)};
  report.checks = {alignment, compute, CheckResult{"two-gpu", Status::skip, "needs two GPUs, one is there", 0, {}}};
  report.findings = {alignment_finding(), compute_type_finding()};
  report.profile = {{"plan", 0.012, 1}, {"run", 2.5, 9}};
  return report;
}

}  // namespace lt_audit
