// The scripted worker, and the main of the test program that may become one.
#include "driver/fake_worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string_view>

#include "driver/protocol.h"

namespace lt_audit {
namespace {

constexpr const char* kFlag = "--fake-worker";

void send_text(std::string_view text) {
  if (write(kResponseFd, text.data(), text.size()) < 0) _exit(9);
}

std::optional<Request> next_request(LineBuffer& lines) {
  for (;;) {
    if (auto line = lines.next()) return decode_request(*line);
    std::array<char, 4096> bytes;
    const ssize_t count = read(kRequestFd, bytes.data(), bytes.size());
    if (count <= 0) return std::nullopt;
    lines.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

/// True for the first caller: makes the file.
bool first_here(const std::string& file) {
  const int fd = open(file.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

class Script {
 public:
  explicit Script(const std::string& text) {
    std::istringstream words(text);
    for (std::string word; words >> word;) words_.push_back(word);
  }
  bool says(const std::string& word) const { return std::find(words_.begin(), words_.end(), word) != words_.end(); }
  bool says(const std::string& verb, const std::string& id) const { return says(verb + "=" + id) || says(verb + "=*"); }
  std::string value(const std::string& verb) const {
    for (const auto& word : words_) {
      if (word.starts_with(verb + "=")) return word.substr(verb.size() + 1);
    }
    return {};
  }

 private:
  std::vector<std::string> words_;
};

[[noreturn]] void hang() {
  for (;;) pause();
}

void start(const Script& script, const StartRequest& request) {
  if (script.says("die")) _exit(7);
  const auto die_once = script.value("die-once");
  if (!die_once.empty() && first_here(die_once)) _exit(7);
  // FILE.0 is made by the first worker, FILE.1 .. FILE.3 by those that then die at their start.
  const auto die_later = script.value("die-thrice-after-first");
  if (!die_later.empty() && !first_here(die_later + ".0")) {
    for (const char* end : {".1", ".2", ".3"}) {
      if (first_here(die_later + end)) _exit(7);
    }
  }
  const auto fail_later = script.value("fail-after-first");
  if (script.says("fail") || (!fail_later.empty() && !first_here(fail_later))) {
    send_text(encode(Response(FailedResponse{ErrorKind::cannot_run, "no GPU was found"})));
    _exit(3);
  }
  ReadyResponse ready;
  ready.target.kind = request.worker.target == TargetChoice::gpu ? PlatformKind::gpu : PlatformKind::simulator;
  ready.target.device_count = 2;
  ready.target.device_facts.name = "Fake GPU";
  send_text(encode(Response(ready)));
  send_text(encode(Response(WarmResponse{0.001})));
}

Observation good_observation(const CaseRequest& request, const Script& script) {
  Observation observation;
  observation.stages.push_back({"heuristic", "cublasLtMatmulAlgoGetHeuristic", "SUCCESS"});
  const bool refused = script.says("refuse", request.id);
  observation.stages.push_back({"matmul", "cublasLtMatmul", refused ? "NOT_SUPPORTED" : "SUCCESS"});
  if (!refused) {
    Verification verification;
    verification.method = "elements";
    verification.compared = verification.expected_nonzero = 64;
    observation.verification = verification;
  }
  observation.facts["pid"] = std::to_string(getpid());
  observation.facts["id"] = request.id;
  return observation;
}

void run_case(const Script& script, const CaseRequest& request) {
  const auto& id = request.id;
  if (script.says("crash", id)) {
    // A sanitizer's handler would turn the signal into an exit code.
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (script.says("exit", id)) _exit(3);
  if (script.says("hang", id)) hang();
  if (script.says("rubbish", id)) {
    send_text("Segmentation fault (core dumped)\n");
    hang();
  }
  if (script.says("kill-parent-signal", id)) {
    kill(getppid(), SIGINT);
    hang();
  }
  ResultResponse result{request.sequence, good_observation(request, script), false};
  if (script.says("stray", id)) ++result.sequence;
  if (script.says("lose", id)) {
    result.observation.end = ProcessEnd::context_lost;
    result.observation.end_detail = "cudaErrorMisalignedAddress";
    result.lost = true;
  }
  const bool lost = result.lost;
  send_text(encode(Response(std::move(result))));
  if (lost) _exit(0);
}

}  // namespace

std::vector<std::string> fake_worker_command(const std::string& script) { return {"/proc/self/exe", kFlag, script}; }

int fake_worker_main(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], kFlag) != 0) return -1;
  const Script script(argv[2]);
  LineBuffer lines;
  while (auto request = next_request(lines)) {
    if (const auto* first = std::get_if<StartRequest>(&*request)) start(script, *first);
    if (const auto* the_case = std::get_if<CaseRequest>(&*request)) run_case(script, *the_case);
  }
  MatmulEngine::Profile profile;
  profile.matmul_us = 1000;
  send_text(encode(Response(ByeResponse{profile})));
  return 0;
}

}  // namespace lt_audit

int main(int argc, char** argv) {
  const int code = lt_audit::fake_worker_main(argc, argv);
  if (code >= 0) return code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
