// Whether a report can be relied upon at all, and whether a baseline can be held against it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "gate/gate_parts.h"
#include "report/shell_word.h"

namespace lt_audit {
namespace {

/// Clocks of two machines differ, and one may not know its time zone.
constexpr std::chrono::hours kClockTolerance{24};

/// "2026-11-29T20:16:22Z"; nothing when it is no such time.
std::optional<std::chrono::sys_seconds> time_from(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return std::nullopt;
  }
  const auto number = [text](std::size_t at, std::size_t size) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
         std::chrono::seconds(number(17, 2));
}

void judge_age(GateWork& work) {
  if (!work.options.max_age_days) return;
  const auto started = time_from(work.report.started);
  std::string title;
  if (!started) {
    title = fmt::format("the report does not say when it was made: its time is '{}'", work.report.started);
  } else if (*started > work.options.now + kClockTolerance) {
    title = fmt::format("the report is of the future: it was made at {}", work.report.started);
  } else if (work.options.now - *started > std::chrono::days(*work.options.max_age_days)) {
    title = fmt::format("the report is too old: it was made at {}, {} ago, and --max-age is {}", work.report.started,
                        number_of(static_cast<std::uint64_t>(
                                      std::chrono::floor<std::chrono::days>(work.options.now - *started).count()),
                                  "day"),
                        *work.options.max_age_days);
  }
  if (!title.empty()) work.reason({"too-old", title, {}, "audit again: " + run_again(work.report), true});
}

void judge_errors(GateWork& work) {
  std::vector<std::string> places;
  for (const CheckResult& check : work.report.checks) {
    for (const CaseResult& result : check.cases) {
      if (result.status == Status::error)
        places.push_back(fmt::format("{}: {}", case_place(check.id, result), result.sentence));
    }
  }
  if (places.empty()) return;
  const std::string title = fmt::format("the audit could not do its own work on {}", number_of(places.size(), "case"));
  work.reason({"error-cases", title, std::move(places),
               "mend what it lacked and audit again: " + run_again(work.report), true});
}

/// Findings tell how many cases they have: fewer in the report means that it was cut or edited.
void judge_consistency(GateWork& work) {
  const Summary summary = summary_of(work.report);
  std::uint64_t told = 0;
  for (const Finding& finding : work.report.findings) {
    if (finding.status != Status::skip && finding.status != Status::pass) told += finding.count;
  }
  const std::uint64_t there = summary.warn + summary.fail + summary.error;
  if (told <= there) return;
  work.reason({"inconsistent",
               fmt::format("the report contradicts itself: its findings tell of {}, and it holds {} that are not pass",
                           number_of(told, "case"), there),
               {},
               "take the report as lt-audit wrote it, or audit again: " + run_again(work.report),
               true});
}

std::string kind_text(const Report& report) {
  return report.target.kind == PlatformKind::simulator ? "the simulator" : "a GPU";
}

/// "GPU: NVIDIA H200, now NVIDIA B200" for what differs.
std::vector<std::string> differences(const Report& old, const Report& now) {
  std::vector<std::string> texts;
  const auto add = [&texts](std::string_view what, const std::string& before, const std::string& after) {
    if (before != after)
      texts.push_back(
          fmt::format("{}: {}, now {}", what, before.empty() ? "unknown" : before, after.empty() ? "unknown" : after));
  };
  add("GPU", old.target.device_facts.name, now.target.device_facts.name);
  add("cuBLASLt", old.target.cublaslt.version(), now.target.cublaslt.version());
  add("cuBLAS", old.target.cublas.version(), now.target.cublas.version());
  add("driver", old.target.driver_text, now.target.driver_text);
  add("lt-audit", old.tool_version, now.tool_version);
  return texts;
}

}  // namespace

void judge_report(GateWork& work) {
  const Report& report = work.report;
  if (!report.complete) {
    work.reason({"incomplete",
                 fmt::format("the audit is not complete: {}",
                             report.incomplete_reason.empty() ? "no reason is known" : report.incomplete_reason),
                 {},
                 "let it come to its end: " + run_again(report),
                 true});
  }
  const Summary summary = summary_of(report);
  if (summary.total == summary.skip) {
    work.reason({"nothing-ran",
                 summary.total == 0 ? "nothing was audited: the report holds no case"
                                    : fmt::format("nothing was audited: all {} cases were skipped", summary.total),
                 {},
                 "see why: lt-audit show " + shell_word(work.options.report_name),
                 true});
  }
  judge_errors(work);
  judge_consistency(work);
  if (!report.fault.empty()) {
    work.reason(
        {"planted-fault",
         fmt::format("the defect '{}' was planted: what the report says is not true of the library", report.fault),
         {},
         "audit again without --inject",
         true});
  }
  if (report.target.kind == PlatformKind::simulator && !work.options.allow_simulator) {
    work.reason({"simulator",
                 "the report is of the simulator, a model of a faultless library: it says nothing of a GPU",
                 {},
                 "audit a GPU, lt-audit run --target gpu; or --allow-simulator where the gate itself is tried out",
                 true});
  }
  judge_age(work);
}

void judge_baseline(GateWork& work) {
  const Report& old = *work.baseline;
  std::vector<std::string> whys;
  if (!old.complete) whys.emplace_back("it is not complete, so that what is missing cannot be told");
  if (!old.fault.empty()) whys.push_back(fmt::format("the defect '{}' was planted in it", old.fault));
  if (old.target.kind != work.report.target.kind) {
    whys.push_back(fmt::format("it is of {}, and the report is of {}", kind_text(old), kind_text(work.report)));
  }
  if (const Summary summary = summary_of(old); summary.total == summary.skip) whys.emplace_back("no case of it ran");
  if (!whys.empty()) {
    work.reason({"baseline-unfit",
                 fmt::format("the baseline cannot be compared with: {}", fmt::join(whys, "; ")),
                 {},
                 "take a whole report of the same kind of target as the baseline",
                 true});
  }
  if (auto texts = differences(old, work.report); !texts.empty()) {
    work.remark({"environment", "the baseline was made elsewhere or with something else", std::move(texts),
                 "keep one baseline for each GPU and library that you gate"});
  }
  if (old.depth != work.report.depth) {
    work.remark({"other-depth",
                 fmt::format("the baseline was made at depth {}, the report at depth {}", old.depth, work.report.depth),
                 {},
                 fmt::format("lt-audit run --depth {}", shell_word(old.depth))});
  }
}

}  // namespace lt_audit
