// The comparison for a terminal: a screen by default, everything with -v.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "compare/diff_output.h"
#include "compare/diff_words.h"
#include "report/text_layout.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

constexpr std::size_t kMostEnvironmentRows = 8;
/// Of what may break an application three, of the rest an example.
constexpr std::size_t kMostEntries = 3;
constexpr std::size_t kMostOtherEntries = 1;
constexpr std::size_t kMostFindings = 6;
constexpr std::size_t kIndent = 2;

class DiffText {
 public:
  DiffText(const ReportDiff& diff, const DiffOptions& options, std::ostream& out)
      : diff_(diff), options_(options), total_(diff.total()), out_(out) {
    TextOptions text;
    text.columns = options.columns;
    width_ = paragraph_width(text);
  }

  void write() {
    heads();
    if (!options_.quiet) {
      environment();
      checks();
      for (const ChangeKind kind : all_change_kinds()) entries(kind);
      lone_cases("only in the old report", diff_.only_before);
      lone_cases("only in the new report", diff_.only_after);
    }
    findings();
    last_line();
  }

 private:
  bool all() const { return options_.verbose; }

  void labelled(std::string_view label, std::string_view text, std::size_t indent, std::size_t label_width) {
    write_labelled(label, text, indent, label_width, width_, out_);
  }

  void heads() {
    // A note that changes how everything below is to be read stands above it.
    for (const std::string& warning : diff_.warnings) labelled("note", warning, 0, 6);
    if (options_.quiet) return;
    labelled("old", fmt::format("{} ({})", options_.before_path, side_text(diff_.before)), 0, 6);
    labelled("new", fmt::format("{} ({})", options_.after_path, side_text(diff_.after)), 0, 6);
  }

  void environment() {
    if (diff_.environment.empty()) {
      out_ << "\nThe environments are the same.\n";
      return;
    }
    const std::size_t shown =
        all() ? diff_.environment.size() : std::min(diff_.environment.size(), kMostEnvironmentRows);
    std::size_t what_width = 0;
    std::size_t before_width = 3;
    for (std::size_t i = 0; i < shown; ++i) {
      what_width = std::max(what_width, text_width(printable(diff_.environment[i].what)));
      before_width = std::max(before_width, text_width(value_text(diff_.environment[i].before)));
    }
    what_width = std::min(what_width, width_ / 3);
    const std::size_t room = width_ - kIndent - what_width - 2;
    before_width = std::min(before_width, room / 2);
    const auto row = [&](const std::string& what, const std::string& before, const std::string& after) {
      const std::size_t rest = room - before_width - 2;
      out_ << std::string(kIndent, ' ') << padded(fitted(what, what_width), what_width) << "  "
           << padded(fitted(before, before_width), before_width) << "  " << (all() ? after : fitted(after, rest))
           << '\n';
    };
    out_ << "\nenvironment\n";
    row("", "old", "new");
    for (std::size_t i = 0; i < shown; ++i) {
      const EnvironmentDifference& one = diff_.environment[i];
      row(printable(one.what), value_text(one.before), value_text(one.after));
    }
    more(diff_.environment.size() - shown, "more difference");
  }

  static std::string value_text(const std::string& value) { return value.empty() ? "-" : printable(value); }

  /// One column of the table of checks.
  struct Column {
    std::string upper;
    std::string lower;
    std::vector<std::uint64_t> counts;

    std::size_t width() const {
      std::size_t widest = std::max(text_width(upper), text_width(lower));
      for (const std::uint64_t count : counts) widest = std::max(widest, fmt::to_string(count).size());
      return widest;
    }
  };

  std::vector<Column> columns() const {
    std::vector<Column> columns;
    const auto add = [&](std::string upper, std::string lower, bool always, const auto& count_of) {
      Column column{std::move(upper), std::move(lower), {}};
      bool used = always;
      for (const CheckDiff& check : diff_.checks) {
        column.counts.push_back(count_of(check));
        used = used || column.counts.back() != 0;
      }
      if (used) columns.push_back(std::move(column));
    };
    add("cases", "in both", true, [](const CheckDiff& check) { return check.matched; });
    add("", "same", true, [](const CheckDiff& check) { return check.unchanged; });
    for (const ChangeKind kind : all_change_kinds()) {
      const auto [upper, lower] = heading_of(kind);
      add(std::string(upper), std::string(lower), false, [kind](const CheckDiff& check) { return check.count(kind); });
    }
    add("only", "old", false, [](const CheckDiff& check) { return check.only_before; });
    add("only", "new", false, [](const CheckDiff& check) { return check.only_after; });
    return columns;
  }

  void checks() {
    if (diff_.checks.empty()) return;
    out_ << '\n';
    std::size_t name_width = 6;
    for (const CheckDiff& check : diff_.checks) name_width = std::max(name_width, text_width(printable(check.id)));
    name_width = std::min<std::size_t>(name_width, 30);
    const std::vector<Column> table = columns();
    std::size_t table_width = kIndent + name_width;
    for (const Column& column : table) table_width += 2 + column.width();
    if (table_width > static_cast<std::size_t>(std::max(options_.columns, 40))) {
      check_sentences(name_width);
    } else {
      check_table(table, name_width);
    }
    numbers_and_times();
  }

  void check_table(const std::vector<Column>& table, std::size_t name_width) {
    const auto line = [&](const std::string& name, const auto& text_of) {
      std::string text = std::string(kIndent, ' ') + padded(fitted(name, name_width), name_width);
      for (const Column& column : table) text += "  " + right_aligned(text_of(column), column.width());
      text.erase(text.find_last_not_of(' ') + 1);
      out_ << text << '\n';
    };
    line("", [](const Column& column) { return column.upper; });
    line("check", [](const Column& column) { return column.lower; });
    for (std::size_t i = 0; i < diff_.checks.size(); ++i) {
      line(name_of_check(diff_.checks[i]), [i](const Column& column) {
        const std::uint64_t count = column.counts[i];
        return count == 0 ? std::string("-") : fmt::to_string(count);
      });
    }
  }

  static std::string name_of_check(const CheckDiff& check) { return printable(check.id); }

  /// The same where the table is too wide for the terminal.
  void check_sentences(std::size_t name_width) {
    for (const CheckDiff& check : diff_.checks) {
      std::string text = counted(check.matched, "case") + " in both: " + changes_sentence(check);
      if (check.only_before != 0) text += fmt::format("; {} only in the old", check.only_before);
      if (check.only_after != 0) text += fmt::format("; {} only in the new", check.only_after);
      labelled(fitted(name_of_check(check), name_width), text, kIndent, name_width + 2);
    }
  }

  void numbers_and_times() {
    out_ << '\n';
    std::string numbers = diff_.why_no_numbers.empty() ? "" : "not compared: " + diff_.why_no_numbers;
    if (diff_.why_no_numbers.empty()) {
      for (const std::string& clause : numbers_clauses(total_)) numbers += (numbers.empty() ? "" : ", ") + clause;
      if (numbers.empty()) numbers = "no case is right in both";
    }
    labelled("numbers", numbers, kIndent, 9);
    std::string times = diff_.why_no_times.empty() ? "" : "not compared: " + diff_.why_no_times;
    if (times.empty()) {
      times =
          fmt::format("{} compared, {} slower, {} faster; a change counts beyond {:.0f} % and outside of both spreads",
                      total_.timed, total_.count(ChangeKind::slower), total_.count(ChangeKind::faster),
                      (diff_.time_threshold - 1) * 100);
    }
    labelled("times", times, kIndent, 9);
  }

  void entries(ChangeKind kind) {
    if (total_.count(kind) == 0) return;
    out_ << '\n' << words_of(kind) << ": " << counted(total_.count(kind), "case") << '\n';
    // Of algorithms a transition is an entry, and with -v each case.
    std::vector<ChangeGroup> groups = groups_of(diff_, kind);
    if (all() && kind == ChangeKind::algorithm_changed) {
      groups.clear();
      for (const CaseChange& change : diff_.changes) {
        if (change.has(kind)) groups.push_back({&change, 1, ""});
      }
    }
    const bool may_break = kind <= ChangeKind::refused_later || kind == ChangeKind::slower;
    const std::size_t most = all() ? groups.size() : may_break ? kMostEntries : kMostOtherEntries;
    const std::size_t shown = std::min(groups.size(), most);
    std::uint64_t left = total_.count(kind);
    for (std::size_t i = 0; i < shown; ++i) {
      left -= std::min(left, groups[i].count);
      entry(groups[i], kind, i == 0);
    }
    more(left, "more case");
  }

  /// One line by default: nothing has to be done about it.
  static bool is_good_news(ChangeKind kind) {
    return kind == ChangeKind::result_count_changed || kind >= ChangeKind::faster;
  }

  void entry(const ChangeGroup& group, ChangeKind kind, bool is_first) {
    const CaseChange& change = *group.example;
    std::size_t indent = kIndent;
    if (!group.title.empty()) {
      out_ << std::string(indent, ' ') << group.title << ": " << counted(group.count, "case") << ", for example\n";
      indent += kIndent;
    }
    std::string place = printable(change.check + "/" + change.id);
    if (!change.id_before.empty()) place += printable(" (old: " + change.id_before + ")");
    const std::string detail = detail_of(change, kind);
    const bool fits = indent + text_width(place) + 2 + text_width(detail) <= width_;
    out_ << std::string(indent, ' ') << place << (fits ? "  " + printable(detail) : "") << '\n';
    indent += kIndent;
    if (!fits) labelled("", detail, indent, 0);
    if (!all() && is_good_news(kind)) return;
    // Never broken, so that they can be copied.
    if (!change.problem.empty()) out_ << std::string(indent, ' ') << printable(change.problem) << '\n';
    const bool is_loud = kind == ChangeKind::newly_wrong || kind == ChangeKind::newly_refused;
    if (all() && is_loud) labelled("", change.message, indent, 0);
    if (is_first || all()) {
      out_ << std::string(indent, ' ') << printable(replay_line(diff_, options_.after_path, change)) << '\n';
    }
  }

  /// By default a line: the table has them by check.
  void lone_cases(std::string_view title, const std::vector<LoneCase>& cases) {
    if (cases.empty()) return;
    out_ << '\n' << title << ": " << counted(cases.size(), "case") << (all() ? "" : " (-v lists them)") << '\n';
    for (std::size_t i = 0; all() && i < cases.size(); ++i) {
      out_ << std::string(kIndent, ' ') << printable(cases[i].check + "/" + cases[i].id) << "  "
           << printable(cases[i].problem) << '\n';
    }
  }

  void findings() {
    if (diff_.findings.empty()) {
      if (!options_.quiet) out_ << "\nno finding is new, changed or gone\n";
      return;
    }
    out_ << (options_.quiet ? "" : "\n") << "findings\n";
    const std::size_t shown =
        all() || options_.quiet ? diff_.findings.size() : std::min(diff_.findings.size(), kMostFindings);
    for (std::size_t i = 0; i < shown; ++i) finding(diff_.findings[i], i == 0);
    more(diff_.findings.size() - shown, "more finding");
  }

  void finding(const FindingDiff& finding, bool is_first) {
    const std::string front = std::string(kIndent, ' ') + padded(name_of(finding.change), 9);
    const std::size_t hanging = front.size() + 7;
    const std::string text = fmt::format("{}: {} ({})", finding.check, finding.title, counts_text(finding));
    const std::vector<std::string> lines = wrapped(text, width_ > hanging + 20 ? width_ - hanging : 20);
    out_ << front << status_word(finding.status, options_.color, 5) << "  " << (lines.empty() ? "" : lines.front())
         << '\n';
    for (std::size_t i = 1; i < lines.size(); ++i) out_ << std::string(hanging, ' ') << lines[i] << '\n';
    const bool is_new = finding.change == FindingChange::appeared;
    if (is_new && !finding.repro.empty() && (is_first || all())) {
      out_ << std::string(hanging, ' ') << printable(finding.repro) << '\n';
    }
  }

  static std::string counts_text(const FindingDiff& finding) {
    switch (finding.change) {
      case FindingChange::appeared:
        return counted(finding.count_after, "case");
      case FindingChange::gone:
        return "was " + counted(finding.count_before, "case");
      case FindingChange::changed:
        break;
    }
    return fmt::format("{} -> {}: {} new, {} gone", finding.count_before, counted(finding.count_after, "case"),
                       finding.cases_added, finding.cases_removed);
  }

  void more(std::uint64_t count, std::string_view noun) {
    if (count != 0) out_ << std::string(kIndent, ' ') << "... and " << counted(count, noun) << ": -v\n";
  }

  void last_line() {
    const auto count = [&](FindingChange change) {
      return std::count_if(diff_.findings.begin(), diff_.findings.end(),
                           [change](const FindingDiff& one) { return one.change == change; });
    };
    out_ << (options_.quiet && diff_.findings.empty() ? "" : "\n");
    const std::string text = fmt::format(
        "{} in both: {} · findings: {} new, {} changed, {} gone, {} the same · exit {}",
        counted(total_.matched, "case"), changes_sentence(total_), count(FindingChange::appeared),
        count(FindingChange::changed), count(FindingChange::gone), diff_.findings_unchanged, options_.exit_code);
    for (const std::string& line : wrapped(text, width_)) out_ << line << '\n';
  }

  const ReportDiff& diff_;
  const DiffOptions& options_;
  CheckDiff total_;
  std::ostream& out_;
  std::size_t width_ = 100;
};

}  // namespace

void write_diff_text(const ReportDiff& diff, const DiffOptions& options, std::ostream& out) {
  DiffText(diff, options, out).write();
}

}  // namespace lt_audit
