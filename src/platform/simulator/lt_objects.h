// cuBLASLt's host objects as tables of attributes: every attribute of cublasLt.h 13.1.0 with its documented size and
// default.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "lt_audit/types.h"

namespace lt_audit::simulator {

/// One attribute: its number, its size in bytes (at most 8) and the bits of its default.
struct AttributeRule {
  int id;
  std::size_t bytes;
  std::uint64_t default_bits;
};

std::span<const AttributeRule> matmul_desc_rules();
std::span<const AttributeRule> matrix_layout_rules();
std::span<const AttributeRule> preference_rules();

/// The attributes of one object. Sizes are checked, values are not: the library accepts any value here and refuses at
/// the heuristic (observed with 13.1.0).
class Attributes {
 public:
  explicit Attributes(std::span<const AttributeRule> rules);

  cublasStatus_t set(int id, const void* value, std::size_t bytes);
  /// With bytes = 0 only tells the size. INVALID_VALUE as cublasLt.h says at cublasLtMatmulPreferenceGetAttribute.
  cublasStatus_t get(int id, void* value, std::size_t bytes, std::size_t* written) const;

  template <class T>
  T as(int id) const {
    T value{};
    std::memcpy(&value, &bits_[static_cast<std::size_t>(id)], sizeof value);
    return value;
  }
  template <class T>
  void put(int id, T value) {
    std::memcpy(&bits_[static_cast<std::size_t>(id)], &value, sizeof value);
  }

 private:
  const AttributeRule* rule(int id) const;

  std::span<const AttributeRule> rules_;
  std::array<std::uint64_t, 40> bits_{};
};

/// Copies an attribute out with the size rules of the header's Get functions.
cublasStatus_t copy_out(const void* value, std::size_t value_bytes, void* to, std::size_t bytes, std::size_t* written);

/// Live objects of one kind by handle. A handle is unique for good, so a destroyed one is recognised.
template <class Handle, class Object>
class HandleTable {
 public:
  /// `first` keeps the handles of different tables apart.
  explicit HandleTable(std::uintptr_t first) : next_(first) {}

  template <class... Arguments>
  Handle add(Arguments&&... arguments) {
    next_ += 0x10;
    Handle handle{};
    std::memcpy(&handle, &next_, sizeof handle);
    objects_.emplace(handle, std::make_unique<Object>(std::forward<Arguments>(arguments)...));
    return handle;
  }
  Object* find(Handle handle) const {
    const auto position = objects_.find(handle);
    return position == objects_.end() ? nullptr : position->second.get();
  }
  bool remove(Handle handle) { return objects_.erase(handle) == 1; }

 private:
  std::uintptr_t next_;
  std::map<Handle, std::unique_ptr<Object>> objects_;
};

}  // namespace lt_audit::simulator
