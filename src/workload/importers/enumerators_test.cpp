// Every spelling of an enumerator that logs use.
#include "workload/importers/enumerators.h"

#include <gtest/gtest.h>

namespace lt_audit {
namespace {

TEST(Enumerators, NamesWithAndWithoutPrefixAndNumbers) {
  for (const char* text : {"R_16F", "CUDA_R_16F", "CUDA_R_16F(2)", "2"}) EXPECT_EQ(data_type_from(text), CUDA_R_16F);
  for (const char* text : {"R_8F_E4M3", "28"}) EXPECT_EQ(data_type_from(text), CUDA_R_8F_E4M3) << text;
  EXPECT_EQ(data_type_from("C_32F"), CUDA_C_32F);
  for (const char* text : {"COMPUTE_32F_FAST_TF32", "CUBLAS_COMPUTE_32F_FAST_TF32(77)", "77"}) {
    EXPECT_EQ(compute_type_from(text), CUBLAS_COMPUTE_32F_FAST_TF32) << text;
  }
  for (const char* text : {"OP_T", "CUBLAS_OP_T(1)", "T", "t", "1"}) EXPECT_EQ(operation_from(text), CUBLAS_OP_T);
  for (const char* text : {"EPILOGUE_GELU_AUX_BIAS", "CUBLASLT_EPILOGUE_GELU_AUX_BIAS", "164"}) {
    EXPECT_EQ(epilogue_from(text), CUBLASLT_EPILOGUE_GELU_AUX_BIAS) << text;
  }
  EXPECT_EQ(order_from("ORDER_ROW"), CUBLASLT_ORDER_ROW);
  EXPECT_EQ(number_from_text("0X7F91", 16), 0x7F91U);
}

TEST(Enumerators, NothingElse) {
  for (const char* text : {"", "R_17F", "99", "r_16f", "2 ", "-2"}) EXPECT_FALSE(data_type_from(text)) << text;
  for (const char* text : {"", "COMPUTE_33F", "1"}) EXPECT_FALSE(compute_type_from(text)) << text;
  for (const char* text : {"", "OP_X", "7"}) EXPECT_FALSE(operation_from(text)) << text;
  for (const char* text : {"", "EPILOGUE_NONE", "3"}) EXPECT_FALSE(epilogue_from(text)) << text;
  for (const char* text : {"", "ORDER_COL32"}) EXPECT_FALSE(order_from(text)) << text;
  for (const char* text : {"", "x", "1.5", "99999999999999999999"}) EXPECT_FALSE(number_from_text(text)) << text;
}

}  // namespace
}  // namespace lt_audit
