// The hand-made reports.
#include "compare/sample_diff.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "lt_audit/measured_facts.h"
#include "report/observation_json.h"

namespace lt_audit {

Report empty_report() {
  Report report;
  report.tool_version = "0.1.0";
  report.started = "2026-11-30T04:16:43Z";
  report.depth = "default";
  report.seed = 1;
  report.complete = true;
  report.target.device_count = 1;
  report.target.device_facts = {"NVIDIA H200", 9, 0, 132, 150109880320, "GPU-b97ffa21", "0000:00:06.0"};
  report.target.cublaslt = {13, 1, 0, 130100, "/usr/lib/libcublasLt.so.13", "a7d4"};
  report.target.cublas = {13, 1, 0, 0, "/usr/lib/libcublas.so.13", "3f94"};
  report.target.driver_text = "580.159.04";
  report.target.driver_version = report.target.runtime_version = 13000;
  report.environment.os = "Debian GNU/Linux 12";
  report.environment.variables = {{"CUDA_HOME", "/usr/local/cuda"}};
  return report;
}

Observation right_observation() {
  Observation observation;
  observation.stages = {{"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"},
                        {"matmul", "cublasLtMatmul", "SUCCESS"}};
  observation.heuristic = {{"SUCCESS", 66, 20, 35, 1, 1024, 0.25}, {"SUCCESS", 31, 18, 15, 2, 0, 0.5}};
  Verification verification;
  verification.method = "elements";
  verification.compared = 7680;
  verification.expected_nonzero = 7600;
  observation.verification = verification;
  return observation;
}

CaseResult right_case(const std::string& id, const std::string& problem, const Observation& observation) {
  CaseResult result;
  result.id = id;
  result.problem = problem;
  result.observation = observation_to_json(observation).dump();
  return result;
}

CaseResult case_with_facts(const std::string& id, const std::string& problem,
                           const std::map<std::string, std::string>& facts) {
  Observation observation = right_observation();
  observation.facts = facts;
  return right_case(id, problem, observation);
}

CaseResult case_with_outcome(const std::string& id, const std::string& problem, Outcome outcome, Status status) {
  CaseResult result = right_case(id, problem, {});
  result.outcome = outcome;
  result.status = status;
  if (status == Status::pass) return result;
  result.reason = name_of(outcome);
  result.sentence = "the call ended as " + result.reason;
  return result;
}

Report report_of(const std::string& check, std::vector<CaseResult> cases) {
  Report report = empty_report();
  std::map<std::string, std::size_t> places;
  for (const CaseResult& one : cases) {
    if (one.status == Status::pass) continue;
    const auto [place, is_new] = places.emplace(one.reason, report.findings.size());
    if (is_new) {
      Finding finding;
      finding.id = check + "." + one.reason;
      finding.check = check;
      finding.title = "Calls end as " + one.reason;
      finding.repro = "lt-audit replay '" + one.problem + "'";
      report.findings.push_back(finding);
    }
    Finding& finding = report.findings[place->second];
    finding.status = one.status;
    ++finding.count;
    finding.cases.push_back(one.id);
  }
  report.checks = {CheckResult{check, Status::pass, "", 0.5, std::move(cases)}};
  return report;
}

ReportPair pair_with_every_change() {
  const auto facts = [](const char* bits, const char* us) {
    return std::map<std::string, std::string>{{kDBitsFact, bits}, {kLtUsFact, us}, {kSpreadFact, "0.01"}};
  };
  Observation other = right_observation();
  other.heuristic.front().algo_id = 71;
  other.heuristic.pop_back();
  const auto outcome = case_with_outcome;
  ReportPair pair;
  pair.before =
      report_of("alignment",
                {right_case("same", "m=1,n=1,k=1"), right_case("wrong", "m=2,n=1,k=1"),
                 right_case("refused", "m=3,n=1,k=1"), outcome("later", "m=4,n=1,k=1", Outcome::refused, Status::pass),
                 right_case("slow", "m=5,n=1,k=1"), outcome("judged", "m=6,n=1,k=1", Outcome::refused, Status::warn),
                 case_with_facts("slower", "m=7,n=1,k=1", facts("aa", "10.00")),
                 case_with_facts("bits", "m=8,n=1,k=1", facts("aa", "10.00")), right_case("algorithm", "m=9,n=1,k=1"),
                 case_with_facts("faster", "m=10,n=1,k=1", facts("aa", "20.00")),
                 outcome("earlier", "m=11,n=1,k=1", Outcome::late_refusal, Status::warn),
                 outcome("accepted", "m=12,n=1,k=1", Outcome::refused, Status::fail),
                 outcome("mended", "m=13,n=1,k=1", Outcome::out_of_bounds, Status::fail),
                 right_case("gone", "m=14,n=1,k=1"), right_case("gelu", "m=15,n=1,k=1,epilogue=gelu_bias")});
  pair.after = report_of(
      "alignment",
      {right_case("same", "m=1,n=1,k=1"), outcome("wrong", "m=2,n=1,k=1", Outcome::wrong_result, Status::fail),
       outcome("refused", "m=3,n=1,k=1", Outcome::refused, Status::fail),
       outcome("later", "m=4,n=1,k=1", Outcome::late_refusal, Status::warn),
       outcome("slow", "m=5,n=1,k=1", Outcome::slower, Status::warn),
       outcome("judged", "m=6,n=1,k=1", Outcome::refused, Status::pass),
       case_with_facts("slower", "m=7,n=1,k=1", facts("aa", "15.00")),
       case_with_facts("bits", "m=8,n=1,k=1", facts("bb", "10.20")), right_case("algorithm", "m=9,n=1,k=1", other),
       case_with_facts("faster", "m=10,n=1,k=1", facts("aa", "10.00")),
       outcome("earlier", "m=11,n=1,k=1", Outcome::refused, Status::pass), right_case("accepted", "m=12,n=1,k=1"),
       outcome("mended", "m=13,n=1,k=1", Outcome::refused, Status::pass),
       right_case("gelu", "m=15,n=1,k=1,epilogue=gelu_bias"), right_case("added", "m=16,n=1,k=1")});
  pair.after.target.cublaslt = {13, 4, 0, 130400, "/opt/libcublasLt.so.13", "bbbb"};
  pair.after.environment.variables["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8";
  return pair;
}

}  // namespace lt_audit
