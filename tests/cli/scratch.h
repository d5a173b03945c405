// A test with an empty directory of its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "program.h"

namespace lt_audit {

class ScratchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "lt_audit_e2e_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    here_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(here_); }

  Surroundings here(std::vector<std::string> variables = {}, Output output = Output::captured) const {
    return {here_, std::move(variables), output};
  }

  std::filesystem::path here_;
};

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace lt_audit
