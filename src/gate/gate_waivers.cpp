// What is to be said about waivers that close nothing: used, ending soon, expired, not needed, unused.
#include <fmt/format.h>

#include "gate/gate_parts.h"
#include "gate/glob.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// Time enough to decide anew before a build stops.
constexpr std::chrono::days kSoon{14};

/// "; did you mean 'alignment'?" for a check that the report does not have but for a slip.
std::string slip_of(const Waiver& waiver, const WaiverUse& use, const Report& report) {
  if (use.state != WaiverState::unused || waiver.check.empty()) return "";
  std::vector<std::string> ids;
  for (const CheckResult& check : report.checks) {
    if (glob_matches(waiver.check, check.id)) return "";
    ids.push_back(check.id);
  }
  const std::string near = nearest_word(waiver.check, ids);
  return near.empty() ? "" : fmt::format("; did you mean the check '{}'?", near);
}

std::string line_of(const Waiver& waiver, const WaiverUse& use, const Report& report) {
  const std::string cases = use.cases == 0 ? "" : ", " + number_of(use.cases, "case");
  return fmt::format("{}: until {}{}: {}{}", waiver.place(), waiver.expires(), cases, waiver.reason,
                     slip_of(waiver, use, report));
}

class WaiverRemarks {
 public:
  explicit WaiverRemarks(GateWork& work) : work_(work) {}

  /// One remark about all waivers for which `is` holds. `title` gets their number.
  template <class Is, class Title>
  void add(const char* code, const Is& is, const Title& title, const char* next) {
    std::vector<std::string> details;
    for (std::size_t i = 0; i < work_.waivers.size(); ++i) {
      const WaiverUse& use = work_.matches.uses[i];
      if (is(work_.waivers[i], use)) details.push_back(line_of(work_.waivers[i], use, work_.report));
    }
    if (details.empty()) return;
    std::string text = title(details.size());
    work_.remark({code, std::move(text), std::move(details), next});
  }

 private:
  GateWork& work_;
};

/// "3 waivers match nothing", "1 waiver matches nothing".
auto saying(const char* one, const char* many) {
  return [=](std::size_t count) { return fmt::format("{} {}", number_of(count, "waiver"), count == 1 ? one : many); };
}

auto in_state(WaiverState state) {
  return [=](const Waiver&, const WaiverUse& use) { return use.state == state; };
}

}  // namespace

void remark_waivers(GateWork& work) {
  const auto today = std::chrono::floor<std::chrono::days>(work.options.now);
  const std::uint64_t waived = work.result.counts.waived;
  WaiverRemarks remarks(work);
  remarks.add(
      "waived", in_state(WaiverState::used),
      [waived](std::size_t count) {
        return fmt::format("{} {} waived by {}", number_of(waived, "case"), waived == 1 ? "is" : "are",
                           number_of(count, "waiver"));
      },
      "");
  remarks.add(
      "waiver-ends-soon",
      [today](const Waiver& waiver, const WaiverUse& use) {
        return use.state == WaiverState::used && waiver.last_day < today + kSoon;
      },
      saying("ends within two weeks", "end within two weeks"), "mend the cause, or decide anew and change expires");
  remarks.add("waiver-expired", in_state(WaiverState::expired),
              saying("has expired and covers nothing", "have expired and cover nothing"),
              "mend the cause, or decide anew and change expires");
  remarks.add(
      "waiver-not-needed", in_state(WaiverState::not_needed),
      saying("is not needed any more: what it matches passes", "are not needed any more: what they match passes"),
      "take them out of the file");
  remarks.add("waiver-unused", in_state(WaiverState::unused),
              saying("matches nothing in the report", "match nothing in the report"),
              "look for a slip in check, cause, case or problem, or take them out of the file");
  remarks.add("waiver-elsewhere", in_state(WaiverState::elsewhere),
              saying("is for another platform, GPU or version, or its cases did not run here",
                     "are for another platform, GPU or version, or their cases did not run here"),
              "");
}

}  // namespace lt_audit
