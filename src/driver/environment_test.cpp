// What the report says about the machine, and what it warns of.
#include "driver/environment.h"

#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace lt_audit {
namespace {

Target built_for() {
  Target target;
  target.cublaslt = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH, CUBLAS_VERSION, "/lt", ""};
  target.cublas = target.cublaslt;
  return target;
}

TEST(Environment, TakesOnlyVariablesThatConcernTheLibrary) {
  setenv("CUBLASLT_LOG_LEVEL", "5", 1);
  setenv("LT_AUDIT_SECRET_TOKEN", "hidden", 1);
  const auto environment = read_environment();
  unsetenv("CUBLASLT_LOG_LEVEL");
  unsetenv("LT_AUDIT_SECRET_TOKEN");
  EXPECT_EQ(environment.variables.at("CUBLASLT_LOG_LEVEL"), "5");
  EXPECT_EQ(environment.variables.count("LT_AUDIT_SECRET_TOKEN"), 0U);
  EXPECT_EQ(environment.variables.count("PATH"), 0U);
  EXPECT_FALSE(environment.host.empty());
  EXPECT_FALSE(environment.user.empty());
  EXPECT_FALSE(environment.os.empty());
}

TEST(Environment, APlainOneGivesNoWarning) { EXPECT_TRUE(environment_warnings({}, built_for()).empty()); }

TEST(Environment, WarnsOfVariablesThatChangeTheLibrary) {
  for (const auto* name : {"CUBLASLT_LOG_LEVEL", "CUBLASLT_LOG_MASK", "CUBLASLT_LOG_FILE", "CUDA_LAUNCH_BLOCKING",
                           "NVIDIA_TF32_OVERRIDE", "LD_PRELOAD"}) {
    Environment environment;
    environment.variables[name] = "1";
    const auto warnings = environment_warnings(environment, built_for());
    ASSERT_EQ(warnings.size(), 1U) << name;
    EXPECT_NE(warnings[0].find(name), std::string::npos);
  }
}

TEST(Environment, AVariableThatSwitchesOffIsNoWarningExceptForTf32) {
  Environment environment;
  environment.variables = {{"CUBLASLT_LOG_LEVEL", "0"}, {"CUDA_LAUNCH_BLOCKING", "0"}, {"NVIDIA_TF32_OVERRIDE", "0"}};
  const auto warnings = environment_warnings(environment, built_for());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("NVIDIA_TF32_OVERRIDE=0"), std::string::npos);
}

TEST(Environment, WarnsOfLibrariesOfDifferentVersions) {
  auto target = built_for();
  target.cublas.minor += 1;
  EXPECT_EQ(environment_warnings({}, target).size(), 1U);
  target.cublas = target.cublaslt;
  target.cublaslt.major = target.cublas.major = 12;
  EXPECT_EQ(environment_warnings({}, target).size(), 1U);
  target.kind = PlatformKind::simulator;
  EXPECT_TRUE(environment_warnings({}, target).empty());
}

}  // namespace
}  // namespace lt_audit
