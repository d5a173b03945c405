// No text of others becomes markup, a link, a mention or a command.
#include "report/escape.h"

#include <gtest/gtest.h>

#include <array>

#include "report/sample_formats.h"

namespace lt_audit {
namespace {

TEST(XmlText, EscapesWhatXmlReadsAndReplacesWhatItForbids) {
  EXPECT_EQ(xml_text("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;'c");
  EXPECT_EQ(xml_text("]]>"), "]]&gt;");
  EXPECT_EQ(xml_text(std::string("a\x1b[31m\x00\x07z", 9)), "a[31mz");
  EXPECT_EQ(xml_text("a\nb\tc"), "a b c");
  EXPECT_EQ(xml_text("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(xml_text("\xEF\xBF\xBE\xEF\xBF\xBF!"), "\xEF\xBF\xBD\xEF\xBF\xBD!");
}

TEST(MarkdownText, ShowsTheTextAndNothingElse) {
  EXPECT_EQ(markdown_text("*a* _b_ `c` ~d~ | [e](f)"),
            "&#42;a&#42; &#95;b&#95; &#96;c&#96; &#126;d&#126; &#124; &#91;e&#93;(f)");
  EXPECT_EQ(markdown_text("<b>&amp;"), "&lt;b&gt;&amp;amp;");
  // Words of cuBLASLt stay readable in the source.
  EXPECT_EQ(markdown_text("NOT_SUPPORTED (D)"), "NOT_SUPPORTED (D)");
}

TEST(MarkdownText, MakesNoMentionReferenceOrLink) {
  EXPECT_EQ(markdown_text("@alice"), "&#64;&#8203;alice");
  EXPECT_EQ(markdown_text("owner/name#12"), "owner/name&#35;&#8203;12");
  EXPECT_EQ(markdown_text("see GH-12, gh-3"), "see GH-&#8203;12, gh-&#8203;3");
  EXPECT_EQ(markdown_text("https://x.example"), "https:&#8203;//x.example");
  EXPECT_EQ(markdown_text("WWW.x.example"), "WWW.&#8203;x.example");
  EXPECT_EQ(markdown_text("m=1, a: b. c-d"), "m=1, a: b. c-d");
}

TEST(MarkdownCode, HasAFenceThatTheTextCannotClose) {
  EXPECT_EQ(markdown_code("m=1"), "`m=1`");
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("`"), "`` ` ``");
  EXPECT_EQ(markdown_code("a```\n<b>"), "````a``` <b>````");
  EXPECT_EQ(markdown_code(""), "");
}

TEST(FileUri, EncodesNamesAndKeepsThemInTheDirectory) {
  EXPECT_EQ(file_uri("logs/app 1.log"), "logs/app%201.log");
  EXPECT_EQ(file_uri("/var/log/\xC3\xA4#?.log"), "file:///var/log/%C3%A4%23%3F.log");
  EXPECT_EQ(file_uri("javascript:alert(1)"), "javascript%3Aalert%281%29");
  EXPECT_EQ(file_uri("../../etc/passwd"), "passwd");
  EXPECT_EQ(file_uri("./a/../b.log"), "b.log");
  EXPECT_EQ(file_uri(""), "");
}

TEST(Workflow, EscapesLineEndsAndPropertySeparators) {
  EXPECT_EQ(workflow_message("50%\n::error::x"), "50%25 ::error::x");
  EXPECT_EQ(workflow_property("a: b, c%0A"), "a%3A b%2C c%250A");
}

TEST(WithoutWorkflowCommands, BreaksBothFormsAndNothingElse) {
  EXPECT_EQ(without_workflow_commands("::error::x\n"), ": :error::x\n");
  EXPECT_EQ(without_workflow_commands("  \t::add-mask::x"), "  \t: :add-mask::x");
  EXPECT_EQ(without_workflow_commands("text ##[error]x\n##[a]\n"), "text ## [error]x\n## [a]\n");
  const std::string harmless = "fail  a::b c\n\n      measured  #1 [x]\n";
  EXPECT_EQ(without_workflow_commands(harmless), harmless);
  EXPECT_EQ(without_workflow_commands(""), "");
}

TEST(Escaping, LeavesNoControlCharacterOfAnyText) {
  using Escape = std::string (*)(std::string_view);
  for (const Escape escape :
       std::array<Escape, 5>{xml_text, markdown_text, markdown_code, workflow_message, workflow_property}) {
    for (const char c : escape(hostile_text())) {
      EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7F) << static_cast<int>(c);
    }
  }
}

}  // namespace
}  // namespace lt_audit
