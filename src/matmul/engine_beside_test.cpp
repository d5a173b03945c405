// What the engine verifies beside the plain product, over the simulator: right when the library is, and not when it
// does something else.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "lt_audit/verdict.h"
#include "matmul/beside_problems.h"
#include "matmul/engine.h"
#include "platform/platforms.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace {

Observation run(const Platform& platform, const std::string& text) {
  return MatmulEngine(platform, {}).run(problem_from_text(text));
}

Observation run(const std::string& text) { return run(make_simulator_platform({}), text); }

/// A library that takes another value for an attribute of the descriptor than was set: that is how one that ignores it,
/// or confuses two epilogues, looks from outside. The pointers that the engine set are kept.
class Deaf {
 public:
  Deaf() {
    platform.lt.matmul_desc_set_attribute = [this](cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                                   const void* value, std::size_t bytes) {
      if (bytes == sizeof(void*)) std::memcpy(&pointers[attribute], value, bytes);
      const auto changed = changes.find(attribute);
      return real.lt.matmul_desc_set_attribute(desc, attribute, changed == changes.end() ? value : &changed->second,
                                               bytes);
    };
    platform.lt.matmul = [this](auto... arguments) {
      const auto status = real.lt.matmul(arguments...);
      EXPECT_EQ(real.cuda.device_synchronize(), cudaSuccess);
      if (after) after(*this);
      return status;
    };
  }
  template <class T>
  void hear(cublasLtMatmulDescAttributes_t attribute, T value) {
    std::memcpy(&changes[attribute], &value, sizeof value);
  }
  unsigned char* memory(cublasLtMatmulDescAttributes_t attribute) {
    return static_cast<unsigned char*>(pointers.at(attribute));
  }

  Platform real = make_simulator_platform({});
  Platform platform = real;
  std::map<cublasLtMatmulDescAttributes_t, std::uint64_t> changes;
  std::map<cublasLtMatmulDescAttributes_t, void*> pointers;
  std::function<void(Deaf&)> after;
};

void expect_wrong(Deaf& deaf, const char* text) {
  const auto observation = run(deaf.platform, text);
  EXPECT_EQ(outcome_of(observation), Outcome::wrong_result) << text << ": " << describe(observation);
}

TEST(EngineBeside, ComplexProductsAreVerified) {
  for (const auto* text : kComplexProblems) {
    const auto observation = run(text);
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
  }
}

TEST(EngineBeside, ComplexInt8IsVerified) {
  const auto observation = run("m=96,n=80,k=64,ta=t,a=ci8,d=c32,alpha=2");
  EXPECT_EQ(outcome_of(observation), Outcome::correct) << describe(observation);
}

TEST(EngineBeside, PlanarProductsAreVerified) {
  for (const auto* text : kPlanarProblems) {
    const auto observation = run(text);
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
  }
}

/// The simulator with bytes of D set after each product, in the order of its stream.
Platform spoiled(std::size_t first, std::size_t count, int value) {
  Platform platform = make_simulator_platform({});
  const auto real = platform.lt.matmul;
  platform.lt.matmul = [real, set = platform.cuda.memset_async, first, count, value](
                           cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                           cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                           const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                           cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                           std::size_t bytes, cudaStream_t stream) {
    const auto status = real(handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algo,
                             workspace, bytes, stream);
    static_cast<void>(set(static_cast<std::byte*>(d) + first, value, count, stream));
    return status;
  };
  return platform;
}

TEST(EngineBeside, BothPlanesOfDAndWhatLiesAroundThemAreWatched) {
  // 33 x 17 FP16 numbers: a plane of 1122 bytes, the other one from byte 1280 on.
  constexpr const char* kText = "m=33,n=17,k=16,a=c16";
  constexpr std::size_t kPlane = 1280;
  constexpr std::size_t kBytes = 1122;
  const auto seen = [&](std::size_t first, std::size_t count, int value) {
    return run(spoiled(first, count, value), kText).verification.value();
  };
  EXPECT_EQ(seen(kPlane + 32, 2, 0x3D).wrong, 1U);
  EXPECT_EQ(seen(0, kBytes, 0xFF).wrong, 33U * 17);
  EXPECT_EQ(seen(0, kBytes, 0xFF).unwritten, 0U) << "the imaginary parts were written";
  EXPECT_EQ(seen(0, kPlane + kBytes, 0xFF).unwritten, 33U * 17);
  EXPECT_EQ(seen(kBytes, 3, 0).padding_bytes_changed, 3U) << "between the planes";
  EXPECT_EQ(seen(kPlane + kBytes, 5, 0).bytes_behind_d, 5U);
}

TEST(EngineBeside, APlaneOffsetThatIsMisreadShows) {
  Platform platform = make_simulator_platform({});
  const auto real = platform.lt.matrix_layout_set_attribute;
  platform.lt.matrix_layout_set_attribute = [real](cublasLtMatrixLayout_t layout,
                                                   cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                   std::size_t bytes) {
    std::int64_t offset = 0;
    if (attribute == CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET) {
      std::memcpy(&offset, value, sizeof offset);
      offset += 16;
      value = &offset;
    }
    return real(layout, attribute, value, bytes);
  };
  EXPECT_EQ(outcome_of(run(platform, "m=96,n=80,k=64,a=c16")), Outcome::out_of_bounds);
}

TEST(EngineBeside, AnImaginaryPartOfAlphaOrBetaThatIsIgnoredShows) {
  for (const char* text :
       {"m=96,n=80,k=64,a=c32,alpha=1,alpha_imaginary=2", "m=96,n=80,k=64,a=c32,beta=1,beta_imaginary=1"}) {
    Platform platform = make_simulator_platform({});
    const auto real = platform.lt.matmul;
    platform.lt.matmul = [real](cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                                cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                                const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                                std::size_t bytes, cudaStream_t stream) {
      const std::array<float, 2> real_alpha{*static_cast<const float*>(alpha), 0};
      const std::array<float, 2> real_beta{*static_cast<const float*>(beta), 0};
      return real(handle, desc, real_alpha.data(), a, a_layout, b, b_layout, real_beta.data(), c, c_layout, d, d_layout,
                  algo, workspace, bytes, stream);
    };
    EXPECT_EQ(outcome_of(run(platform, text)), Outcome::wrong_result) << text;
  }
}

TEST(EngineBeside, AConjugateThatIsOnlyTransposedShows) {
  Deaf deaf;
  deaf.hear(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(CUBLAS_OP_T));
  expect_wrong(deaf, "m=96,n=80,k=64,ta=c,a=c32");
}

TEST(EngineBeside, ScaleFactorsAreVerified) {
  for (const auto* text : kScaledProblems) {
    const auto observation = run(text);
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
  }
}

TEST(EngineBeside, AScaleFactorThatIsIgnoredShows) {
  for (const auto& [text, attribute] : std::map<const char*, cublasLtMatmulDescAttributes_t>{
           {kScaledProblems[0], CUBLASLT_MATMUL_DESC_A_SCALE_POINTER},
           {kScaledProblems[1], CUBLASLT_MATMUL_DESC_B_SCALE_POINTER},
           {kScaledProblems[3], CUBLASLT_MATMUL_DESC_D_SCALE_POINTER}}) {
    Deaf deaf;
    deaf.hear<const void*>(attribute, nullptr);
    expect_wrong(deaf, text);
  }
}

TEST(EngineBeside, OneFactorForTheWrongRowOrBlockShows) {
  for (const std::size_t table : {4U, 5U, 6U, 7U}) {
    for (const auto attribute : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER}) {
      Deaf deaf;
      Platform real = deaf.real;
      deaf.platform.lt.matmul = [&deaf, attribute, real](auto... arguments) {
        // What the library reads of the last factor is the negative of what was given.
        auto* factors = reinterpret_cast<float*>(deaf.memory(attribute));
        factors[0] = -factors[0];
        const auto status = real.lt.matmul(arguments...);
        EXPECT_EQ(real.cuda.device_synchronize(), cudaSuccess);
        factors[0] = -factors[0];
        return status;
      };
      expect_wrong(deaf, kScaledProblems[table]);
    }
  }
}

TEST(EngineBeside, AnAmaxThatIsOffShows) {
  Deaf deaf;
  deaf.after = [](Deaf& d) { *reinterpret_cast<float*>(d.memory(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER)) *= 2; };
  const auto observation = run(deaf.platform, kScaledProblems[3]);
  EXPECT_EQ(outcome_of(observation), Outcome::wrong_result);
  EXPECT_EQ(observation.verification->wrong, 0U);
  EXPECT_EQ(*observation.verification->amax_actual, 2 * *observation.verification->amax_expected);
  EXPECT_NE(describe(observation).find("amax is "), std::string::npos) << describe(observation);
}

TEST(EngineBeside, EveryEpilogueIsVerifiedWithWhatItWrites) {
  for (const auto* text : kEpilogueProblems) {
    const auto observation = run(text);
    EXPECT_EQ(outcome_of(observation), Outcome::correct) << text << ": " << describe(observation);
    ASSERT_TRUE(observation.verification) << text;
    const auto epilogue = problem_from_text(text).epilogue;
    EXPECT_EQ(observation.verification->aux_compared > 0, has_aux(epilogue) && !reads_aux(epilogue)) << text;
    EXPECT_EQ(observation.verification->gradient_compared > 0, has_bias_gradient(epilogue)) << text;
  }
}

TEST(EngineBeside, AnotherActivationShows) {
  struct Confused {
    const char* text;
    cublasLtEpilogue_t heard;
  };
  for (const auto& [text, heard] : {Confused{"m=96,n=80,k=64,a=f16,epilogue=gelu", CUBLASLT_EPILOGUE_RELU},
                                    Confused{"m=96,n=80,k=64,a=bf16,epilogue=gelu", CUBLASLT_EPILOGUE_DEFAULT},
                                    Confused{"m=96,n=80,k=64,a=f16,epilogue=gelu_bias", CUBLASLT_EPILOGUE_GELU},
                                    Confused{"m=96,n=80,k=64,a=f16,epilogue=relu_aux_bias", CUBLASLT_EPILOGUE_RELU_AUX},
                                    Confused{"m=128,n=80,k=64,a=f16,epilogue=dgelu", CUBLASLT_EPILOGUE_DRELU},
                                    Confused{"m=128,n=80,k=64,a=f16,epilogue=drelu", CUBLASLT_EPILOGUE_DEFAULT}}) {
    Deaf deaf;
    deaf.hear(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(heard));
    expect_wrong(deaf, text);
  }
}

TEST(EngineBeside, OneWrongBitOrElementBesideDShows) {
  struct Place {
    const char* text;
    cublasLtMatmulDescAttributes_t attribute;
    std::uint64_t aux_wrong, gradient_wrong;
  };
  for (const auto& place :
       {Place{"m=128,n=80,k=64,a=f16,epilogue=relu_aux", CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 1, 0},
        Place{"m=96,n=80,k=64,a=f16,epilogue=gelu_aux", CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 1, 0},
        Place{"m=96,n=80,k=64,a=f32,epilogue=drelu_bgrad", CUBLASLT_MATMUL_DESC_BIAS_POINTER, 0, 1},
        Place{"m=96,n=80,k=64,a=f16,epilogue=bgrada", CUBLASLT_MATMUL_DESC_BIAS_POINTER, 0, 1}}) {
    Deaf deaf;
    // Bit 6 of the second byte: a bit of a mask, or of an exponent.
    deaf.after = [&place](Deaf& d) { d.memory(place.attribute)[1] ^= 64; };
    const auto observation = run(deaf.platform, place.text);
    EXPECT_EQ(outcome_of(observation), Outcome::wrong_result) << place.text;
    EXPECT_EQ(observation.verification->wrong, 0U) << place.text;
    EXPECT_EQ(observation.verification->aux_wrong, place.aux_wrong) << place.text;
    EXPECT_EQ(observation.verification->gradient_wrong, place.gradient_wrong) << place.text;
  }
}

TEST(EngineBeside, AChangedAuxOrTableIsAChangedInput) {
  for (const auto& [text, attribute] : std::map<const char*, cublasLtMatmulDescAttributes_t>{
           {"m=96,n=80,k=64,a=f16,epilogue=dgelu", CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER},
           {kScaledProblems[5], CUBLASLT_MATMUL_DESC_A_SCALE_POINTER}}) {
    Deaf deaf;
    deaf.after = [attribute = attribute](Deaf& d) { d.memory(attribute)[0] ^= 1; };
    EXPECT_EQ(outcome_of(run(deaf.platform, text)), Outcome::input_changed) << text;
  }
}

TEST(EngineBeside, AByteBehindAuxOrTheGradientIsSeen) {
  Deaf deaf;
  deaf.after = [](Deaf& d) { d.memory(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER)[128 / 8 * 80] = 0; };
  EXPECT_EQ(outcome_of(run(deaf.platform, "m=96,n=80,k=64,a=f16,epilogue=relu_aux")), Outcome::input_changed);
  deaf.after = [](Deaf& d) { d.memory(CUBLASLT_MATMUL_DESC_BIAS_POINTER)[96 * 2] = 0; };
  EXPECT_EQ(outcome_of(run(deaf.platform, "m=96,n=80,k=64,a=f16,epilogue=bgrada")), Outcome::input_changed);
}

TEST(EngineBeside, WhatCannotBeVerifiedIsNotRun) {
  for (const auto& [text, reason] : std::map<const char*, const char*>{
           {"m=64,n=64,k=64,a=c32,d=f32", "the audit cannot verify products of real and complex matrices"},
           {"m=64,n=64,k=64,a=f32,alpha_imaginary=1",
            "imaginary parts of alpha and beta need complex matrices and a complex scale type"},
           {"m=64,n=64,k=64,a=f32,plane_b=packed", "B is real and has no plane of imaginary parts"},
           {"m=64,n=64,k=64,a=c16,plane_d=8000",
            "the planes of D must not overlap: a plane offset of 8000 bytes, 8192 to a plane"},
           {"m=64,n=64,k=64,a=c32,epilogue=relu", "the audit cannot verify epilogue relu of complex matrices"},
           {"m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,scale_a=vec32_ue8m0",
            "the audit cannot fill scale factors of mode vec32_ue8m0 yet"},
           {"m=64,n=64,k=128,ta=t,a=e4m3,d=bf16,batch=2,scale_a=outer_vec,scale_b=outer_vec",
            "the audit cannot lay out scale factors of mode outer_vec for several batches"},
           {"m=64,n=64,k=64,a=f16,batch=2,epilogue=bgrada",
            "the bias gradients of several batches would lie in the same memory; set stride_bias"}}) {
    EXPECT_EQ(run(text).not_run, reason) << text;
  }
}

}  // namespace
}  // namespace lt_audit
