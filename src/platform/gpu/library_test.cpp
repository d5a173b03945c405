// Finding and loading libraries, and the runtime's table on a machine that may have no GPU.
#include "platform/gpu/library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lt_audit/error.h"
#include "platform/gpu/runtime.h"

namespace lt_audit {
namespace {

std::string message_of_load(const std::string& path) {
  try {
    bind_cublaslt(load_cublaslt(path));
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_run);
    return error.what();
  }
  return "no error";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
}

TEST(LoadCublasLt, AMissingFileIsNamed) {
  const std::string message = message_of_load("/nonexistent/libcublasLt.so.13");
  expect_contains(message, "/nonexistent/libcublasLt.so.13");
  expect_contains(message, "no such file");
  expect_contains(message, "--cublaslt");
}

TEST(LoadCublasLt, ATextFileIsRefusedWithTheLoadersReason) {
  const std::string path = ::testing::TempDir() + "lt_audit_not_a_library.so";
  std::ofstream(path) << "this is a text file, long enough to have an ELF header's size, but without one\n";
  const std::string message = message_of_load(path);
  expect_contains(message, path);
  expect_contains(message, "cannot be loaded");
  expect_contains(message, "ELF");
  std::filesystem::remove(path);
}

TEST(LoadCublasLt, ADirectoryIsRefused) { expect_contains(message_of_load("/"), "is a directory"); }

TEST(LoadCublasLt, AnotherLibraryIsRefusedWithTheMissingFunctions) {
  std::string libm;
  for (const char* path : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"}) {
    if (std::filesystem::exists(path)) libm = path;
  }
  if (libm.empty()) GTEST_SKIP() << "no libm.so.6 in the usual places";
  const std::string message = message_of_load(libm);
  expect_contains(message, "lacks cublasLtCreate");
  expect_contains(message, "cublasLtMatmul");
}

TEST(LoadCublasLt, TheInstalledLibraryIsIdentified) {
  const std::string path = "/usr/local/cuda/lib64/libcublasLt.so.13";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not installed";
  const SharedLibrary library = load_cublaslt(path);
  const LtApi api = bind_cublaslt(library);
  const LibraryFacts facts = facts_of(api, library);
  EXPECT_EQ(facts.major, 13);
  EXPECT_EQ(facts.version_number, static_cast<std::uint64_t>(facts.number()));
  EXPECT_EQ(facts.path, std::filesystem::canonical(path).string());
  EXPECT_EQ(facts.build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_TRUE(api.logger_set_callback);
  EXPECT_TRUE(api.logger_set_level);
  const SharedLibrary blas = load_cublas("", library, facts.major);
  ASSERT_NE(blas.handle, nullptr);
  EXPECT_EQ(std::filesystem::path(blas.path).parent_path(), std::filesystem::path(library.path).parent_path());
  EXPECT_EQ(facts_of(bind_cublas(blas), blas).major, 13);
}

TEST(LoadCublas, AnotherMajorVersionIsNotTaken) { EXPECT_EQ(load_cublas("", SharedLibrary{}, 7).handle, nullptr); }

TEST(RuntimeTable, AnswersWithoutAGpu) {
  const CudaApi api = make_runtime_table();
  int count = -1;
  const cudaError_t error = api.get_device_count(&count);
  if (error == cudaSuccess) {
    EXPECT_GE(count, 1);
    return;
  }
  DeviceFacts facts;
  EXPECT_NE(api.get_device_facts(&facts, 0), cudaSuccess);
  ContextHandle context = nullptr;
  EXPECT_NE(api.ctx_create(&context, 0), cudaSuccess);
}

TEST(GpuPlatform, SaysWhatIsMissingAndOffersTheSimulator) {
  int count = 0;
  if (make_runtime_table().get_device_count(&count) == cudaSuccess) GTEST_SKIP() << "there is a GPU";
  try {
    make_gpu_platform({});
    FAIL() << "no AuditError";
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_run);
    expect_contains(error.what(), "--target simulator");
  }
}

}  // namespace
}  // namespace lt_audit
