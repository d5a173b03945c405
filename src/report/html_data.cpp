// Cases as columns: each text that repeats stands once and is named by its number, so that the page of a report is a
// fraction of its JSON, and the browser reads tens of thousands of cases in a few milliseconds.
#include "report/html_data.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/html_observation.h"
#include "report/html_pictures.h"
#include "report/html_text.h"

namespace lt_audit {
namespace {

constexpr std::string_view kInner = ",\n";

/// Texts by number, in order of first use. Number 0 is the empty text.
class Texts {
 public:
  Texts() { number_of(std::string()); }

  std::size_t number_of(std::string text) {
    const auto [place, is_new] = numbers_.try_emplace(std::move(text), order_.size());
    if (is_new) order_.push_back(&place->first);
    return place->second;
  }
  /// The addresses of the keys of an unordered_map are stable.
  const std::vector<const std::string*>& order() const { return order_; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> order_;
};

template <class Element, class Append>
void write_list(const std::vector<Element>& elements, const Append& append, std::ostream& out) {
  std::string text = "[";
  for (const Element& element : elements) {
    if (text.size() > 1) text += ',';
    append(text, element);
  }
  out << text << ']';
}

void append_number(std::string& out, std::size_t number) { fmt::format_to(std::back_inserter(out), "{}", number); }
void append_text(std::string& out, const std::string& text) { append_script_text(out, text); }

/// Which observations are embedded whole: the budget is spent on the worst first, in the order of the report.
class Whole {
 public:
  Whole(const Report& report, const PageLimits& limits) : longest_(limits.longest_bytes) {
    std::size_t all = 0;
    for (const CheckResult& check : report.checks) {
      for (const CaseResult& result : check.cases) all += result.observation.size();
    }
    if (all <= limits.all_whole_bytes) {
      budget_.fill(all);
      return;
    }
    std::size_t left = limits.whole_bytes;
    for (const Status status : {Status::fail, Status::error, Status::warn, Status::skip}) {
      std::size_t wanted = 0;
      for (const CheckResult& check : report.checks) {
        for (const CaseResult& result : check.cases) {
          if (result.status == status && fits(result)) wanted += result.observation.size();
        }
      }
      budget_.at(static_cast<std::size_t>(status)) = std::min(wanted, left);
      left -= std::min(wanted, left);
    }
  }

  /// To be asked once for each case, in order.
  bool take(const CaseResult& result) {
    std::size_t& budget = budget_.at(static_cast<std::size_t>(result.status));
    if (!fits(result) || result.observation.size() > budget) return false;
    budget -= result.observation.size();
    return true;
  }

 private:
  bool fits(const CaseResult& result) const { return result.observation.size() <= longest_; }

  std::size_t longest_;
  std::array<std::size_t, 5> budget_ = {};
};

/// Texts that the cases of all checks share.
struct Shared {
  Texts texts;
  Texts parameters;
  Texts observations;
  Texts waivers;
};

std::string parameters_text(const CaseResult& result) {
  if (result.parameters.empty()) return {};
  std::string text = "[";
  for (const auto& [name, value] : result.parameters) {
    text += text.size() > 1 ? ",[" : "[";
    append_script_text(text, name);
    text += ',';
    append_script_text(text, value);
    text += ']';
  }
  return text + "]";
}

std::string waiver_text(const AppliedWaiver& waiver) {
  std::string text = "[";
  append_script_text(text, waiver.reason);
  text += ',';
  append_script_text(text, waiver.expires);
  text += ',';
  append_script_text(text, is_web_link(waiver.link) ? waiver.link : std::string());
  return text + "]";
}

/// One column of numbers for each property of a case.
struct Columns {
  std::vector<std::size_t> status, outcome, expectation, reason, message, rule, parameters, observation, waiver;
  /// 1 = new, 0 = known to the baseline or pass.
  std::vector<std::size_t> is_new;

  void add(const CaseResult& result, std::size_t observation_number, Shared& shared) {
    status.push_back(static_cast<std::size_t>(result.status));
    outcome.push_back(static_cast<std::size_t>(result.outcome));
    expectation.push_back(static_cast<std::size_t>(result.expectation));
    reason.push_back(shared.texts.number_of(result.reason));
    message.push_back(shared.texts.number_of(result.sentence));
    rule.push_back(shared.texts.number_of(result.rule));
    parameters.push_back(shared.parameters.number_of(parameters_text(result)));
    observation.push_back(observation_number);
  }
};

void write_column(std::string_view name, const std::vector<std::size_t>& column, std::ostream& out) {
  out << kInner << '"' << name << "\":";
  write_list(column, append_number, out);
}

void write_picture(const Picture& picture, std::ostream& out) {
  std::string text = "{\"title\":";
  append_script_text(text, picture.title);
  text += ",\"note\":";
  append_script_text(text, picture.note);
  text += fmt::format(",\"times\":{}", picture.times);
  out << text << ",\"rows\":";
  write_list(picture.rows, append_text, out);
  out << ",\"columns\":";
  write_list(picture.columns, append_text, out);
  const auto append_flag = [](std::string& list, bool flag) { list += flag ? '1' : '0'; };
  out << ",\"quietRows\":";
  write_list(picture.quiet_rows, append_flag, out);
  out << ",\"quietColumns\":";
  write_list(picture.quiet_columns, append_flag, out);
  out << ",\"groups\":";
  const auto append_group = [](std::string& list, const std::pair<std::string, std::size_t>& group) {
    list += '[';
    append_script_text(list, group.first);
    list += fmt::format(",{}]", group.second);
  };
  write_list(picture.groups, append_group, out);
  out << ",\"cells\":";
  const auto append_cell = [](std::string& list, const PictureCell& cell) {
    list += fmt::format("[{},{},{},{}", cell.row, cell.column, cell.the_case, cell.count);
    if (!cell.detail.empty()) {
      list += ',';
      append_script_text(list, cell.text);
      list += fmt::format(",{},", cell.level);
      append_script_text(list, cell.mark);
      list += ',';
      append_script_text(list, cell.detail);
    }
    list += ']';
  };
  write_list(picture.cells, append_cell, out);
  out << '}';
}

void write_pictures(const CheckResult& check, std::ostream& out) {
  out << kInner << "\"pictures\":[";
  std::string_view separator;
  for (const Picture& picture : pictures_of(check)) {
    out << separator;
    write_picture(picture, out);
    separator = kInner;
  }
  out << "]" << kInner << "\"timed\":";
  const auto append_pair = [](std::string& list, const TimedPair& pair) {
    list += fmt::format("[{},", pair.the_case);
    append_script_text(list, pair.label);
    list += fmt::format(",{},{},{},", pair.cublas_us, pair.cublaslt_us, pair.spread);
    append_script_text(list, pair.speed);
    list += ']';
  };
  write_list(timed_pairs_of(check), append_pair, out);
}

class Writer {
 public:
  Writer(const Report& report, const Annotations& annotations, const PageLimits& limits, std::ostream& out)
      : annotations_(annotations), whole_(report, limits), out_(out) {}

  LeftOut write(const Report& report) {
    out_ << "<script type=\"application/json\" id=\"lt-data\">{\"hasBaseline\":"
         << (annotations_.has_baseline ? "true" : "false") << kInner << "\"checks\":[";
    std::string_view separator;
    for (const CheckResult& check : report.checks) {
      out_ << separator;
      write_check(check);
      separator = kInner;
    }
    out_ << "]";
    write_texts("texts", shared_.texts, append_text);
    const auto append_json = [](std::string& list, const std::string& text) { list += text.empty() ? "null" : text; };
    write_texts("parameters", shared_.parameters, append_json);
    write_texts("waivers", shared_.waivers, append_json);
    out_ << "}</script>\n<script type=\"text/plain\" id=\"lt-observations\">";
    for (const std::string* text : shared_.observations.order()) out_ << *text << '\n';
    out_ << "</script>\n";
    return left_out_;
  }

 private:
  template <class Append>
  void write_texts(std::string_view name, const Texts& texts, const Append& append) {
    out_ << kInner << '"' << name << "\":";
    write_list(
        texts.order(), [&append](std::string& list, const std::string* text) { append(list, *text); }, out_);
  }

  std::size_t observation_number(const CaseResult& result) {
    if (result.observation.empty()) return 0;
    const bool whole = whole_.take(result);
    if (!whole) ++(result.status == Status::pass ? left_out_.pass : left_out_.others);
    std::string line;
    append_script_line(line, whole ? result.observation : shortened_observation(result.observation));
    return shared_.observations.number_of(std::move(line));
  }

  void add_note(const CheckResult& check, const CaseResult& result, Columns& columns) {
    const CaseNote note =
        result.status == Status::pass ? CaseNote{false, {}} : annotations_.note_of(check.id, result.id);
    columns.is_new.push_back(note.is_new ? 1 : 0);
    columns.waiver.push_back(note.waiver ? shared_.waivers.number_of(waiver_text(*note.waiver)) : 0);
  }

  void write_check(const CheckResult& check) {
    std::string head = "{\"id\":";
    append_script_text(head, check.id);
    out_ << head;
    Columns columns;
    for (const CaseResult& result : check.cases) {
      columns.add(result, observation_number(result), shared_);
      if (has_notes()) add_note(check, result, columns);
    }
    const auto write_field = [this, &check](std::string_view name, std::string CaseResult::*field) {
      out_ << kInner << '"' << name << "\":";
      write_list(
          check.cases, [field](std::string& list, const CaseResult& one) { append_script_text(list, one.*field); },
          out_);
    };
    write_field("ids", &CaseResult::id);
    write_field("problems", &CaseResult::problem);
    write_column("status", columns.status, out_);
    write_column("outcome", columns.outcome, out_);
    write_column("expectation", columns.expectation, out_);
    write_column("reason", columns.reason, out_);
    write_column("message", columns.message, out_);
    write_column("rule", columns.rule, out_);
    write_column("parameters", columns.parameters, out_);
    write_column("observation", columns.observation, out_);
    if (has_notes()) {
      write_column("isNew", columns.is_new, out_);
      write_column("waiver", columns.waiver, out_);
    }
    write_pictures(check, out_);
    out_ << '}';
  }

  bool has_notes() const { return annotations_.has_baseline || !annotations_.notes.empty(); }

  const Annotations& annotations_;
  Whole whole_;
  std::ostream& out_;
  Shared shared_;
  LeftOut left_out_;
};

}  // namespace

LeftOut write_page_data(const Report& report, const Annotations& annotations, const PageLimits& limits,
                        std::ostream& out) {
  return Writer(report, annotations, limits, out).write(report);
}

}  // namespace lt_audit
