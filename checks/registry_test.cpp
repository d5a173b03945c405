// One test walks the folders of the checks and compares them with the registry: a check that is only half there fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/check.h"

namespace lt_audit {
namespace {

namespace fs = std::filesystem;

const fs::path kChecks = LT_AUDIT_CHECKS_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The folder of id "compute-type" is compute_type.
std::string folder_of(std::string_view id) {
  std::string folder(id);
  std::replace(folder.begin(), folder.end(), '-', '_');
  return folder;
}

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kChecks)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Registry, HasOneCheckForEveryFolderSortedById) {
  std::vector<std::string> registered;
  std::vector<std::string> ids;
  for (const auto& check : registered_checks()) {
    ids.emplace_back(check->info().id);
    registered.push_back(folder_of(check->info().id));
  }
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
  std::sort(registered.begin(), registered.end());
  EXPECT_EQ(registered, folders());
}

TEST(Registry, EveryFolderHasSourcePageAndTestThatAreBuilt) {
  const std::string lists = text_of(kChecks / "CMakeLists.txt");
  for (const auto& name : folders()) {
    for (const std::string suffix : {".cpp", ".md", "_test.cpp"}) {
      const std::string file = name + "/" + name + suffix;
      EXPECT_TRUE(fs::exists(kChecks / file)) << file;
      EXPECT_NE(lists.find(" " + file), std::string::npos) << file << " is not in checks/CMakeLists.txt";
    }
    for (const auto& entry : fs::directory_iterator(kChecks / name)) {
      const std::string file = name + "/" + entry.path().filename().string();
      if (entry.path().extension() != ".cpp") continue;
      EXPECT_NE(lists.find(" " + file), std::string::npos) << file << " is not in checks/CMakeLists.txt";
    }
    EXPECT_NE(text_of(kChecks / name / (name + "_test.cpp")).find("TEST"), std::string::npos) << name;
  }
}

TEST(Registry, ListsInCMakeAreSorted) {
  std::istringstream lists(text_of(kChecks / "CMakeLists.txt"));
  std::vector<std::string> sources, tests, pages;
  for (std::string line; std::getline(lists, line);) {
    const auto start = line.find_first_not_of(' ');
    if (start == std::string::npos) continue;
    const std::string word = line.substr(start, line.find_first_of(" )", start) - start);
    if (line.rfind("lt_audit_embed", 0) == 0) pages.push_back(line);
    if (word.find('/') == std::string::npos || word.find(".cpp") == std::string::npos) continue;
    (word.find("_test.cpp") != std::string::npos ? tests : sources).push_back(word);
  }
  EXPECT_FALSE(sources.empty() || tests.empty() || pages.empty());
  EXPECT_TRUE(std::is_sorted(sources.begin(), sources.end()));
  EXPECT_TRUE(std::is_sorted(tests.begin(), tests.end()));
  EXPECT_TRUE(std::is_sorted(pages.begin(), pages.end()));
}

TEST(Registry, IdsAreKebabCaseAndSummariesOneSentenceWithoutAFullStop) {
  for (const auto& check : registered_checks()) {
    const auto& info = check->info();
    EXPECT_EQ(info.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos) << info.id;
    for (const std::string_view word : {"check", "test"}) {
      EXPECT_EQ(info.id.find(word), std::string_view::npos) << info.id;
    }
    EXPECT_FALSE(info.summary.empty()) << info.id;
    EXPECT_LE(info.summary.size(), 100U) << info.id;
    EXPECT_EQ(info.summary.find_first_of(".\n"), std::string_view::npos) << info.id;
    EXPECT_FALSE(info.source.empty()) << info.id;
  }
}

TEST(Registry, PagesAreTheFilesAndStartWithIdAndSummary) {
  for (const auto& check : registered_checks()) {
    const auto& info = check->info();
    const std::string folder = folder_of(info.id);
    const auto page = page_of(info.id);
    EXPECT_EQ(page, text_of(kChecks / folder / (folder + ".md"))) << info.id;
    const std::string start = "# " + std::string(info.id) + "\n\n" + std::string(info.summary) + ".\n";
    EXPECT_EQ(page.substr(0, start.size()), start);
  }
}

TEST(Registry, PagesHaveTheSectionsInOrderAndFitAHundredColumns) {
  for (const auto& check : registered_checks()) {
    const auto page = page_of(check->info().id);
    std::size_t at = 0;
    for (const std::string_view heading : {"\n## Why it matters\n", "\n## The rule\n", "\n## Cases\n",
                                           "\n## Verdicts and remedies\n", "\n## Limits\n", "\n## In the report\n"}) {
      const auto found = page.find(heading, at);
      ASSERT_NE(found, std::string_view::npos) << check->info().id << heading;
      at = found;
    }
    std::istringstream lines{std::string(page)};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Registry, CasesAreDeterministicUniqueAndGrowWithTheDepth) {
  Target target;
  target.device_facts.compute_major = 9;
  for (const auto& check : registered_checks()) {
    std::vector<std::string> shallower;
    for (const auto depth : {Depth::quick, Depth::normal, Depth::full}) {
      std::vector<std::string> ids, again;
      for (const auto& c : check->cases(target, depth)) ids.push_back(c.id);
      for (const auto& c : check->cases(target, depth)) again.push_back(c.id);
      EXPECT_EQ(ids, again) << check->info().id;
      EXPECT_FALSE(ids.empty()) << check->info().id;
      if (depth == Depth::quick) {
        EXPECT_LE(ids.size(), 250U) << check->info().id;
      }
      std::sort(ids.begin(), ids.end());
      EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end()) << check->info().id;
      EXPECT_TRUE(std::includes(ids.begin(), ids.end(), shallower.begin(), shallower.end())) << check->info().id;
      shallower = ids;
    }
  }
}

TEST(Registry, TheDefaultDepthHasManyCases) {
  std::size_t count = 0;
  for (const auto& check : registered_checks()) count += check->cases(Target{}, Depth::normal).size();
  EXPECT_GE(count, 1200U);
}

TEST(Registry, UnknownChecksHaveNoPage) { EXPECT_TRUE(page_of("no-such-check").empty()); }

}  // namespace
}  // namespace lt_audit
