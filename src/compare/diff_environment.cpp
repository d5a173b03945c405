// The surroundings of two reports: what differs, what may mislead, what cannot be compared for it.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "compare/diff_parts.h"

namespace lt_audit {
namespace {

std::string kind_name(const Report& report) { return report.target.kind == PlatformKind::gpu ? "gpu" : "simulator"; }

std::string number_text(std::uint64_t number) { return number == 0 ? std::string() : fmt::to_string(number); }

std::string capability_text(const DeviceFacts& facts) {
  return facts.compute_major == 0 ? std::string() : fmt::format("{}.{}", facts.compute_major, facts.compute_minor);
}

/// Rows in which both sides differ.
class Rows {
 public:
  void add(std::string what, std::string before, std::string after) {
    if (before != after) rows_.push_back({std::move(what), std::move(before), std::move(after)});
  }
  std::vector<EnvironmentDifference> take() { return std::move(rows_); }

 private:
  std::vector<EnvironmentDifference> rows_;
};

void add_file(Rows& rows, const std::string& name, const LibraryFacts& before, const LibraryFacts& after) {
  rows.add(name + " build id", before.build_id, after.build_id);
  rows.add(name + " path", before.path, after.path);
}

void add_variables(Rows& rows, const Environment& before, const Environment& after) {
  for (const auto& [name, value] : before.variables) {
    const auto found = after.variables.find(name);
    rows.add("variable " + name, value, found == after.variables.end() ? std::string() : found->second);
  }
  for (const auto& [name, value] : after.variables) {
    if (before.variables.count(name) == 0) rows.add("variable " + name, "", value);
  }
}

std::string incomplete_text(const Report& report) {
  if (report.complete) return "yes";
  return report.incomplete_reason.empty() ? "no" : "no: " + report.incomplete_reason;
}

void warn_of_incomplete(const Report& report, const char* which, std::vector<std::string>& warnings) {
  if (report.complete) return;
  warnings.push_back(fmt::format("the {} report is incomplete{}{}: what it lacks counts as missing", which,
                                 report.incomplete_reason.empty() ? "" : " - ", report.incomplete_reason));
}

void warn_of_fault(const Report& report, const char* which, std::vector<std::string>& warnings) {
  if (report.fault.empty()) return;
  warnings.push_back(
      fmt::format("the {} report has the fault {} planted: it says nothing about a library", which, report.fault));
}

}  // namespace

std::vector<EnvironmentDifference> environment_differences(const Report& before, const Report& after) {
  const Target& old_target = before.target;
  const Target& new_target = after.target;
  const DeviceFacts& old_device = old_target.device_facts;
  const DeviceFacts& new_device = new_target.device_facts;
  Rows rows;
  rows.add("target", kind_name(before), kind_name(after));
  rows.add("planted fault", before.fault, after.fault);
  rows.add("cuBLASLt", old_target.cublaslt.version(), new_target.cublaslt.version());
  rows.add("cuBLAS", old_target.cublas.version(), new_target.cublas.version());
  rows.add("GPU", old_device.name, new_device.name);
  rows.add("compute capability", capability_text(old_device), capability_text(new_device));
  rows.add("multiprocessors", number_text(static_cast<std::uint64_t>(old_device.multiprocessors)),
           number_text(static_cast<std::uint64_t>(new_device.multiprocessors)));
  rows.add("driver", old_target.driver_text, new_target.driver_text);
  rows.add("driver API", number_text(static_cast<std::uint64_t>(old_target.driver_version)),
           number_text(static_cast<std::uint64_t>(new_target.driver_version)));
  rows.add("CUDA runtime", number_text(static_cast<std::uint64_t>(old_target.runtime_version)),
           number_text(static_cast<std::uint64_t>(new_target.runtime_version)));
  rows.add("lt-audit", before.tool_version, after.tool_version);
  rows.add("compiled against", before.environment.compiled_against, after.environment.compiled_against);
  rows.add("complete", incomplete_text(before), incomplete_text(after));
  rows.add("depth", before.depth, after.depth);
  rows.add("seed", fmt::to_string(before.seed), fmt::to_string(after.seed));
  rows.add("GPU uuid", old_device.uuid, new_device.uuid);
  rows.add("GPU memory bytes", number_text(old_device.memory_bytes), number_text(new_device.memory_bytes));
  rows.add("device", fmt::to_string(old_target.device), fmt::to_string(new_target.device));
  rows.add("host", before.environment.host, after.environment.host);
  rows.add("os", before.environment.os, after.environment.os);
  add_file(rows, "cuBLASLt", old_target.cublaslt, new_target.cublaslt);
  add_file(rows, "cuBLAS", old_target.cublas, new_target.cublas);
  add_variables(rows, before.environment, after.environment);
  return rows.take();
}

bool same_device(const Report& before, const Report& after) {
  const std::string& uuid = before.target.device_facts.uuid;
  return !uuid.empty() && uuid == after.target.device_facts.uuid;
}

std::string why_numbers_are_not_compared(const Report& before, const Report& after) {
  if (before.seed == after.seed) return {};
  return fmt::format("the inputs differ (seed {} and {}): run both with one --seed", before.seed, after.seed);
}

std::string why_times_are_not_compared(const Report& before, const Report& after) {
  const bool old_is_gpu = before.target.kind == PlatformKind::gpu;
  const bool new_is_gpu = after.target.kind == PlatformKind::gpu;
  if (!old_is_gpu || !new_is_gpu) {
    return old_is_gpu || new_is_gpu ? "one report is of the simulator, whose times are those of its host"
                                    : "both reports are of the simulator, whose times are those of its host";
  }
  const DeviceFacts& old_device = before.target.device_facts;
  const DeviceFacts& new_device = after.target.device_facts;
  if (old_device.name.empty() || new_device.name.empty()) return "a report does not name its GPU";
  const auto differ = [](const std::string& old_text, const std::string& new_text) {
    return fmt::format("the GPUs differ ({} and {}): a time of one says nothing about the other", old_text, new_text);
  };
  if (old_device.name != new_device.name) return differ(old_device.name, new_device.name);
  if (old_device.compute_capability() != new_device.compute_capability()) {
    return differ("compute capability " + capability_text(old_device), capability_text(new_device));
  }
  if (old_device.multiprocessors != new_device.multiprocessors) {
    return differ(fmt::format("{} multiprocessors", old_device.multiprocessors),
                  fmt::to_string(new_device.multiprocessors));
  }
  return {};
}

std::vector<std::string> warnings_of(const Report& before, const Report& after) {
  std::vector<std::string> warnings;
  if (before.target.kind != after.target.kind) {
    warnings.push_back(
        fmt::format("a {} and a {} are compared: the simulator models a faultless library, so this shows where a real "
                    "one differs from the documentation, and not what an upgrade changes",
                    before.target.kind == PlatformKind::gpu ? "GPU" : "simulator",
                    after.target.kind == PlatformKind::gpu ? "GPU" : "simulator"));
  }
  warn_of_fault(before, "old", warnings);
  warn_of_fault(after, "new", warnings);
  warn_of_incomplete(before, "old", warnings);
  warn_of_incomplete(after, "new", warnings);
  if (before.tool_version != after.tool_version) {
    warnings.push_back("two versions of lt-audit wrote the reports: cases and judgements may differ for that alone");
  }
  if (before.depth != after.depth) {
    warnings.push_back(fmt::format("the depths differ ({} and {}): the deeper audit has cases that the other lacks",
                                   before.depth, after.depth));
  }
  const bool both_gpu = before.target.kind == PlatformKind::gpu && after.target.kind == PlatformKind::gpu;
  if (both_gpu && why_times_are_not_compared(before, after).empty() && !same_device(before, after)) {
    warnings.push_back(
        fmt::format("another GPU of the same model: a time counts as changed from {:.0f} % on, where {:.0f} % are "
                    "enough on one GPU",
                    (kTimeThresholdOfAnotherGpu - 1) * 100, (kTimeThreshold - 1) * 100));
  }
  return warnings;
}

}  // namespace lt_audit
