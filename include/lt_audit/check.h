// The interface of a check: one hazard, one folder. A check is a table of cases and a judgement; it never prints,
// parses, allocates raw memory, exits or reads globals.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lt_audit/matmul_problem.h"
#include "lt_audit/observation.h"
#include "lt_audit/target.h"
#include "lt_audit/verdict.h"

namespace lt_audit {

class Session;

enum class Depth { quick, normal, full };

/// Who the check is, for list, explain and the report.
struct CheckInfo {
  /// kebab-case, subject first: "alignment", "compute-type".
  std::string_view id;
  /// One sentence without a full stop at the end.
  std::string_view summary;
  /// Document and section or header and enumerator, with the version read.
  std::string_view source;
};

/// One labelled experiment.
struct Case {
  /// Unique within the check, no blanks, colons or commas: "f16.a.off2.declared". Stable between runs and versions.
  std::string id;
  MatmulProblem problem;
  Expectation expectation = Expectation::may_refuse;
  /// The documented rule behind the expectation, with its source; empty when nothing is documented.
  std::string rule;
  /// Run the same product through cuBLAS too (Observation::cublas).
  bool with_cublas = false;
  /// May crash, hang or poison the context: runs in a worker of its own.
  bool isolated = false;
  /// What a special scenario needs to know beyond the problem; shown in the report.
  std::map<std::string, std::string> parameters;
  /// observe does more than the engine's one run of the problem: replaying the problem text would not show what it saw,
  /// so the repro line names the case of the report.
  bool scenario = false;
};

/// How a finding of one cause is explained to a person.
struct Advice {
  /// One line: what happens. "A pointer below 16 bytes is refused only by matmul".
  std::string title;
  /// What the contract says should happen.
  std::string expected;
  /// The rule and its source.
  std::string rule;
  /// What to change in the application.
  std::string remedy;
};

/// A check. All functions but observe are pure.
class Check {
 public:
  Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;
  virtual ~Check() = default;

  virtual const CheckInfo& info() const = 0;

  /// Why the check does not apply to this target; nothing when it does.
  virtual std::optional<std::string> skip_reason(const Target& target) const;

  /// Ordered, deterministic; ids unique. Deeper depths contain the shallower ones.
  virtual std::vector<Case> cases(const Target& target, Depth depth) const = 0;

  /// What the check has to say about one problem of an application (--workload); ids unique among them. The default is
  /// nothing.
  virtual std::vector<Case> cases_about(const Target& target, const MatmulProblem& problem) const;

  /// Runs one case. The default is the engine: session.run(problem), and session.run_cublas(problem) when asked for.
  virtual Observation observe(Session& session, const Case& the_case) const;

  /// The default is judge_by_table.
  virtual Verdict judge(const Case& the_case, const Observation& observation) const;

  /// Explains a cause. `verdict` is one that judge of this check returned for `the_case`.
  virtual Advice advice(const Case& the_case, const Verdict& verdict) const = 0;
};

/// Every check, sorted by id (checks/registry.cpp).
std::span<const std::unique_ptr<Check>> registered_checks();
/// The check's page (checks/NAME/NAME.md), embedded at build time.
std::string_view page_of(std::string_view check_id);

}  // namespace lt_audit
