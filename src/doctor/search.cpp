#include "doctor/search.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "workload/problem_text.h"

namespace lt_audit {
namespace {

/// Problems in one run: enough for a worker to be worth its start, few enough for the budget to be kept.
constexpr std::size_t kChunk = 96;

using Members = std::vector<const Change*>;

MatmulProblem changed(MatmulProblem problem, const Members& members) {
  for (const Change* change : members) change->apply(problem);
  return problem;
}

int effort_of(const Members& members) {
  int sum = 0;
  for (const Change* change : members) sum += 1 << (2 * static_cast<int>(change->effort));
  return sum;
}

using Fields = std::map<std::string, std::string>;

/// The fields of the problem text; absent = its default.
Fields fields_of(const MatmulProblem& problem) {
  Fields fields;
  std::istringstream text(to_text(problem));
  for (std::string field; std::getline(text, field, ',');) {
    const auto equals = field.find('=');
    fields[field.substr(0, equals)] = field.substr(equals + 1);
  }
  return fields;
}

std::string value_of(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

/// `more` changes all that `less` changes, to the same values, and further fields.
bool only_adds(const Fields& given, const Fields& less, const Fields& more) {
  for (const auto* fields : {&given, &less}) {
    for (const auto& [name, value] : *fields) {
      const std::string changed_to = value_of(less, name);
      if (changed_to != value_of(given, name) && changed_to != value_of(more, name)) return false;
    }
  }
  return true;
}

class Search {
 public:
  Search(const MatmulProblem& problem, const RunProblems& run, const std::function<double()>& budget_left)
      : run_(run), budget_left_(budget_left), changes_(changes_for(problem)) {
    diagnosis_.problem = problem;
  }

  Diagnosis operator()() {
    diagnosis_.as_given = run_({diagnosis_.problem}).at(0);
    diagnosis_.tried = 1;
    if (diagnosis_.as_given.works) look_for_speed();
    if (diagnosis_.as_given.works) return std::move(diagnosis_);
    try_all(singles());
    if (diagnosis_.sets.empty()) try_all(pairs());
    if (diagnosis_.sets.empty()) reduce_everything();
    drop_what_only_adds();
    repeat();
    return std::move(diagnosis_);
  }

 private:
  /// A call that fails when it is run again does not work.
  void look_for_speed() {
    Speed speed = find_faster(diagnosis_.problem, diagnosis_.as_given, run_, budget_left_);
    diagnosis_.tried += speed.tried;
    if (speed.given_failed) {
      diagnosis_.as_given = *speed.given_failed;
    } else {
      diagnosis_.finished = speed.finished;
      diagnosis_.speed = std::move(speed);
    }
  }

  std::vector<Members> singles() const {
    std::vector<Members> candidates;
    for (const auto& change : changes_) candidates.push_back({&change});
    return candidates;
  }

  std::vector<Members> pairs() const {
    std::vector<Members> candidates;
    for (auto left = changes_.begin(); left != changes_.end(); ++left) {
      for (auto right = std::next(left); right != changes_.end(); ++right) {
        if (left->group != right->group) candidates.push_back({&*left, &*right});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Members& left, const Members& right) { return effort_of(left) < effort_of(right); });
    return candidates;
  }

  bool budget_is_left() {
    if (budget_left_() > 0) return true;
    diagnosis_.finished = false;
    return false;
  }

  std::vector<Trial> run(const std::vector<Members>& candidates) {
    if (candidates.empty()) return {};
    std::vector<MatmulProblem> problems;
    for (const auto& members : candidates) problems.push_back(changed(diagnosis_.problem, members));
    diagnosis_.tried += problems.size();
    return run_(problems);
  }

  /// Keeps the first working candidate of each combination of groups.
  void try_all(const std::vector<Members>& candidates) {
    std::set<std::set<std::string>> solved;
    for (std::size_t begin = 0; begin < candidates.size(); begin += kChunk) {
      if (!budget_is_left()) return;
      const auto first = candidates.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto count = std::min(kChunk, candidates.size() - begin);
      const std::vector<Members> chunk(first, first + static_cast<std::ptrdiff_t>(count));
      const auto trials = run(chunk);
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        if (!trials.at(i).works) continue;
        std::set<std::string> groups;
        for (const Change* change : chunk[i]) groups.insert(change->group);
        if (solved.insert(groups).second) keep(chunk[i], trials[i]);
      }
    }
  }

  void keep(const Members& members, const Trial& trial) {
    ChangeSet set{{}, changed(diagnosis_.problem, members), trial};
    for (const Change* change : members) set.changes.push_back(*change);
    diagnosis_.sets.push_back(std::move(set));
  }

  /// The safest change of each group together; while one of them can be left out, the dearest one is.
  void reduce_everything() {
    if (!budget_is_left()) return;
    Members members;
    for (const auto& change : changes_) {
      if (change.safest) members.push_back(&change);
    }
    if (members.size() < 3) return;
    Trial trial = run({members}).at(0);
    if (!trial.works) return;
    while (budget_is_left()) {
      std::vector<Members> smaller;
      for (std::size_t left_out = members.size(); left_out-- > 0;) {
        smaller.push_back(members);
        smaller.back().erase(smaller.back().begin() + static_cast<std::ptrdiff_t>(left_out));
      }
      const auto trials = run(smaller);
      const auto works = std::find_if(trials.begin(), trials.end(), [](const Trial& one) { return one.works; });
      if (works == trials.end()) break;
      trial = *works;
      members = smaller[static_cast<std::size_t>(works - trials.begin())];
    }
    weaken(members, trial);
    // With the budget spent not the smallest set, but one that works.
    keep(members, trial);
  }

  /// Each change by the first of its group that is enough: "a multiple of 16" instead of "of 32".
  void weaken(Members& members, Trial& trial) {
    for (std::size_t i = 0; i < members.size() && budget_is_left(); ++i) {
      std::vector<Members> weaker;
      for (const auto& change : changes_) {
        if (&change == members[i]) break;
        if (change.group != members[i]->group) continue;
        weaker.push_back(members);
        weaker.back()[i] = &change;
      }
      const auto trials = run(weaker);
      const auto works = std::find_if(trials.begin(), trials.end(), [](const Trial& one) { return one.works; });
      if (works == trials.end()) continue;
      trial = *works;
      members = weaker[static_cast<std::size_t>(works - trials.begin())];
    }
  }

  void drop_what_only_adds() {
    auto& sets = diagnosis_.sets;
    const Fields given = fields_of(diagnosis_.problem);
    for (std::size_t i = sets.size(); i-- > 1;) {
      const bool adds = std::any_of(
          sets.begin(), sets.begin() + static_cast<std::ptrdiff_t>(i),
          [&](const auto& other) { return only_adds(given, fields_of(other.problem), fields_of(sets[i].problem)); });
      if (adds) sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// What does not work each time does not work.
  void repeat() {
    constexpr std::size_t kTimes = 3;
    auto& sets = diagnosis_.sets;
    if (sets.empty()) return;
    std::vector<MatmulProblem> problems;
    for (const auto& set : sets) problems.insert(problems.end(), kTimes, set.problem);
    const auto trials = run_(problems);
    for (std::size_t i = sets.size(); i-- > 0;) {
      const auto* first = &trials.at(i * kTimes);
      if (!std::all_of(first, first + kTimes, [](const Trial& trial) { return trial.works; })) {
        sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      sets[i].trial = *std::min_element(first + 1, first + kTimes, [](const Trial& left, const Trial& right) {
        return left.gpu_us.value_or(0) < right.gpu_us.value_or(0);
      });
    }
  }

  const RunProblems& run_;
  const std::function<double()>& budget_left_;
  const std::vector<Change> changes_;
  Diagnosis diagnosis_;
};

}  // namespace

Diagnosis diagnose(const MatmulProblem& problem, const RunProblems& run, const std::function<double()>& budget_left) {
  return Search(problem, run, budget_left)();
}

}  // namespace lt_audit
