// A page of 100 columns in a narrower terminal.
#include "cli/page_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "lt_audit/check.h"

namespace lt_audit {
namespace {

constexpr std::string_view kPage =
    "# name\n"
    "\n"
    "A paragraph of two lines that is set anew when the terminal\n"
    "is narrow.\n"
    "\n"
    "- one item that goes on and on until\n"
    "  it needs a second line\n"
    "- another one\n"
    "\n"
    "| id      | what is done                |\n"
    "| ------- | --------------------------- |\n"
    "| a.first | something that needs room   |\n"
    "|         | and a second line           |\n"
    "| b       | nothing                     |\n"
    "\n"
    "```sh\n"
    "lt-audit run --a-long-option --another-long-option\n"
    "```\n";

TEST(PageLayout, LeavesAPageThatFitsAlone) { EXPECT_EQ(page_for_width(kPage, 100), kPage); }

TEST(PageLayout, SetsParagraphsItemsAndTablesAnew) {
  EXPECT_EQ(page_for_width(kPage, 40),
            "# name\n"
            "\n"
            "A paragraph of two lines that is set\n"
            "anew when the terminal is narrow.\n"
            "\n"
            "- one item that goes on and on until it\n"
            "  needs a second line\n"
            "- another one\n"
            "\n"
            "| id      | what is done               |\n"
            "| ------- | -------------------------- |\n"
            "| a.first | something that needs room  |\n"
            "|         | and a second line          |\n"
            "| b       | nothing                    |\n"
            "\n"
            "```sh\n"
            "lt-audit run --a-long-option --another-long-option\n"
            "```\n");
}

TEST(PageLayout, EveryPageFitsEightyColumnsAndLosesNoWord) {
  const auto words_of = [](const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
      if (word.find_first_not_of("|-:") != std::string::npos) words.push_back(word);
    }
    std::sort(words.begin(), words.end());
    return words;
  };
  for (const auto& check : registered_checks()) {
    const std::string page(page_of(check->info().id));
    const std::string narrow = page_for_width(page, 80);
    EXPECT_EQ(words_of(narrow), words_of(page)) << check->info().id;
    std::istringstream lines(narrow);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << check->info().id << ": " << line;
  }
}

}  // namespace
}  // namespace lt_audit
