// A scanner that knows what a case looks like. It accepts less than JSON and less than the schema: whatever surprises
// it is left to the general reader, which accepts it or says what is wrong. So it may be strict, but never generous.
#include "report/json_cases.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "report/utf8.h"

namespace lt_audit {
namespace {

enum class Kind { text, texts_by_name, count, integer, large_integer, number, object, array_of_objects, process_end };

struct Field;
/// The fields that an object may have.
using Shape = std::span<const Field>;

struct Field {
  std::string_view name;
  Kind kind;
  /// Of an object or of the objects of an array.
  Shape shape = {};
};

constexpr std::array kStage = {Field{"name", Kind::text}, Field{"call", Kind::text}, Field{"status", Kind::text}};
constexpr std::array kHeuristic = {Field{"state", Kind::text},      Field{"algo_id", Kind::integer},
                                   Field{"tile", Kind::integer},    Field{"stages", Kind::integer},
                                   Field{"split_k", Kind::integer}, Field{"workspace_bytes", Kind::count},
                                   Field{"waves", Kind::number}};
constexpr std::array kFirstWrong = {Field{"row", Kind::large_integer}, Field{"col", Kind::large_integer},
                                    Field{"batch", Kind::large_integer}, Field{"expected", Kind::number},
                                    Field{"actual", Kind::number}};
constexpr std::array kVerification = {Field{"method", Kind::text},
                                      Field{"compared", Kind::count},
                                      Field{"wrong", Kind::count},
                                      Field{"unwritten", Kind::count},
                                      Field{"expected_nonzero", Kind::count},
                                      Field{"first_wrong", Kind::object, kFirstWrong},
                                      Field{"bytes_before_d", Kind::count},
                                      Field{"bytes_behind_d", Kind::count},
                                      Field{"reach_behind_d", Kind::count},
                                      Field{"padding_bytes_changed", Kind::count},
                                      Field{"a_bytes_changed", Kind::count},
                                      Field{"b_bytes_changed", Kind::count},
                                      Field{"c_bytes_changed", Kind::count},
                                      Field{"bias_bytes_changed", Kind::count},
                                      Field{"aux_bytes_changed", Kind::count},
                                      Field{"scale_bytes_changed", Kind::count},
                                      Field{"workspace_guard_bytes_changed", Kind::count},
                                      Field{"aux_compared", Kind::count},
                                      Field{"aux_wrong", Kind::count},
                                      Field{"gradient_compared", Kind::count},
                                      Field{"gradient_wrong", Kind::count},
                                      Field{"amax_expected", Kind::number},
                                      Field{"amax_actual", Kind::number}};
constexpr std::array kCublas = {Field{"call", Kind::text}, Field{"status", Kind::text},
                                Field{"not_expressible", Kind::text},
                                Field{"verification", Kind::object, kVerification}};
constexpr std::array kLogLine = {Field{"level", Kind::integer}, Field{"function", Kind::text},
                                 Field{"text", Kind::text}};
constexpr std::array kTimes = {Field{"host_us", Kind::number}, Field{"heuristic_us", Kind::number},
                               Field{"matmul_call_us", Kind::number}, Field{"matmul_gpu_us", Kind::number},
                               Field{"verify_gpu_us", Kind::number}};
constexpr std::array kObservation = {Field{"stages", Kind::array_of_objects, kStage},
                                     Field{"heuristic", Kind::array_of_objects, kHeuristic},
                                     Field{"verification", Kind::object, kVerification},
                                     Field{"cublas", Kind::object, kCublas},
                                     Field{"log", Kind::array_of_objects, kLogLine},
                                     Field{"end", Kind::process_end},
                                     Field{"end_detail", Kind::text},
                                     Field{"not_run", Kind::text},
                                     Field{"audit_error", Kind::text},
                                     Field{"facts", Kind::texts_by_name},
                                     Field{"times", Kind::object, kTimes}};
constexpr std::array<std::string_view, 4> kEnds = {"survived", "crashed", "timed_out", "context_lost"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A place in the text that moves on. Every function returns whether it found what it is named after; after false the
/// place means nothing any more.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }

  void blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  /// A string; `raw` is what stands between the quotes, escapes as they are.
  bool raw_text(std::string_view& raw, bool& has_escapes) {
    if (!take('"')) return false;
    const std::size_t begin = at_;
    bool plain = true;
    has_escapes = false;
    for (; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') break;
      if (c < 0x20) return false;
      if (c == '\\') {
        has_escapes = true;
        ++at_;
        constexpr std::string_view kEscapes = "\"\\/bfnrt";
        if (at_ >= text_.size() || kEscapes.find(text_[at_]) == std::string_view::npos) return false;
      }
      plain = plain && c < 0x80;
    }
    raw = text_.substr(begin, at_ - begin);
    return take('"') && (plain || valid_utf8(raw) == raw);
  }

  bool skip_text() {
    std::string_view raw;
    bool has_escapes = false;
    return raw_text(raw, has_escapes);
  }

  /// A key and its colon. No key that write_json knows has an escape; one of a map may, which is left to others.
  bool key(std::string_view& name) {
    bool has_escapes = false;
    return raw_text(name, has_escapes) && !has_escapes && take(':');
  }

  bool text(std::string& value) {
    std::string_view raw;
    bool has_escapes = false;
    if (!raw_text(raw, has_escapes)) return false;
    if (!has_escapes) {
      value = raw;
      return true;
    }
    value.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\') {
        value += raw[i];
        continue;
      }
      constexpr std::string_view kLetters = "bfnrt";
      constexpr std::string_view kMeanings = "\b\f\n\r\t";
      const std::size_t letter = kLetters.find(raw[++i]);
      value += letter == std::string_view::npos ? raw[i] : kMeanings[letter];
    }
    return true;
  }

  /// An integer of at most `most` digits that fits its type whatever they are. Without a sign unless asked for.
  bool integer(std::size_t most, bool with_sign) {
    if (with_sign) static_cast<void>(take('-'));
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    const std::size_t digits = at_ - begin;
    if (digits == 0 || digits > most || (digits > 1 && text_[begin] == '0')) return false;
    return at_ < text_.size() && text_[at_] != '.' && text_[at_] != 'e' && text_[at_] != 'E';
  }

  /// Of at most 18 digits and with an exponent of two, so that it is in range.
  bool number() {
    if (at_ < text_.size() && text_[at_] == '"') return take("\"nan\"") || take("\"inf\"") || take("\"-inf\"");
    static_cast<void>(take('-'));
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == begin || at_ - begin > 18 || (at_ - begin > 1 && text_[begin] == '0')) return false;
    if (take('.')) {
      const std::size_t decimals = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      if (at_ == decimals) return false;
    }
    if (!take('e') && !take('E')) return true;
    if (!take('-')) static_cast<void>(take('+'));
    const std::size_t exponent = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > exponent && at_ - exponent <= 2;
  }

  /// The members of an object: `member(key)` reads the value.
  template <class Member>
  bool members(const Member& member) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string_view name;
      if (!key(name) || !member(name)) return false;
    } while (take(','));
    return take('}');
  }

  bool object(Shape shape) {
    // Fields come in the order of the shape, and few are left out.
    std::size_t next = 0;
    return members([&](std::string_view name) {
      while (next < shape.size() && shape[next].name != name) ++next;
      return next < shape.size() && value(shape[next++]);
    });
  }

 private:
  bool value(const Field& field) {
    constexpr std::size_t kDigitsOfInt = 9;
    constexpr std::size_t kDigitsOfLong = 18;
    switch (field.kind) {
      case Kind::text:
        return skip_text();
      case Kind::texts_by_name:
        return members([this](std::string_view) { return skip_text(); });
      case Kind::count:
        return integer(kDigitsOfLong, false);
      case Kind::integer:
        return integer(kDigitsOfInt, true);
      case Kind::large_integer:
        return integer(kDigitsOfLong, true);
      case Kind::number:
        return number();
      case Kind::object:
        return object(field.shape);
      case Kind::array_of_objects:
        return objects(field.shape);
      case Kind::process_end: {
        std::string_view raw;
        bool has_escapes = false;
        return raw_text(raw, has_escapes) && std::find(kEnds.begin(), kEnds.end(), raw) != kEnds.end();
      }
    }
    return false;
  }

  bool objects(Shape shape) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!object(shape)) return false;
    } while (take(','));
    return take(']');
  }

  std::string_view text_;
  std::size_t at_;
};

bool text_or_null(Scanner& scanner, std::string& value) { return scanner.take("null") || scanner.text(value); }

template <class Enum>
bool name(Scanner& scanner, Enum& value, std::optional<Enum> (*from_name)(std::string_view)) {
  std::string_view raw;
  bool has_escapes = false;
  if (!scanner.raw_text(raw, has_escapes)) return false;
  const std::optional<Enum> known = from_name(raw);
  if (known) value = *known;
  return known.has_value();
}

bool parameters(Scanner& scanner, std::map<std::string, std::string>& map) {
  return scanner.members([&](std::string_view key) {
    std::string value;
    // Of a key that comes twice the general reader knows which one counts.
    return scanner.text(value) && map.emplace(key, std::move(value)).second;
  });
}

/// In the order in which write_json has them, each once.
bool scan_case(std::string_view text, Scanner& scanner, CaseResult& result) {
  const auto has = [&scanner](std::string_view front) { return scanner.take(front); };
  if (!has("{\"id\":") || !scanner.text(result.id)) return false;
  if (!has(",\"problem\":") || !scanner.text(result.problem)) return false;
  if (!has(",\"expectation\":") || !name(scanner, result.expectation, expectation_from)) return false;
  if (!has(",\"rule\":") || !text_or_null(scanner, result.rule)) return false;
  if (!has(",\"outcome\":") || !name(scanner, result.outcome, outcome_from)) return false;
  if (!has(",\"status\":") || !name(scanner, result.status, status_from)) return false;
  if (!has(",\"reason\":") || !text_or_null(scanner, result.reason)) return false;
  if (!has(",\"message\":") || !text_or_null(scanner, result.sentence)) return false;
  if (!has(",\"parameters\":") || !parameters(scanner, result.parameters)) return false;
  if (!has(",\"observation\":")) return false;
  const std::size_t begin = scanner.at();
  if (!scanner.object(kObservation)) return false;
  result.observation = text.substr(begin, scanner.at() - begin);
  return has("}");
}

}  // namespace

std::size_t scan_cases(std::string_view text, std::size_t at, CasesFollow after, std::vector<CaseResult>& cases) {
  Scanner scanner(text, at);
  for (const char c : after == CasesFollow::key ? std::string_view(":[") : std::string_view(",")) {
    scanner.blanks();
    if (!scanner.take(c)) return std::string_view::npos;
  }
  scanner.blanks();
  const std::size_t before = cases.size();
  while (true) {
    const std::size_t begin = scanner.at();
    const auto stopped = [&] { return cases.size() == before ? std::string_view::npos : begin; };
    CaseResult result;
    if (!scan_case(text, scanner, result)) return stopped();
    scanner.blanks();
    const std::size_t end = scanner.at();
    const bool more = scanner.take(',');
    if (more) scanner.blanks();
    // A comma in front of the bracket is a mistake, which the general reader reports.
    const bool goes_on = scanner.at() < text.size() && text[scanner.at()] == (more ? '{' : ']');
    if (!goes_on) return stopped();
    cases.push_back(std::move(result));
    if (!more) return end;
  }
}

}  // namespace lt_audit
