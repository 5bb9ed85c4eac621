// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanescope {

/// "void gemm<float>" of "void gemm<float>(float*, int)": the rest rarely tells two kernels apart.
/// The name itself if it has no parameters. Linear; points into `demangled`, as the next.
std::string_view withoutParameters(std::string_view demangled);

/// What a kernel is called in its source: "gemm" of "void cutlass::gemm<float, 128>(float*, int)".
/// Return type, namespaces, template arguments and parameters are left out. Linear.
std::string_view kernelBaseName(std::string_view demangled);

/// A name of C++ in parts, as demanglers write it: "ns::fill<float, 4>" is "fill" of two arguments.
/// Points into the text.
struct CppName {
    std::string_view base;                    ///< Without namespaces and arguments.
    std::vector<std::string_view> arguments;  ///< Of its template.
};

/// Takes a name apart up to what follows its template arguments, or up to its parameters. What is
/// no name has parts that make little sense, and nothing else happens. Linear.
CppName parseCppName(std::string_view text);

/// Whether a text names a type of numbers, "float" or "c10::BFloat16", and what it is called for
/// short: "f32", "bf16"; else empty.
std::string_view shortTypeName(std::string_view text);

/// What is left of the name of a GEMM or a convolution of cuBLAS, cuDNN, CUTLASS, Tensile and
/// MIOpen if only operation, type, layout and tile are told; empty for any other name. Linear.
std::string libraryKernelName(std::string_view demangled);

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
