// Tests that a planted fault turns a case red, over the simulator: one row each.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>
#include <string>

#include "explained.h"
#include "lt_audit/check.h"
#include "simulated.h"

namespace lt_audit {

struct Planted {
  const char* fault;
  /// A case of depth quick, and the verdict that the fault brings it.
  const char* id;
  Status status;
  const char* reason;
  /// A case of depth quick that the fault leaves alone, whatever ran before; null when it leaves none.
  const char* untouched;

  /// As test names allow it.
  std::string name() const {
    std::string text = std::string(fault) + "_" + id;
    const auto is_other = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; };
    std::replace_if(text.begin(), text.end(), is_other, '_');
    return text;
  }
  friend std::ostream& operator<<(std::ostream& stream, const Planted& planted) { return stream << planted.name(); }
};

inline std::string name_of_planted(const testing::TestParamInfo<Planted>& row) { return row.param.name(); }

inline void expect_red(const Check& check, const Planted& planted) {
  const auto cases = simulated::cases_by_id(check, Depth::quick);
  const auto verdict_of = [&](const std::string& fault, const std::string& id) {
    const Case& the_case = cases.at(id);
    const auto verdict = check.judge(the_case, simulated::Worker(fault).observe(check, the_case));
    expect_explained(check, the_case, verdict);
    return verdict;
  };
  const auto red = verdict_of(planted.fault, planted.id);
  EXPECT_EQ(red.status, planted.status) << red.reason << ": " << red.sentence;
  EXPECT_EQ(red.reason, planted.reason) << red.sentence;
  EXPECT_EQ(verdict_of("", planted.id).status, Status::pass) << "without the fault";
  if (planted.untouched == nullptr) return;
  const auto other = verdict_of(planted.fault, planted.untouched);
  EXPECT_EQ(other.status, Status::pass) << planted.untouched << ": " << other.reason << ": " << other.sentence;
}

}  // namespace lt_audit
