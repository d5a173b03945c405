// Problems with something beside the plain product, for the tests of the engine over the simulator and on a GPU:
// complex types, scale factors, and every epilogue that writes or reads more than D.
#pragma once

#include <array>

namespace lt_audit {

inline constexpr std::array kComplexProblems{
    "m=96,n=80,k=64,a=c32",
    "m=96,n=80,k=64,ta=c,tb=t,a=c32,alpha=2,beta=-1",
    "m=33,n=17,k=65,ta=t,tb=c,a=c64,lda=70,ldd=40,beta=1",
    "m=96,n=80,k=64,a=c32,compute=32f_fast_tf32",
    "m=80,n=64,k=96,a=c32,batch=12,stride_b=0,in_place=1",
    "m=32,n=16,k=8,a=c64,pointer_mode=device,alpha=2,beta=1",
    "m=96,n=80,k=64,tb=c,a=c32,alpha=2,alpha_imaginary=-1,beta=1,beta_imaginary=2",
    "m=33,n=17,k=65,a=c64,pointer_mode=device,alpha=0,alpha_imaginary=0.5,beta_imaginary=1",
};

/// Real and imaginary parts in planes of their own.
inline constexpr std::array kPlanarProblems{
    "m=96,n=80,k=64,a=c16",
    "m=96,n=80,k=64,ta=c,tb=t,a=c16,d=c32,alpha=2,alpha_imaginary=1,beta=-1",
    "m=48,n=24,k=56,a=cbf16,ldd=56,batch=3,beta=1",
    "m=64,n=48,k=72,tb=c,a=cbf16,d=c32,lda=80,plane_a=11520,plane_d=12304",
    "m=16,n=16,k=16,a=c16,batch=3,plane_d=512,stride_d=512,beta_imaginary=1",
    "m=80,n=64,k=96,a=c16,batch=2,in_place=1,beta=1",
};

inline constexpr std::array kScaledProblems{
    "m=96,n=80,k=256,ta=t,a=e4m3,d=bf16,scale_a=scalar",
    "m=96,n=80,k=256,ta=t,a=e4m3,d=bf16,scale_a=scalar,scale_b=scalar,fast_accum=1",
    "m=96,n=80,k=256,ta=t,a=e4m3,b=e5m2,d=f16,scale_a=scalar,scale_b=scalar,epilogue=bias,beta=1",
    "m=96,n=80,k=256,ta=t,a=e4m3,d=e4m3,c=bf16,scale_a=scalar,scale_b=scalar,scale_d=scalar,amax_d=1",
    "m=96,n=80,k=384,ta=t,a=e4m3,d=bf16,scale_a=outer_vec,scale_b=outer_vec",
    "m=256,n=384,k=640,ta=t,a=e4m3,d=bf16,scale_a=vec128,scale_b=vec128",
    "m=256,n=384,k=640,ta=t,a=e4m3,d=f32,scale_a=blk128x128,scale_b=vec128",
    "m=256,n=384,k=640,ta=t,a=e4m3,d=bf16,scale_a=vec128,scale_b=blk128x128",
};

inline constexpr std::array kEpilogueProblems{
    "m=96,n=80,k=64,a=f16,epilogue=relu_aux",
    "m=96,n=80,k=64,a=bf16,epilogue=relu_aux_bias,beta=1",
    "m=136,n=80,k=64,a=f32,epilogue=relu_aux,ldaux=384",
    "m=96,n=80,k=64,a=f16,epilogue=drelu",
    "m=96,n=80,k=64,a=bf16,d=f32,epilogue=drelu_bgrad",
    "m=96,n=80,k=64,a=f32,epilogue=gelu",
    "m=96,n=80,k=64,a=f16,epilogue=gelu_bias",
    "m=96,n=80,k=64,a=bf16,epilogue=gelu_aux",
    "m=96,n=80,k=64,a=f16,epilogue=gelu_aux_bias,ldaux=104",
    "m=96,n=80,k=64,a=f16,epilogue=dgelu",
    "m=96,n=80,k=64,a=f32,epilogue=dgelu_bgrad",
    "m=96,n=80,k=64,a=f16,epilogue=bgrada",
    "m=96,n=80,k=64,tb=t,a=f16,epilogue=bgradb",
    "m=96,n=80,k=64,a=f16,batch=3,epilogue=gelu_aux_bias,stride_bias=96",
    "m=96,n=80,k=64,a=f16,batch=3,epilogue=relu_aux_bias",
};

}  // namespace lt_audit
