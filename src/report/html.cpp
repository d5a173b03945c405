// The HTML page: the template with its parts in place. One file, nothing is loaded from anywhere.
#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "report/formats.h"
#include "report/html_data.h"
#include "report/html_parts.h"
#include "report/html_text.h"
#include "report/text_layout.h"
#include "report/text_parts.h"

namespace lt_audit::embedded {
extern const std::string_view page_template_html;
extern const std::string_view page_style_css, page_style_css_sha256;
extern const std::string_view page_core_js, page_core_js_sha256;
extern const std::string_view page_detail_js, page_detail_js_sha256;
extern const std::string_view page_table_js, page_table_js_sha256;
extern const std::string_view page_times_js, page_times_js_sha256;
extern const std::string_view page_pictures_js, page_pictures_js_sha256;
extern const std::string_view page_start_js, page_start_js_sha256;
}  // namespace lt_audit::embedded

namespace lt_audit {
namespace {

/// The scripts in the order in which they run, with their sums. No library: what the page does needs none.
std::array<std::pair<std::string_view, std::string_view>, 6> scripts() {
  using namespace embedded;
  return {{{page_core_js, page_core_js_sha256},
           {page_detail_js, page_detail_js_sha256},
           {page_table_js, page_table_js_sha256},
           {page_times_js, page_times_js_sha256},
           {page_pictures_js, page_pictures_js_sha256},
           {page_start_js, page_start_js_sha256}}};
}

/// Only the styles and scripts that were built in may be used, and nothing may be loaded: a second wall, should a field
/// of the report ever get past the escaping.
void write_policy(std::ostream& out) {
  out << "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-"
      << embedded::page_style_css_sha256 << "'; script-src";
  for (const auto& [text, sum] : scripts()) out << " 'sha256-" << sum << "'";
}

void write_scripts(std::ostream& out) {
  for (const auto& [text, sum] : scripts()) out << "<script>" << text << "</script>\n";
}

void write_footer(const Report& report, const LeftOut& left_out, std::ostream& out) {
  out << "<p>Written by lt-audit " << html_escaped(report.tool_version)
      << ". This page loads nothing and sends nothing. ";
  if (left_out.pass + left_out.others == 0) {
    out << "It holds every observation of the report whole.";
  } else {
    out << fmt::format("To keep it small, the observations of {} that passed", counted(left_out.pass, "case"));
    if (left_out.others != 0) out << fmt::format(" and of {} that did not", counted(left_out.others, "case"));
    out << " are shortened to the stage that decided, the log and the facts: heuristic results, verification and times "
           "of these are in the JSON report alone.";
  }
  out << " Profile and environment variables are in the JSON report too.</p>\n";
}

}  // namespace

void write_html(const Report& report, const Annotations& annotations, std::ostream& out) {
  LeftOut left_out;
  const auto write_part = [&](std::string_view name) {
    if (name == "policy") write_policy(out);
    if (name == "title") out << html_escaped(headline(report));
    if (name == "style") out << embedded::page_style_css;
    if (name == "banners") write_html_banners(report, annotations, out);
    if (name == "summary") write_html_summary(report, out);
    if (name == "findings") write_html_findings(report, annotations, out);
    if (name == "checks") write_html_checks(report, out);
    if (name == "data") left_out = write_page_data(report, annotations, PageLimits{}, out);
    if (name == "footer") write_footer(report, left_out, out);
    if (name == "scripts") write_scripts(out);
  };
  std::string_view page = embedded::page_template_html;
  for (std::size_t at = page.find("{{"); at != std::string_view::npos; at = page.find("{{")) {
    const std::size_t end = page.find("}}", at);
    out << page.substr(0, at);
    write_part(page.substr(at + 2, end - at - 2));
    page.remove_prefix(end + 2);
  }
  out << page;
}

}  // namespace lt_audit
