// The further formats.
#include "cli/outputs.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string_view>
#include <vector>

#include "cli/report_file.h"
#include "lt_audit/error.h"
#include "report/escape.h"
#include "report/formats.h"

namespace lt_audit {
namespace {

/// GitHub drops a step summary that is larger.
constexpr std::uintmax_t kMostSummaryBytes = 1024UL * 1024;

struct Document {
  const char* option = "";
  std::string path;
  void (*write)(const Report&, const Annotations&, std::ostream&) = nullptr;
};

/// Every format once; those with an empty path are not asked for.
std::vector<Document> all_documents(const OutputArguments& outputs) {
  return {{"--junit", outputs.junit, write_junit},
          {"--sarif", outputs.sarif, write_sarif},
          {"--markdown", outputs.markdown, write_markdown},
          {"--html", outputs.html, write_html}};
}

std::vector<Document> documents_of(const OutputArguments& outputs) {
  std::vector<Document> asked;
  for (Document& document : all_documents(outputs)) {
    if (!document.path.empty()) asked.push_back(std::move(document));
  }
  return asked;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool in_github_actions() { return environment("GITHUB_ACTIONS") == "true"; }

void write_to_stdout(const Document& document, const Report& report, const Annotations& annotations,
                     std::ostream& out) {
  document.write(report, annotations, out);
  out.flush();
  if (out) return;
  throw AuditError(
      ErrorKind::cannot_run,
      fmt::format("the document of {0} - could not be written to standard output: its reader is gone or the "
                  "disk is full; write it to a file with {0} FILE",
                  document.option));
}

void write_document(const Document& document, const Report& report, const Annotations& annotations, std::ostream& out) {
  if (is_stdout_path(document.path)) return write_to_stdout(document, report, annotations, out);
  write_file_atomically(document.path, [&](std::ostream& file) { document.write(report, annotations, file); });
}

/// Appends: other steps of the job write to the file too. Throws AuditError (cannot_run).
void append_step_summary(const std::string& path, const std::string& text) {
  std::error_code error;
  const std::uintmax_t there = std::filesystem::file_size(path, error);
  if (!error && there + text.size() > kMostSummaryBytes) {
    throw AuditError(
        ErrorKind::cannot_run,
        fmt::format("the step summary {} is full: GitHub takes 1 MiB for a step; use --markdown FILE", path));
  }
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << text << '\n';
  file.close();
  if (!file) {
    throw AuditError(
        ErrorKind::cannot_run,
        fmt::format("the step summary {} cannot be written (GITHUB_STEP_SUMMARY names it); make it writable "
                    "or give --github never",
                    path));
  }
}

void write_github(const Report& report, const Annotations& annotations, When when, Context& context) {
  write_github_annotations(report, annotations, context.err);
  context.err.flush();
  const std::string path = environment("GITHUB_STEP_SUMMARY");
  if (path.empty()) return;
  std::ostringstream text;
  write_markdown(report, annotations, text);
  try {
    append_step_summary(path, text.str());
  } catch (const AuditError& error) {
    // Nobody asked for it: in a container the variable may name a file of another machine.
    if (when == When::always) throw;
    context.err << fmt::format("lt-audit: {}\n", error.what());
  }
}

}  // namespace

bool has_documents(const OutputArguments& outputs) { return !documents_of(outputs).empty(); }

bool takes_stdout(const OutputArguments& outputs, const std::string& json) {
  std::vector<Document> documents = documents_of(outputs);
  if (!json.empty()) documents.push_back({"--json", json});
  const auto place_of = [](const std::string& path) {
    return is_stdout_path(path) ? std::string("-") : std::filesystem::path(path).lexically_normal().string();
  };
  bool taken = false;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string place = place_of(documents[i].path);
    taken = taken || place == "-";
    for (std::size_t j = 0; j < i; ++j) {
      // A device such as /dev/null takes any number of documents.
      if (place_of(documents[j].path) != place || place == "/dev/null") continue;
      throw AuditError(
          ErrorKind::usage,
          fmt::format("{} and {} both go to {}: it takes one document; give one of them another FILE",
                      documents[j].option, documents[i].option, place == "-" ? "standard output" : "'" + place + "'"));
    }
  }
  return taken;
}

void require_writable_outputs(const OutputArguments& outputs) {
  for (const Document& document : documents_of(outputs)) {
    require_writable_file(document.path, document.option);
  }
}

OutputArguments outputs_for_device(OutputArguments outputs, int device) {
  for (std::string* path : {&outputs.junit, &outputs.sarif, &outputs.markdown, &outputs.html}) {
    *path = path_for_device(*path, device);
  }
  return outputs;
}

void write_outputs(const Report& report, const Annotations& annotations, const OutputArguments& outputs,
                   Context& context) {
  std::optional<AuditError> first;
  const auto attempt = [&first](const auto& write) {
    try {
      write();
    } catch (const AuditError& error) {
      if (!first) first = error;
    }
  };
  for (const Document& document : documents_of(outputs)) {
    attempt([&] { write_document(document, report, annotations, context.out); });
  }
  if (outputs.github == When::always || (outputs.github == When::automatic && in_github_actions())) {
    attempt([&] { write_github(report, annotations, outputs.github, context); });
  }
  if (first) throw AuditError(*first);
}

void write_to(const std::string& path, Context& context, const std::function<void(std::ostream&)>& write) {
  if (path.empty()) return;
  if (is_stdout_path(path)) return write(context.out);
  write_file_atomically(path, write);
}

void write_log_text(std::ostream& stream, const std::function<void(std::ostream&)>& write) {
  if (!in_github_actions()) return write(stream);
  std::ostringstream text;
  write(text);
  stream << without_workflow_commands(text.str());
}

}  // namespace lt_audit
