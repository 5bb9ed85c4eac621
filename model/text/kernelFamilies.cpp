// SPDX-License-Identifier: Apache-2.0
#include "model/text/kernelFamilies.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "model/text/collectiveKernels.h"
#include "model/text/kernelNames.h"

namespace lanescope {

namespace {

constexpr std::string_view tritonSource = "pytorch/pytorch: torch/_inductor/codegen/triton.py";
constexpr std::string_view xlaSource = "openxla/xla: xla/service/gpu";
constexpr std::string_view atenSource = "pytorch/pytorch: aten/src/ATen/native/cuda";
constexpr std::string_view apexSource = "NVIDIA/apex: csrc; NVIDIA/TransformerEngine: transformer_engine/common";
constexpr std::string_view cublasSource = "NVIDIA cuBLAS, cuBLASLt, cuDNN; NVIDIA/cutlass";
constexpr std::string_view cudnnSource = "NVIDIA cuDNN";
constexpr std::string_view rocmSource = "ROCm/Tensile, ROCm/MIOpen, ROCm/composable_kernel";
constexpr std::string_view fusedSource =
    "Dao-AILab/flash-attention, flashinfer-ai/flashinfer, NVIDIA/TensorRT-LLM, vllm-project/vllm";
constexpr std::string_view cubSource = "NVIDIA/cccl: cub, thrust";
constexpr std::string_view mathSource = "NVIDIA cuSOLVER, cuFFT, cuSPARSE, cuRAND; icl-utk-edu/magma";

// The first match counts: compilers name a kernel by all operations that they fused, and templates of PyTorch contain
// the operation as an argument.
constexpr auto patternsOfFamilies = [] {
    using enum KernelFamily;
    return std::array{
        FamilyPattern{.family = Attention, .begin = "triton_tem_", .part = "attention", .source = tritonSource},
        FamilyPattern{.family = Convolution, .begin = "triton_tem_", .part = "conv", .source = tritonSource},
        FamilyPattern{.family = MatrixProduct, .begin = "triton_tem_", .source = tritonSource},
        FamilyPattern{.family = Softmax, .begin = "triton_softmax", .source = xlaSource},
        FamilyPattern{.family = Sort, .begin = "triton_", .part = "_sort_", .source = tritonSource},
        FamilyPattern{.family = Elementwise, .begin = "triton_poi_", .source = tritonSource},
        FamilyPattern{.family = Softmax, .begin = "triton_", .part = "softmax", .source = tritonSource},
        FamilyPattern{.family = Normalization, .begin = "triton_", .part = "norm", .source = tritonSource},
        FamilyPattern{.family = Normalization, .begin = "triton_", .part = "var_mean", .source = tritonSource},
        FamilyPattern{.family = Reduction, .begin = "triton_per_", .source = tritonSource},
        FamilyPattern{.family = Reduction, .begin = "triton_red_", .source = tritonSource},
        FamilyPattern{.family = MatrixProduct, .begin = "gemm_fusion", .source = xlaSource},
        FamilyPattern{.family = Softmax, .part = "_softmax_fusion", .source = xlaSource},
        FamilyPattern{.family = Sort, .begin = "sort", .source = xlaSource},
        FamilyPattern{.family = Sort, .begin = "wrapped_sort", .source = xlaSource},
        FamilyPattern{.family = Index, .begin = "wrapped_", .part = "scatter", .source = xlaSource},
        FamilyPattern{.family = Index, .begin = "wrapped_", .part = "gather", .source = xlaSource},
        FamilyPattern{.family = Index, .begin = "input_", .part = "scatter", .source = xlaSource},
        FamilyPattern{.family = Index, .begin = "loop_", .part = "gather", .source = xlaSource},
        FamilyPattern{.family = Index, .begin = "loop_", .part = "scatter", .source = xlaSource},
        FamilyPattern{.family = Random, .begin = "loop_", .part = "rng", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "wrapped_transpose", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "wrapped_concatenate", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "wrapped_copy", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "input_transpose", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "input_concatenate", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "transpose_fusion", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "loop_transpose", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "loop_copy", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "loop_concatenate", .source = xlaSource},
        FamilyPattern{.family = Movement, .begin = "loop_dynamic_", .source = xlaSource},
        FamilyPattern{.family = Conversion, .begin = "wrapped_convert", .source = xlaSource},
        FamilyPattern{.family = Conversion, .begin = "loop_convert_fusion", .source = xlaSource},
        FamilyPattern{.family = Fill, .begin = "wrapped_broadcast", .source = xlaSource},
        FamilyPattern{.family = Fill, .begin = "loop_broadcast_fusion", .source = xlaSource},
        FamilyPattern{.family = Reduction, .begin = "wrapped_", .part = "reduce", .source = xlaSource},
        FamilyPattern{.family = Reduction, .begin = "input_", .part = "reduce", .source = xlaSource},
        FamilyPattern{.family = Reduction, .begin = "loop_", .part = "reduce", .source = xlaSource},
        FamilyPattern{.family = Elementwise, .begin = "loop_", .part = "_fusion", .source = xlaSource},
        FamilyPattern{.family = Elementwise, .begin = "input_", .part = "_fusion", .source = xlaSource},
        FamilyPattern{.family = Elementwise, .begin = "wrapped_", .source = xlaSource},
        FamilyPattern{.family = Elementwise, .begin = "fusion", .source = xlaSource},
        FamilyPattern{.family = Other, .begin = "stream_executor::", .source = xlaSource},

        // Names within template arguments.
        FamilyPattern{.family = Optimizer, .part = "FusedOptimizerTensorListMetadata", .source = atenSource},
        FamilyPattern{.family = Reduction, .part = "LpNormFunctor", .source = atenSource},
        FamilyPattern{.family = Reduction, .part = "L2NormFunctor", .source = apexSource},
        FamilyPattern{.family = Optimizer, .part = "multi_tensor_apply", .source = atenSource},
        FamilyPattern{.family = Conversion, .part = "bfloat16_copy_kernel", .source = atenSource},
        FamilyPattern{.family = Conversion, .part = "float16_copy_kernel", .source = atenSource},
        FamilyPattern{.family = Conversion, .part = "float8_copy_kernel", .source = atenSource},
        FamilyPattern{
            .family = Conversion, .part = "LoadWithCast", .alsoPart = "copy_kernel_cuda", .source = atenSource},
        FamilyPattern{.family = Movement, .part = "copy_kernel_cuda", .source = atenSource},
        FamilyPattern{.family = Movement, .part = "copy_device_to_device", .source = atenSource},
        FamilyPattern{.family = Movement, .part = "CatArrayBatchedCopy", .source = atenSource},
        FamilyPattern{.family = Fill, .part = "FillFunctor", .source = atenSource},
        FamilyPattern{.family = Sort, .part = "RadixSort", .source = cubSource},
        FamilyPattern{.family = Sort, .part = "MergeSort", .source = cubSource},
        FamilyPattern{.family = Sort, .part = "merge_sort", .source = cubSource},
        FamilyPattern{.family = Sort, .part = "radix_sort", .source = cubSource},
        FamilyPattern{.family = Index, .part = "topk::", .source = atenSource},
        FamilyPattern{.family = Index, .part = "DeviceSelect", .source = cubSource},
        FamilyPattern{.family = Index, .part = "DeviceHistogram", .source = cubSource},
        FamilyPattern{.family = Index, .part = "DevicePartition", .source = cubSource},
        FamilyPattern{.family = Index, .part = "DeviceRunLength", .source = cubSource},
        FamilyPattern{.family = Reduction, .part = "DeviceScan", .source = cubSource},
        FamilyPattern{.family = Reduction, .part = "DeviceReduce", .source = cubSource},
        FamilyPattern{.family = Convolution, .part = "ImplicitGemmConvolution", .source = cudnnSource},
        FamilyPattern{.family = Attention, .part = "PyTorchMemEffAttention", .source = atenSource},
        FamilyPattern{.family = Attention, .part = "pytorch_flash::", .source = atenSource},
        FamilyPattern{.family = Attention, .part = "flash::", .source = fusedSource},
        FamilyPattern{.family = Convolution, .part = "cutlass_tensorop_", .alsoPart = "fprop", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .part = "cutlass_tensorop_", .alsoPart = "dgrad", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .part = "cutlass_tensorop_", .alsoPart = "wgrad", .source = cudnnSource},
        FamilyPattern{.family = MatrixProduct, .part = "cutlass_", .alsoPart = "gemm", .source = cublasSource},
        FamilyPattern{.family = MatrixProduct, .part = "cutlass::gemm", .source = cublasSource},

        // Names of functions.
        FamilyPattern{.family = Layout, .word = "nchwto", .source = cudnnSource},
        FamilyPattern{.family = Layout, .word = "nhwcto", .source = cudnnSource},
        FamilyPattern{.family = Layout, .word = "nchwaddpadding", .source = cudnnSource},
        FamilyPattern{.family = Layout, .word = "nhwcaddpadding", .source = cudnnSource},
        FamilyPattern{.family = Attention, .word = "sdpa", .source = cudnnSource},
        FamilyPattern{.family = Attention, .word = "fmha", .source = fusedSource},
        FamilyPattern{.family = Attention, .word = "flash_fwd", .source = fusedSource},
        FamilyPattern{.family = Attention, .word = "flash_bwd", .source = fusedSource},
        FamilyPattern{.family = Attention, .word = "attn", .source = fusedSource},
        FamilyPattern{.family = Attention, .word = "attention", .source = fusedSource},
        FamilyPattern{.family = Attention, .word = "pagedkvcache", .source = fusedSource},
        FamilyPattern{.family = Attention, .word = "compute_dot_do_o", .source = cudnnSource},
        FamilyPattern{.family = Attention, .word = "convert_dq_to", .source = cudnnSource},
        FamilyPattern{.family = Optimizer, .word = "adam", .source = apexSource},
        FamilyPattern{.family = Optimizer, .word = "lamb_", .source = apexSource},
        FamilyPattern{
            .family = Optimizer, .word = "koptimizer", .source = "bitsandbytes-foundation/bitsandbytes: csrc"},
        FamilyPattern{.family = Index, .word = "embedding", .except = "rotary", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "layer_norm", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "layernorm", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "batch_norm", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "batchnorm", .source = cudnnSource},
        FamilyPattern{.family = Normalization, .word = "bn_fw", .source = cudnnSource},
        FamilyPattern{.family = Normalization, .word = "bn_bw", .source = cudnnSource},
        FamilyPattern{.family = Normalization, .word = "groupnorm", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "group_norm", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "rms_norm", .source = fusedSource},
        FamilyPattern{.family = Normalization, .word = "rmsnorm", .source = apexSource},
        FamilyPattern{.family = Normalization, .word = "ln_fwd", .source = apexSource},
        FamilyPattern{.family = Normalization, .word = "ln_bwd", .source = apexSource},
        FamilyPattern{.family = Normalization, .word = "rowwisemoments", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "computefusedparams", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "internalgradients", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "gammabetabackward", .source = atenSource},
        FamilyPattern{.family = Normalization, .word = "welford", .source = apexSource},
        FamilyPattern{.family = Softmax, .word = "softmax", .source = atenSource},
        FamilyPattern{.family = Layout, .word = "batched_transpose", .source = rocmSource},
        FamilyPattern{.family = Movement, .word = "transpose", .source = rocmSource},
        FamilyPattern{.family = Movement, .word = "permute", .source = apexSource},
        FamilyPattern{.family = Movement, .word = "split_with_sizes_copy", .source = atenSource},
        FamilyPattern{.family = Movement, .word = "chunk_cat", .source = atenSource},
        FamilyPattern{.family = Movement, .word = "copybuffer", .source = rocmSource},
        FamilyPattern{.family = Movement, .word = "roll_cuda", .source = atenSource},
        FamilyPattern{.family = Movement, .word = "reflection_pad", .source = atenSource},
        FamilyPattern{.family = Movement, .word = "replication_pad", .source = atenSource},
        FamilyPattern{.family = Fill, .word = "fillbuffer", .source = rocmSource},
        FamilyPattern{.family = Convolution, .word = "conv", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .word = "dgrad", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .word = "wgrad", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .word = "fprop", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .word = "implicit_gemm", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .word = "scudnn", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .word = "winograd", .source = cudnnSource},
        FamilyPattern{.family = Convolution, .word = "im2col", .source = atenSource},
        FamilyPattern{.family = Convolution, .word = "col2im", .source = atenSource},
        FamilyPattern{.family = Convolution, .word = "igemm_", .source = rocmSource},
        FamilyPattern{.family = Convolution, .word = "init_device_workspace", .source = cudnnSource},
        FamilyPattern{.family = Decomposition, .word = "trsm", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "trsv", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "getrf", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "potrf", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "geqr", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "gesvd", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "syevj", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "sytrd", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "larf", .source = mathSource},
        FamilyPattern{.family = Decomposition, .word = "jacobi", .source = mathSource},
        FamilyPattern{.family = Fourier, .word = "fft", .except = "lifft", .source = mathSource},
        FamilyPattern{.family = MatrixProduct, .word = "gemm", .source = cublasSource},
        FamilyPattern{.family = MatrixProduct, .word = "nvjet", .source = cublasSource},
        FamilyPattern{.family = MatrixProduct, .word = "gemv", .source = cublasSource},
        FamilyPattern{.family = MatrixProduct, .word = "splitkreduce", .source = cublasSource},
        FamilyPattern{.family = MatrixProduct, .word = "matmul", .source = fusedSource},
        FamilyPattern{.family = MatrixProduct, .word = "bmm", .source = fusedSource},
        FamilyPattern{.family = MatrixProduct, .word = "cijk_", .source = rocmSource},
        FamilyPattern{.family = MatrixProduct, .word = "marlin", .source = fusedSource},
        FamilyPattern{.family = MatrixProduct, .word = "mm_kernel", .source = fusedSource},
        FamilyPattern{.family = MatrixProduct, .word = "dot_kernel", .source = cublasSource},
        FamilyPattern{.family = Index, .word = "spmm", .source = mathSource},
        FamilyPattern{.family = Index, .word = "csrmv", .source = mathSource},
        FamilyPattern{.family = Index, .word = "topk", .source = atenSource},
        FamilyPattern{.family = Sort, .word = "sort", .source = atenSource},
        FamilyPattern{.family = Sort, .word = "kthvalue", .source = atenSource},
        FamilyPattern{.family = Sort, .word = "median", .source = atenSource},
        FamilyPattern{.family = Random, .word = "distribution_", .source = atenSource},
        FamilyPattern{.family = Elementwise, .word = "dropout", .source = atenSource},
        FamilyPattern{.family = Random, .word = "randperm", .source = atenSource},
        FamilyPattern{.family = Random, .word = "multinomial", .source = atenSource},
        FamilyPattern{.family = Random, .word = "threefry", .source = xlaSource},
        FamilyPattern{.family = Random, .word = "rng_", .source = xlaSource},
        FamilyPattern{.family = Random, .word = "curand", .source = mathSource},
        FamilyPattern{.family = Index, .word = "index", .except = "kernel_with_index", .source = atenSource},
        FamilyPattern{.family = Index, .word = "gather", .source = atenSource},
        FamilyPattern{.family = Index, .word = "scatter", .source = atenSource},
        FamilyPattern{.family = Index, .word = "segment", .source = atenSource},
        FamilyPattern{.family = Index, .word = "histogram", .source = atenSource},
        FamilyPattern{.family = Index, .word = "grad_weight", .source = atenSource},
        FamilyPattern{.family = Index, .word = "masked_select", .source = atenSource},
        FamilyPattern{.family = Index, .word = "put_kernel", .source = atenSource},
        FamilyPattern{.family = Index, .word = "take_kernel", .source = atenSource},
        FamilyPattern{.family = Pooling, .word = "pool", .source = atenSource},
        FamilyPattern{.family = Pooling, .word = "upsample", .source = atenSource},
        FamilyPattern{.family = Pooling, .word = "grid_sampler", .source = atenSource},
        FamilyPattern{.family = Reduction, .word = "reduce", .source = atenSource},
        FamilyPattern{.family = Reduction, .word = "scan", .source = atenSource},
        FamilyPattern{.family = Reduction, .word = "cumsum", .source = atenSource},
        FamilyPattern{.family = Reduction, .word = "nll_loss", .source = atenSource},
        FamilyPattern{.family = Reduction, .word = "cdist", .source = atenSource},
        FamilyPattern{.family = Elementwise, .word = "elementwise", .source = atenSource},
        FamilyPattern{.family = Elementwise, .word = "gelu", .source = fusedSource},
        FamilyPattern{.family = Elementwise, .word = "silu", .source = fusedSource},
        FamilyPattern{.family = Elementwise, .word = "swiglu", .source = fusedSource},
        FamilyPattern{.family = Elementwise, .word = "rotary", .source = fusedSource},
        FamilyPattern{.family = Elementwise, .word = "rope_", .source = fusedSource},
        FamilyPattern{.family = Elementwise, .word = "subtensorop", .source = rocmSource},
        FamilyPattern{.family = Elementwise, .word = "triu_tril", .source = atenSource},
        FamilyPattern{.family = Elementwise, .word = "cell_", .source = atenSource},
    };
}();

template <class Texts>
bool includesAny(std::string_view text, const Texts& parts) {
    return std::ranges::any_of(parts,
                               [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool includes(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string lowered(std::string_view text) {
    std::string made(text);
    for (char& each : made) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    return made;
}

/// Returns true if the text contains a word, not as the end of another word, such as "groupedgemm".
bool hasWord(std::string_view text, std::string_view word) {
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
        if (at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0) return true;
    return false;
}

/// Returns the letter of the operands' type in "nvjet_sm90_tst_128x128_...": t is bf16, h fp16, q fp8. 0 if unknown.
char nvjetType(std::string_view name) {
    constexpr std::string_view begin = "nvjet_";
    const size_t at = name.find(begin);
    if (at == std::string_view::npos) return 0;
    name.remove_prefix(at + begin.size());
    if (name.starts_with("sm")) name.remove_prefix(std::min(name.size(), name.find('_') + 1));
    return name.empty() ? '\0' : name.front();
}

/// Returns true for templates of PyTorch that are instantiated for double. Parameters such as "optional<double>" are
/// the same for all types.
bool isOfDouble(std::string_view name) {
    constexpr std::string_view type = "<double";
    for (size_t at = name.find(type); at != std::string_view::npos; at = name.find(type, at + 1)) {
        const std::string_view rest = name.substr(at + type.size());
        if ((rest.starts_with(',') || rest.starts_with('>')) && !name.substr(0, at).ends_with("optional")) return true;
    }
    return includes(name, "lambda(double)");
}

KernelPrecision precisionOf(std::string_view name, KernelFamily family) {
    const std::string_view plain = withoutParameters(name);
    if (family == KernelFamily::MatrixProduct || family == KernelFamily::Convolution) return productPrecision(plain);
    return isOfDouble(plain) ? KernelPrecision::Fp64 : KernelPrecision::Unknown;
}

/// Returns true for "..._align1" and "..._aligna2_..." of tensor core products.
bool isUnaligned(std::string_view name) {
    if (includes(name, "s161616gemm")) return true;
    if (!includes(name, "tensorop") && !includes(name, "_tensor16x8")) return false;
    static constexpr std::array<std::string_view, 3> words{"align", "aligna", "alignb"};
    return std::ranges::any_of(words, [name](std::string_view word) {
        for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
            const std::string_view rest = name.substr(at + word.size());
            const bool isOne = rest.starts_with('1') || rest.starts_with('2');
            if (isOne && (rest.size() == 1 || std::isdigit(static_cast<unsigned char>(rest[1])) == 0)) return true;
        }
        return false;
    });
}

bool isLogSoftmax(std::string_view name) {
    if (includes(name, "LogSoftMax") || includes(name, "log_softmax")) return true;
    if (!includes(name, "softmax_warp_")) return false;
    const CppName parts = parseCppName(withoutParameters(name));
    constexpr size_t place = 4;  // template argument
    return parts.arguments.size() > place && parts.arguments[place] == "true";
}

KernelTrait traitOf(std::string_view name, KernelFamily family, KernelPrecision precision) {
    using enum KernelTrait;
    using enum KernelFamily;
    static constexpr std::array<std::string_view, 9> channelsFirst{"NCHW",
                                                                   "bn_bw_1C11",
                                                                   "bn_fw_tr_1C11",
                                                                   "batch_norm_backward_kernel",
                                                                   "batch_norm_collect_statistics_kernel",
                                                                   "batch_norm_transform_input_kernel",
                                                                   "pool_forward_nchw",
                                                                   "pool_backward_nchw",
                                                                   "conv_depthwise2d"};
    static constexpr std::array<std::string_view, 4> sorted{"indexing_backward", "compute_grad_weight",
                                                            "embedding_backward", "sum_and_scatter"};
    static constexpr std::array<std::string_view, 4> triangular{"trsm", "trsv", "getrf", "potrf"};
    if (name.starts_with("stream_executor::") || name.starts_with("void stream_executor::")) return Tuning;
    switch (family) {
        case MatrixProduct:
            return precision != KernelPrecision::Fp32 && precision != KernelPrecision::Fp64 && isUnaligned(name)
                       ? Unaligned
                       : None;
        case Normalization:
        case Pooling:
        case Convolution: return includesAny(name, channelsFirst) ? ChannelsFirst : None;
        case Optimizer:
            return includes(name, "multi_tensor_apply") && !includes(name, "Fused") && !includes(name, "Adam") &&
                           !includes(name, "LAMB")
                       ? Foreach
                       : None;
        case Decomposition: return includesAny(name, triangular) ? Triangular : None;
        case Index: return includesAny(name, sorted) ? SortedGradient : None;
        case Softmax: return isLogSoftmax(name) ? LogSoftmax : None;
        default: return None;
    }
}

KernelOrigin originOf(const FamilyPattern* pattern, std::string_view name) {
    if (pattern != nullptr && pattern->source == tritonSource) return KernelOrigin::Inductor;
    // Kernels of any program may be called so.
    const bool isCommon = pattern != nullptr && (pattern->begin == "sort" || pattern->begin == "fusion");
    if (pattern != nullptr && pattern->source == xlaSource && !isCommon) return KernelOrigin::Xla;
    return includes(name, "at::native") || includes(name, "pytorch") || includes(name, "at_cuda_detail")
               ? KernelOrigin::PyTorch
               : KernelOrigin::Unknown;
}

}  // namespace

KernelPrecision productPrecision(std::string_view kernel) {
    const std::string name = lowered(withoutParameters(kernel));
    using enum KernelPrecision;
    static constexpr std::array<std::string_view, 5> fp64{"f64f64", "d884gemm", "d1684gemm", "d16816gemm", "<double"};
    static constexpr std::array<std::string_view, 4> fp8{"e4m3", "e5m2", "fp8", "float8"};
    static constexpr std::array<std::string_view, 3> int8{"i8i8", "_int8", "imma"};
    static constexpr std::array<std::string_view, 2> bf16{"bf16", "bfloat16"};
    static constexpr std::array<std::string_view, 8> fp16{"fp16",   "f16f16", "f16_s", "half",
                                                          "h16816", "h1688",  "h884",  "hgemm"};
    static constexpr std::array<std::string_view, 7> fp32{"sgemm", "simt_s",        "f32f32_f32f32_f32", "scudnn",
                                                          "sgemv", "_engine<float", "fmha_cutlassf_f32"};
    if (includesAny(name, fp64) || hasWord(name, "dgemm")) return Fp64;
    switch (nvjetType(name)) {
        case 't': return Bf16;
        case 'h': return Fp16;
        case 'q': return Fp8;
        case 's': return Tf32;
        default: break;
    }
    if (includesAny(name, fp8)) return Fp8;
    if (includesAny(name, int8)) return Int8;
    if (includes(name, "tf32")) return Tf32;
    if (includesAny(name, bf16)) return Bf16;
    if (includesAny(name, fp16)) return Fp16;
    if (includes(name, "s1688")) return Tf32;
    return includesAny(name, fp32) ? Fp32 : Unknown;
}

bool hasLowerFloat(std::string_view name) {
    static constexpr std::array<std::string_view, 6> types{"<float,",       "<float>", "c10::Half",
                                                           "c10::BFloat16", "<__half", "<__nv_bfloat16"};
    return std::ranges::any_of(types, [name](std::string_view type) { return includes(name, type); });
}

std::string_view name(KernelFamily family) {
    static constexpr std::array<std::string_view, 20> all{
        "matrix products", "attention",      "convolutions",       "normalization", "softmax",
        "elementwise",     "reductions",     "type conversions",   "copies",        "layout conversions",
        "optimizer",       "sorting",        "random numbers",     "indexing",      "fills",
        "pooling",         "decompositions", "Fourier transforms", "communication", "other"};
    return all[static_cast<size_t>(family)];
}

std::string_view identifier(KernelFamily family) {
    static constexpr std::array<std::string_view, 20> all{
        "matrix_product", "attention", "convolution",   "normalization", "softmax",       "elementwise", "reduction",
        "conversion",     "movement",  "layout",        "optimizer",     "sort",          "random",      "index",
        "fill",           "pooling",   "decomposition", "fourier",       "communication", "other"};
    return all[static_cast<size_t>(family)];
}

std::string_view identifier(KernelPrecision precision) {
    static constexpr std::array<std::string_view, 8> all{"unknown", "fp64", "fp32", "tf32",
                                                         "fp16",    "bf16", "fp8",  "int8"};
    return all[static_cast<size_t>(precision)];
}

std::string_view identifier(KernelTrait trait) {
    static constexpr std::array<std::string_view, 8> all{
        "none", "channels_first", "unaligned", "foreach", "sorted_gradient", "log_softmax", "tuning", "triangular"};
    return all[static_cast<size_t>(trait)];
}

std::span<const FamilyPattern> familyPatterns() { return patternsOfFamilies; }

KernelClass kernelClass(std::string_view name) {
    if (!collectiveOperation(name).empty()) return {.family = KernelFamily::Communication};
    const std::string_view text = withoutReturnType(name);
    const std::string own = lowered(kernelBaseName(text));
    const auto found = std::ranges::find_if(patternsOfFamilies, [&](const FamilyPattern& each) {
        return text.starts_with(each.begin) && includes(text, each.part) && includes(text, each.alsoPart) &&
               includes(own, each.word) && (each.except.empty() || !includes(own, each.except));
    });
    const FamilyPattern* const pattern = found == patternsOfFamilies.end() ? nullptr : &*found;
    KernelClass made;
    if (pattern != nullptr) made.family = pattern->family;
    made.precision = precisionOf(text, made.family);
    made.trait = traitOf(text, made.family, made.precision);
    made.origin = originOf(pattern, text);
    return made;
}

}  // namespace lanescope
