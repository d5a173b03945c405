// Reading JSON that nobody vouches for: typed access to the fields of an object, where every surprise is an AuditError
// that names the field by its path ("checks[3].cases[0].status").
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lt_audit/error.h"

namespace lt_audit {

/// Where a value stands. A chain of frames on the stack, so that the path costs nothing unless it is printed.
struct JsonPath {
  const JsonPath* parent = nullptr;
  std::string_view key;
  /// Position in the array `key`; none when negative.
  std::int64_t index = -1;

  std::string text() const {
    std::string result = parent != nullptr ? parent->text() : std::string();
    if (!result.empty() && !key.empty()) result += '.';
    result += key;
    if (index >= 0) result += '[' + std::to_string(index) + ']';
    return result;
  }
};

[[noreturn]] inline void throw_field(const JsonPath& path, std::string_view problem) {
  std::string name = path.text();
  if (name.empty()) name = "(document)";
  throw AuditError(ErrorKind::usage, "field " + name + " " + std::string(problem));
}

/// A number, "nan", "inf" or "-inf", which JSON has no numbers for.
template <class Json>
double number_from(const Json& value, const JsonPath& path) {
  if (value.is_number()) return value.template get<double>();
  if (value.is_string()) {
    const auto& text = value.template get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  throw_field(path, std::string("must be a number, not ") + value.type_name());
}

/// Inverse of number_from.
inline nlohmann::ordered_json number_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

/// The fields of one object. A missing field and null are the same: the fallback. Unknown fields are ignored, since a
/// newer minor version of the schema may add some.
template <class Json>
class Fields {
 public:
  Fields(const Json& json, JsonPath path) : json_(json), path_(path) {
    if (!json.is_object()) throw_field(path_, std::string("must be an object, not ") + json.type_name());
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  ~Fields() = default;

  const JsonPath& path() const { return path_; }

  /// The value, or null when it is missing or null.
  const Json* find(std::string_view key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  std::string text(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) wrong(key, *value, "a string");
    return value->template get<std::string>();
  }

  std::string required_text(std::string_view key) const {
    if (find(key) == nullptr) throw_field(JsonPath{&path_, key}, "is missing");
    return text(key);
  }

  double number(std::string_view key, double fallback = 0) const {
    const Json* value = find(key);
    return value == nullptr ? fallback : number_from(*value, JsonPath{&path_, key});
  }

  bool boolean(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) wrong(key, *value, "true or false");
    return value->template get<bool>();
  }

  /// An integer that fits into Int.
  template <class Int>
  Int integer(std::string_view key, Int fallback = 0) const {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (value->is_number_unsigned()) return in_range<Int>(key, value->template get<std::uint64_t>());
    if (value->is_number_integer()) return in_range<Int>(key, value->template get<std::int64_t>());
    wrong(key, *value, "an integer");
  }

  /// Calls `visit(element, path)` for each element of an array; not at all when it is missing.
  template <class Visit>
  void each(std::string_view key, const Visit& visit) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) wrong(key, *value, "an array");
    JsonPath path{&path_, key, 0};
    for (const Json& element : *value) {
      visit(element, std::as_const(path));
      ++path.index;
    }
  }

  /// An array of strings appended to `target`.
  template <class Texts>
  void texts(std::string_view key, Texts& target) const {
    each(key, [&target](const Json& element, const JsonPath& path) {
      if (!element.is_string()) throw_field(path, std::string("must be a string, not ") + element.type_name());
      target.push_back(element.template get<std::string>());
    });
  }

  /// An object of strings put into the map `target`.
  template <class Map>
  void text_map(std::string_view key, Map& target) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_object()) wrong(key, *value, "an object");
    const JsonPath map_path{&path_, key};
    for (const auto& [name, element] : value->items()) {
      if (!element.is_string()) throw_field(JsonPath{&map_path, name}, "must be a string");
      target[name] = element.template get<std::string>();
    }
  }

  [[noreturn]] void wrong(std::string_view key, const Json& value, std::string_view wanted) const {
    throw_field(JsonPath{&path_, key}, "must be " + std::string(wanted) + ", not " + value.type_name());
  }

 private:
  template <class Int, class Wide>
  Int in_range(std::string_view key, Wide value) const {
    if (!std::in_range<Int>(value)) throw_field(JsonPath{&path_, key}, "is out of range: " + std::to_string(value));
    return static_cast<Int>(value);
  }

  const Json& json_;
  const JsonPath path_;
};

}  // namespace lt_audit
