#include "cli/doctor_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "report/formats.h"
#include "report/text_layout.h"
#include "report/utf8.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// The best few; a longer list is in the JSON document.
constexpr std::size_t kShownSets = 8;

std::string size_text(std::int64_t bytes) {
  const char sign = bytes < 0 ? '-' : '+';
  const std::int64_t size = bytes < 0 ? -bytes : bytes;
  if (size < 10 * 1024) return fmt::format("{}{} bytes", sign, size);
  if (size < std::int64_t{10} << 20) return fmt::format("{}{} KiB", sign, size >> 10);
  return fmt::format("{}{} MiB", sign, size >> 20);
}

bool shows_times(const Target& target) { return target.kind == PlatformKind::gpu; }

/// What the set costs: "12.3 us on the GPU, +24 KiB of memory".
std::string cost_of(const ChangeSet& set, const Diagnosis& diagnosis, const Target& target) {
  const std::int64_t more = memory_of(set.problem) - memory_of(diagnosis.problem);
  const std::string memory = more == 0 ? "no more memory" : size_text(more) + " of memory";
  if (!shows_times(target) || !set.trial.gpu_us) return memory;
  return fmt::format("{:.1f} us on the GPU, {}", *set.trial.gpu_us, memory);
}

void write_set(const ChangeSet& set, std::size_t number, const std::string& cost, std::size_t columns,
               std::ostream& out) {
  std::string what;
  for (const auto& change : set.changes) what += (what.empty() ? "" : ", and ") + change.what;
  write_labelled(fmt::format("{}", number), what, 2, 4, columns, out);
  for (const auto& change : set.changes) write_labelled("set", change.code, 6, 6, columns, out);
  write_labelled("cost", cost, 6, 6, columns, out);
}

std::string place_of(const Target& target) {
  if (target.kind == PlatformKind::simulator)
    return "SIMULATOR: no GPU was asked, nothing here is true of a real cuBLASLt";
  return fmt::format("{}, cuBLASLt {}", printable(target.device_facts.name), target.cublaslt.version());
}

}  // namespace

void write_diagnosis(const Diagnosis& diagnosis, const Target& target, int columns, std::ostream& out) {
  TextOptions options;
  options.columns = columns;
  const std::size_t width = paragraph_width(options);
  write_labelled("on", place_of(target), 0, 9, width, out);
  write_labelled("call", to_text(diagnosis.problem), 0, 9, width, out);
  write_labelled("result", fmt::format("{} ({})", printable(diagnosis.as_given.status), diagnosis.as_given.outcome), 0,
                 9, width, out);
  if (diagnosis.as_given.works) {
    out << "The call works as it is: accepted, and every number right. Nothing to change.\n";
    return;
  }
  write_labelled("tried", counted(diagnosis.tried - 1, "changed call"), 0, 9, width, out);
  if (!diagnosis.finished) {
    write_labelled("", "the budget ended before everything was tried: --budget SECONDS gives more", 0, 9, width, out);
  }
  if (diagnosis.sets.empty()) {
    out << "\nNo change and no pair of changes makes it work, nor do all of them together.\n";
    return;
  }
  const std::size_t size = diagnosis.sets.front().changes.size();
  out << fmt::format("\nIt works, with every number right, after {}:\n",
                     size == 1 ? "one change, any of these" : fmt::format("{} changes together", size));
  for (std::size_t i = 0; i < std::min(diagnosis.sets.size(), kShownSets); ++i) {
    write_set(diagnosis.sets[i], i + 1, cost_of(diagnosis.sets[i], diagnosis, target), width, out);
  }
  if (diagnosis.sets.size() > kShownSets)
    out << fmt::format("and {} dearer ones: --json FILE has them all\n", diagnosis.sets.size() - kShownSets);
  write_labelled("see", fmt::format("lt-audit replay '{}'", to_text(diagnosis.sets.front().problem)), 0, 9, width, out);
}

std::string diagnosis_json(const Diagnosis& diagnosis, const Target& target) {
  nlohmann::ordered_json document;
  document["schema"] = "lt-audit-doctor";
  document["schema_version"] = "1.0.0";
  document["target"] = target.kind == PlatformKind::simulator ? "simulator" : "gpu";
  document["device"] = valid_utf8(target.device_facts.name);
  document["cublaslt"] = target.cublaslt.version();
  document["problem"] = to_text(diagnosis.problem);
  document["status"] = diagnosis.as_given.status;
  document["outcome"] = diagnosis.as_given.outcome;
  document["works"] = diagnosis.as_given.works;
  document["tried"] = diagnosis.tried;
  document["finished"] = diagnosis.finished;
  document["sets"] = nlohmann::ordered_json::array();
  for (const auto& set : diagnosis.sets) {
    nlohmann::ordered_json entry;
    entry["problem"] = to_text(set.problem);
    entry["changes"] = nlohmann::ordered_json::array();
    for (const auto& change : set.changes)
      entry["changes"].push_back({{"group", change.group}, {"what", change.what}, {"set", change.code}});
    entry["memory_bytes"] = memory_of(set.problem) - memory_of(diagnosis.problem);
    if (shows_times(target) && set.trial.gpu_us) entry["gpu_us"] = *set.trial.gpu_us;
    document["sets"].push_back(std::move(entry));
  }
  return document.dump(2);
}

}  // namespace lt_audit
