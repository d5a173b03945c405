// Any bytes as two reports, split at the first zero byte: read, compared and written in every form. No crash; Markdown
// within its limit; text without control characters; JSON that parses.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "compare/diff.h"
#include "compare/diff_output.h"
#include "lt_audit/error.h"
#include "report/formats.h"

namespace {

/// A file of this process that the reader takes for a report.
lt_audit::Report report_of(std::string_view text) {
  const std::string path = "/tmp/lt-audit-diff-fuzz-" + std::to_string(getpid()) + ".json";
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  return lt_audit::read_json(path);
}

void require_that(bool holds) {
  if (!holds) std::abort();
}

void write_all(const lt_audit::ReportDiff& diff) {
  lt_audit::DiffOptions options;
  options.before_path = "old.json";
  options.after_path = "new.json";
  std::ostringstream markdown;
  write_diff_markdown(diff, options, markdown);
  require_that(markdown.str().size() <= lt_audit::kMostMarkdownBytes);
  std::ostringstream json;
  write_diff_json(diff, options, json);
  require_that(nlohmann::json::accept(json.str()));
  for (const bool verbose : {false, true}) {
    options.verbose = verbose;
    std::ostringstream text;
    write_diff_text(diff, options, text);
    for (const char c : text.str()) require_that(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = text.find('\0');
  const std::string_view second = middle == std::string_view::npos ? text : text.substr(middle + 1);
  try {
    lt_audit::Report before = report_of(text.substr(0, middle));
    const lt_audit::Report after = report_of(second);
    const auto whole = diff_reports(before, after);
    write_all(whole);
    keep_for_diff(before);
    const auto kept = diff_reports(before, after);
    require_that(kept.total().changed == whole.total().changed && kept.total().numbers == whole.total().numbers);
  } catch (const lt_audit::AuditError&) {
    // What is no report is said to be none.
  }
  return 0;
}
