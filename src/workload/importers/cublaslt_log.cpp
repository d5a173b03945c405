// The log of cuBLASLt's own logger (CUBLASLT_LOG_LEVEL, CUBLASLT_LOG_MASK). Trace lines are calls; heuristic queries
// say what was declared for them.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "workload/importer.h"
#include "workload/importers/cublaslt_line.h"

namespace lt_audit {
namespace {

using namespace cublaslt_log;

constexpr std::size_t kLongestLine = 16384;
constexpr std::size_t kMarkWithin = 64;

/// Appends a text without what may change between calls of one problem: every pointer becomes 0 or 1 (NULL or not) and
/// the algorithm goes. The result is unambiguous: where a digit was put, no other digit follows. A group ends at its
/// first bracket, so `] algo=[` never stands inside another. Returns the stream if that ends the text.
std::optional<std::uint64_t> mask_into(std::string& masked, std::string_view text) {
  std::optional<std::uint64_t> stream;
  std::size_t copied = 0;
  for (auto equals = text.find('='); equals != std::string_view::npos; equals = text.find('=', equals + 1)) {
    const auto value = text.substr(equals + 1);
    if (value.starts_with('[') && text.substr(0, equals).ends_with("] algo")) {
      masked.append(text, copied, equals + 2 - copied);
      copied = std::min(text.find(']', equals), text.size());
      equals = copied;
    } else if (is_hexadecimal(value)) {
      std::uint64_t address = 0;
      const auto* const last = text.data() + text.size();
      const auto [end, error] = std::from_chars(value.data() + 2, last, address, 16);
      if (error != std::errc()) continue;
      masked.append(text, copied, equals + 3 - copied);
      if (end == last && text.substr(0, equals).ends_with(" stream")) stream = address;
      masked.push_back(address == 0 && !stream ? '0' : '1');
      copied = static_cast<std::size_t>(end - text.data());
    }
  }
  masked.append(text, copied);
  return stream;
}

std::uint64_t hash_of(std::string_view bytes) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = bytes.size();
  const auto mix = [&hash](std::uint64_t word) { hash = (std::rotl(hash, 23) ^ word) * kFactor; };
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const auto part = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), part);
    mix(word);
    bytes.remove_prefix(part);
  }
  return hash ^ (hash >> 29);
}

/// Lines that were read before, by their masked bytes. It stops taking more when it is full.
class KnownLines {
 public:
  std::optional<std::size_t> find(std::uint64_t hash, std::string_view masked) const {
    const auto found = lines_.find(hash);
    if (found == lines_.end() || found->second.masked != masked) return std::nullopt;
    return found->second.id;
  }
  void add(std::uint64_t hash, std::string_view masked, std::size_t id) {
    if (lines_.size() >= kLines || bytes_ + masked.size() > kBytes) return;
    if (lines_.try_emplace(hash, Line{std::string(masked), id}).second) bytes_ += masked.size();
  }

 private:
  static constexpr std::size_t kLines = 65536;
  static constexpr std::size_t kBytes = 64 << 20;
  struct Line {
    std::string masked;
    std::size_t id;
  };
  std::unordered_map<std::uint64_t, Line> lines_;
  std::size_t bytes_ = 0;
};

/// A heuristic query whose matmul has not come yet.
struct OpenQuery {
  std::uint64_t process = 0;
  /// Function, layouts and compute descriptor, masked: what its matmul repeats.
  std::string product;
  std::string preference;
  std::uint64_t line = 0;
  ImportedCall call;
};

class CublasLtLogImporter : public LineImporter {
 public:
  std::string_view format() const override { return "cublaslt-log"; }

  bool claims(std::string_view line) const override {
    return line.starts_with('[') && line.substr(0, kMarkWithin).find(kMark) != std::string_view::npos;
  }

  void take(std::string_view line, std::uint64_t number, CallSink& sink) override {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto head = head_of(line);
    if (!head) return sink.damaged(number, "process, level or function is missing in the brackets");
    const bool matmul = head->level == "Trace" && is_matmul(head->function);
    const bool query = head->level == "Api" && !queried_function(head->function).empty();
    if (!matmul && !query) return;
    if (line.size() > kLongestLine) {
      return sink.damaged(number, "the line has more than " + std::to_string(kLongestLine) + " bytes");
    }
    if (matmul) take_matmul(*head, number, sink);
    if (query) take_query(*head, number, sink);
  }

  void finish(CallSink& sink) override {
    while (!open_.empty()) close_oldest(sink);
  }

 private:
  /// The logger names no thread, so queries and matmuls of several threads mix: one query more does not yet say that
  /// the one before was refused.
  static constexpr std::size_t kOpenQueries = 64;

  void take_matmul(const Head& head, std::uint64_t number, CallSink& sink) {
    masked_.assign(head.function).push_back(' ');
    const auto stream = mask_into(masked_, head.text);
    const auto hash = hash_of(masked_);
    const auto query = take_open(head);
    if (const auto known = known_.find(hash, masked_)) return sink.again(*known, stream);
    CallReader reader;
    if (!reader.read(head, false)) return sink.damaged(number, reader.reason);
    if (query) {
      for (const auto& fields : kOperands) {
        reader.call.problem.*fields.alignment = query->call.problem.*fields.alignment;
      }
      std::erase(reader.call.assumed, "declared alignment");
    }
    const auto id = sink.call(reader.call, number);
    if (reader.call.stream == stream) known_.add(hash, masked_, id);
  }

  void take_query(const Head& head, std::uint64_t number, CallSink& sink) {
    CallReader reader;
    if (!reader.read(head, true)) return sink.damaged(number, reader.reason);
    OpenQuery query;
    query.process = head.process;
    query.line = number;
    read_product(head, queried_function(head.function), query);
    query.call = std::move(reader.call);
    const bool repeated = std::any_of(open_.begin(), open_.end(), [&](const OpenQuery& open) {
      return open.process == query.process && open.product == query.product && open.preference == query.preference;
    });
    if (repeated) return;
    if (open_.size() == kOpenQueries) close_oldest(sink);
    open_.push_back(std::move(query));
  }

  static void read_product(const Head& head, std::string_view function, OpenQuery& query) {
    query.product = function;
    std::string_view text = head.text;
    std::string_view key;
    std::string_view value;
    while (next_pair(text, key, value)) {
      if (key == "preference") query.preference = value;
      if (key.size() < 2 || !key.ends_with("esc")) continue;
      query.product.append(" ").append(key).append(" ");
      mask_into(query.product, value);
    }
  }

  /// The newest query that this matmul answers.
  std::optional<OpenQuery> take_open(const Head& head) {
    const auto of_process = [&](const OpenQuery& open) { return open.process == head.process; };
    if (std::none_of(open_.begin(), open_.end(), of_process)) return std::nullopt;
    OpenQuery matmul;
    read_product(head, head.function, matmul);
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const OpenQuery& open) {
      return of_process(open) && open.product == matmul.product;
    });
    if (found == open_.rend()) return std::nullopt;
    auto query = std::move(*found);
    open_.erase(std::next(found).base());
    return query;
  }

  void close_oldest(CallSink& sink) {
    sink.call(open_.front().call, open_.front().line);
    open_.pop_front();
  }

  KnownLines known_;
  std::deque<OpenQuery> open_;
  std::string masked_;
};

}  // namespace

std::unique_ptr<LineImporter> make_cublaslt_log_importer() { return std::make_unique<CublasLtLogImporter>(); }

}  // namespace lt_audit
