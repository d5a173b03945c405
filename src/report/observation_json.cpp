// Observations and targets to JSON and back. What says nothing is left out of an observation: a report holds thousands.
#include "report/observation_json.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/json_parts.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<ProcessEnd, std::string_view>, 4> kEnds = {{{ProcessEnd::survived, "survived"},
                                                                           {ProcessEnd::crashed, "crashed"},
                                                                           {ProcessEnd::timed_out, "timed_out"},
                                                                           {ProcessEnd::context_lost, "context_lost"}}};

/// Counters of Verification that are left out when they are zero.
constexpr std::array<std::pair<std::string_view, std::uint64_t Verification::*>, 15> kCounters = {
    {{"bytes_before_d", &Verification::bytes_before_d},
     {"bytes_behind_d", &Verification::bytes_behind_d},
     {"reach_behind_d", &Verification::reach_behind_d},
     {"padding_bytes_changed", &Verification::padding_bytes_changed},
     {"a_bytes_changed", &Verification::a_bytes_changed},
     {"b_bytes_changed", &Verification::b_bytes_changed},
     {"c_bytes_changed", &Verification::c_bytes_changed},
     {"bias_bytes_changed", &Verification::bias_bytes_changed},
     {"aux_bytes_changed", &Verification::aux_bytes_changed},
     {"scale_bytes_changed", &Verification::scale_bytes_changed},
     {"workspace_guard_bytes_changed", &Verification::workspace_guard_bytes_changed},
     {"aux_compared", &Verification::aux_compared},
     {"aux_wrong", &Verification::aux_wrong},
     {"gradient_compared", &Verification::gradient_compared},
     {"gradient_wrong", &Verification::gradient_wrong}}};

void add_text(ordered_json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = valid_utf8(text);
}

ordered_json stage_to_json(const Stage& stage) {
  ordered_json json;
  json["name"] = valid_utf8(stage.name);
  add_text(json, "call", stage.call);
  json["status"] = valid_utf8(stage.status);
  return json;
}

ordered_json heuristic_to_json(const HeuristicResult& result) {
  ordered_json json;
  json["state"] = valid_utf8(result.state);
  const auto add = [&json](const char* key, int value) {
    if (value != -1) json[key] = value;
  };
  add("algo_id", result.algo_id);
  add("tile", result.tile);
  add("stages", result.stages);
  add("split_k", result.split_k);
  json["workspace_bytes"] = result.workspace_bytes;
  json["waves"] = number_to_json(rounded(result.waves));
  return json;
}

ordered_json verification_to_json(const Verification& verification) {
  ordered_json json;
  json["method"] = valid_utf8(verification.method);
  json["compared"] = verification.compared;
  json["wrong"] = verification.wrong;
  json["unwritten"] = verification.unwritten;
  json["expected_nonzero"] = verification.expected_nonzero;
  if (verification.first_row >= 0) {
    json["first_wrong"] = {{"row", verification.first_row},
                           {"col", verification.first_col},
                           {"batch", verification.first_batch},
                           {"expected", number_to_json(verification.first_expected)},
                           {"actual", number_to_json(verification.first_actual)}};
  }
  for (const auto& [key, counter] : kCounters) {
    if (verification.*counter != 0) json[std::string(key)] = verification.*counter;
  }
  if (verification.amax_expected) json["amax_expected"] = number_to_json(*verification.amax_expected);
  if (verification.amax_actual) json["amax_actual"] = number_to_json(*verification.amax_actual);
  return json;
}

ordered_json cublas_to_json(const CublasObservation& cublas) {
  ordered_json json = ordered_json::object();
  add_text(json, "call", cublas.call);
  add_text(json, "status", cublas.status);
  add_text(json, "not_expressible", cublas.not_expressible);
  if (cublas.verification) json["verification"] = verification_to_json(*cublas.verification);
  return json;
}

ordered_json times_to_json(const CaseTimes& times) {
  ordered_json json = ordered_json::object();
  const auto add = [&json](const char* key, double value) {
    if (value != 0) json[key] = number_to_json(rounded(value));
  };
  add("host_us", times.host_us);
  add("heuristic_us", times.heuristic_us);
  add("matmul_call_us", times.matmul_call_us);
  if (times.matmul_gpu_us) json["matmul_gpu_us"] = number_to_json(rounded(*times.matmul_gpu_us));
  if (times.verify_gpu_us) json["verify_gpu_us"] = number_to_json(rounded(*times.verify_gpu_us));
  return json;
}

template <class Json>
Verification read_verification(const Json& json, const JsonPath& path) {
  const Fields<Json> fields(json, path);
  Verification verification;
  verification.method = fields.text("method");
  verification.compared = fields.template integer<std::uint64_t>("compared");
  verification.wrong = fields.template integer<std::uint64_t>("wrong");
  verification.unwritten = fields.template integer<std::uint64_t>("unwritten");
  verification.expected_nonzero = fields.template integer<std::uint64_t>("expected_nonzero");
  if (const Json* first = fields.find("first_wrong")) {
    const Fields<Json> element(*first, JsonPath{&fields.path(), "first_wrong"});
    verification.first_row = element.template integer<std::int64_t>("row");
    verification.first_col = element.template integer<std::int64_t>("col");
    verification.first_batch = element.template integer<std::int64_t>("batch");
    verification.first_expected = element.number("expected");
    verification.first_actual = element.number("actual");
  }
  for (const auto& [key, counter] : kCounters) {
    verification.*counter = fields.template integer<std::uint64_t>(key);
  }
  if (fields.find("amax_expected") != nullptr) verification.amax_expected = fields.number("amax_expected");
  if (fields.find("amax_actual") != nullptr) verification.amax_actual = fields.number("amax_actual");
  return verification;
}

template <class Json>
HeuristicResult read_heuristic(const Json& json, const JsonPath& path) {
  const Fields<Json> fields(json, path);
  HeuristicResult result;
  result.state = fields.text("state");
  result.algo_id = fields.template integer<int>("algo_id", -1);
  result.tile = fields.template integer<int>("tile", -1);
  result.stages = fields.template integer<int>("stages", -1);
  result.split_k = fields.template integer<int>("split_k", -1);
  result.workspace_bytes = fields.template integer<std::uint64_t>("workspace_bytes");
  result.waves = fields.number("waves");
  return result;
}

template <class Json>
CublasObservation read_cublas(const Json& json, const JsonPath& path) {
  const Fields<Json> fields(json, path);
  CublasObservation cublas;
  cublas.call = fields.text("call");
  cublas.status = fields.text("status");
  cublas.not_expressible = fields.text("not_expressible");
  if (const Json* verification = fields.find("verification")) {
    cublas.verification = read_verification(*verification, JsonPath{&fields.path(), "verification"});
  }
  return cublas;
}

template <class Json>
CaseTimes read_times(const Json& json, const JsonPath& path) {
  const Fields<Json> fields(json, path);
  CaseTimes times;
  times.host_us = fields.number("host_us");
  times.heuristic_us = fields.number("heuristic_us");
  times.matmul_call_us = fields.number("matmul_call_us");
  if (fields.find("matmul_gpu_us") != nullptr) times.matmul_gpu_us = fields.number("matmul_gpu_us");
  if (fields.find("verify_gpu_us") != nullptr) times.verify_gpu_us = fields.number("verify_gpu_us");
  return times;
}

template <class Json>
ProcessEnd read_end(const Fields<Json>& fields) {
  const std::string name = fields.text("end");
  if (name.empty()) return ProcessEnd::survived;
  for (const auto& [end, end_name] : kEnds) {
    if (name == end_name) return end;
  }
  throw_field(JsonPath{&fields.path(), "end"}, "has an unknown value: '" + name + "'");
}

/// "13.1.0" or "9.0" as up to three numbers.
std::array<int, 3> read_version(const std::string& text, const JsonPath& path) {
  std::array<int, 3> version = {0, 0, 0};
  if (text.empty()) return version;
  if (std::sscanf(text.c_str(), "%5d.%5d.%5d", &version[0], &version[1], &version[2]) < 2) {
    throw_field(path, "must be a version such as '13.1.0', not '" + text + "'");
  }
  return version;
}

}  // namespace

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(valid_utf8(text));
}

double rounded(double value) {
  // Above 2^43 there are no three decimals to round to.
  return std::fabs(value) < 8e12 ? std::round(value * 1000) / 1000 : value;
}

ordered_json observation_to_json(const Observation& observation) {
  ordered_json json = ordered_json::object();
  if (!observation.stages.empty()) {
    ordered_json& stages = json["stages"] = ordered_json::array();
    for (const Stage& stage : observation.stages) stages.push_back(stage_to_json(stage));
  }
  if (!observation.heuristic.empty()) {
    ordered_json& results = json["heuristic"] = ordered_json::array();
    for (const HeuristicResult& result : observation.heuristic) results.push_back(heuristic_to_json(result));
  }
  if (observation.verification) json["verification"] = verification_to_json(*observation.verification);
  if (observation.cublas) json["cublas"] = cublas_to_json(*observation.cublas);
  if (!observation.log.empty()) {
    ordered_json& log = json["log"] = ordered_json::array();
    for (const LogLine& line : observation.log) {
      log.push_back({{"level", line.level}, {"function", valid_utf8(line.function)}, {"text", valid_utf8(line.text)}});
    }
  }
  for (const auto& [end, name] : kEnds) {
    if (observation.end == end && end != ProcessEnd::survived) json["end"] = std::string(name);
  }
  add_text(json, "end_detail", observation.end_detail);
  add_text(json, "not_run", observation.not_run);
  add_text(json, "audit_error", observation.audit_error);
  if (!observation.facts.empty()) {
    ordered_json& facts = json["facts"] = ordered_json::object();
    for (const auto& [key, value] : observation.facts) facts[valid_utf8(key)] = valid_utf8(value);
  }
  if (observation.times != CaseTimes{}) json["times"] = times_to_json(observation.times);
  return json;
}

template <class Json>
Observation read_observation(const Json& json, const JsonPath& path) {
  const Fields<Json> fields(json, path);
  Observation observation;
  fields.each("stages", [&observation](const Json& element, const JsonPath& at) {
    const Fields<Json> stage(element, at);
    observation.stages.push_back({stage.text("name"), stage.text("call"), stage.text("status")});
  });
  fields.each("heuristic", [&observation](const Json& element, const JsonPath& at) {
    observation.heuristic.push_back(read_heuristic(element, at));
  });
  if (const Json* verification = fields.find("verification")) {
    observation.verification = read_verification(*verification, JsonPath{&fields.path(), "verification"});
  }
  if (const Json* cublas = fields.find("cublas")) {
    observation.cublas = read_cublas(*cublas, JsonPath{&fields.path(), "cublas"});
  }
  fields.each("log", [&observation](const Json& element, const JsonPath& at) {
    const Fields<Json> line(element, at);
    observation.log.push_back({line.template integer<int>("level"), line.text("function"), line.text("text")});
  });
  observation.end = read_end(fields);
  observation.end_detail = fields.text("end_detail");
  observation.not_run = fields.text("not_run");
  observation.audit_error = fields.text("audit_error");
  fields.text_map("facts", observation.facts);
  if (const Json* times = fields.find("times")) {
    observation.times = read_times(*times, JsonPath{&fields.path(), "times"});
  }
  return observation;
}

Observation observation_from_json(const nlohmann::json& json) {
  return read_observation(json, JsonPath{nullptr, "observation"});
}

ordered_json device_to_json(const Target& target) {
  const DeviceFacts& facts = target.device_facts;
  ordered_json json;
  json["kind"] = target.kind == PlatformKind::gpu ? "gpu" : "simulator";
  json["device"] = target.device;
  json["device_count"] = target.device_count;
  json["name"] = text_or_null(facts.name);
  json["compute_capability"] = facts.compute_major == 0
                                   ? ordered_json()
                                   : ordered_json(fmt::format("{}.{}", facts.compute_major, facts.compute_minor));
  json["multiprocessors"] = facts.multiprocessors == 0 ? ordered_json() : ordered_json(facts.multiprocessors);
  json["memory_bytes"] = facts.memory_bytes == 0 ? ordered_json() : ordered_json(facts.memory_bytes);
  json["uuid"] = text_or_null(facts.uuid);
  json["pci_bus_id"] = text_or_null(facts.pci_bus_id);
  return json;
}

ordered_json library_to_json(const LibraryFacts& library) {
  if (!library.loaded()) return nullptr;
  ordered_json json;
  json["version"] = fmt::format("{}.{}.{}", library.major, library.minor, library.patch);
  json["version_number"] = library.version_number == 0 ? ordered_json() : ordered_json(library.version_number);
  json["path"] = text_or_null(library.path);
  json["build_id"] = text_or_null(library.build_id);
  return json;
}

template <class Json>
void read_device(const Fields<Json>& fields, Target& target) {
  const std::string kind = fields.required_text("kind");
  if (kind != "gpu" && kind != "simulator") {
    throw_field(JsonPath{&fields.path(), "kind"}, "must be 'gpu' or 'simulator', not '" + kind + "'");
  }
  target.kind = kind == "gpu" ? PlatformKind::gpu : PlatformKind::simulator;
  target.device = fields.template integer<int>("device");
  target.device_count = fields.template integer<int>("device_count");
  DeviceFacts& facts = target.device_facts;
  facts.name = fields.text("name");
  const auto capability =
      read_version(fields.text("compute_capability"), JsonPath{&fields.path(), "compute_capability"});
  facts.compute_major = capability[0];
  facts.compute_minor = capability[1];
  facts.multiprocessors = fields.template integer<int>("multiprocessors");
  facts.memory_bytes = fields.template integer<std::uint64_t>("memory_bytes");
  facts.uuid = fields.text("uuid");
  facts.pci_bus_id = fields.text("pci_bus_id");
}

template <class Json>
LibraryFacts read_library(const Fields<Json>& parent, std::string_view key) {
  LibraryFacts library;
  const Json* json = parent.find(key);
  if (json == nullptr) return library;
  const Fields<Json> fields(*json, JsonPath{&parent.path(), key});
  const auto version = read_version(fields.text("version"), JsonPath{&fields.path(), "version"});
  library.major = version[0];
  library.minor = version[1];
  library.patch = version[2];
  library.version_number = fields.template integer<std::uint64_t>("version_number");
  library.path = fields.text("path");
  library.build_id = fields.text("build_id");
  return library;
}

ordered_json target_to_json(const Target& target) {
  ordered_json json = device_to_json(target);
  json["driver"] = text_or_null(target.driver_text);
  json["driver_api_version"] = target.driver_version;
  json["cuda_runtime_version"] = target.runtime_version;
  json["cublaslt"] = library_to_json(target.cublaslt);
  json["cublas"] = library_to_json(target.cublas);
  return json;
}

Target target_from_json(const nlohmann::json& json) {
  const Fields<nlohmann::json> fields(json, JsonPath{nullptr, "target"});
  Target target;
  read_device(fields, target);
  target.driver_text = fields.text("driver");
  target.driver_version = fields.integer<int>("driver_api_version");
  target.runtime_version = fields.integer<int>("cuda_runtime_version");
  target.cublaslt = read_library(fields, "cublaslt");
  target.cublas = read_library(fields, "cublas");
  return target;
}

template void read_device(const Fields<nlohmann::json>&, Target&);
template void read_device(const Fields<nlohmann::ordered_json>&, Target&);
template LibraryFacts read_library(const Fields<nlohmann::json>&, std::string_view);
template LibraryFacts read_library(const Fields<nlohmann::ordered_json>&, std::string_view);
template Observation read_observation(const nlohmann::json&, const JsonPath&);
template Observation read_observation(const nlohmann::ordered_json&, const JsonPath&);

}  // namespace lt_audit
