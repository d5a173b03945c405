#include "platform/process_facts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace lt_audit {
namespace {

bool is_of_cuda(std::string_view name) {
  // What container images demand of a host: pages of text that no library reads.
  if (name == "NVIDIA_REQUIRE_CUDA") return false;
  return name.starts_with("CUDA_") || name.starts_with("CUBLAS") || name.starts_with("NVIDIA_") ||
         name == "LD_LIBRARY_PATH" || name == "LD_PRELOAD";
}

bool is_cuda_library(std::string_view path) {
  static constexpr std::array<std::string_view, 4> kStems{"libcublas.so", "libcublasLt.so", "libcudart.so",
                                                          "libcuda.so"};
  const auto name = path.substr(path.rfind('/') + 1);
  return std::any_of(kStems.begin(), kStems.end(), [&](std::string_view stem) { return name.starts_with(stem); });
}

/// Takes the next blank-separated field off a line.
std::string_view next_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto field = line.substr(0, line.find(' '));
  line.remove_prefix(field.size());
  return field;
}

}  // namespace

std::map<std::string, std::string> variables_of_cuda() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !is_of_cuda(text.substr(0, equals))) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::vector<std::string> cuda_libraries_in(std::string_view maps) {
  std::vector<std::string> paths;
  while (!maps.empty()) {
    auto line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    // "7f00-7f01 r--p 00000000 08:01 1234   /usr/lib/libcublasLt.so.13"
    static_cast<void>(next_field(line));
    static_cast<void>(next_field(line));
    const auto offset = next_field(line);
    static_cast<void>(next_field(line));
    static_cast<void>(next_field(line));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (offset.find_first_not_of('0') == std::string_view::npos && is_cuda_library(line)) paths.emplace_back(line);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> cuda_libraries() {
  std::ifstream file("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return cuda_libraries_in(text);
}

}  // namespace lt_audit
