// A check with cases from a list, for the tests of plan, findings and audit.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lt_audit/check.h"

namespace lt_audit {

class FakeCheck : public Check {
 public:
  FakeCheck(std::string id, std::vector<Case> cases, std::optional<std::string> skip = std::nullopt)
      : id_(std::move(id)), cases_(std::move(cases)), skip_(std::move(skip)), info_{id_, "A fake check", "no source"} {}

  const CheckInfo& info() const override { return info_; }
  std::optional<std::string> skip_reason(const Target&) const override { return skip_; }
  std::vector<Case> cases(const Target&, Depth) const override { return cases_; }
  Advice advice(const Case& the_case, const Verdict& verdict) const override {
    return {"title of " + verdict.reason, "expected of " + the_case.id, the_case.rule, "remedy"};
  }

 private:
  std::string id_;
  std::vector<Case> cases_;
  std::optional<std::string> skip_;
  CheckInfo info_;
};

inline Case fake_case(std::string id, Expectation expectation = Expectation::must_work) {
  Case the_case;
  the_case.id = std::move(id);
  the_case.problem = uniform_problem(CUDA_R_32F, 16, 16, 16);
  the_case.expectation = expectation;
  the_case.rule = "a rule";
  return the_case;
}

}  // namespace lt_audit
