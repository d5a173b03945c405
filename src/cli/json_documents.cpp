// The JSON documents of list, env and self-test.
#include "cli/json_documents.h"

#include <nlohmann/json.hpp>

#include "report/observation_json.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

using Json = nlohmann::ordered_json;

/// Of these small documents, apart from the report's: major when a field goes or changes its meaning.
constexpr const char* kSchemaVersion = "1.0.0";

Json document() { return {{"schema_version", kSchemaVersion}}; }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// Text from the environment may hold any bytes: what is no UTF-8 is replaced, not thrown on.
std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string checks_json(const std::vector<const Check*>& checks) {
  Json json = document();
  json["checks"] = Json::array();
  for (const Check* check : checks) {
    const CheckInfo& info = check->info();
    json["checks"].push_back({{"id", info.id}, {"summary", info.summary}, {"source", info.source}});
  }
  return dump(json);
}

std::string plan_json(const Plan& plan) {
  Json json = document();
  json["checks"] = Json::array();
  for (const PlannedCheck& planned : plan.checks) {
    Json cases = Json::array();
    for (const Case& one : planned.cases) {
      cases.push_back({{"id", one.id},
                       {"problem", to_text(one.problem)},
                       {"expectation", name_of(one.expectation)},
                       {"rule", text_or_null(one.rule)},
                       {"isolated", one.isolated}});
    }
    json["checks"].push_back({{"id", planned.check->info().id},
                              {"skip_reason", text_or_null(planned.skip_reason)},
                              {"cases", std::move(cases)}});
  }
  return dump(json);
}

std::string faults_json(std::span<const FaultInfo> faults) {
  Json json = document();
  json["faults"] = Json::array();
  for (const FaultInfo& fault : faults) {
    json["faults"].push_back({{"name", fault.name}, {"summary", fault.summary}, {"modelled_on", fault.modelled_on}});
  }
  return dump(json);
}

std::string environment_json(const EnvironmentFacts& facts) {
  Json json = document();
  json["usable"] = facts.failure.empty();
  json["failure"] = text_or_null(facts.failure);
  json["devices"] = Json::array();
  for (const Target& target : facts.targets) json["devices"].push_back(target_to_json(target));
  Json variables = Json::object();
  for (const auto& [name, value] : facts.environment.variables) variables[name] = value;
  json["environment"] = {{"host", text_or_null(facts.environment.host)},
                         {"user", text_or_null(facts.environment.user)},
                         {"os", text_or_null(facts.environment.os)},
                         {"variables", std::move(variables)},
                         {"warnings", facts.environment.warnings}};
  return dump(json);
}

std::string detection_json(const DetectionMatrix& matrix) {
  Json json = document();
  json["target"] = matrix.simulator ? "simulator" : "gpu";
  json["complete"] = matrix.complete;
  json["checks"] = matrix.checks;
  json["faults"] = Json::array();
  for (const FaultRow& row : matrix.faults) {
    Json detected = Json::object();
    for (const auto& [check, detection] : row.detected_by) {
      detected[check] = {
          {"red", detection.red}, {"example_case", detection.example_case}, {"reason", detection.reason}};
    }
    json["faults"].push_back({{"name", row.name},
                              {"modelled_on", row.modelled_on},
                              {"error", text_or_null(row.error)},
                              {"detected_by", std::move(detected)}});
  }
  json["false_alarms"] = Json::array();
  for (const FalseAlarm& alarm : matrix.false_alarms) {
    json["false_alarms"].push_back({{"check", alarm.check},
                                    {"case", alarm.the_case},
                                    {"status", name_of(alarm.status)},
                                    {"reason", alarm.reason},
                                    {"sentence", alarm.sentence}});
  }
  json["undetected_faults"] = undetected_faults(matrix);
  json["weak_checks"] = weak_checks(matrix);
  json["ok"] = self_test_ok(matrix);
  return dump(json);
}

}  // namespace lt_audit
