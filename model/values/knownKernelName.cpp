// SPDX-License-Identifier: Apache-2.0
#include "model/values/knownKernelName.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "model/values/CppName.h"
#include "model/values/libraryKernelName.h"

namespace lanescope {

namespace {

using Words = std::vector<std::string_view>;

/// How often a functor may be wrapped into others.
constexpr int mostWrappers = 8;

bool isUpper(char c) {
    return std::isupper(static_cast<unsigned char>(c)) != 0;
}

bool removeEnd(std::string_view& text, std::string_view end) {
    if (text.size() <= end.size() || !text.ends_with(end)) return false;
    text.remove_suffix(end.size());
    return true;
}

bool removeBegin(std::string_view& text, std::string_view begin) {
    if (text.size() <= begin.size() || !text.starts_with(begin)) return false;
    text.remove_prefix(begin.size());
    return true;
}

/// "add" of "CUDAFunctor_add", "masked_fill" of "masked_fill_kernel", "GeluBackward" of
/// "GeluBackwardCUDAKernelImpl".
std::string operationOf(std::string_view name) {
    for (const std::string_view begin :
         {"CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "CUDAFunctor_", "_cuda_", "launch_", "gpu_"})
        removeBegin(name, begin);
    // From what stands at the very end to what stands before it.
    for (bool isShorter = true; isShorter;) {
        isShorter = false;
        for (const std::string_view end :
             {"CUDAKernelImpl", "_kernel_cuda", "_cuda_kernel", "_kernel_impl", "_internal_kernel",
              "_and_transform", "KernelImpl", "_cuda_out", "_functor", "Functor", "_kernel",
              "_impl", "_cuda", "Ops"})
            isShorter = removeEnd(name, end) || isShorter;
    }
    removeEnd(name, "Math");
    while (!name.empty() && name.front() == '_') name.remove_prefix(1);
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> words{
        {{"direct_copy", "copy"},
         {"multiplies", "mul"},
         {"plus", "add"},
         {"minus", "sub"},
         {"divides", "div"},
         {"pow_tensor_scalar", "pow"},
         {"clamp_scalar", "clamp"}}};
    for (const auto& [word, brief] : words)
        if (name == word) return std::string(brief);
    std::string operation(name);
    // One word in capitals and small letters is written small, as the operation is.
    size_t capitals = 0;
    for (const char c : operation) capitals += isUpper(c) ? 1 : 0;
    if (capitals == 1 && isUpper(operation.front()))
        operation.front() =
            static_cast<char>(std::tolower(static_cast<unsigned char>(operation.front())));
    return operation;
}

/// What a lambda of it takes, as "f32": of the innermost, the first that is no condition.
std::string_view typeOfLambda(std::string_view text) {
    size_t at = std::string_view::npos;
    for (const std::string_view begin : {"{lambda(", "[lambda("}) {
        const size_t found = text.rfind(begin);
        if (found != std::string_view::npos && (at == std::string_view::npos || found > at))
            at = found;
    }
    if (at == std::string_view::npos) return {};
    at += std::string_view("{lambda(").size();
    std::string_view parameters = text.substr(at, text.find(')', at) - at);
    std::string_view type;
    while (!parameters.empty()) {
        const size_t end = std::min(parameters.find(','), parameters.size());
        const std::string_view brief = shortTypeName(parameters.substr(0, end));
        if (!brief.empty() && (type.empty() || type == "bool")) type = brief;
        parameters.remove_prefix(std::min(end + 1, parameters.size()));
    }
    return type;
}

std::string_view typeAmong(const Words& arguments) {
    for (const std::string_view each : arguments)
        if (const std::string_view brief = shortTypeName(each); !brief.empty()) return brief;
    return {};
}

struct Functor {
    std::string operation;
    std::string_view type;

    std::string text() const {
        return type.empty() ? operation : fmt::format("{} {}", operation, type);
    }
};

/// Whether it only calls another functor, which stands among its arguments.
bool isWrapper(std::string_view base) {
    for (const std::string_view each :
         {"gpu_kernel_impl", "gpu_kernel_impl_nocast", "AUnaryFunctor", "BUnaryFunctor",
          "BinaryFunctor", "UnaryFunctor", "func_wrapper_t", "ReduceOp", "gpu_index_kernel",
          "distribution_nullary_kernel", "opmath_gpu_kernel_with_scalars",
          "opmath_symmetric_gpu_kernel_with_scalars", "gpu_kernel_with_index"})
        if (base == each) return true;
    return false;
}

/// Whether a template argument is a functor: neither number, flag, type nor storage.
bool isFunctor(std::string_view text) {
    if (text.empty() || !shortTypeName(text).empty() || text.front() == '(') return false;
    if (std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
    for (const std::string_view each :
         {"true", "false", "decltype(nullptr)", "float2", "float4", "double2", "ulonglong2"})
        if (text == each) return false;
    if (parseCppName(text).base.ends_with("TensorListMetadata")) return false;
    for (const std::string_view begin :
         {"at::detail::Array<", "std::array<", "TrivialOffsetCalculator<", "OffsetCalculator<",
          "at::native::memory::", "c10::complex<", "unsigned", "long"})
        if (text.starts_with(begin)) return false;
    return text.back() != '*';
}

std::string_view firstFunctor(const Words& arguments) {
    for (const std::string_view each : arguments)
        if (isFunctor(each)) return each;
    return {};
}

Functor functorOf(std::string_view text) {
    Functor found;
    CppName name;
    for (int wrapper = 0; wrapper < mostWrappers; ++wrapper) {
        name = parseCppName(text);
        if (!isWrapper(name.base)) break;
        if (found.type.empty()) found.type = typeAmong(name.arguments);
        const std::string_view inner = firstFunctor(name.arguments);
        if (inner.empty()) break;
        text = inner;
    }
    found.operation = operationOf(name.base);
    if (found.type.empty()) found.type = typeAmong(name.arguments);
    if (found.type.empty()) found.type = typeOfLambda(text);
    return found;
}

/// "foreach FusedAdamMath f32": the functor, and the operation that is one of its own arguments.
std::string foreachName(const Words& arguments) {
    Words functors;
    for (const std::string_view each : arguments)
        if (isFunctor(each)) functors.push_back(each);
    if (functors.empty()) return {};
    Functor functor = functorOf(functors.front());
    if (functors.size() > 1) functor.operation = functorOf(functors[1]).operation;
    return "foreach " + functor.text();
}

bool isOf(std::string_view base, std::initializer_list<std::string_view> names) {
    for (const std::string_view each : names)
        if (base == each) return true;
    return false;
}

std::string pytorchName(const CppName& name) {
    if (name.base.starts_with("CatArrayBatchedCopy")) {
        const std::string_view type =
            name.arguments.empty() ? std::string_view() : shortTypeName(name.arguments.front());
        return type.empty() ? "cat" : fmt::format("cat {}", type);
    }
    if (name.base == "multi_tensor_apply_kernel") return foreachName(name.arguments);
    const std::string_view functor = firstFunctor(name.arguments);
    if (functor.empty()) return {};
    if (isOf(name.base,
             {"vectorized_elementwise_kernel", "unrolled_elementwise_kernel", "elementwise_kernel",
              "elementwise_kernel_manual_unroll", "elementwise_kernel_with_index",
              "index_elementwise_kernel", "unrolled_elementwise_kernel_for_multi_outputs",
              "reduce_kernel", "_scatter_gather_elementwise_kernel",
              "vectorized_templated_elementwise_kernel",
              "distribution_elementwise_grid_stride_kernel"}))
        return functorOf(functor).text();
    return {};
}

/// A kernel that runs what somebody wrote as a lambda is called by where that stands.
std::string lambdaName(const CppName& name) {
    if (name.arguments.empty()) return {};
    const std::string_view first = name.arguments.front();
    if (first.find("::{lambda(") == std::string_view::npos &&
        first.find("::[lambda(") == std::string_view::npos)
        return {};
    return std::string(parseCppName(first).base);
}

bool isNumber(std::string_view text) {
    for (const char c : text)
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
    return !text.empty();
}

std::string withBlanks(std::string_view text) {
    std::string words;
    for (const char c : text)
        if (c != '_')
            words += c;
        else if (!words.empty() && words.back() != ' ')
            words += ' ';
    while (words.ends_with(' ')) words.pop_back();
    return words;
}

/// Without the number that tells equal ones apart.
std::string_view withoutNumber(std::string_view name, char before) {
    const size_t last = name.rfind(before);
    if (last != std::string_view::npos && last > 0 && isNumber(name.substr(last + 1)))
        name = name.substr(0, last);
    return name;
}

bool removeNumber(std::string_view& text, std::string_view number) {
    if (!text.starts_with(number)) return false;
    text.remove_prefix(number.size());
    return true;
}

/// What a kernel of Triton has behind its name: each argument with what is known of it, "0d1d2d3de"
/// or "0d1d2c3c". The place where that begins; npos if it does not.
size_t tritonSignature(std::string_view name) {
    const size_t begin = name.rfind('_');
    if (begin == std::string_view::npos || begin == 0) return std::string_view::npos;
    std::string_view rest = name.substr(begin + 1);
    int next = 0;
    bool isTold = false;
    while (!rest.empty()) {
        const std::string number = std::to_string(next);
        if (!removeNumber(rest, number)) return std::string_view::npos;
        while (!rest.empty() && (rest.front() == 'd' || rest.front() == 'e' ||
                                 rest.front() == 'c' || rest.front() == 'i')) {
            rest.remove_prefix(1);
            isTold = true;
        }
        ++next;
    }
    return isTold && next > 1 ? begin : std::string_view::npos;
}

/// "fused add mul (Triton, pointwise)" of "triton_poi_fused_add_mul_3".
std::string tritonName(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kinds{
        {{"poi_", "pointwise"},
         {"red_", "reduction"},
         {"per_", "persistent reduction"},
         {"tem_", "template"},
         {"for_", "foreach"},
         {"spl_", "split scan"}}};
    // Before PyTorch 2.2 with a signature behind it, as of those that somebody wrote.
    if (const size_t end = tritonSignature(name); end != std::string_view::npos)
        name = name.substr(0, end);
    if (!removeBegin(name, "triton_")) return {};
    for (const auto& [begin, kind] : kinds)
        if (removeBegin(name, begin))
            return fmt::format("{} (Triton, {})", withBlanks(withoutNumber(name, '_')), kind);
    return {};
}

/// "_attn_fwd (Triton)" of "_attn_fwd_0d1d2d3de4de5c": a kernel that somebody wrote.
std::string tritonSourceName(std::string_view name) {
    if (name.find_first_of("<( :") != std::string_view::npos) return {};
    const size_t end = tritonSignature(name);
    if (end == std::string_view::npos) return {};
    std::string_view called = name.substr(0, end);
    while (called.ends_with('_')) called.remove_suffix(1);
    return called.empty() ? std::string() : std::string(called) + " (Triton)";
}

/// "add (XLA, loop fusion)" of "loop_add_fusion_2".
std::string xlaName(std::string_view name) {
    if (name.find_first_of("<( :") != std::string_view::npos) return {};
    name = withoutNumber(withoutNumber(name, '_'), '.');
    if (name == "fusion") return "fusion (XLA)";
    // Those that XLA had Triton make, until 2024.
    if (name == "triton_softmax") return "softmax (XLA, Triton)";
    if (removeBegin(name, "triton_gemm_")) return withBlanks(name) + " (XLA, Triton gemm)";
    if (removeBegin(name, "wrapped_")) return withBlanks(name) + " (XLA)";
    for (const std::string_view kind : {"loop_", "input_", "gemm_fusion_"}) {
        std::string_view rest = name;
        if (!removeBegin(rest, kind)) continue;
        if (kind == "gemm_fusion_") return withBlanks(rest) + " (XLA, gemm fusion)";
        if (rest == "fusion" || removeEnd(rest, "_fusion"))
            return fmt::format("{} (XLA, {}fusion)", rest == "fusion" ? "fused" : withBlanks(rest),
                               withBlanks(kind) + ' ');
    }
    return {};
}

}  // namespace

std::string knownKernelName(std::string_view demangled) {
    removeEnd(demangled, ".kd");
    // NCCL's say what they are, and are parsed for it.
    if (demangled.starts_with("nccl")) return {};
    if (removeBegin(demangled, "__amd_rocclr_")) return std::string(demangled) + " (ROCm)";
    for (const auto named : {tritonName, tritonSourceName, xlaName, libraryKernelName})
        if (std::string name = named(demangled); !name.empty()) return name;
    if (demangled.find('<') == std::string_view::npos) return {};
    const CppName name = parseCppName(demangled);
    if (std::string known = pytorchName(name); !known.empty()) return known;
    return lambdaName(name);
}

}  // namespace lanescope
