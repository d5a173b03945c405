// Tests of check "environment": its cases, the judgement on hand-made facts, and the scenarios over the simulator, with
// and without faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../explained.h"
#include "../hand_made.h"
#include "../planted_faults.h"
#include "../simulated.h"
#include "environment_scenarios.h"
#include "lt_audit/check.h"
#include "lt_audit/measured_facts.h"
#include "lt_audit/variables.h"

namespace lt_audit {

std::unique_ptr<Check> make_environment();

namespace {

using namespace environment;

using Facts = std::map<std::string, std::string>;

class EnvironmentTest : public testing::Test {
 protected:
  const Case& named(const std::string& id) const { return cases_.at(id); }
  Verdict judge(const Case& the_case, const Observation& observation) const {
    const auto verdict = check_->judge(the_case, observation);
    expect_scenario_explained(*check_, the_case, verdict, scenario_named(the_case.parameters.at("scenario")).group);
    return verdict;
  }
  /// An empty defect is a pass.
  Verdict expect(const std::string& id, const Observation& observation, Status status,
                 const std::string& defect) const {
    const auto& the_case = named(id);
    auto verdict = judge(the_case, observation);
    const auto& group = scenario_named(the_case.parameters.at("scenario")).group;
    EXPECT_EQ(verdict.status, status) << id << " " << verdict.reason << ": " << verdict.sentence;
    EXPECT_EQ(verdict.reason, defect.empty() ? "" : group + "-" + defect) << id;
    return verdict;
  }
  Verdict expect_of_facts(const std::string& id, const Facts& facts, Status status, const std::string& defect) const {
    Observation observation;
    observation.facts = facts;
    return expect(id, observation, status, defect);
  }
  /// A right product in another process.
  static Observation worked_there(const Facts& facts) {
    auto observation = hand_made::worked();
    observation.facts = facts;
    observation.facts[kVariable] = "NAME=1";
    return observation;
  }
  static Observation wrong() {
    auto observation = hand_made::worked();
    observation.verification->wrong = 7680;
    return observation;
  }

  std::unique_ptr<Check> check_ = make_environment();
  const std::map<std::string, Case> cases_ = simulated::cases_by_id(*check_, Depth::full);
};

TEST_F(EnvironmentTest, IdsArePlainAndCasesNestUnchanged) {
  const auto quick = simulated::cases_by_id(*check_, Depth::quick);
  const auto normal = simulated::cases_by_id(*check_, Depth::normal);
  EXPECT_LE(quick.size(), 60U);
  for (const auto& [shallow, deep] : {std::pair{&quick, &normal}, std::pair{&normal, &cases_}}) {
    EXPECT_LT(shallow->size(), deep->size());
    for (const auto& [id, c] : *shallow) {
      ASSERT_EQ(deep->count(id), 1U) << id;
      EXPECT_EQ(deep->at(id).problem, c.problem) << id;
      EXPECT_EQ(deep->at(id).parameters, c.parameters) << id;
    }
  }
  const auto target = describe_target(make_simulator_platform({}), 0);
  EXPECT_EQ(check_->cases(target, Depth::full).size(), cases_.size()) << "an id twice";
  for (const auto& [id, c] : cases_) {
    EXPECT_EQ(id.find_first_of(" :,"), std::string::npos) << id;
    EXPECT_TRUE(c.scenario && !c.rule.empty()) << id;
    EXPECT_EQ(c.isolated, id.find("full-memory") != std::string::npos) << id;
  }
}

TEST_F(EnvironmentTest, OtherProcessesAreFew) {
  const auto processes = [&](Depth depth) {
    const auto cases = simulated::cases_by_id(*check_, depth);
    return std::count_if(cases.begin(), cases.end(),
                         [](const auto& entry) { return entry.second.parameters.contains(kSetsParameter); });
  };
  EXPECT_EQ(processes(Depth::quick), 1);
  EXPECT_EQ(processes(Depth::normal), 5);
  auto gpu = describe_target(make_simulator_platform({}), 0);
  gpu.kind = PlatformKind::gpu;
  for (const auto& c : check_->cases(gpu, Depth::quick)) EXPECT_FALSE(c.isolated) << c.id;
}

TEST_F(EnvironmentTest, LibrariesMustBeOnePair) {
  const Facts good = {{kLtVersion, "13.1.0"}, {kBlasVersion, "13.1.0"}, {kLtPath, "/a/x"}, {kBlasPath, "/a/y"}};
  for (const auto* id : {"libraries.versions", "libraries.places", "libraries.copies"}) {
    expect_of_facts(id, good, Status::pass, "");
    expect_of_facts(id, {{kLtVersion, "13.1.0"}}, Status::pass, "");
  }
  auto facts = good;
  facts[kBlasVersion] = "12.9.1";
  const auto verdict = expect_of_facts("libraries.versions", facts, Status::warn, "mixed-versions");
  EXPECT_NE(verdict.sentence.find("cuBLAS is 12.9.1 (/a/y) and cuBLASLt is 13.1.0 (/a/x)"), std::string::npos)
      << verdict.sentence;
  facts = good;
  facts[kBlasPath] = "/b/y";
  expect_of_facts("libraries.places", facts, Status::warn, "two-places");
  facts[kTwice] = "/a/libcublasLt.so.12 /b/libcublasLt.so.13";
  EXPECT_NE(expect_of_facts("libraries.copies", facts, Status::warn, "loaded-twice").sentence.find("/b/libcublasLt"),
            std::string::npos);
}

TEST_F(EnvironmentTest, HeadersAndDriverAreHeldAgainstTheLibrary) {
  const auto headers = [&](const char* lt, const char* built, Status status, const char* defect) {
    expect_of_facts("headers", {{kLtVersion, lt}, {kHeaders, built}}, status, defect);
  };
  headers("13.1.0", "13.1.0", Status::pass, "");
  headers("13.10.0", "13.2.0", Status::pass, "");
  headers("13.1.0", "13.1.1", Status::warn, "older-than-headers");
  headers("12.9.1", "13.1.0", Status::warn, "other-major");
  headers("14.0.0", "13.1.0", Status::warn, "other-major");
  const auto driver = [&](const char* cuda, const char* lt, Status status, const char* defect) {
    return expect_of_facts("driver", {{kDriver, cuda}, {kLtVersion, lt}}, status, defect);
  };
  driver("13.0", "13.1.0", Status::pass, "");
  driver("13.0", "12.9.1", Status::pass, "");
  EXPECT_NE(driver("12.4", "13.1.0", Status::warn, "too-old").sentence.find("CUDA 12.4 and cuBLASLt is 13.1.0"),
            std::string::npos);
}

TEST_F(EnvironmentTest, ModesOfTheDeviceAndLowMemoryAreTraps) {
  const auto mode = [&](const char* id, const char* is, Status status, const char* defect) {
    expect_of_facts(id, {{kMode, is}}, status, defect);
  };
  mode("device.compute-mode", "default", Status::pass, "");
  mode("device.compute-mode", "exclusive", Status::warn, "exclusive");
  mode("device.mig", "off", Status::pass, "");
  mode("device.mig", "on", Status::warn, "part-of-gpu");
  mode("device.mps", "off", Status::pass, "");
  mode("device.mps", "on", Status::warn, "shared");
  mode("device.ecc", "on", Status::pass, "");
  mode("device.ecc", "unknown", Status::pass, "");
  mode("device.ecc", "off", Status::warn, "switched-off");
  expect_of_facts("memory.free", {{kFreeMiB, "512"}}, Status::pass, "");
  expect_of_facts("memory.free", {{kFreeMiB, "511"}}, Status::warn, "low");
}

TEST_F(EnvironmentTest, AVariableThatIsSetIsNamedWithItsValue) {
  for (const auto& rule : variable_rules()) {
    const auto id = "variable." + std::string(rule.name);
    expect_of_facts(id, {}, Status::pass, "");
    expect_of_facts(id, {{"harmless_value", "0"}}, Status::pass, "");
    const auto verdict = expect_of_facts(id, {{kValue, "7"}}, Status::warn, "set");
    EXPECT_EQ(verdict.sentence, std::string(rule.name) + ": the value is 7; " + std::string(rule.effect));
  }
}

TEST_F(EnvironmentTest, Tf32IsJudgedByTheNumbers) {
  auto there = wrong();
  there.facts[kVariable] = "NVIDIA_TF32_OVERRIDE=0";
  expect("tf32.tf32-off", there, Status::fail, "ignored");
  expect("f32.tf32-on", there, Status::warn, "forced");
  expect("f32.whole-significands", wrong(), Status::fail, "wrong-result");
  for (const auto* id : {"tf32.tf32-off", "f32.tf32-on", "f32.whole-significands"}) {
    expect(id, worked_there({}), Status::pass, "");
    expect(id, hand_made::refused(), Status::fail, "refused");
  }
  auto forced = wrong();
  forced.facts[kTf32Override] = "1";
  EXPECT_NE(expect("f32.whole-significands", forced, Status::warn, "forced").sentence.find("NVIDIA_TF32_OVERRIDE is 1"),
            std::string::npos);
  // Without the variable there is nothing to blame it for.
  expect("f32.tf32-on", wrong(), Status::fail, "wrong-result");
}

TEST_F(EnvironmentTest, OtherBitsAndAlgorithmsAreTrapsUnlessTheVariableIsForThem) {
  const Facts bits = {{kBitsHere, "01"}, {kDBitsFact, "02"}};
  const Facts algorithm = {{kAlgorithmHere, "66"}, {kAlgorithmThere, "20"}};
  const Facts cublas = {{kCublasBitsHere, "01"}, {kCublasDBitsFact, "02"}};
  const Facts same = {{kBitsHere, "01"}, {kDBitsFact, "01"}, {kAlgorithmHere, "66"}, {kAlgorithmThere, "66"}};
  for (const auto* id : {"f16.launch-blocking", "f16.log", "f32.workspace-config", "f16.heuristics-cache"}) {
    expect(id, worked_there(same), Status::pass, "");
    const auto verdict = expect(id, worked_there(bits), Status::warn, "bits-differ");
    EXPECT_NE(verdict.sentence.find("bits of D without it 01, with it 02"), std::string::npos) << verdict.sentence;
    expect(id, worked_there(algorithm), Status::warn, "algorithm-differs");
    expect(id, worked_there(cublas), Status::warn, "cublas-bits-differ");
    expect(id, wrong(), Status::fail, "wrong-result");
  }
  expect("f64.emulate-double", worked_there(bits), Status::pass, "");
  expect("f64.emulate-double", wrong(), Status::fail, "wrong-result");
}

TEST_F(EnvironmentTest, AFullMemoryMayRefuseAndMustLeaveNothingBehind) {
  const auto full = [](const char* created, const char* product) {
    auto observation = hand_made::worked();
    observation.stages.push_back({kAnswerStage, "cublasLtCreate", "SUCCESS"});
    observation.facts = {{kCreated, created}, {kProduct, product}, {kLeftMiB, "0.50"}};
    return observation;
  };
  const auto* id = "f16.full-memory.leave0";
  expect(id, full("SUCCESS", "right"), Status::pass, "");
  expect(id, full("SUCCESS", "EXECUTION_FAILED"), Status::pass, "");
  expect(id, full("ALLOC_FAILED", ""), Status::pass, "");
  expect(id, full("NOT_INITIALIZED", ""), Status::warn, "misleading-status");
  expect(id, full("INTERNAL_ERROR", ""), Status::warn, "undocumented-status");
  EXPECT_NE(expect(id, full("SUCCESS", "wrong"), Status::fail, "wrong-when-full").sentence.find("with 0.50 MiB free"),
            std::string::npos);
  auto lost = full("ALLOC_FAILED", "");
  lost.stages.back().status = "NOT_INITIALIZED";
  EXPECT_NE(expect(id, lost, Status::fail, "not-recovered").sentence.find("cublasLtCreate returns NOT_INITIALIZED"),
            std::string::npos);
  auto still_wrong = full("SUCCESS", "right");
  still_wrong.verification->wrong = 1;
  expect(id, still_wrong, Status::fail, "not-recovered");
}

TEST_F(EnvironmentTest, EveryScenarioTellsEndingsAndWhatWasNotRun) {
  for (const auto& [id, c] : cases_) {
    expect(id, hand_made::ended(ProcessEnd::crashed, "SIGSEGV"), Status::fail, "crashed");
    expect(id, hand_made::ended(ProcessEnd::timed_out, "30 s"), Status::fail, "timed-out");
    expect(id, hand_made::ended(ProcessEnd::context_lost, "cudaErrorUnknown"), Status::fail, "context-lost");
    Observation observation;
    observation.not_run = "the variable is set here";
    expect(id, observation, Status::skip, "not-run");
    observation = {};
    observation.audit_error = "cudaMalloc returns cudaErrorUnknown";
    expect(id, observation, Status::error, "audit-error");
  }
}

TEST_F(EnvironmentTest, ClaimsAreNamedWithTheirPredictions) {
  EXPECT_EQ(named("f16.gelu_aux_bias.pinned-error").parameters.at("claims"), "C20=pinned=yes");
  EXPECT_FALSE(named("libraries.versions").parameters.contains("claims")) << "a library out of no toolkit";
  Target target;
  target.cublaslt.path = "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublasLt.so.13.1.0.3";
  EXPECT_EQ(check_->cases(target, Depth::quick).front().parameters.at("claims"), "C29=cublaslt_major=12");
}

TEST_F(EnvironmentTest, SpeaksAboutFp32AndFp64ProductsOfAWorkload) {
  const auto target = describe_target(make_simulator_platform({}), 0);
  const auto ids = [&](const MatmulProblem& problem) {
    std::set<std::string> found;
    for (const auto& c : check_->cases_about(target, problem)) found.insert(c.id);
    return found;
  };
  auto problem = uniform_problem(CUDA_R_32F, 96, 80, 64);
  EXPECT_EQ(ids(problem), (std::set<std::string>{"variable.NVIDIA_TF32_OVERRIDE", "whole-significands"}));
  problem.compute_type = CUBLAS_COMPUTE_32F_FAST_TF32;
  EXPECT_EQ(ids(problem), (std::set<std::string>{"variable.NVIDIA_TF32_OVERRIDE"}));
  EXPECT_EQ(ids(uniform_problem(CUDA_R_64F, 96, 80, 64)), (std::set<std::string>{"whole-significands"}));
  EXPECT_TRUE(ids(uniform_problem(CUDA_R_16F, 96, 80, 64)).empty());
  EXPECT_TRUE(ids(uniform_problem(CUDA_R_64F, 8192, 8192, 8192)).empty()) << "too long to compare";
}

TEST_F(EnvironmentTest, AFaultlessLibraryPassesEveryCaseOfTheDefaultDepth) {
  simulated::Worker worker;
  for (const auto& [id, c] : simulated::cases_by_id(*check_, Depth::normal)) {
    const auto verdict = judge(c, worker.observe(*check_, c));
    EXPECT_EQ(verdict.status, Status::pass) << id << ": " << verdict.reason << ": " << verdict.sentence;
  }
}

TEST_F(EnvironmentTest, SeesTheModesOfADevice) {
  SimulatorOptions options;
  options.modes = {.compute_mode = cudaComputeModeExclusiveProcess, .ecc = false, .mig = true, .mps = true};
  options.driver_version = 12080;
  options.memory_bytes = 256ULL << 20;
  simulated::Worker worker("", options);
  const std::map<std::string, std::string> expected = {{"device.compute-mode", "exclusive"},
                                                       {"device.ecc", "switched-off"},
                                                       {"device.mig", "part-of-gpu"},
                                                       {"device.mps", "shared"},
                                                       {"driver", "too-old"},
                                                       {"memory.free", "low"}};
  for (const auto& [id, defect] : expected) expect(id, worker.observe(*check_, named(id)), Status::warn, defect);
  options.compute_capability = 89;
  simulated::Worker consumer("", options);
  expect("device.ecc", consumer.observe(*check_, named("device.ecc")), Status::pass, "");
}

TEST_F(EnvironmentTest, SeesVariablesAndComparesNothingWithThem) {
  SimulatorOptions options;
  options.variables = {{"NVIDIA_TF32_OVERRIDE", "0"}, {"CUBLASLT_LOG_LEVEL", "0"}, {"CUDA_LAUNCH_BLOCKING", "1"}};
  simulated::Worker worker("", options);
  const auto seen = [&](const char* id) { return worker.observe(*check_, named(id)); };
  const auto verdict =
      expect("variable.NVIDIA_TF32_OVERRIDE", seen("variable.NVIDIA_TF32_OVERRIDE"), Status::warn, "set");
  EXPECT_EQ(verdict.sentence.find("LAUNCH_BLOCKING"), std::string::npos);
  expect("variable.CUBLASLT_LOG_LEVEL", seen("variable.CUBLASLT_LOG_LEVEL"), Status::pass, "");
  expect("tf32.tf32-off", seen("tf32.tf32-off"), Status::skip, "not-run");
  expect("f16.launch-blocking", seen("f16.launch-blocking"), Status::skip, "not-run");
  expect("f16.log", seen("f16.log"), Status::skip, "not-run");
}

TEST_F(EnvironmentTest, ComparesBitsAlgorithmAndCublas) {
  simulated::Worker worker;
  const auto facts = worker.observe(*check_, named("f16.workspace-config")).facts;
  EXPECT_EQ(facts.at(kVariable), "CUBLAS_WORKSPACE_CONFIG=:4096:8");
  EXPECT_EQ(facts.at(kDBitsFact), facts.at(kBitsHere));
  EXPECT_EQ(facts.at(kCublasDBitsFact), facts.at(kCublasBitsHere));
  EXPECT_EQ(facts.at(kAlgorithmThere), facts.at(kAlgorithmHere));
}

TEST_F(EnvironmentTest, FillsTheMemoryAndGivesItBack) {
  simulated::Worker worker;
  const auto facts = worker.observe(*check_, named("f16.full-memory.leave16")).facts;
  EXPECT_EQ(facts.at(kLeftMiB), "16.00");
  EXPECT_EQ(facts.at(kCreated), "SUCCESS");
  EXPECT_EQ(facts.at(kProduct), "right");
  expect("memory.free", worker.observe(*check_, named("memory.free")), Status::pass, "");
}

class EnvironmentFaults : public testing::TestWithParam<Planted> {};

TEST_P(EnvironmentFaults, TurnTheCaseRed) { expect_red(*make_environment(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Planted, EnvironmentFaults,
                         testing::Values(Planted{"mixed-libraries", "libraries.versions", Status::warn,
                                                 "libraries-mixed-versions", "libraries.copies"},
                                         Planted{"library-loaded-twice", "libraries.copies", Status::warn,
                                                 "libraries-loaded-twice", "libraries.versions"},
                                         Planted{"driver-too-old", "driver", Status::warn, "driver-too-old", "headers"},
                                         Planted{"tf32-always", "f32.whole-significands", Status::fail,
                                                 "whole-significands-wrong-result", "f64.whole-significands"},
                                         Planted{"tf32-override-ignored", "tf32.tf32-off", Status::fail,
                                                 "tf32-off-ignored", "f32.whole-significands"},
                                         Planted{"handle-lost-to-full-memory", "f16.full-memory.leave0", Status::fail,
                                                 "full-memory-not-recovered", "f32.whole-significands"},
                                         Planted{"wrong-when-memory-is-full", "f16.full-memory.leave0", Status::fail,
                                                 "full-memory-wrong-when-full", "f32.whole-significands"}),
                         name_of_planted);

}  // namespace
}  // namespace lt_audit
