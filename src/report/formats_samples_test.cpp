// Every format of every sample report, written to the directory that LT_AUDIT_SAMPLES names: tests/formats_test.py
// holds them against the schemas. Without the variable the files go to a temporary directory and are only looked at.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "report/formats.h"
#include "report/sample_formats.h"
#include "report/sample_report.h"
#include "report/utf8.h"

namespace lt_audit {
namespace {

struct Sample {
  Report report;
  Annotations annotations;
};

std::map<std::string, Sample> samples() {
  Report simulator = sample_report();
  simulator.target.kind = PlatformKind::simulator;
  simulator.complete = false;
  Report nothing;
  Annotations open;
  open.gate = GateDecision{};
  return {{"sample", {sample_report(), {}}},
          {"annotated", {sample_report(), sample_annotations()}},
          {"redacted", {redacted(sample_report()), {}}},
          {"workload", {workload_report(), open}},
          {"simulator", {simulator, {}}},
          {"hostile", {hostile_report(), hostile_annotations()}},
          {"nothing", {nothing, {}}},
          {"large", {large_report(500), {}}}};
}

TEST(FormatsSamples, AreWrittenAndAreUtf8) {
  const TemporaryDirectory temporary;
  const char* named = std::getenv("LT_AUDIT_SAMPLES");
  const std::string directory = named == nullptr ? temporary.path().string() : named;
  for (const auto& [name, sample] : samples()) {
    const auto write = [&, &name = name, &sample = sample](const char* extension, const auto& format) {
      const std::string path = directory + "/" + name + extension;
      write_file_atomically(path, [&](std::ostream& out) { format(sample.report, sample.annotations, out); });
      const std::string text = content_of(path);
      EXPECT_EQ(valid_utf8(text).size(), text.size()) << path;
    };
    write(".xml", write_junit);
    write(".sarif", write_sarif);
    write(".md", write_markdown);
    write(".txt", write_github_annotations);
  }
}

}  // namespace
}  // namespace lt_audit
