// Versions and compute capabilities as users write them.
#include "model/library_version.h"

#include <gtest/gtest.h>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

template <class Read>
std::string error_of(const Read& read) {
  try {
    static_cast<void>(read());
  } catch (const AuditError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(LibraryVersion, IsReadAsUsersWriteIt) {
  const LibraryVersion wanted{13, 1, 0};
  for (const char* text : {"13.1.0", "13.1", "13.1.0.3", "130100"}) EXPECT_EQ(version_from(text), wanted) << text;
  EXPECT_EQ(version_from("120805"), (LibraryVersion{12, 8, 5}));
  EXPECT_EQ(version_from("11.11.3"), (LibraryVersion{11, 11, 3}));
  EXPECT_EQ(version_from("11502"), (LibraryVersion{11, 5, 2}));
}

TEST(LibraryVersion, AnythingElseIsRefusedWithAnExample) {
  for (const char* text : {"", "13", "13.", ".1", "13.1.0.3.4", "v13.1", "13.-1", "1301000", "latest", "99999999999"}) {
    const auto error = error_of([&] { return version_from(text); });
    EXPECT_NE(error.find("write 13.1.0"), std::string::npos) << text << ": " << error;
    EXPECT_NE(error.find("not the version of CUDA"), std::string::npos) << text;
  }
}

TEST(LibraryVersion, TheDataHasAllThreeNumbers) {
  EXPECT_EQ(exact_version_from("12.8.5"), (LibraryVersion{12, 8, 5}));
  EXPECT_NE(error_of([] { return exact_version_from("12.8"); }).find("MAJOR.MINOR.PATCH"), std::string::npos);
}

TEST(LibraryVersion, IsComparedNumberByNumber) {
  EXPECT_LT((LibraryVersion{12, 9, 2}), (LibraryVersion{13, 0, 0}));
  EXPECT_LT((LibraryVersion{11, 9, 2}), (LibraryVersion{11, 10, 1}));
  EXPECT_LT((LibraryVersion{13, 1, 0}), (LibraryVersion{13, 1, 1}));
}

TEST(ComputeCapability, IsReadAsUsersWriteIt) {
  for (const char* text : {"9.0", "90", "sm_90", "sm_90a"}) EXPECT_EQ(compute_capability_from(text), 90) << text;
  EXPECT_EQ(compute_capability_from("12.1"), 121);
  EXPECT_EQ(compute_capability_from("sm_103"), 103);
  EXPECT_EQ(compute_capability_text(103), "10.3");
  for (const char* text : {"", "9", "9.", "9.00.0", "sm_", "sm_9.0", "hopper", "9.10", "-9.0"}) {
    EXPECT_NE(error_of([&] { return compute_capability_from(text); }).find("write 9.0"), std::string::npos) << text;
  }
}

TEST(IssuePlace, TakesWhatATargetDoesNotKnowFromTheContractsScope) {
  EXPECT_EQ(place_of(Target{}).text(), "13.1.0/sm_90");
  Target target;
  target.device_facts.compute_major = 10;
  target.device_facts.compute_minor = 3;
  target.cublaslt.major = 12;
  target.cublaslt.minor = 8;
  target.cublaslt.patch = 5;
  EXPECT_EQ(place_of(target).text(), "12.8.5/sm_103");
}

}  // namespace
}  // namespace lt_audit
