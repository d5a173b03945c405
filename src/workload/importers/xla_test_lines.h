// Lines of HLO for the tests of XLA's importer, and what comes of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/importers/recorded_calls.h"
#include "workload/problem_text.h"

namespace lt_audit::xla_test {

using Words = std::vector<std::string>;

struct Imported {
  std::vector<std::pair<std::uint64_t, ImportedCall>> calls;
  std::vector<std::pair<std::uint64_t, std::string>> damages;
};

inline Imported import(std::string_view text) {
  RecordedCalls recorded;
  recorded.feed(*make_xla_importer(), text);
  return {recorded.calls, recorded.damages};
}

inline ImportedCall only_call(const std::string& line) {
  const auto recorded = import(line);
  EXPECT_EQ(recorded.damages.size(), 0U) << line << ": "
                                         << (recorded.damages.empty() ? "" : recorded.damages[0].second);
  EXPECT_EQ(recorded.calls.size(), 1U) << line;
  return recorded.calls.empty() ? ImportedCall{} : recorded.calls[0].second;
}

inline std::string text_of(const std::string& line) { return to_text(only_call(line).problem); }

inline std::string reason_of(const std::string& line) {
  const auto recorded = import(line);
  EXPECT_EQ(recorded.calls.size(), 0U) << line;
  return recorded.damages.size() == 1 ? recorded.damages[0].second : "";
}

/// What differs between the lines of these tests.
struct Line {
  std::string result = "(f32[1024,256]{1,0}, s8[1024]{0})";
  std::string operands = "f32[1024,128]{1,0} %a, f32[128,256]{1,0} %b";
  std::string target = "lt$matmul";
  std::string dims = R"("lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"])";
  std::string config = R"("alpha_real":1,"beta":0,"epilogue":"DEFAULT")";
  std::string attributes;

  operator std::string() const {  // NOLINT(google-explicit-constructor)
    return "  %custom-call.1 = " + result + " custom-call(" + operands + "), custom_call_target=\"__cublas$" + target +
           "\", " + attributes + "metadata={op_name=\"jit(f)/dot{\"}, backend_config={\"operation_queue_id\":\"0\"," +
           "\"gemm_backend_config\":{\"dot_dimension_numbers\":{" + dims + "}," + config + "}}";
  }
};

/// The same types in all places, FP32's shapes.
inline Line typed(const std::string& left, const std::string& right, const std::string& result) {
  Line line;
  line.result = "(" + result + "[1024,256]{1,0}, s8[1024]{0})";
  line.operands = left + "[1024,128]{1,0} %a, " + right + "[128,256]{1,0} %b";
  return line;
}

inline Line with_config(const std::string& config) {
  Line line = typed("f16", "f16", "f16");
  line.config = config;
  return line;
}

inline constexpr std::string_view kSampleConfig =
    R"({"operation_queue_id":"0","gemm_backend_config":{"selected_algorithm":"0","alpha_real":1,"alpha_imag":0,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]},"precision_config":{"operand_precision":["DEFAULT","DEFAULT"],"algorithm":"ALG_UNSET"},"epilogue":"DEFAULT","damax_output":false,"lhs_stride":"1000000","rhs_stride":"1000000","grad_x":false,"grad_y":false,"autotune_workspace_size":"4194304"},"force_earliest_schedule":false})";

}  // namespace lt_audit::xla_test
