// Puts the calls of logs together: each distinct product once.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "workload/importer.h"
#include "workload/workload.h"

namespace lt_audit {

class WorkloadBuilder : public CallSink {
 public:
  /// Lines from here on are of this file.
  void begin_file(const std::string& name) { file_ = name; }

  std::size_t call(const ImportedCall& call, std::uint64_t line) override;
  void again(std::size_t id, std::optional<std::uint64_t> stream) override;
  void damaged(std::uint64_t line, const std::string& reason) override;

  std::uint64_t calls() const { return calls_; }
  std::uint64_t damaged_lines() const { return workload_.damaged_lines; }
  /// The workload, in its order; the builder is empty afterwards.
  Workload take();

 private:
  void count_stream(std::size_t id, std::optional<std::uint64_t> stream);

  std::string file_;
  std::uint64_t calls_ = 0;
  Workload workload_;
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<std::set<std::uint64_t>> streams_;
};

}  // namespace lt_audit
