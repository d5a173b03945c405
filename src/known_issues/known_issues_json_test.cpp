// The data that is built in, and what is said about mistakes in it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "known_issues/match.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

using nlohmann::json;

json the_data() {
  std::ifstream file(LT_AUDIT_KNOWN_ISSUES);
  return json::parse(file);
}

/// What is said about the data after a change to its first issue.
template <class Change>
std::string error_after(const Change& change) {
  json data = the_data();
  change(data.at("issues").at(0));
  try {
    static_cast<void>(read_known_issues(data.dump()));
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(KnownIssuesData, IsBuiltInWholeAndCanBeRead) {
  const json data = the_data();
  ASSERT_EQ(known_issues().size(), data.at("issues").size());
  for (std::size_t i = 0; i < known_issues().size(); ++i) {
    EXPECT_EQ(known_issues()[i].id, data.at("issues").at(i).at("id"));
    EXPECT_EQ(known_issues()[i].problem.size(), data.at("issues").at(i).at("problem").size());
  }
}

TEST(KnownIssuesData, EveryWitnessIsAProblemThatItsIssueSpeaksOf) {
  for (const auto& issue : known_issues()) {
    for (const auto& problem : issue.witness) {
      for (const auto& predicate : issue.problem)
        EXPECT_NE(predicate.holds(problem, {}), false) << issue.id << ": " << predicate.text();
    }
    EXPECT_TRUE(issue.witness.empty() || issue.concern == Concern::problem) << issue.id;
  }
}

TEST(KnownIssuesData, EveryIssueOfAProblemIsFoundByConditionsOrSaysOnWhatItDepends) {
  for (const auto& issue : known_issues()) {
    if (issue.id == "KI-032") continue;  // every call is slower
    EXPECT_FALSE(issue.problem.empty() && issue.condition.empty()) << issue.id;
  }
}

TEST(KnownIssuesData, AgreesWithWhatTheSourcesSayOfAPlace) {
  for (const auto& issue : known_issues()) {
    for (const auto& [place, answer] : issue.sources_say) {
      const auto slash = place.find("/sm_");
      ASSERT_NE(slash, std::string::npos) << place;
      const IssuePlace where{exact_version_from(place.substr(0, slash)),
                             compute_capability_from(place.substr(slash + 1))};
      const auto match = match_issue(issue, where);
      if (answer != SourcesSay::no) {
        EXPECT_TRUE(match) << issue.id;
      }
      if (match && answer == SourcesSay::yes) {
        EXPECT_EQ(match->doubts.size(), issue.condition.empty() ? 0U : 1U) << issue.id;
      }
    }
    for (const auto& place : issue.demonstrable_on) EXPECT_TRUE(issue.sources_say.contains(place)) << issue.id;
  }
}

TEST(KnownIssuesData, IsFoundByIdInAnyCase) {
  ASSERT_NE(find_known_issue("ki-056"), nullptr);
  EXPECT_EQ(find_known_issue("ki-056")->id, "KI-056");
  EXPECT_EQ(find_known_issue("KI-56"), nullptr);
}

TEST(KnownIssuesData, UnknownKeysAreErrorsWithTheNearest) {
  const auto error = error_after([](json& issue) { issue["workarund"] = "x"; });
  EXPECT_TRUE(contains(error, "issues[0].workarund is not known; did you mean 'workaround'?")) << error;
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["symptom"]["txt"] = "x"; }), "symptom.txt"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["affected"][0]["until"] = "x"; }), "affected[0].until"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["compute_capability"] = {{"max", "9.0"}}; }), ".max"));
}

TEST(KnownIssuesData, MistakesNameTheFieldAndWhatToWrite) {
  const auto concern = error_after([](json& issue) { issue["concerns"] = "problems"; });
  EXPECT_TRUE(contains(concern, "did you mean 'problem'?")) << concern;
  const auto key = error_after([](json& issue) {
    issue["concerns"] = "problem";
    issue["problem"] = {"epilog == bias"};
  });
  EXPECT_TRUE(contains(key, "issues[0].problem[0]")) << key;
  EXPECT_TRUE(contains(key, "nearest: 'epilogue'")) << key;
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["affected"][0]["from"] = "13.1"; }), "MAJOR.MINOR.PATCH"));
  EXPECT_TRUE(contains(error_after([](json& issue) {
                         issue["affected"][0] = {{"from", "13.1.0"}, {"before", "13.1.0"}};
                       }),
                       "ends before it begins"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["affected"] = json::array(); }), "range of versions"));
  EXPECT_TRUE(contains(error_after([](json& issue) {
                         issue["compute_capability"] = {{"in", {"9.0", "ten"}}};
                       }),
                       "ten"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["symptom"]["kind"] = "wrong"; }), "symptom.kind"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue.erase("no_witness"); }), "no_witness with the reason"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["witness"] = {"m=1"}; }), "witness[0] cannot be read"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["condition"] = nullptr; }), "concerns no problem"));
  EXPECT_TRUE(contains(error_after([](json& issue) {
                         issue["sources_say"] = {{"13.1.0/sm_90", "perhaps"}};
                       }),
                       "perhaps"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["confirmed_by"] = "me"; }), "vendor or community"));
}

TEST(KnownIssuesData, IdsAreUniqueAndSorted) {
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["id"] = "KI-002"; }), "unique and sorted"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["id"] = "KI-1"; }), "is no id"));
  EXPECT_TRUE(contains(error_after([](json& issue) { issue["id"] = "CR-1"; }), "unique and sorted"));
}

TEST(KnownIssuesData, AnotherDocumentIsRefused) {
  for (const char* text : {"{", "[]", "{}", R"({"schema":"lt-audit/known-issues/1","issues":[]})"})
    EXPECT_THROW(static_cast<void>(read_known_issues(text)), AuditError) << text;
}

}  // namespace
}  // namespace lt_audit
