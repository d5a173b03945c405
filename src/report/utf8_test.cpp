// What is printed is valid UTF-8, steers no terminal and is measured in code points.
#include "report/utf8.h"

#include <gtest/gtest.h>

namespace lt_audit {
namespace {

TEST(Utf8, KeepsValidText) {
  const std::string text = "cuBLASLt · größer · 行列 · 😀";
  EXPECT_EQ(valid_utf8(text), text);
  EXPECT_EQ(printable(text), text);
}

TEST(Utf8, ReplacesEachInvalidByte) {
  EXPECT_EQ(valid_utf8("a\xFF"
                       "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "surrogate";
  EXPECT_EQ(valid_utf8("x\xE2\x82"), "x\xEF\xBF\xBD\xEF\xBF\xBD") << "cut off";
  EXPECT_EQ(valid_utf8("\xF5\x80\x80\x80").size(), 12U) << "above U+10FFFF";
}

TEST(Utf8, KeepsControlCharactersInDataButNotOnTheTerminal) {
  EXPECT_EQ(valid_utf8("a\x1b[31mb\n"), "a\x1b[31mb\n");
  EXPECT_EQ(printable("a\x1b[31mb\nc\td\x7f"), "a[31mb c d");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31mb"),
            "a31mb")
      << "C1 control sequence introducer";
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "ab")
      << "right-to-left override";
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(text_width("a·b"), 3U);
  EXPECT_EQ(text_prefix("a·b", 2), "a·");
  EXPECT_EQ(text_prefix("a·b", 9), "a·b");
  EXPECT_EQ(text_prefix("·", 0), "");
}

}  // namespace
}  // namespace lt_audit
