// Waivers against reports: what they cover, and what is said of those that had their day.
#include <gtest/gtest.h>

#include "gate/gate_test_reports.h"

namespace lt_audit {
namespace {

const std::string kWhy = "reason = \"known\"\nexpires = \"2027-01-31\"\n";

std::vector<Waiver> waivers(const std::string& text) { return waivers_from_text(text, "w.toml", WaiverFormat::toml); }

/// One waiver with these keys.
std::vector<Waiver> waiver(const std::string& keys) { return waivers("[[waiver]]\n" + keys + "\n" + kWhy); }

GateResult decided(const Report& report, const std::vector<Waiver>& all) {
  return decide(report, nullptr, all, gate_options());
}

std::uint64_t waived(const Report& report, const std::string& keys) {
  return decided(report, waiver(keys)).counts.waived;
}

Report failing(const std::string& problem = kProblem) {
  return gate_report({gate_case("f16.a", Status::fail, "late", problem)});
}

TEST(GateWaivers, AWaivedFindingOpensTheGateAndIsNoted) {
  auto all = waiver("check = \"alignment\"\nlink = \"https://example.org/1\"");
  const auto result = decided(failing(), all);
  EXPECT_EQ(result.exit_code, 0);
  const auto note = result.annotations.note_of("alignment", "f16.a");
  ASSERT_TRUE(note.waiver);
  EXPECT_EQ(note.waiver->reason, "known");
  EXPECT_EQ(note.waiver->expires, "2027-01-31");
  EXPECT_EQ(note.waiver->link, "https://example.org/1");
  EXPECT_EQ(codes_of(result.decision().remarks), Codes{"waived"});
}

TEST(GateWaivers, EveryConditionMustHold) {
  const Report report = failing();
  for (const char* keys :
       {"check = \"align*\"", "cause = \"late\"", "cause = \"l*\"", "cause = \"alignment.late\"",
        "cause = \"alignment.late.fail\"", "case = \"f16.*\"", "check = \"alignment\"\nplatform = \"gpu\"",
        "case = \"f16.a\"\ngpu = \"NVIDIA H*\"", "cause = \"late\"\ncompute_capability = \"9.0\"",
        "cause = \"late\"\ncublaslt = \">=13.0, <13.8\""}) {
    EXPECT_EQ(waived(report, keys), 1U) << keys;
  }
  for (const char* keys :
       {"check = \"align\"", "cause = \"lat\"", "cause = \"workspace.late\"", "cause = \"alignment.late.warn\"",
        "case = \"f32.*\"", "check = \"alignment\"\nplatform = \"simulator\"", "case = \"f16.a\"\ngpu = \"NVIDIA B*\"",
        "cause = \"late\"\ncompute_capability = \"10.0\"", "cause = \"late\"\ncublaslt = \"<13.1\"",
        "check = \"alignment\"\nproblem = { m = 65 }"}) {
    EXPECT_EQ(waived(report, keys), 0U) << keys;
  }
}

TEST(GateWaivers, ProblemsAreComparedByMeaning) {
  const Report report = failing("m=64,n=32,k=16,ta=t,a=f16,workspace=1MiB,batch=2");
  for (const char* problem : {"m=64", "tb=n", "b=f16", "c=f16,d=f16", "compute=32f", "scale=f32", "lda=16", "ldd=64",
                              "stride_a=1024", "workspace=1048576", "workspace=1024KiB", "beta=0", "algo=0",
                              "bias_type=f16", "fast_accum=0", "a_alignment=256"}) {
    EXPECT_EQ(waived(report, "problem = \"" + std::string(problem) + "\""), 1U) << problem;
  }
  for (const char* problem : {"m=63", "ta=n", "lda=64", "workspace=32MiB", "scale_a=scalar", "batch=1", "m=64,n=64"})
    EXPECT_EQ(waived(report, "problem = \"" + std::string(problem) + "\""), 0U) << problem;
  EXPECT_EQ(waived(failing("no problem at all"), "problem = \"m=64\""), 0U);
}

TEST(GateWaivers, ErrorsAndSkipsCannotBeWaived) {
  const auto result = decided(gate_report({gate_case("a", Status::error), gate_case("b", Status::pass)}),
                              waiver("check = \"alignment\"\ncase = \"a\""));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.counts.waived, 0U);
  EXPECT_EQ(result.waivers[0].state, WaiverState::elsewhere);
}

TEST(GateWaivers, TheLastDayStillHolds) {
  const std::string keys = "[[waiver]]\ncheck = \"alignment\"\nreason = \"r\"\nexpires = ";
  EXPECT_EQ(decided(failing(), waivers(keys + "2026-12-01\n")).exit_code, 0);
  const auto result = decided(failing(), waivers(keys + "2026-11-30\n"));
  EXPECT_EQ(codes_of(result.decision().reasons), Codes{"waiver-expired"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.decision().reasons[0].title.find("waived until 2026-11-30 (w.toml:1: r)"), std::string::npos);
  EXPECT_EQ(result.waivers[0].state, WaiverState::expired);
  EXPECT_FALSE(result.annotations.note_of("alignment", "f16.a").waiver);
}

TEST(GateWaivers, AnExpiredWaiverOfAKnownFindingIsARemarkAlone) {
  const Report report = failing();
  const auto all = waivers("[[waiver]]\ncheck = \"alignment\"\nreason = \"r\"\nexpires = 2020-01-01\n");
  const auto result = decide(report, &report, all, gate_options());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(has_code(result.decision().remarks, "waiver-expired"));
}

TEST(GateWaivers, AnotherWaiverInForceCoversWhatAnExpiredOneDoesNot) {
  const auto all = waivers(
      "[[waiver]]\ncheck = \"alignment\"\nreason = \"old\"\nexpires = 2020-01-01\n[[waiver]]\ncause = "
      "\"late\"\n" +
      kWhy);
  const auto result = decided(failing(), all);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.annotations.note_of("alignment", "f16.a").waiver->reason, "known");
}

TEST(GateWaivers, UnusedNotNeededAndElsewhereAreToldApart) {
  const Report report = gate_report({gate_case("a", Status::pass), gate_case("b", Status::skip)});
  const auto all =
      waivers("[[waiver]]\ncheck = \"aligment\"\n" + kWhy + "[[waiver]]\ncause = \"alignment.late\"\n" + kWhy +
              "[[waiver]]\ncase = \"a\"\nplatform = \"simulator\"\n" + kWhy + "[[waiver]]\ncase = \"b\"\n" + kWhy);
  const auto result = decided(report, all);
  std::vector<WaiverState> states;
  for (const auto& use : result.waivers) states.push_back(use.state);
  EXPECT_EQ(states, (std::vector<WaiverState>{WaiverState::unused, WaiverState::not_needed, WaiverState::elsewhere,
                                              WaiverState::elsewhere}));
  EXPECT_EQ(codes_of(result.decision().remarks), (Codes{"waiver-not-needed", "waiver-unused", "waiver-elsewhere"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(
      entry_of(result.decision().remarks, "waiver-unused").details[0].starts_with("w.toml:1: until 2027-01-31"));
  EXPECT_TRUE(
      entry_of(result.decision().remarks, "waiver-unused").details[0].ends_with("did you mean the check 'alignment'?"));
}

TEST(GateWaivers, AWaiverThatEndsSoonIsSaid) {
  const auto ending = [](const char* day) {
    const auto all = waivers("[[waiver]]\ncheck = \"alignment\"\nreason = \"r\"\nexpires = " + std::string(day) + "\n");
    return has_code(decided(failing(), all).decision().remarks, "waiver-ends-soon");
  };
  EXPECT_TRUE(ending("2026-12-14"));
  EXPECT_FALSE(ending("2026-12-15"));
}

TEST(GateWaivers, OfEqualCasesTheOneThatIsNotWaivedCountsAgainstTheBaseline) {
  const Report old =
      gate_report({gate_case("a", Status::fail), gate_case("b", Status::fail), gate_case("c", Status::pass)});
  const Report now =
      gate_report({gate_case("a", Status::fail), gate_case("b", Status::fail), gate_case("c", Status::fail)});
  EXPECT_EQ(decide(now, &old, waiver("case = \"a\""), gate_options()).exit_code, 0);
  EXPECT_EQ(decide(now, &old, waiver("case = \"z\""), gate_options()).exit_code, 1);
}

TEST(GateWaivers, AProblemIsReadOnceForManyCases) {
  std::vector<CaseResult> cases;
  for (int i = 0; i < 2000; ++i) cases.push_back(gate_case("case-" + std::to_string(i), Status::fail));
  std::string text;
  for (int i = 0; i < 500; ++i) text += "[[waiver]]\nproblem = { m = " + std::to_string(i) + " }\n" + kWhy;
  EXPECT_EQ(decided(gate_report(std::move(cases)), waivers(text)).counts.waived, 2000U);
}

}  // namespace
}  // namespace lt_audit
