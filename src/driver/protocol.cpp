// Requests and responses as JSON lines.
#include "driver/protocol.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/observation_json.h"

namespace lt_audit {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string to_line(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

constexpr std::string_view name_of(TargetChoice choice) {
  switch (choice) {
    case TargetChoice::gpu:
      return "gpu";
    case TargetChoice::simulator:
      return "simulator";
    case TargetChoice::automatic:
      break;
  }
  return "auto";
}

TargetChoice target_choice_from(std::string_view name) {
  for (const auto choice : {TargetChoice::gpu, TargetChoice::simulator, TargetChoice::automatic}) {
    if (name == name_of(choice)) return choice;
  }
  throw ProtocolError(fmt::format("unknown target '{}'", name));
}

ordered_json to_json(const WorkerOptions& options) {
  return {{"target", name_of(options.target)},  {"device", options.device}, {"cublaslt", options.libraries.cublaslt},
          {"cublas", options.libraries.cublas}, {"fault", options.fault},   {"seed", options.seed},
          {"timeout_s", options.timeout_s},     {"trace", options.trace}};
}

WorkerOptions worker_options_from(const json& object) {
  WorkerOptions options;
  options.target = target_choice_from(object.at("target").get<std::string>());
  options.device = object.at("device").get<int>();
  options.libraries.cublaslt = object.at("cublaslt").get<std::string>();
  options.libraries.cublas = object.at("cublas").get<std::string>();
  options.fault = object.at("fault").get<std::string>();
  options.seed = object.at("seed").get<std::uint64_t>();
  options.timeout_s = object.at("timeout_s").get<double>();
  options.trace = object.at("trace").get<bool>();
  return options;
}

ordered_json to_json(const Selection& selection) {
  return {{"checks", selection.checks},
          {"exclude", selection.exclude},
          {"only_case", selection.only_case},
          {"problems", selection.problems},
          {"problem_notes", selection.problem_notes},
          {"depth", name_of(selection.depth)}};
}

Selection selection_from(const json& object) {
  Selection selection;
  selection.checks = object.at("checks").get<std::vector<std::string>>();
  selection.exclude = object.at("exclude").get<std::vector<std::string>>();
  selection.only_case = object.at("only_case").get<std::string>();
  selection.problems = object.at("problems").get<std::vector<std::string>>();
  selection.problem_notes = object.at("problem_notes").get<decltype(selection.problem_notes)>();
  const auto depth = depth_from(object.at("depth").get<std::string>());
  if (!depth) throw ProtocolError("unknown depth");
  selection.depth = *depth;
  return selection;
}

ordered_json to_json(const EngineOptions& options) {
  return {{"seed", options.seed},
          {"time_on_gpu", options.time_on_gpu},
          {"requested_results", options.requested_results},
          {"single_products", options.run.inputs == Inputs::single_products},
          {"digest", options.run.digest}};
}

EngineOptions engine_options_from(const json& object) {
  EngineOptions options;
  options.seed = object.at("seed").get<std::uint64_t>();
  options.time_on_gpu = object.at("time_on_gpu").get<bool>();
  options.requested_results = object.at("requested_results").get<int>();
  if (object.at("single_products").get<bool>()) options.run.inputs = Inputs::single_products;
  options.run.digest = object.at("digest").get<bool>();
  return options;
}

ordered_json to_json(const MatmulEngine::Profile& profile) {
  return {{"setup_us", profile.setup_us},   {"prepare_us", profile.prepare_us}, {"heuristic_us", profile.heuristic_us},
          {"matmul_us", profile.matmul_us}, {"verify_us", profile.verify_us},   {"wait_us", profile.wait_us},
          {"cublas_us", profile.cublas_us}, {"steps_us", profile.steps_us}};
}

MatmulEngine::Profile profile_from(const json& object) {
  MatmulEngine::Profile profile;
  profile.setup_us = object.at("setup_us").get<double>();
  profile.prepare_us = object.at("prepare_us").get<double>();
  profile.heuristic_us = object.at("heuristic_us").get<double>();
  profile.matmul_us = object.at("matmul_us").get<double>();
  profile.verify_us = object.at("verify_us").get<double>();
  profile.wait_us = object.at("wait_us").get<double>();
  profile.cublas_us = object.at("cublas_us").get<double>();
  profile.steps_us = object.at("steps_us").get<double>();
  return profile;
}

struct Encoder {
  ordered_json operator()(const StartRequest& request) const {
    return {{"request", "start"},
            {"worker", to_json(request.worker)},
            {"selection", to_json(request.selection)},
            {"engine", to_json(request.engine)}};
  }
  ordered_json operator()(const CaseRequest& request) const {
    return {{"request", "case"},
            {"sequence", request.sequence},
            {"check", request.check},
            {"index", request.index},
            {"id", request.id}};
  }
  ordered_json operator()(const ReadyResponse& response) const {
    return {{"response", "ready"},
            {"target", target_to_json(response.target)},
            {"no_gpu", response.no_gpu},
            {"library_s", response.library_s},
            {"context_s", response.context_s}};
  }
  ordered_json operator()(const WarmResponse& response) const {
    return {{"response", "warm"}, {"seconds", response.seconds}};
  }
  ordered_json operator()(const FailedResponse& response) const {
    return {{"response", "failed"},
            {"kind", response.kind == ErrorKind::usage ? "usage" : "cannot_run"},
            {"message", response.message}};
  }
  ordered_json operator()(const ResultResponse& response) const {
    return {{"response", "result"},
            {"sequence", response.sequence},
            {"lost", response.lost},
            {"observation", observation_to_json(response.observation)}};
  }
  ordered_json operator()(const ByeResponse& response) const {
    return {{"response", "bye"}, {"profile", to_json(response.profile)}};
  }
};

Request request_from(const json& object) {
  const auto kind = object.at("request").get<std::string>();
  if (kind == "start") {
    return StartRequest{worker_options_from(object.at("worker")), selection_from(object.at("selection")),
                        engine_options_from(object.at("engine"))};
  }
  if (kind == "case") {
    return CaseRequest{object.at("sequence").get<std::uint64_t>(), object.at("check").get<std::size_t>(),
                       object.at("index").get<std::size_t>(), object.at("id").get<std::string>()};
  }
  throw ProtocolError(fmt::format("unknown request '{}'", kind));
}

Response response_from(const json& object) {
  const auto kind = object.at("response").get<std::string>();
  if (kind == "result") {
    return ResultResponse{object.at("sequence").get<std::uint64_t>(), observation_from_json(object.at("observation")),
                          object.at("lost").get<bool>()};
  }
  if (kind == "ready") {
    return ReadyResponse{target_from_json(object.at("target")), object.at("no_gpu").get<std::string>(),
                         object.at("library_s").get<double>(), object.at("context_s").get<double>()};
  }
  if (kind == "warm") return WarmResponse{object.at("seconds").get<double>()};
  if (kind == "failed") {
    const bool usage = object.at("kind").get<std::string>() == "usage";
    return FailedResponse{usage ? ErrorKind::usage : ErrorKind::cannot_run, object.at("message").get<std::string>()};
  }
  if (kind == "bye") return ByeResponse{profile_from(object.at("profile"))};
  throw ProtocolError(fmt::format("unknown response '{}'", kind));
}

template <class Message>
Message decode(std::string_view line, Message (*from)(const json&)) {
  try {
    return from(json::parse(line.begin(), line.end()));
  } catch (const json::exception& error) {
    throw ProtocolError(error.what());
  } catch (const AuditError& error) {
    // observation_from_json and target_from_json speak of a bad file; here it is a bad peer.
    throw ProtocolError(error.what());
  }
}

}  // namespace

std::string encode(const Request& request) { return to_line(std::visit(Encoder{}, request)); }
std::string encode(const Response& response) { return to_line(std::visit(Encoder{}, response)); }

Request decode_request(std::string_view line) { return decode<Request>(line, request_from); }
Response decode_response(std::string_view line) { return decode<Response>(line, response_from); }

std::optional<std::string> LineBuffer::next() {
  const std::size_t end = bytes_.find('\n', searched_);
  if (end == std::string::npos) {
    bytes_.erase(0, begin_);
    begin_ = 0;
    searched_ = bytes_.size();
    if (bytes_.size() > kMaxLine) throw ProtocolError(fmt::format("a line of more than {} bytes", kMaxLine));
    return std::nullopt;
  }
  std::string line = bytes_.substr(begin_, end - begin_);
  begin_ = searched_ = end + 1;
  return line;
}

}  // namespace lt_audit
