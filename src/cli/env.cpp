// lt-audit env.
#include <fmt/format.h>

#include <ostream>

#include "cli/commands.h"
#include "cli/environment_facts.h"
#include "cli/json_documents.h"
#include "cli/target_choice.h"
#include "driver/audit.h"
#include "driver/environment.h"
#include "lt_audit/error.h"

namespace lt_audit {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

EnvironmentFacts look_around(const EnvArguments& arguments) {
  EnvironmentFacts facts;
  facts.environment = read_environment();
  WorkerOptions worker = arguments.worker;
  forbid_fallback_from_named_libraries(worker);
  try {
    facts.targets.push_back(probe_target(worker));
    const int count = facts.targets.front().device_count;
    for (worker.device = 1; worker.device < count; ++worker.device) facts.targets.push_back(probe_target(worker));
  } catch (const AuditError& error) {
    if (error.kind() != ErrorKind::cannot_run) throw;
    facts.failure = error.what();
  }
  facts.environment.warnings =
      environment_warnings(facts.environment, facts.targets.empty() ? Target{} : facts.targets.front());
  return facts;
}

void line(std::ostream& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out << fmt::format("{:<10} {}\n", key, value);
}

/// 13000 -> "13.0".
std::string cuda_version(int number) {
  return number <= 0 ? "" : fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10);
}

std::string library_text(const LibraryFacts& facts) {
  if (!facts.loaded()) return "not loaded";
  return fmt::format("{}{}{}", facts.version(), facts.path.empty() ? "" : "  " + facts.path,
                     facts.build_id.empty() ? "" : "  build id " + facts.build_id);
}

void write_device(const Target& target, std::ostream& out) {
  const DeviceFacts& facts = target.device_facts;
  line(out, fmt::format("device {}", target.device),
       fmt::format("{} (sm_{}, {} SMs, {:.1f} GiB){}{}", facts.name, facts.compute_capability(), facts.multiprocessors,
                   static_cast<double>(facts.memory_bytes) / kGiB, facts.uuid.empty() ? "" : "  " + facts.uuid,
                   facts.pci_bus_id.empty() ? "" : "  PCI " + facts.pci_bus_id));
}

void write_environment(const EnvironmentFacts& facts, std::ostream& out) {
  if (!facts.targets.empty()) {
    const Target& first = facts.targets.front();
    if (first.kind == PlatformKind::simulator) {
      out << fmt::format("SIMULATOR: no GPU; a model of a faultless cuBLASLt {} would be audited\n",
                         first.cublaslt.version());
    }
    for (const Target& target : facts.targets) write_device(target, out);
    const std::string api = cuda_version(first.driver_version);
    line(out, "driver", first.driver_text.empty() ? api : fmt::format("{} ({})", first.driver_text, api));
    line(out, "runtime", cuda_version(first.runtime_version));
    line(out, "cuBLASLt", library_text(first.cublaslt));
    line(out, "cuBLAS", library_text(first.cublas));
  }
  line(out, "host", facts.environment.host);
  line(out, "os", facts.environment.os);
  for (const auto& [name, value] : facts.environment.variables)
    line(out, "variable", fmt::format("{}={}", name, value));
  if (facts.environment.variables.empty()) line(out, "variable", "none that concern CUDA or cuBLAS are set");
  for (const std::string& warning : facts.environment.warnings) line(out, "conflict", warning);
}

}  // namespace

ExitCode execute(const EnvArguments& arguments, Context& context) {
  const EnvironmentFacts facts = look_around(arguments);
  if (arguments.json) {
    context.out << environment_json(facts);
  } else {
    write_environment(facts, context.out);
  }
  if (facts.failure.empty()) return ExitCode::ok;
  context.out.flush();
  context.err << fmt::format("lt-audit: {}\n", facts.failure);
  return ExitCode::cannot_run;
}

}  // namespace lt_audit
