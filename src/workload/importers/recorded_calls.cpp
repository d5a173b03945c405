#include "workload/importers/recorded_calls.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace lt_audit {

std::string file_text(const std::string& name) {
  std::ifstream in(std::string(LT_AUDIT_DATA_DIR) + "/workloads/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace lt_audit
