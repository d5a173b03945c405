// A known issue of cuBLASLt as data/known-issues.json has it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "known_issues/predicate.h"
#include "model/library_version.h"

namespace lt_audit {

/// from <= version < before; a bound that is missing is not known.
struct VersionRange {
  std::optional<LibraryVersion> from;
  std::optional<LibraryVersion> before;
};

/// The GPUs of an issue. Empty: all.
struct CapabilitySet {
  struct Entry {
    int major = 0;
    /// Missing: any minor.
    std::optional<int> minor;
  };
  bool all = true;
  std::vector<Entry> in;
  /// This one and later; 0 = not limited so.
  int least = 0;
  /// As the data spells it, "9.0, 10.x".
  std::string text;
  bool contains(int compute_capability) const;
};

/// What an issue is about.
enum class Concern {
  problem,  ///< single products: the conditions say which
  use,      ///< how a program uses the library, whatever the product
  other,    ///< a function, mode, layout or type that no problem text has
};

/// What a run that has the issue looks like.
enum class SymptomKind {
  wrong_result,
  out_of_bounds,
  illegal_access,
  refused,
  hang,
  crash,
  slow,
  accepted_though_invalid,
  leak,
  other,
};
std::string_view name_of(SymptomKind kind);

/// Whether the sources say that the issue is in one version on one GPU.
enum class SourcesSay { yes, maybe, no };
std::string_view name_of(SourcesSay answer);

struct KnownIssue {
  std::string id;
  /// NVIDIA's own numbers.
  std::vector<std::string> vendor_ids;
  std::string summary;
  std::vector<VersionRange> affected;
  /// No release note lists a fix.
  bool open = false;
  CapabilitySet capabilities;
  Concern concern = Concern::problem;
  /// Functions that it is about, where its sources name them.
  std::vector<std::string> api;
  /// All must hold for a problem.
  std::vector<Predicate> problem;
  /// What has to hold besides, and no problem text can say; empty = nothing.
  std::string condition;
  SymptomKind symptom = SymptomKind::other;
  std::string symptom_text;
  std::string workaround;
  /// Problems that show it on a library that has it.
  std::vector<MatmulProblem> witness;
  /// Why there is none.
  std::string no_witness;
  /// By place, "13.1.0/sm_90".
  std::map<std::string, SourcesSay> sources_say;
  std::vector<std::string> demonstrable_on;
  /// By NVIDIA, or by users alone.
  bool confirmed_by_vendor = true;
  std::vector<std::string> seen_in;
  std::string notes;
  std::vector<std::string> source;
};

/// Reads the data; every key must be known. Throws AuditError (usage) that names the field.
std::vector<KnownIssue> read_known_issues(std::string_view json);

/// The data that was built in, sorted: KI-nnn, then CR-n.
std::span<const KnownIssue> known_issues();

/// By id, in any case: "ki-056". Null when there is none.
const KnownIssue* find_known_issue(std::string_view id);

}  // namespace lt_audit
