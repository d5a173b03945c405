// diff from outside, on two audits of the simulator, one with a planted fault; the commands of docs/guide/diff.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "scratch.h"

namespace lt_audit {
namespace {

class DiffTest : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    audit("old.json", {});
    audit("new.json", {"--inject", "late-refusal"});
  }

  void audit(const std::string& json, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"run", "alignment", "--target", "simulator", "--depth", "quick", "--json", json};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = run_program(words, here());
    ASSERT_LE(run.code, 1) << run.err;
  }
};

TEST_F(DiffTest, TellsWhatAnotherLibraryRefuses) {
  const Finished diff = run_program({"diff", "old.json", "new.json"}, here());
  EXPECT_EQ(diff.code, 0) << diff.err;
  EXPECT_TRUE(contains(diff.out, "newly refused: 10 cases")) << diff.out;
  EXPECT_TRUE(contains(diff.out, "alignment/f16.nn.a.off2.declared  correct (pass) -> late_refusal (fail)"))
      << diff.out;
  EXPECT_TRUE(contains(diff.out, "planted fault  -    late-refusal")) << diff.out;
  EXPECT_TRUE(contains(diff.out, "not compared: both reports are of the simulator")) << diff.out;
  EXPECT_TRUE(contains(diff.out, "  new      fail   alignment: ")) << diff.out;
  const Finished replay = run_program({"replay", "new.json:alignment/f16.nn.a.off2.declared"}, here());
  EXPECT_EQ(replay.code, 1) << "the line that diff prints shows the refusal again: " << replay.err;
}

/// Words of a command line without quotes.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST_F(DiffTest, ThePageShowsWhatItsCommandsPrint) {
  std::istringstream page(file_text(LT_AUDIT_SOURCE_DIR "/docs/guide/diff.md"));
  const std::string prompt = "$ lt-audit ";
  std::string output;
  std::string expected;
  int commands = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(prompt)) {
      output = run_program(words_of(line.substr(prompt.size())), here()).out;
      expected.clear();
      ++commands;
    } else if (commands == 3 && line == "```") {
      break;
    } else if (commands == 3) {
      expected += line + "\n";
    }
  }
  ASSERT_EQ(commands, 3);
  const std::regex time("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z");
  EXPECT_EQ(std::regex_replace(output, time, "TIME"), std::regex_replace(expected, time, "TIME"));
}

TEST_F(DiffTest, IsSilentAboutTwoAuditsOfOneLibrary) {
  audit("again.json", {});
  const Finished diff = run_program({"diff", "old.json", "again.json", "--fail-on", "warn"}, here());
  EXPECT_EQ(diff.code, 0) << diff.err;
  EXPECT_TRUE(contains(diff.out, "in both: nothing changed")) << diff.out;
  EXPECT_TRUE(contains(diff.out, "The environments are the same.")) << diff.out;
}

TEST_F(DiffTest, FailsOnNewFindingsWhenAsked) {
  EXPECT_EQ(run_program({"diff", "old.json", "new.json", "--fail-on", "fail"}, here()).code, 1);
  EXPECT_EQ(run_program({"diff", "new.json", "old.json", "--fail-on", "fail"}, here()).code, 0) << "only gone ones";
}

TEST_F(DiffTest, WritesJsonAndMarkdown) {
  const Finished diff =
      run_program({"diff", "old.json", "new.json", "--json", "diff.json", "--markdown", "diff.md"}, here());
  EXPECT_EQ(diff.code, 0) << diff.err;
  const auto json = file_json(here_ / "diff.json");
  EXPECT_EQ(json.at("schema"), "lt-audit-diff");
  EXPECT_EQ(json.at("total").at("newly_refused"), 10);
  EXPECT_EQ(json.at("old").at("path"), "old.json");
  const std::string markdown = file_text(here_ / "diff.md");
  EXPECT_TRUE(contains(markdown, "<summary>newly refused: 10 cases</summary>")) << markdown;
  const std::string validate = LT_AUDIT_SOURCE_DIR "/scripts/validate_report.py " + (here_ / "diff.json").string();
  if (std::system("python3 -c 'import jsonschema' >/dev/null 2>&1") == 0) {
    EXPECT_EQ(std::system(("python3 " + validate).c_str()), 0);
  }
}

TEST_F(DiffTest, JsonOnStandardOutputIsOneDocument) {
  const Finished diff = run_program({"diff", "old.json", "new.json", "--json", "-"}, here());
  EXPECT_EQ(diff.code, 0) << diff.err;
  EXPECT_EQ(nlohmann::json::parse(diff.out).at("schema"), "lt-audit-diff");
  EXPECT_TRUE(contains(diff.err, "newly refused: 10 cases")) << diff.err;
}

TEST_F(DiffTest, NamesTheFileThatIsNoReport) {
  std::filesystem::resize_file(here_ / "old.json", std::filesystem::file_size(here_ / "old.json") / 2);
  const Finished truncated = run_program({"diff", "old.json", "new.json"}, here());
  EXPECT_EQ(truncated.code, 2);
  EXPECT_TRUE(contains(truncated.err, "report old.json: ends in the middle")) << truncated.err;
  const Finished missing = run_program({"diff", "new.json", "nowhere.json"}, here());
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(contains(missing.err, "report nowhere.json: cannot be opened")) << missing.err;
  EXPECT_EQ(run_program({"diff", "new.json"}, here()).code, 2) << "one report is no comparison";
}

}  // namespace
}  // namespace lt_audit
