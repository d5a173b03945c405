// The comparison as Markdown that fits a pull request comment. Texts of the reports stand in code spans, in which
// GitHub sees no markup, no mention and no link.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "compare/diff_output.h"
#include "compare/diff_words.h"
#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

/// A text that nobody vouches for is not longer than this.
constexpr std::size_t kLongestText = 300;
constexpr std::size_t kMostEntries = 50;
/// Kept free for the sentence about what was left out, and for closing tags.
constexpr std::size_t kReserve = 400;

/// A code span: as many backticks around it as no run inside has; `|` escaped, as a table wants it, and harmless
/// elsewhere.
std::string code(std::string_view text) {
  const std::string clean = fitted(printable(text), kLongestText);
  if (clean.find_first_not_of(' ') == std::string::npos) return "-";
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : clean) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool touches = clean.front() == '`' || clean.back() == '`';
  std::string span = fence + (touches ? " " : "");
  for (const char c : clean) span += c == '|' ? std::string("\\|") : std::string(1, c);
  return span + (touches ? " " : "") + fence;
}

/// Text with a limit: a block is written whole or not at all.
class LimitedText {
 public:
  explicit LimitedText(std::size_t limit) : limit_(limit) {}

  /// False when there is no room; then everything later is left out too.
  bool add(std::string_view block) {
    if (full_ || text_.size() + block.size() > limit_) {
      full_ = true;
      return false;
    }
    text_ += block;
    return true;
  }
  /// Whatever the limit says: what closes an opened block.
  void close(std::string_view block) { text_ += block; }
  bool is_full() const { return full_; }
  const std::string& text() const { return text_; }

 private:
  std::size_t limit_;
  std::string text_;
  bool full_ = false;
};

class DiffMarkdown {
 public:
  DiffMarkdown(const ReportDiff& diff, const DiffOptions& options)
      : diff_(diff), options_(options), total_(diff.total()), text_(kMostMarkdownBytes - kReserve) {}

  std::string write() {
    heads();
    findings();
    checks();
    environment();
    for (const ChangeKind kind : all_change_kinds()) entries(kind);
    lone_cases("Only in the old report", diff_.only_before);
    lone_cases("Only in the new report", diff_.only_after);
    if (text_.is_full()) {
      text_.close(
          "\nThe rest was left out, because a comment may not be longer; `lt-audit diff OLD NEW -v` shows all.\n");
    }
    return text_.text();
  }

 private:
  void heads() {
    text_.add("## lt-audit diff\n\n");
    for (const std::string& warning : diff_.warnings) text_.add(fmt::format("> {}\n>\n", code(warning)));
    if (!diff_.warnings.empty()) text_.add("\n");
    text_.add(fmt::format("- old: {} {}\n", code(options_.before_path), code(side_text(diff_.before))));
    text_.add(fmt::format("- new: {} {}\n\n", code(options_.after_path), code(side_text(diff_.after))));
    text_.add(fmt::format("{} in both: {}.\n\n", counted(total_.matched, "case"), changes_sentence(total_)));
    std::string numbers;
    for (const std::string& clause : numbers_clauses(total_)) numbers += (numbers.empty() ? "" : ", ") + clause;
    text_.add("- numbers: " + or_reason(diff_.why_no_numbers, numbers.empty() ? "no case is right in both" : numbers));
    text_.add("- times: " +
              or_reason(diff_.why_no_times,
                        fmt::format("{} compared, {} slower, {} faster; a change counts beyond {:.0f} % and "
                                    "outside of both spreads",
                                    total_.timed, total_.count(ChangeKind::slower), total_.count(ChangeKind::faster),
                                    (diff_.time_threshold - 1) * 100)));
  }

  static std::string or_reason(const std::string& reason, const std::string& text) {
    return reason.empty() ? text + "\n" : fmt::format("not compared, {}\n", code(reason));
  }

  void findings() {
    if (diff_.findings.empty()) {
      text_.add("\nNo finding is new, changed or gone.\n");
      return;
    }
    text_.add("\n### Findings\n\n| | status | check | finding | cases |\n| --- | --- | --- | --- | --- |\n");
    for (const FindingDiff& one : diff_.findings) {
      text_.add(fmt::format("| {} | {} | {} | {} | {} → {} |\n", name_of(one.change), name_of(one.status),
                            code(one.check), code(one.title), one.count_before, one.count_after));
    }
  }

  void checks() {
    if (diff_.checks.empty()) return;
    text_.add(
        "\n### Checks\n\n| check | in both | what changed | only old | only new |\n| --- | --: | --- | --: | --: |\n");
    for (const CheckDiff& check : diff_.checks) {
      text_.add(fmt::format("| {} | {} | {} | {} | {} |\n", code(check.id), check.matched, changes_sentence(check),
                            check.only_before, check.only_after));
    }
  }

  /// Opens a folded block; false when there is no room.
  bool open(std::string_view title) { return text_.add(fmt::format("\n<details><summary>{}</summary>\n\n", title)); }

  void environment() {
    if (diff_.environment.empty()) {
      text_.add("\nThe environments are the same.\n");
      return;
    }
    if (!open(fmt::format("Environment: {}", counted(diff_.environment.size(), "difference")))) return;
    text_.add("| | old | new |\n| --- | --- | --- |\n");
    for (const EnvironmentDifference& one : diff_.environment) {
      text_.add(fmt::format("| {} | {} | {} |\n", code(one.what), code(one.before), code(one.after)));
    }
    text_.close("\n</details>\n");
  }

  void entries(ChangeKind kind) {
    const std::uint64_t count = total_.count(kind);
    if (count == 0 || !open(fmt::format("{}: {}", words_of(kind), counted(count, "case")))) return;
    const auto groups = groups_of(diff_, kind);
    std::uint64_t left = count;
    for (std::size_t i = 0; i < groups.size() && i < kMostEntries; ++i) {
      const CaseChange& change = *groups[i].example;
      std::string entry = "- ";
      if (!groups[i].title.empty()) {
        entry += fmt::format("{}: {}, for example ", groups[i].title, counted(groups[i].count, "case"));
      }
      entry += fmt::format("{}: {}", code(change.check + "/" + change.id), code(detail_of(change, kind)));
      if (!change.problem.empty()) entry += fmt::format("<br>{}", code(change.problem));
      if (!text_.add(entry + "\n")) break;
      left -= std::min(left, groups[i].count);
    }
    close_list(left);
  }

  void lone_cases(std::string_view title, const std::vector<LoneCase>& cases) {
    if (cases.empty() || !open(fmt::format("{}: {}", title, counted(cases.size(), "case")))) return;
    std::size_t shown = 0;
    for (; shown < cases.size() && shown < kMostEntries; ++shown) {
      const LoneCase& one = cases[shown];
      if (!text_.add(fmt::format("- {} {}\n", code(one.check + "/" + one.id), code(one.problem)))) break;
    }
    close_list(cases.size() - shown);
  }

  void close_list(std::uint64_t left) {
    if (left != 0) text_.close(fmt::format("\nand {}\n", counted(left, "more case")));
    text_.close("\n</details>\n");
  }

  const ReportDiff& diff_;
  const DiffOptions& options_;
  CheckDiff total_;
  LimitedText text_;
};

}  // namespace

void write_diff_markdown(const ReportDiff& diff, const DiffOptions& options, std::ostream& out) {
  out << DiffMarkdown(diff, options).write();
}

}  // namespace lt_audit
