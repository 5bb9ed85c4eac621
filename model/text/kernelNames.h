// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanescope {

/// Returns the name without parameters: "void gemm<float>" of "void gemm<float>(float*, int)". Parameters rarely
/// distinguish two kernels. Linear; the result points into `demangled`, also below.
std::string_view withoutParameters(std::string_view demangled);

/// Returns a kernel's name in its source: "gemm" of "void cutlass::gemm<float, 128>(float*, int)",
/// without return type, namespaces, template arguments and parameters. Linear.
std::string_view kernelBaseName(std::string_view demangled);

/// C++ name in parts, as demanglers write it: "ns::fill<float, 4>" is "fill" with two arguments. Points into the text.
struct CppName {
    std::string_view base;                    ///< Without namespaces and arguments.
    std::vector<std::string_view> arguments;  ///< Template arguments.
};

/// Splits a name after its template arguments or before its parameters. Text that is no name gives
/// meaningless parts, without errors. Linear.
CppName parseCppName(std::string_view text);

/// Returns the short name of a number type, such as "f32" for "float", "bf16" for "c10::BFloat16";
/// empty for other text.
std::string_view shortTypeName(std::string_view text);

/// Returns operation, type, layout and tile from the name of a GEMM or a convolution of cuBLAS,
/// cuDNN, CUTLASS, Tensile or MIOpen; empty for other names. Linear.
std::string libraryKernelName(std::string_view demangled);

/// Returns a readable name for a kernel whose name in the source is uninformative, such as
/// PyTorch's elementwise kernels, which are one template:
///
///     vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>     add f32
///     reduce_kernel<512, 1, ReduceOp<c10::BFloat16, MeanOps<...>>>      mean bf16
///     multi_tensor_apply_kernel<..., FusedAdamMathFunctor<float, 4>>    foreach FusedAdam f32
///     cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>      simt sgemm 128x32_8x5 nn
///   (CUTLASS)
///     cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<...>>        gemm bf16 128x128x64 (CUTLASS)
///     _ZN2at6native13reduce_kernelI..., if no demangler can read it           at::native::reduce_kernel
///     sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_...         xmma gemm f32 nn 32x32x8
///     triton_poi_fused_add_mul_3              fused add mul (Triton, pointwise)
///     _attn_fwd_0d1d2d3de4de5c                _attn_fwd (Triton)
///     loop_add_fusion_2                       add (XLA, loop fusion)
///
/// GEMMs and convolutions of libraries keep operation, type, layout and tile. Empty if the name in
/// the source (`kernelBaseName`) is as good. Linear; any thread.
std::string knownKernelName(std::string_view demangled);

/// Returns the name as in the source. ROCm profilers write some names in linker form, with a suffix.
std::string kernelNameInSource(std::string_view name);
/// Returns a demangled name without the type that kernels return.
std::string_view withoutReturnType(std::string_view demangled);

}  // namespace lanescope
