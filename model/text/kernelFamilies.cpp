// SPDX-License-Identifier: Apache-2.0
#include "model/text/kernelFamilies.h"

#include <algorithm>
#include <array>

#include "model/format/text.h"
#include "model/text/collectiveKernels.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"

namespace lanescope {

namespace {

/// Returns true if the text contains `part` between two texts that `accepts(before, after)`.
bool includes(std::string_view text, std::string_view part, auto accepts) {
    for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        if (accepts(text.substr(0, at), text.substr(at + part.size()))) return true;
    return false;
}

/// Returns true if the text contains a word, not as the end of another word, such as "groupedgemm".
bool hasWord(std::string_view text, std::string_view word) {
    return includes(text, word, [](std::string_view before, std::string_view) {
        return before.empty() || !isLetter(before.back());
    });
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
    const auto isType = [](std::string_view before, std::string_view after) {
        return (after.starts_with(',') || after.starts_with('>')) && !before.ends_with("optional");
    };
    return includes(name, "<double", isType) || contains(name, "lambda(double)");
}

KernelPrecision precisionOf(std::string_view name, KernelFamily family) {
    const std::string_view plain = withoutParameters(name);
    if (family == KernelFamily::MatrixProduct || family == KernelFamily::Convolution) return productPrecision(plain);
    // Names of other attention kernels have the type of one operand, or that of a whole family.
    if (family == KernelFamily::Attention && productPrecision(plain) == KernelPrecision::Fp32)
        return KernelPrecision::Fp32;
    return isOfDouble(plain) ? KernelPrecision::Fp64 : KernelPrecision::Unknown;
}

/// Returns true for "..._align1" and "..._aligna2_..." of tensor core products.
bool isUnaligned(std::string_view name) {
    if (contains(name, "s161616gemm")) return true;
    if (!contains(name, "tensorop") && !contains(name, "_tensor16x8")) return false;
    return includes(name, "align", [](std::string_view, std::string_view after) {
        if (after.starts_with('a') || after.starts_with('b')) after.remove_prefix(1);
        return (after.starts_with('1') || after.starts_with('2')) && (after.size() == 1 || !isDigit(after[1]));
    });
}

bool isLogSoftmax(std::string_view name) {
    if (contains(name, "LogSoftMax") || contains(name, "log_softmax")) return true;
    if (!contains(name, "softmax_warp_")) return false;
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
        case Convolution: return containsAny(name, channelsFirst) ? ChannelsFirst : None;
        case Optimizer:
            return contains(name, "multi_tensor_apply") && !contains(name, "Fused") && !contains(name, "Adam") &&
                           !contains(name, "LAMB")
                       ? Foreach
                       : None;
        case Decomposition: return containsAny(name, triangular) ? Triangular : None;
        case Index: return containsAny(name, sorted) ? SortedGradient : None;
        case Softmax: return isLogSoftmax(name) ? LogSoftmax : None;
        default: return None;
    }
}

KernelOrigin originOf(const FamilyPattern* pattern, std::string_view name) {
    if (pattern != nullptr && pattern->source == tritonSource) return KernelOrigin::Inductor;
    // Kernels of any program may be called so.
    const bool isCommon = pattern != nullptr && (pattern->begin == "sort" || pattern->begin == "fusion");
    if (pattern != nullptr && pattern->source == xlaSource && !isCommon) return KernelOrigin::Xla;
    return contains(name, "at::native") || contains(name, "pytorch") || contains(name, "at_cuda_detail")
               ? KernelOrigin::PyTorch
               : KernelOrigin::Unknown;
}

}  // namespace

KernelPrecision productPrecision(std::string_view kernel) {
    const std::string name = lowerCase(std::string(withoutParameters(kernel)));
    using enum KernelPrecision;
    static constexpr std::array<std::string_view, 5> fp64{"f64f64", "d884gemm", "d1684gemm", "d16816gemm", "<double"};
    static constexpr std::array<std::string_view, 4> fp8{"e4m3", "e5m2", "fp8", "float8"};
    static constexpr std::array<std::string_view, 3> int8{"i8i8", "_int8", "imma"};
    static constexpr std::array<std::string_view, 2> bf16{"bf16", "bfloat16"};
    static constexpr std::array<std::string_view, 8> fp16{"fp16",   "f16f16", "f16_s", "half",
                                                          "h16816", "h1688",  "h884",  "hgemm"};
    static constexpr std::array<std::string_view, 8> fp32{
        "sgemm", "simt_s",        "f32f32_f32f32_f32", "scudnn",
        "sgemv", "_engine<float", "fmha_cutlassf_f32", "fmha_cutlassb_f32"};
    if (containsAny(name, fp64) || hasWord(name, "dgemm")) return Fp64;
    switch (nvjetType(name)) {
        case 't': return Bf16;
        case 'h': return Fp16;
        case 'q': return Fp8;
        case 's': return Tf32;
        default: break;
    }
    if (containsAny(name, fp8)) return Fp8;
    if (containsAny(name, int8)) return Int8;
    if (contains(name, "tf32")) return Tf32;
    if (containsAny(name, bf16)) return Bf16;
    if (containsAny(name, fp16)) return Fp16;
    if (contains(name, "s1688")) return Tf32;
    return containsAny(name, fp32) ? Fp32 : Unknown;
}

bool hasLowerFloat(std::string_view name) {
    static constexpr std::array<std::string_view, 6> types{"<float,",       "<float>", "c10::Half",
                                                           "c10::BFloat16", "<__half", "<__nv_bfloat16"};
    return containsAny(name, types);
}

bool convertsTo16Bits(std::string_view kernel) { return kernel.find("float16_copy_kernel") != std::string_view::npos; }

bool isAnyReduction(std::string_view kernel) { return kernel.find("::or_kernel_cuda") != std::string_view::npos; }
bool isEqualityTest(std::string_view kernel) { return kernel.find("CompareEqFunctor<") != std::string_view::npos; }

bool takesNoMask(std::string_view kernel) { return contains(kernel, "pytorch_flash"); }
bool isCudnnAttention(std::string_view kernel) { return kernel.starts_with("cudnn_") && contains(kernel, "_sdpa_"); }

bool isNamedBackward(std::string_view kernel) {
    static constexpr std::array<std::string_view, 4> parts{"ackward", "bprop", "dgrad", "wgrad"};
    return containsAny(kernel, parts);
}

std::string_view name(KernelFamily family) {
    return enumText(family,
                    {"matrix products", "attention",      "convolutions",       "normalization", "softmax",
                     "elementwise",     "reductions",     "type conversions",   "copies",        "layout conversions",
                     "optimizer",       "sorting",        "random numbers",     "indexing",      "fills",
                     "pooling",         "decompositions", "Fourier transforms", "communication", "other"});
}

std::string_view identifier(KernelFamily family) {
    return enumText(family, {"matrix_product", "attention",     "convolution", "normalization", "softmax",
                             "elementwise",    "reduction",     "conversion",  "movement",      "layout",
                             "optimizer",      "sort",          "random",      "index",         "fill",
                             "pooling",        "decomposition", "fourier",     "communication", "other"});
}

std::string_view identifier(KernelPrecision precision) {
    return enumText(precision, {"unknown", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"});
}

std::string_view identifier(KernelTrait trait) {
    return enumText(trait, {"none", "channels_first", "unaligned", "foreach", "sorted_gradient", "log_softmax",
                            "tuning", "triangular"});
}

KernelClass kernelClass(std::string_view name) {
    if (!collectiveOperation(name).empty()) return {.family = KernelFamily::Communication};
    const std::string_view text = withoutReturnType(name);
    const std::string own = lowerCase(std::string(kernelBaseName(text)));
    const std::span<const FamilyPattern> patterns = familyPatterns();
    const auto found = std::ranges::find_if(patterns, [&](const FamilyPattern& each) {
        return text.starts_with(each.begin) && contains(text, each.part) && contains(text, each.alsoPart) &&
               contains(own, each.word) && (each.except.empty() || !contains(own, each.except));
    });
    const FamilyPattern* const pattern = found == patterns.end() ? nullptr : &*found;
    KernelClass made;
    if (pattern != nullptr) made.family = pattern->family;
    made.precision = precisionOf(text, made.family);
    made.trait = traitOf(text, made.family, made.precision);
    made.origin = originOf(pattern, text);
    return made;
}

}  // namespace lanescope
