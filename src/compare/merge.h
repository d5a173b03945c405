// Many reports into one: which findings how many machines have, and which machines differ from the others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lt_audit/report.h"

namespace lt_audit {

/// A report and the file that it comes from.
struct NamedReport {
  std::string file;
  Report report;
};

/// Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (ASQC Basic References in Quality Control 16, 1993): a
/// value whose modified z-score 0.6745 (x - median) / MAD exceeds 3.5 is labelled a potential outlier.
inline constexpr double kOutlierScore = 3.5;
/// A time closer to the median than this is no outlier, however much the nodes agree.
inline constexpr double kLeastDeviation = 0.05;
/// With fewer nodes of one GPU model a median says nothing about any of them.
inline constexpr std::size_t kLeastNodesForSpeed = 4;
/// A node differs in speed when more than this share of its timed cases are outliers to the same side; single ones
/// are what chance makes of many cases.
inline constexpr double kShareOfOutliers = 0.05;

/// One report, reduced.
struct MergedNode {
  /// Host name, or the file's name without extension; unique in the merge.
  std::string name;
  std::string file;
  bool complete = true;
  std::string incomplete_reason;
  /// Why its results are not compared with the others'; empty = they are.
  std::string set_aside;
  PlatformKind kind = PlatformKind::gpu;
  std::string fault;
  int device = 0;
  std::string started;
  Summary summary;
  /// Cases that most nodes ran and this one did not.
  std::uint64_t missing_cases = 0;
};

/// One property of the nodes, such as the driver's version; nodes by their index.
struct MergedProperty {
  /// "tool", "depth", "seed", "gpu", "driver", "cuda_runtime", "cublaslt", "cublas".
  std::string name;
  struct Value {
    std::string text;
    std::vector<std::size_t> nodes;
  };
  /// Most nodes first, then by text.
  std::vector<Value> values;
  /// More nodes have the first value than any other.
  bool has_majority() const { return values.size() == 1 || values[0].nodes.size() > values[1].nodes.size(); }
};

/// A check and a cause.
struct MergedFinding {
  /// CHECK.REASON, as in the reports.
  std::string id;
  std::string check;
  /// The worst that a node has.
  Status status = Status::warn;
  std::string title;
  std::string remedy;
  /// A case of it, as "check/case".
  std::string example;
  std::vector<std::size_t> nodes;
  /// Ran at least one of its cases and do not have it.
  std::vector<std::size_t> without;
  /// Ran none of its cases.
  std::vector<std::size_t> not_run;
};

/// A case that did not end alike on all nodes that ran it.
struct DifferingCase {
  std::string check;
  std::string id;
  std::string problem;
  struct End {
    Status status = Status::pass;
    Outcome outcome = Outcome::correct;
    std::vector<std::size_t> nodes;
  };
  /// Most nodes first. Those of all but the first differ; of the first too, when it has no majority.
  std::vector<End> ends;
  bool has_majority() const { return ends[0].nodes.size() > ends[1].nodes.size(); }
};

/// A time far from those of the other nodes with the same GPU model.
struct SpeedOutlier {
  std::string check;
  std::string id;
  std::size_t node = 0;
  double us = 0;
  double median_us = 0;
  /// Modified z-score; infinite when more than half of the nodes have the very same time.
  double score = 0;
};

struct NodeSpeed {
  std::size_t node = 0;
  std::uint64_t timed = 0;
  std::uint64_t slower = 0;
  std::uint64_t faster = 0;
  /// Median over its timed cases of its time divided by the median of the nodes.
  double median_ratio = 1;
  /// Outliers to one side in more than kShareOfOutliers of its cases.
  bool differs = false;
};

/// Nodes with one GPU model.
struct SpeedGroup {
  std::string gpu;
  std::vector<std::size_t> nodes;
  /// Why times are not compared; empty = they are.
  std::string not_compared;
  std::uint64_t timed_cases = 0;
};

struct Merged {
  std::vector<MergedNode> nodes;
  /// What must be said first: simulator, planted faults, reports set aside or not complete.
  std::vector<std::string> warnings;
  std::vector<MergedProperty> properties;
  /// Worst first, then by number of nodes.
  std::vector<MergedFinding> findings;
  /// Cases that at least two nodes ran.
  std::uint64_t compared_cases = 0;
  std::vector<DifferingCase> differing;
  std::vector<SpeedGroup> speed_groups;
  /// Of nodes in compared groups.
  std::vector<NodeSpeed> speeds;
  std::vector<SpeedOutlier> outliers;

  /// Nodes whose results are compared.
  std::size_t compared_nodes() const;
  /// Nodes that differ from the others in a property, a result, a missing case or in speed.
  std::vector<bool> differing_nodes() const;
  /// Every node was compared, is complete and has no case in error.
  bool all_usable() const;
};

/// Takes one report after the other and keeps of each only what the comparison needs: a few bytes for each case.
class Merger {
 public:
  Merger();
  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;
  ~Merger();

  /// `file` names the report where it does not name its host. The report can be forgotten afterwards.
  void add(const std::string& file, const Report& report);
  /// The comparison of all that was added.
  Merged merged() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All reports at once, for callers that hold them anyway.
Merged merge_reports(std::span<const NamedReport> reports);

}  // namespace lt_audit
