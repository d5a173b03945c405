// Matching at the edges of version ranges, lists of GPUs, and problems.
#include "known_issues/match.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "workload/problem_text.h"

namespace lt_audit {
namespace {

IssuePlace at(const char* version, int compute_capability = 90) {
  return {exact_version_from(version), compute_capability};
}

KnownIssue issue() {
  KnownIssue made;
  made.id = "KI-001";
  made.affected = {{LibraryVersion{12, 9, 0}, LibraryVersion{12, 9, 2}},
                   {LibraryVersion{13, 0, 0}, LibraryVersion{13, 1, 1}}};
  return made;
}

TEST(MatchIssue, TheFirstAffectedVersionIsInTheFixedOneIsNot) {
  for (const char* inside : {"12.9.0", "12.9.1", "13.0.0", "13.0.2", "13.1.0"}) {
    const auto match = match_issue(issue(), at(inside));
    ASSERT_TRUE(match) << inside;
    EXPECT_TRUE(match->applies()) << inside;
  }
  for (const char* outside : {"12.8.9", "12.9.2", "12.9.3", "13.1.1", "13.2.0"})
    EXPECT_FALSE(match_issue(issue(), at(outside))) << outside;
}

TEST(MatchIssue, ThePatchReleaseOfTheSameLineIsTheFix) {
  EXPECT_EQ(match_issue(issue(), at("12.9.1"))->fixed_in, (LibraryVersion{12, 9, 2}));
  EXPECT_EQ(match_issue(issue(), at("13.1.0"))->fixed_in, (LibraryVersion{13, 1, 1}));
}

TEST(MatchIssue, AnUnknownStartIsADoubt) {
  auto made = issue();
  made.affected = {{std::nullopt, LibraryVersion{13, 3, 0}}};
  const auto match = match_issue(made, at("13.1.0"));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->doubts, std::vector<std::string>{"the first version with it is not known"});
  EXPECT_FALSE(match_issue(made, at("13.3.0")));
}

TEST(MatchIssue, WithoutAFixOnlyTheVersionItWasSeenInIsCertain) {
  auto made = issue();
  made.open = true;
  made.affected = {{LibraryVersion{12, 5, 3}, std::nullopt}};
  EXPECT_TRUE(match_issue(made, at("12.5.3"))->applies());
  EXPECT_FALSE(match_issue(made, at("12.5.4"))->applies());
  EXPECT_FALSE(match_issue(made, at("12.5.2")));
  EXPECT_FALSE(match_issue(made, at("12.5.4"))->fixed_in);
  // A rule that was introduced stays one.
  made.open = false;
  EXPECT_TRUE(match_issue(made, at("13.1.0"))->applies());
}

TEST(MatchIssue, TheSourcesDecideForThePlaceThatTheySpeakOf) {
  auto made = issue();
  made.affected = {{std::nullopt, std::nullopt}};
  made.open = true;
  made.sources_say["13.1.0/sm_90"] = SourcesSay::yes;
  EXPECT_TRUE(match_issue(made, at("13.1.0"))->applies());
  EXPECT_FALSE(match_issue(made, at("13.1.0", 100))->applies());
  made.sources_say["13.1.0/sm_90"] = SourcesSay::no;
  EXPECT_EQ(match_issue(made, at("13.1.0"))->doubts.size(), 1U);
}

TEST(MatchIssue, OnlyTheGpusOfItsList) {
  auto made = issue();
  made.capabilities.all = false;
  made.capabilities.in = {{9, 0}, {10, std::nullopt}};
  for (const int inside : {90, 100, 103}) EXPECT_TRUE(match_issue(made, at("13.1.0", inside))) << inside;
  for (const int outside : {80, 89, 110, 120}) EXPECT_FALSE(match_issue(made, at("13.1.0", outside))) << outside;
  made.capabilities.in.clear();
  made.capabilities.least = 80;
  EXPECT_TRUE(match_issue(made, at("13.1.0", 80)));
  EXPECT_TRUE(match_issue(made, at("13.1.0", 120)));
  EXPECT_FALSE(match_issue(made, at("13.1.0", 75)));
}

TEST(MatchIssue, AConditionInWordsIsADoubt) {
  auto made = issue();
  made.condition = "the host is not x86";
  EXPECT_EQ(match_issue(made, at("13.1.0"))->doubts, std::vector<std::string>{"only where: the host is not x86"});
}

TEST(MatchIssue, EveryConditionOnTheProblemMustHold) {
  auto made = issue();
  made.problem = {Predicate("batch > 1"), Predicate("epilogue == bias")};
  EXPECT_TRUE(match_issue(made, at("13.1.0"), problem_from_text("m=1,n=1,k=1,a=f16,batch=2,epilogue=bias"))->applies());
  EXPECT_FALSE(match_issue(made, at("13.1.0"), problem_from_text("m=1,n=1,k=1,a=f16,batch=2")));
  EXPECT_FALSE(match_issue(made, at("13.1.1"), problem_from_text("m=1,n=1,k=1,a=f16,batch=2,epilogue=bias")));
  // Without a problem they are not looked at.
  EXPECT_TRUE(match_issue(made, at("13.1.0"))->applies());
}

TEST(MatchIssue, AnUnknownAlgorithmIsADoubtAndAKnownOneDecides) {
  auto made = issue();
  made.problem = {Predicate("split_k > 1")};
  const auto problem = problem_from_text("m=1,n=1,k=1,a=f16");
  EXPECT_EQ(match_issue(made, at("13.1.0"), problem)->doubts,
            std::vector<std::string>{"only with an algorithm of: split_k > 1"});
  AlgorithmFacts facts;
  facts.split_k = 2;
  EXPECT_TRUE(match_issue(made, at("13.1.0"), problem, facts)->applies());
  facts.split_k = 1;
  EXPECT_FALSE(match_issue(made, at("13.1.0"), problem, facts));
}

TEST(MatchIssue, WhatConcernsNoProblemMatchesNone) {
  auto made = issue();
  made.concern = Concern::use;
  EXPECT_TRUE(match_issue(made, at("13.1.0")));
  EXPECT_FALSE(match_issue(made, at("13.1.0"), problem_from_text("m=1,n=1,k=1,a=f16")));
}

bool has(const std::vector<IssueMatch>& matches, const char* id) {
  return std::any_of(matches.begin(), matches.end(), [id](const IssueMatch& match) { return match.issue->id == id; });
}

TEST(MatchIssues, FindsTheIssuesOfAPlaceThoseThatApplyFirst) {
  const auto matches = match_issues(at("13.1.0"));
  EXPECT_TRUE(has(matches, "KI-061"));
  EXPECT_FALSE(has(matches, "KI-062"));  // fixed in 13.0.2
  EXPECT_FALSE(has(matches, "KI-049"));  // Blackwell
  EXPECT_TRUE(std::is_partitioned(matches.begin(), matches.end(), [](const auto& match) { return match.applies(); }));
  EXPECT_TRUE(has(match_issues(at("13.0.1")), "KI-062"));
  EXPECT_TRUE(has(match_issues(at("12.8.3", 100)), "KI-049"));
}

TEST(MatchIssues, FindsTheIssuesOfAProblem) {
  const auto problem = problem_from_text("m=96,n=80,k=64,ta=t,a=i8,d=i32,batch=3");
  EXPECT_TRUE(has(match_issues(at("13.1.0"), problem), "KI-061"));
  EXPECT_FALSE(has(match_issues(at("13.2.0"), problem), "KI-061"));
  EXPECT_FALSE(has(match_issues(at("13.1.0"), problem_from_text("m=96,n=80,k=64,ta=t,a=i8,d=i32")), "KI-061"));
  EXPECT_TRUE(has(match_issues(at("13.1.0"), problem_from_text("m=96,n=65537,k=64,ta=t,a=i8,d=i32")), "KI-061"));
  EXPECT_FALSE(has(match_issues(at("13.1.0"), problem_from_text("m=96,n=65536,k=64,ta=t,a=i8,d=i32")), "KI-061"));
}

}  // namespace
}  // namespace lt_audit
