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

std::string memory_text(const MatmulProblem& changed, const MatmulProblem& given) {
  const std::int64_t more = memory_of(changed) - memory_of(given);
  return more == 0 ? "no more memory" : size_text(more) + " of memory";
}

/// What the set costs: "12.3 us on the GPU, +24 KiB of memory".
std::string cost_of(const ChangeSet& set, const Diagnosis& diagnosis, const Target& target) {
  const std::string memory = memory_text(set.problem, diagnosis.problem);
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

void write_sequence(const std::string& sequence, std::size_t width, std::ostream& out) {
  write_labelled(
      "case",
      fmt::format("{} is a sequence of calls: what it saw comes from all of them. Its product alone is looked at "
                  "here, by itself.",
                  printable(sequence)),
      0, 9, width, out);
}

/// One line for each change that saves time, best first.
void write_speed(const Diagnosis& diagnosis, std::size_t width, std::ostream& out) {
  const Speed& speed = *diagnosis.speed;
  if (!speed.timed) {
    write_labelled("faster",
                   speed.finished
                       ? "not known: nothing was timed, only a GPU has times"
                       : "not known: the budget ended before enough calls were timed; --budget SECONDS gives more",
                   0, 9, width, out);
    return;
  }
  write_labelled("time",
                 fmt::format("{:.1f} us on the GPU; the same call differs by {:.1f} % (middle half of {} calls)",
                             speed.given_us, speed.noise * 100, speed.given_calls),
                 0, 9, width, out);
  write_labelled("tried",
                 fmt::format("{} of algorithm, alignment, workspace and layout, {} each",
                             counted(speed.tried, "change"), counted(speed.changed_calls, "timed call")),
                 0, 9, width, out);
  if (speed.faster.empty()) {
    write_labelled("faster", "nothing by more than that", 0, 9, width, out);
    return;
  }
  write_labelled("faster", "by more than that, with every number right:", 0, 9, width, out);
  out << fmt::format("  {:>6}  {:>9}  {:<9}  {}\n", "ratio", "us", "kind", "change");
  for (std::size_t i = 0; i < std::min(speed.faster.size(), kShownSets); ++i) {
    const FasterCall& one = speed.faster[i];
    const std::string label = fmt::format("{:>6.2f}  {:>9.1f}  {:<9}", one.ratio, one.gpu_us, name_of(one.kind));
    write_labelled(
        label,
        fmt::format("{} ({}); {}", one.change.what, one.change.code, memory_text(one.problem, diagnosis.problem)), 2,
        label.size() + 2, width, out);
  }
  if (speed.faster.size() > kShownSets)
    out << fmt::format("and {} that save less: --json FILE has them all\n", speed.faster.size() - kShownSets);
}

void write_working(const Diagnosed& diagnosed, std::size_t width, std::ostream& out) {
  out << (diagnosed.sequence.empty()
              ? "The call works as it is: accepted, and every number right. Nothing has to change.\n"
              : "The product by itself is accepted, and every number right. What the case saw comes from the "
                "sequence.\n");
  if (diagnosed.diagnosis.speed) write_speed(diagnosed.diagnosis, width, out);
}

void write_sets(const Diagnosed& diagnosed, const Target& target, std::size_t width, std::ostream& out) {
  const Diagnosis& diagnosis = diagnosed.diagnosis;
  const char* subject = diagnosed.sequence.empty() ? "It" : "The product by itself";
  write_labelled("tried", counted(diagnosis.tried - 1, "changed call"), 0, 9, width, out);
  if (!diagnosis.finished) {
    write_labelled("", "the budget ended before everything was tried: --budget SECONDS gives more", 0, 9, width, out);
  }
  if (diagnosis.sets.empty()) {
    out << "\nNo change and no pair of changes makes it work, nor do all of them together.\n";
    return;
  }
  const std::size_t size = diagnosis.sets.front().changes.size();
  out << fmt::format("\n{} works, with every number right, after {}:\n", subject,
                     size == 1 ? "one change, any of these" : fmt::format("{} changes together", size));
  for (std::size_t i = 0; i < std::min(diagnosis.sets.size(), kShownSets); ++i) {
    write_set(diagnosis.sets[i], i + 1, cost_of(diagnosis.sets[i], diagnosis, target), width, out);
  }
  if (diagnosis.sets.size() > kShownSets)
    out << fmt::format("and {} dearer ones: --json FILE has them all\n", diagnosis.sets.size() - kShownSets);
  write_labelled("see", fmt::format("lt-audit replay '{}'", to_text(diagnosis.sets.front().problem)), 0, 9, width, out);
}

nlohmann::ordered_json change_json(const Change& change) {
  return {{"group", change.group}, {"what", change.what}, {"set", change.code}};
}

nlohmann::ordered_json set_json(const ChangeSet& set, const Diagnosis& diagnosis, const Target& target) {
  nlohmann::ordered_json entry;
  entry["problem"] = to_text(set.problem);
  entry["changes"] = nlohmann::ordered_json::array();
  for (const auto& change : set.changes) entry["changes"].push_back(change_json(change));
  entry["memory_bytes"] = memory_of(set.problem) - memory_of(diagnosis.problem);
  if (shows_times(target) && set.trial.gpu_us) entry["gpu_us"] = *set.trial.gpu_us;
  return entry;
}

nlohmann::ordered_json speed_json(const Speed& speed, const Diagnosis& diagnosis) {
  nlohmann::ordered_json json;
  json["timed"] = speed.timed;
  if (!speed.timed) return json;
  json["given_us"] = speed.given_us;
  json["noise"] = speed.noise;
  json["given_calls"] = speed.given_calls;
  json["changed_calls"] = speed.changed_calls;
  json["faster"] = nlohmann::ordered_json::array();
  for (const FasterCall& one : speed.faster) {
    nlohmann::ordered_json entry;
    entry["kind"] = name_of(one.kind);
    entry["problem"] = to_text(one.problem);
    entry["change"] = change_json(one.change);
    entry["ratio"] = one.ratio;
    entry["gpu_us"] = one.gpu_us;
    entry["memory_bytes"] = memory_of(one.problem) - memory_of(diagnosis.problem);
    json["faster"].push_back(std::move(entry));
  }
  return json;
}

nlohmann::ordered_json diagnosis_json(const Diagnosed& diagnosed, const Target& target) {
  const Diagnosis& diagnosis = diagnosed.diagnosis;
  nlohmann::ordered_json json;
  json["problem"] = to_text(diagnosis.problem);
  if (!diagnosed.sequence.empty()) json["sequence"] = valid_utf8(diagnosed.sequence);
  json["status"] = diagnosis.as_given.status;
  json["outcome"] = diagnosis.as_given.outcome;
  json["works"] = diagnosis.as_given.works;
  json["tried"] = diagnosis.tried;
  json["finished"] = diagnosis.finished;
  json["sets"] = nlohmann::ordered_json::array();
  for (const auto& set : diagnosis.sets) json["sets"].push_back(set_json(set, diagnosis, target));
  if (diagnosis.speed) json["speed"] = speed_json(*diagnosis.speed, diagnosis);
  return json;
}

}  // namespace

void write_diagnosis(const Diagnosed& diagnosed, const Target& target, int columns, std::ostream& out) {
  const Diagnosis& diagnosis = diagnosed.diagnosis;
  TextOptions options;
  options.columns = columns;
  const std::size_t width = paragraph_width(options);
  if (!diagnosed.sequence.empty()) write_sequence(diagnosed.sequence, width, out);
  write_labelled("on", place_of(target), 0, 9, width, out);
  write_labelled(diagnosed.sequence.empty() ? "call" : "product", to_text(diagnosis.problem), 0, 9, width, out);
  write_labelled("result", fmt::format("{} ({})", printable(diagnosis.as_given.status), diagnosis.as_given.outcome), 0,
                 9, width, out);
  if (diagnosis.as_given.works) {
    write_working(diagnosed, width, out);
  } else {
    write_sets(diagnosed, target, width, out);
  }
  if (diagnosed.sequence.empty()) return;
  write_labelled("whole",
                 fmt::format("lt-audit replay '{}' runs the sequence, every call shown", printable(diagnosed.sequence)),
                 0, 9, width, out);
}

std::string document_json(const DiagnosisDocument& document) {
  const Target& target = document.target;
  nlohmann::ordered_json json;
  json["schema"] = "lt-audit-doctor";
  json["schema_version"] = kDoctorSchemaVersion;
  json["target"] = target.kind == PlatformKind::simulator ? "simulator" : "gpu";
  json["device"] = valid_utf8(target.device_facts.name);
  json["cublaslt"] = target.cublaslt.version();
  json["diagnoses"] = nlohmann::ordered_json::array();
  for (const auto& one : document.diagnoses) json["diagnoses"].push_back(diagnosis_json(one, target));
  json["not_diagnosed"] = nlohmann::ordered_json::array();
  for (const auto& one : document.not_diagnosed)
    json["not_diagnosed"].push_back({{"call", valid_utf8(one.call)}, {"reason", valid_utf8(one.reason)}});
  return json.dump(2);
}

}  // namespace lt_audit
