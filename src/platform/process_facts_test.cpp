// What is read of the process: variables by name, libraries out of the memory map.
#include "platform/process_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace lt_audit {
namespace {

TEST(ProcessFacts, TakesTheVariablesOfCudaAlone) {
  setenv("CUBLASLT_LOG_LEVEL", "5", 1);
  setenv("LT_AUDIT_SECRET_TOKEN", "hidden", 1);
  const auto variables = variables_of_cuda();
  unsetenv("CUBLASLT_LOG_LEVEL");
  unsetenv("LT_AUDIT_SECRET_TOKEN");
  EXPECT_EQ(variables.at("CUBLASLT_LOG_LEVEL"), "5");
  EXPECT_FALSE(variables.contains("LT_AUDIT_SECRET_TOKEN"));
  EXPECT_FALSE(variables.contains("PATH"));
}

TEST(ProcessFacts, CountsALibraryOnceForEachStartInTheMap) {
  constexpr std::string_view kMaps =
      "7f0000000000-7f0000001000 r--p 00000000 08:01 11                         /opt/a b/libcublasLt.so.13.1.0.3\n"
      "7f0000001000-7f0000002000 r-xp 00001000 08:01 11                         /opt/a b/libcublasLt.so.13.1.0.3\n"
      "7f0000003000-7f0000004000 r--p 00000000 08:01 12                         /usr/lib/libcublas.so.12\n"
      "7f0000005000-7f0000006000 r--p 00000000 08:01 13                         /usr/lib/libm.so.6\n"
      "7f0000007000-7f0000008000 r--p 00000000 08:01 11                         /opt/a b/libcublasLt.so.13.1.0.3\n"
      "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
      "7f0000009000-7f000000a000 rw-p 00000000 00:00 0 \n";
  EXPECT_EQ(cuda_libraries_in(kMaps),
            (std::vector<std::string>{"/opt/a b/libcublasLt.so.13.1.0.3", "/opt/a b/libcublasLt.so.13.1.0.3",
                                      "/usr/lib/libcublas.so.12"}));
  EXPECT_TRUE(cuda_libraries_in("").empty());
  EXPECT_TRUE(cuda_libraries_in("rubbish").empty());
}

}  // namespace
}  // namespace lt_audit
