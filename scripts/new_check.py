#!/usr/bin/env python3
"""Makes the folder of a new check, with a page, a skeleton that compiles and a test, and registers it.

Usage: scripts/new_check.py NAME ["Summary in one sentence without a full stop"]

NAME is kebab-case, subject first: "epilogue-bias-type". What is written:
  checks/NAME/NAME.cpp, NAME.md, NAME_test.cpp (NAME in snake_case),
  one line each in the lists of checks/CMakeLists.txt and checks/registry.cpp, in order.
Nothing is written when any of it is there already. docs/adding-a-check.md says what to do next.
"""

import re
import sys
from pathlib import Path

CHECKS = Path(__file__).resolve().parent.parent / "checks"

SOURCE = """\
// Check "@ID@": what it looks for, in a line or two.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lt_audit/check.h"
#include "lt_audit/contract.h"

namespace lt_audit {
namespace {

constexpr CheckInfo kInfo{"@ID@", "@SUMMARY@",
                          "document and section, or header and enumerator, with the version that was read"};

class @CLASS@ : public Check {
 public:
  const CheckInfo& info() const override { return kInfo; }

  std::vector<Case> cases(const Target& target, Depth /*depth*/) const override {
    Case first;
    first.id = "f16.aligned";
    first.problem = uniform_problem(CUDA_R_16F, 96, 80, 64);
    auto promise = promise_of(first.problem, scope_of(target));
    first.expectation = promise.expectation;
    first.rule = std::move(promise.rule);
    return {first};
  }

  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    return {"What happens, in one line (" + verdict.reason + ")", "what the documentation promises", the_case.rule,
            "what to change: the attribute and its value"};
  }
};

}  // namespace

std::unique_ptr<Check> make_@SNAKE@() { return std::make_unique<@CLASS@>(); }

}  // namespace lt_audit
"""

TEST = """\
// Tests of check "@ID@": its cases, and the judgement on hand-made observations.
#include <gtest/gtest.h>

#include <memory>

#include "../hand_made.h"
#include "lt_audit/check.h"

namespace lt_audit {

std::unique_ptr<Check> make_@SNAKE@();

namespace {

TEST(@CLASS@, PassesWhenADocumentedCallWorks) {
  const auto check = make_@SNAKE@();
  for (const auto& c : check->cases(Target{}, Depth::normal)) {
    EXPECT_EQ(check->judge(c, hand_made::worked()).status, Status::pass) << c.id;
  }
}

TEST(@CLASS@, FailsAndAdvisesWhenADocumentedCallIsRefused) {
  const auto check = make_@SNAKE@();
  for (const auto& c : check->cases(Target{}, Depth::normal)) {
    const auto verdict = check->judge(c, hand_made::refused());
    EXPECT_EQ(verdict.status, Status::fail) << c.id;
    EXPECT_FALSE(check->advice(c, verdict).remedy.empty()) << verdict.reason;
  }
}

}  // namespace
}  // namespace lt_audit
"""

PAGE = """\
# @ID@

@SUMMARY@.

## Why it matters

What goes wrong in an application, and public reports of it.

## The rule

What the documentation says, with document, section and version.

## Cases

| id          | what is varied |
| ----------- | -------------- |
| f16.aligned | nothing        |

## Verdicts and remedies

must-work-refused (fail): what it means, and what to change.

## Limits

What is not looked at.

## In the report

Parameters of a case, and what the sentence of a verdict has.
"""


def stop(message):
    sys.exit(f"new_check.py: {message}")


def insert_sorted(text, pattern, line, path):
    """Puts `line` among the lines that match `pattern`, which stand together in order."""
    lines = text.split("\n")
    places = [i for i, old in enumerate(lines) if re.fullmatch(pattern, old)]
    if not places:
        stop(f"{path}: no line looks like {pattern!r}; add {line.strip()!r} by hand")
    after = [i for i in places if lines[i] > line]
    lines.insert(after[0] if after else places[-1] + 1, line)
    return "\n".join(lines)


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        stop(f"expected a name\n\n{__doc__}")
    name = arguments[0]
    summary = arguments[1] if len(arguments) == 2 else "What works or is refused, in one sentence"
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        stop(f"{name!r} is not kebab-case: lower case letters, digits and single hyphens")
    if "check" in name or "test" in name:
        stop(f"{name!r}: leave out the words check and test")
    if "." in summary or len(summary) > 100:
        stop("the summary is one sentence of at most 100 characters without a full stop")
    if re.search(r'["\\\n]', summary):
        stop("the summary stands in a string of C++: no quotes, backslashes or line ends")

    snake = name.replace("-", "_")
    words = {"@ID@": name, "@SNAKE@": snake, "@CLASS@": "".join(w.capitalize() for w in name.split("-")),
             "@SUMMARY@": summary}
    folder = CHECKS / snake
    if folder.exists():
        stop(f"{folder} exists already")

    cmake, registry = CHECKS / "CMakeLists.txt", CHECKS / "registry.cpp"
    edits = [
        (cmake, r"  \w+/\w+(?<!_test)\.cpp", f"  {snake}/{snake}.cpp"),
        (cmake, r"lt_audit_embed\(lt_audit_checks .*", f"lt_audit_embed(lt_audit_checks {snake}/{snake}.md page_{snake})"),
        (cmake, r"    \w+/\w+_test\.cpp", f"    {snake}/{snake}_test.cpp"),
        (registry, r"std::unique_ptr<Check> make_\w+\(\);", f"std::unique_ptr<Check> make_{snake}();"),
        (registry, r"extern const std::string_view page_\w+;", f"extern const std::string_view page_{snake};"),
        (registry, r"    Entry\{.*\},", f'    Entry{{"{name}", make_{snake}, &embedded::page_{snake}}},'),
    ]
    texts = {path: path.read_text() for path in (cmake, registry)}
    for path, pattern, line in edits:
        texts[path] = insert_sorted(texts[path], pattern, line, path)

    folder.mkdir()
    for suffix, template in ((".cpp", SOURCE), (".md", PAGE), ("_test.cpp", TEST)):
        text = template
        for word, value in words.items():
            text = text.replace(word, value)
        (folder / f"{snake}{suffix}").write_text(text)
        print(f"wrote   checks/{snake}/{snake}{suffix}")
    for path, text in texts.items():
        path.write_text(text)
        print(f"changed checks/{path.name}")
    print("next: clang-format -i checks/registry.cpp checks/*/*.cpp, build, run lt_audit_checks_tests; "
          "docs/adding-a-check.md")


if __name__ == "__main__":
    main(sys.argv[1:])
