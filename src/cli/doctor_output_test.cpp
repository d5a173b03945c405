// What a diagnosis looks like: times only of a GPU, a long list cut, memory with its sign.
#include "cli/doctor_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// Refused as given; works with n = 128, 256, ... in `sets` ways.
Diagnosis diagnosis_with(std::size_t sets) {
  Diagnosis diagnosis;
  diagnosis.problem = problem_from_text("m=64,n=64,k=64,a=f16,workspace=0");
  diagnosis.as_given = {false, "NOT_SUPPORTED", "refused", "", {}};
  diagnosis.tried = 1 + sets;
  for (std::size_t i = 0; i < sets; ++i) {
    ChangeSet set{{{"n", "a larger n", "n = more", Effort::product, {}, false}},
                  diagnosis.problem,
                  {true, "SUCCESS", "correct", "", 12.25}};
    set.problem.n = 128 * static_cast<std::int64_t>(i + 1);
    diagnosis.sets.push_back(set);
  }
  return diagnosis;
}

std::string text_of(const Diagnosis& diagnosis, PlatformKind kind, const std::string& sequence = "") {
  Target target;
  target.kind = kind;
  std::ostringstream out;
  write_diagnosis({diagnosis, sequence}, target, 100, out);
  return out.str();
}

nlohmann::json json_of(const Diagnosis& diagnosis, PlatformKind kind) {
  DiagnosisDocument document;
  document.target.kind = kind;
  document.diagnoses = {{diagnosis, ""}};
  return nlohmann::json::parse(document_json(document)).at("diagnoses").at(0);
}

/// Works in 20 us, and faster in `ways` ways.
Diagnosis working(std::size_t ways) {
  Diagnosis diagnosis;
  diagnosis.problem = problem_from_text("m=64,n=64,k=64,a=f16,workspace=0");
  diagnosis.as_given = {true, "SUCCESS", "correct", "", 20.0};
  diagnosis.tried = 12;
  diagnosis.speed = Speed{true, true, 11, 18, 9, 20, 0.031, {}, {}};
  for (std::size_t i = 0; i < ways; ++i) {
    MatmulProblem changed = diagnosis.problem;
    changed.workspace_bytes = 1 << 20;
    diagnosis.speed->faster.push_back({SpeedKind::workspace,
                                       {"workspace", "a workspace of 1 MiB", "LIMIT = 1", Effort::memory, {}, false},
                                       changed,
                                       12.5,
                                       1.6});
  }
  return diagnosis;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(WriteDiagnosis, CutsALongListAndSaysSo) {
  const auto text = text_of(diagnosis_with(10), PlatformKind::gpu);
  EXPECT_TRUE(contains(text, "  8   a larger n")) << text;
  EXPECT_FALSE(contains(text, "  9   a larger n")) << text;
  EXPECT_TRUE(contains(text, "and 2 dearer ones")) << text;
}

TEST(WriteDiagnosis, GivesTimesOfAGpuAndMemoryWithItsSign) {
  auto diagnosis = diagnosis_with(2);
  // 64 more columns of B, C and D, 64 elements of 2 bytes each.
  EXPECT_TRUE(contains(text_of(diagnosis, PlatformKind::gpu), "12.2 us on the GPU, +24 KiB of memory"))
      << text_of(diagnosis, PlatformKind::gpu);
  EXPECT_FALSE(contains(text_of(diagnosis, PlatformKind::simulator), "us on the GPU"));
  diagnosis.sets[0].problem.n = 32;
  EXPECT_TRUE(contains(text_of(diagnosis, PlatformKind::gpu), "-12 KiB of memory"));
}

TEST(DiagnosisJson, HoldsEverySetAndTimesOfAGpuAlone) {
  const auto document = json_of(diagnosis_with(10), PlatformKind::gpu);
  ASSERT_EQ(document.at("sets").size(), 10U);
  EXPECT_EQ(document.at("tried"), 11);
  EXPECT_EQ(document.at("sets")[0].at("memory_bytes"), 3 * 64 * 64 * 2);
  EXPECT_EQ(document.at("sets")[0].at("gpu_us"), 12.25);
  EXPECT_FALSE(document.contains("speed")) << "it does not work as it is";
  EXPECT_FALSE(json_of(diagnosis_with(1), PlatformKind::simulator).at("sets")[0].contains("gpu_us"));
}

TEST(WriteDiagnosis, AWorkingCallHasATableOfRatiosWithTheNoiseBesideIt) {
  const auto text = text_of(working(2), PlatformKind::gpu);
  EXPECT_TRUE(contains(text, "20.0 us on the GPU; the same call differs by 3.1 % (middle half of 18 calls)")) << text;
  EXPECT_TRUE(contains(text, "11 changes of algorithm, alignment, workspace and layout, 9 timed calls each")) << text;
  EXPECT_TRUE(contains(text, "1.60       12.5  workspace  a workspace of 1 MiB (LIMIT = 1); +1024 KiB")) << text;
  EXPECT_TRUE(contains(text_of(working(10), PlatformKind::gpu), "and 2 that save less"));
}

TEST(WriteDiagnosis, WhatSavesNothingOrWasNotTimedIsSaid) {
  EXPECT_TRUE(contains(text_of(working(0), PlatformKind::gpu), "nothing by more than that"));
  auto untimed = working(0);
  untimed.speed = Speed{};
  const auto text = text_of(untimed, PlatformKind::simulator);
  EXPECT_TRUE(contains(text, "nothing was timed")) << text;
  EXPECT_FALSE(contains(text, " us ")) << text;
  untimed.speed->finished = false;
  EXPECT_TRUE(contains(text_of(untimed, PlatformKind::gpu), "--budget SECONDS"));
}

TEST(WriteDiagnosis, OfASequenceNothingIsConcluded) {
  const auto works = text_of(working(0), PlatformKind::gpu, "r.json:graph-capture/f32.replay");
  EXPECT_EQ(works.rfind("case     r.json:graph-capture/f32.replay is a sequence of calls", 0), 0U) << works;
  EXPECT_FALSE(contains(works, "call works")) << works;
  EXPECT_FALSE(contains(works, "has to change")) << works;
  EXPECT_TRUE(contains(works, "lt-audit replay 'r.json:graph-capture/f32.replay'")) << works;
  const auto fails = text_of(diagnosis_with(1), PlatformKind::gpu, "r.json:graph-capture/f32.replay");
  EXPECT_TRUE(contains(fails, "The product by itself works")) << fails;
  EXPECT_TRUE(contains(fails, "lt-audit replay 'r.json:graph-capture/f32.replay'")) << fails;
}

TEST(DiagnosisJson, HoldsTheSpeedOfAWorkingCall) {
  const auto speed = json_of(working(1), PlatformKind::gpu).at("speed");
  EXPECT_EQ(speed.at("given_us"), 20);
  ASSERT_EQ(speed.at("faster").size(), 1U);
  EXPECT_EQ(speed.at("faster")[0].at("kind"), "workspace");
  EXPECT_EQ(speed.at("faster")[0].at("ratio"), 1.6);
  EXPECT_EQ(speed.at("faster")[0].at("memory_bytes"), 1 << 20);
  auto untimed = working(0);
  untimed.speed = Speed{};
  EXPECT_EQ(json_of(untimed, PlatformKind::gpu).at("speed"), nlohmann::json({{"timed", false}}));
}

TEST(DiagnosisJson, HoldsWhatCouldNotBeRunAndTheCaseOfASequence) {
  DiagnosisDocument document;
  document.diagnoses = {{diagnosis_with(1), "r.json:graph-capture/x"}, {diagnosis_with(1), ""}};
  document.not_diagnosed = {{"m=1", "needs more memory"}};
  const auto json = nlohmann::json::parse(document_json(document));
  EXPECT_EQ(json.at("schema_version"), kDoctorSchemaVersion);
  EXPECT_EQ(json.at("diagnoses")[0].at("sequence"), "r.json:graph-capture/x");
  EXPECT_FALSE(json.at("diagnoses")[1].contains("sequence"));
  EXPECT_EQ(json.at("not_diagnosed"), nlohmann::json::parse(R"([{"call": "m=1", "reason": "needs more memory"}])"));
}

}  // namespace
}  // namespace lt_audit
