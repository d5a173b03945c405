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

std::string text_of(const Diagnosis& diagnosis, PlatformKind kind) {
  Target target;
  target.kind = kind;
  std::ostringstream out;
  write_diagnosis(diagnosis, target, 100, out);
  return out.str();
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
  Target target;
  target.kind = PlatformKind::gpu;
  const auto document = nlohmann::json::parse(diagnosis_json(diagnosis_with(10), target));
  ASSERT_EQ(document.at("sets").size(), 10U);
  EXPECT_EQ(document.at("tried"), 11);
  EXPECT_EQ(document.at("sets")[0].at("memory_bytes"), 3 * 64 * 64 * 2);
  EXPECT_EQ(document.at("sets")[0].at("gpu_us"), 12.25);
  target.kind = PlatformKind::simulator;
  EXPECT_FALSE(nlohmann::json::parse(diagnosis_json(diagnosis_with(1), target)).at("sets")[0].contains("gpu_us"));
}

}  // namespace
}  // namespace lt_audit
