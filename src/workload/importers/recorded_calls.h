// For the tests of importers: a sink that keeps everything it is told, and the real logs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workload/importer.h"

namespace lt_audit {

/// The content of tests/data/workloads/NAME.
std::string file_text(const std::string& name);

class RecordedCalls : public CallSink {
 public:
  std::size_t call(const ImportedCall& call, std::uint64_t line) override {
    calls.emplace_back(line, call);
    counts.push_back(1);
    return calls.size() - 1;
  }
  void again(std::size_t id, std::optional<std::uint64_t> /*stream*/) override { ++counts.at(id); }
  void damaged(std::uint64_t line, const std::string& reason) override { damages.emplace_back(line, reason); }

  /// Feeds the lines of a text, those that the importer claims.
  void feed(LineImporter& importer, std::string_view text) {
    std::uint64_t number = 0;
    while (!text.empty()) {
      const auto end = text.find('\n');
      const auto line = text.substr(0, end);
      ++number;
      if (importer.claims(line)) importer.take(line, number, *this);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    importer.finish(*this);
  }

  /// Line and call, in order; how often each, counting `again`.
  std::vector<std::pair<std::uint64_t, ImportedCall>> calls;
  std::vector<std::uint64_t> counts;
  std::vector<std::pair<std::uint64_t, std::string>> damages;
};

}  // namespace lt_audit
