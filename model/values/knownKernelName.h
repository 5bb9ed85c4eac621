// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// What people call a kernel whose name in the source says little of it, as all elementwise kernels
/// of PyTorch are one template:
///
///     vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>     add f32
///     reduce_kernel<512, 1, ReduceOp<c10::BFloat16, MeanOps<...>>>      mean bf16
///     multi_tensor_apply_kernel<..., FusedAdamMathFunctor<float, 4>>    foreach FusedAdam f32
///     cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>      simt sgemm 128x32_8x5 nn
///     (CUTLASS) sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_...         xmma gemm f32 nn
///     32x32x8 triton_poi_fused_add_mul_3                       fused add mul (Triton, pointwise)
///     _attn_fwd_0d1d2d3de4de5c                                           _attn_fwd (Triton)
///     loop_add_fusion_2                                                 add (XLA, loop fusion)
///
/// Of GEMMs and convolutions of libraries the operation, type, layout and tile are left. Empty
/// where the name in the source (`kernelBaseName`) is as good as any. Linear; any thread.
std::string knownKernelName(std::string_view demangled);

}  // namespace lanescope
