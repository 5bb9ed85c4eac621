// SPDX-License-Identifier: Apache-2.0
#include "model/text/kernelNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/format/factNames.h"
#include "model/format/text.h"

namespace lanescope {

std::string_view withoutParameters(std::string_view demangled) {
    if (!demangled.ends_with(')')) return demangled;
    int depth = 0;
    for (size_t at = demangled.size(); at-- > 1;) {
        if (demangled[at] == ')') ++depth;
        if (demangled[at] == '(' && --depth == 0) return demangled.substr(0, at);
    }
    return demangled;
}

std::string_view kernelBaseName(std::string_view demangled) {
    const std::string_view name = withoutParameters(demangled);
    // Outside of template arguments, the last space ends the return type and "::" ends a namespace.
    // The template arguments after the name end it.
    size_t begin = 0, end = name.size();
    int depth = 0;
    for (size_t at = 0; at < name.size(); ++at) {
        const char c = name[at];
        if (c == '<' || c == '(') {
            if (depth++ == 0 && c == '<') end = at;
        } else if (c == '>' || c == ')') {
            if (depth > 0) --depth;
        } else if (depth == 0 && (c == ' ' || c == ':')) {
            begin = at + 1;
            end = name.size();
        }
    }
    const std::string_view base = name.substr(begin, end > begin ? end - begin : 0);
    return base.empty() ? name : base;
}

namespace {

bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }

bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

constexpr std::string_view anonymous = "(anonymous namespace)";

/// Returns the position where the bracket at `begin` closes; the end if it does not.
size_t closing(std::string_view text, size_t begin) {
    int depth = 0;
    for (size_t at = begin; at < text.size(); ++at) {
        if (opens(text[at])) ++depth;
        const bool isArrow = text[at] == '>' && at > 0 && text[at - 1] == '-';
        if (closes(text[at]) && !isArrow && --depth == 0) return at;
    }
    return text.size();
}

std::vector<std::string_view> parted(std::string_view text) {
    std::vector<std::string_view> parts;
    size_t begin = 0;
    int depth = 0;
    for (size_t at = 0; at <= text.size(); ++at) {
        if (at < text.size() && opens(text[at])) ++depth;
        if (at < text.size() && closes(text[at])) --depth;
        if (at < text.size() && (text[at] != ',' || depth != 0)) continue;
        if (const std::string_view part = trimmed(text.substr(begin, at - begin), " "); !part.empty())
            parts.push_back(part);
        begin = at + 1;
    }
    return parts;
}

using NameParts = std::vector<std::string_view>;

NameParts wordsOf(std::string_view text) {
    NameParts words;
    while (!text.empty()) {
        const size_t end = text.find('_');
        if (end != 0) words.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return words;
}

/// "128x64", "32x128x8".
bool isTile(std::string_view word) {
    if (word.empty() || !isDigit(word.front()) || !isDigit(word.back())) return false;
    return word.find('x') != word.npos && std::ranges::all_of(word, [](char c) { return c == 'x' || isDigit(c); });
}

bool isAmong(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool isLayout(std::string_view word) {
    return isAmong(
        word, {"nn", "nt", "tn", "tt", "NN", "NT", "TN", "TT", "NNN", "NTN", "TNN", "TNT", "NNT", "NTT", "TTN", "TTT"});
}

std::string joined(const NameParts& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// Returns the rest of the word with that prefix; empty if there is none.
std::string_view after(const NameParts& words, std::string_view begin) {
    for (const std::string_view each : words)
        if (each.size() > begin.size() && each.starts_with(begin)) return each.substr(begin.size());
    return {};
}

/// Returns "sgemm 128x64 tn" of "volta_sgemm_128x64_tn"; "scudnn 128x128 relu nn" for cuDNN.
std::string assemblyName(const NameParts& words) {
    size_t at = 0;
    while (at < words.size() && isAmong(words[at], {"cudnn", "infer", "train"})) ++at;
    if (at + 2 >= words.size() || !isAmong(words[at], {"maxwell", "pascal", "volta", "turing", "ampere", "hopper"}))
        return {};
    NameParts kept{words[at + 1]};
    for (at += 2; at < words.size(); ++at)
        if (isTile(words[at]) || isLayout(words[at]) ||
            isAmong(words[at], {"relu", "winograd", "splitK", "fprop", "dgrad", "wgrad"}))
            kept.push_back(words[at]);
    return joined(kept);
}

/// Returns "xmma fprop implicit gemm tf32 128x128x16" of "sm80_xmma_fprop_implicit_gemm_indexed_...".
std::string xmmaName(const NameParts& words) {
    if (words.size() < 3 || !words[0].starts_with("sm") || words[1] != "xmma") return {};
    NameParts kept{"xmma"};
    size_t at = 2;
    for (;
         at < words.size() && isAmong(words[at], {"gemm", "fprop", "dgrad", "wgrad", "implicit", "indexed", "deconv"});
         ++at)
        if (words[at] != "indexed") kept.push_back(words[at]);
    for (const std::string_view type : {"tf32", "bf16", "f16", "e4m3", "f64", "i8", "f32"}) {
        bool isIt = false;
        for (size_t word = at; word < words.size() && !words[word].starts_with("tilesize"); ++word)
            isIt = isIt || words[word].find(type) != std::string_view::npos;
        if (!isIt) continue;
        kept.push_back(type);
        break;
    }
    for (const std::string_view each : words)
        if (isLayout(each)) kept.push_back(each);
    if (const std::string_view tile = after(words, "tilesize"); !tile.empty()) kept.push_back(tile);
    return joined(kept);
}

/// Returns "s1688gemm 128x128_16x4 nt" of "cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align4",
/// which is a template argument of the kernel.
std::string cutlassName(std::string_view name) {
    const size_t begin = name.find("<cutlass_");
    if (begin == std::string_view::npos || name.substr(0, begin).find("cutlass") == name.npos) return {};
    name.remove_prefix(begin + 1);
    name = name.substr(0, name.find_first_of("<>(:, "));
    const NameParts words = wordsOf(name);
    std::string tile;
    NameParts kept, moved;
    for (size_t at = 1; at < words.size(); ++at) {
        const std::string_view word = words[at];
        if (isTile(word))
            tile += (tile.empty() ? "" : "_") + std::string(word);
        else if (isLayout(word))
            moved.push_back(word);
        else if (tile.empty() && !isDigit(word.front()) && !isAmong(word, {"tensorop", "optimized", "analytic"}))
            kept.push_back(word);
    }
    if (kept.empty() || tile.empty()) return {};
    kept.push_back(tile);
    kept.insert(kept.end(), moved.begin(), moved.end());
    return joined(kept) + " (CUTLASS)";
}

/// Returns tile and depth: "nvjet 192x8_64x8 TNT" of "nvjet_tst_192x8_64x8_4x1_v_bz_TNT".
std::string nvjetName(const NameParts& words) {
    if (words.size() < 4 || words[0] != "nvjet" || !isTile(words[2])) return {};
    std::string name = fmt::format("nvjet {}_{}", words[2], words[3]);
    for (const std::string_view each : words)
        if (isAmong(each, {"bias", "splitK"}) || isLayout(each)) name += fmt::format(" {}", each);
    return name;
}

/// Returns "gemm BBS 128x64x32 (Tensile)" of "Cijk_Ailk_Bjlk_BBS_BH_..._MT128x64x32_...".
std::string tensileName(const NameParts& words) {
    if (words.size() < 5 || words[0] != "Cijk") return {};
    const std::string_view tile = after(words, "MT");
    if (tile.empty()) return {};
    // The order of the indices of A and B is their layout.
    const std::string layout = fmt::format("{}{}", words[1] == "Alik" ? 't' : 'n', words[2] == "Bjlk" ? 't' : 'n');
    return fmt::format("gemm {} {} {} (Tensile)", words[3], layout, tile);
}

/// Returns "igemm fwd bf16 128x128x32 (MIOpen)" of "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_...".
std::string miopenName(const NameParts& words) {
    if (words.size() < 6 || words[0] != "igemm") return {};
    const std::string_view tile = after(words, "bt");
    if (tile.empty()) return {};
    return fmt::format("igemm {} {} {} (MIOpen)", words[1], words[4], tile);
}

using TemplateArguments = std::vector<std::string_view>;

/// Limit of nested functor wrappers that are unwrapped.
constexpr int maxWrappers = 8;

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

/// Returns "add" of "CUDAFunctor_add", "masked_fill" of "masked_fill_kernel", "GeluBackward" of
/// "GeluBackwardCUDAKernelImpl".
std::string operationOf(std::string_view name) {
    for (const std::string_view begin :
         {"CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "CUDAFunctor_", "_cuda_", "launch_", "gpu_"})
        removeBegin(name, begin);
    // Strips suffixes from the end of the name inwards.
    for (bool isShorter = true; isShorter;) {
        isShorter = false;
        for (const std::string_view end :
             {"CUDAKernelImpl", "_kernel_cuda", "_cuda_kernel", "_kernel_impl", "_internal_kernel", "_and_transform",
              "KernelImpl", "_cuda_out", "_functor", "Functor", "_kernel", "_impl", "_cuda", "Ops"})
            isShorter = removeEnd(name, end) || isShorter;
    }
    removeEnd(name, "Math");
    name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> words{{{"direct_copy", "copy"},
                                                                                         {"multiplies", "mul"},
                                                                                         {"plus", "add"},
                                                                                         {"minus", "sub"},
                                                                                         {"divides", "div"},
                                                                                         {"pow_tensor_scalar", "pow"},
                                                                                         {"clamp_scalar", "clamp"}}};
    for (const auto& [word, brief] : words)
        if (name == word) return std::string(brief);
    std::string operation(name);
    // A single capitalized word is lower-cased, as operations are.
    if (std::ranges::count_if(operation, isUpper) == 1) operation.front() = lowerCase(operation.front());
    return operation;
}

/// Returns the argument type of the innermost lambda, such as "f32": its first argument that is no condition.
std::string_view typeOfLambda(std::string_view text) {
    size_t at = std::string_view::npos;
    for (const std::string_view begin : {"{lambda(", "[lambda("}) {
        const size_t found = text.rfind(begin);
        if (found != std::string_view::npos && (at == std::string_view::npos || found > at)) at = found;
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

std::string_view typeAmong(const TemplateArguments& arguments) {
    for (const std::string_view each : arguments)
        if (const std::string_view brief = shortTypeName(each); !brief.empty()) return brief;
    return {};
}

struct Functor {
    std::string operation;
    std::string_view type;

    std::string text() const { return type.empty() ? operation : fmt::format("{} {}", operation, type); }
};

/// Returns true if the functor only calls another one among its arguments.
bool isWrapper(std::string_view base) {
    return isAmong(
        base, {"gpu_kernel_impl", "gpu_kernel_impl_nocast", "AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor",
               "UnaryFunctor", "func_wrapper_t", "ReduceOp", "gpu_index_kernel", "distribution_nullary_kernel",
               "opmath_gpu_kernel_with_scalars", "opmath_symmetric_gpu_kernel_with_scalars", "gpu_kernel_with_index"});
}

/// Returns true if a template argument is a functor: no number, flag, type or storage.
bool isFunctor(std::string_view text) {
    if (text.empty() || !shortTypeName(text).empty() || text.front() == '(' || isDigit(text.front()) ||
        isAmong(text, {"true", "false", "decltype(nullptr)", "float2", "float4", "double2", "ulonglong2"}) ||
        parseCppName(text).base.ends_with("TensorListMetadata"))
        return false;
    for (const std::string_view begin :
         {"at::detail::Array<", "std::array<", "TrivialOffsetCalculator<", "OffsetCalculator<",
          "at::native::memory::", "c10::complex<", "unsigned", "long"})
        if (text.starts_with(begin)) return false;
    return text.back() != '*';
}

std::string_view firstFunctor(const TemplateArguments& arguments) {
    const auto found = std::ranges::find_if(arguments, isFunctor);
    return found == arguments.end() ? std::string_view() : *found;
}

Functor functorOf(std::string_view text) {
    Functor found;
    CppName name;
    for (int wrapper = 0; wrapper < maxWrappers; ++wrapper) {
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

/// Returns "foreach FusedAdamMath f32": the functor and the operation, which is among its arguments.
std::string foreachName(const TemplateArguments& arguments) {
    TemplateArguments functors;
    for (const std::string_view each : arguments)
        if (isFunctor(each)) functors.push_back(each);
    if (functors.empty()) return {};
    Functor functor = functorOf(functors.front());
    if (functors.size() > 1) functor.operation = functorOf(functors[1]).operation;
    return "foreach " + functor.text();
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
    if (isAmong(name.base,
                {"vectorized_elementwise_kernel", "unrolled_elementwise_kernel", "elementwise_kernel",
                 "elementwise_kernel_manual_unroll", "elementwise_kernel_with_index", "index_elementwise_kernel",
                 "unrolled_elementwise_kernel_for_multi_outputs", "reduce_kernel", "_scatter_gather_elementwise_kernel",
                 "vectorized_templated_elementwise_kernel", "distribution_elementwise_grid_stride_kernel"}))
        return functorOf(functor).text();
    return {};
}

/// Names a kernel that runs a lambda by the function that contains the lambda.
std::string lambdaName(const CppName& name) {
    if (name.arguments.empty()) return {};
    const std::string_view first = name.arguments.front();
    if (first.find("::{lambda(") == std::string_view::npos && first.find("::[lambda(") == std::string_view::npos)
        return {};
    return std::string(parseCppName(first).base);
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

/// Removes the number that distinguishes equal names.
std::string_view withoutNumber(std::string_view name, char before) {
    const size_t last = name.rfind(before);
    if (last != std::string_view::npos && last > 0 && isNumber(name.substr(last + 1))) name = name.substr(0, last);
    return name;
}

/// Returns the position of the signature that Triton appends to a kernel's name, such as "0d1d2d3de" or "0d1d2c3c":
/// each argument with its known properties. Returns npos if there is none.
size_t tritonSignature(std::string_view name) {
    const size_t begin = name.rfind('_');
    if (begin == std::string_view::npos || begin == 0) return std::string_view::npos;
    std::string_view rest = name.substr(begin + 1);
    int next = 0;
    bool isShown = false;
    while (!rest.empty()) {
        const std::string number = std::to_string(next);
        if (!rest.starts_with(number)) return std::string_view::npos;
        rest.remove_prefix(number.size());
        const size_t properties = std::min(rest.find_first_not_of("deci"), rest.size());
        isShown |= properties > 0;
        rest.remove_prefix(properties);
        ++next;
    }
    return isShown && next > 1 ? begin : std::string_view::npos;
}

/// Returns "fused add mul (Triton, pointwise)" of "triton_poi_fused_add_mul_3".
std::string tritonName(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kinds{
        {{"poi_", "pointwise"},
         {"red_", "reduction"},
         {"per_", "persistent reduction"},
         {"tem_", "template"},
         {"for_", "foreach"},
         {"spl_", "split scan"}}};
    // Before PyTorch 2.2 the name has a signature, as names of handwritten kernels do.
    if (const size_t end = tritonSignature(name); end != std::string_view::npos) name = name.substr(0, end);
    if (!removeBegin(name, "triton_")) return {};
    for (const auto& [begin, kind] : kinds)
        if (removeBegin(name, begin)) return fmt::format("{} (Triton, {})", withBlanks(withoutNumber(name, '_')), kind);
    return {};
}

/// Returns "_attn_fwd (Triton)" of "_attn_fwd_0d1d2d3de4de5c", a handwritten kernel.
std::string tritonSourceName(std::string_view name) {
    if (name.find_first_of("<( :") != std::string_view::npos) return {};
    const size_t end = tritonSignature(name);
    if (end == std::string_view::npos) return {};
    std::string_view called = name.substr(0, end);
    while (called.ends_with('_')) called.remove_suffix(1);
    return called.empty() ? std::string() : std::string(called) + " (Triton)";
}

/// Returns "add (XLA, loop fusion)" of "loop_add_fusion_2".
std::string xlaName(std::string_view name) {
    if (name.find_first_of("<( :") != std::string_view::npos) return {};
    name = withoutNumber(withoutNumber(name, '_'), '.');
    if (name == "fusion") return "fusion (XLA)";
    // XLA generated these through Triton until 2024.
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

/// Returns "128x128x64" of "cute::tuple<cute::C<128>, cute::C<128>, cute::C<64>>", the first with a tile; else empty.
std::string cuteTile(std::string_view text) {
    constexpr std::string_view constant = "cute::C<";
    for (size_t at = text.find("tuple<cute::C<"); at != std::string_view::npos;
         at = text.find("tuple<cute::C<", at + 1)) {
        std::string tile;
        bool isTile = true;
        std::string_view rest = text.substr(at + 6);
        while (removeBegin(rest, constant)) {
            const std::string_view number = rest.substr(0, rest.find('>'));
            // Clusters and warps are counted by single digits.
            isTile = isTile && number.size() > 1;
            tile += (tile.empty() ? "" : "x") + std::string(number);
            rest.remove_prefix(std::min(number.size() + 1, rest.size()));
            rest.remove_prefix(std::min(rest.find_first_not_of(", "), rest.size()));
        }
        if (isTile) return tile;
    }
    return {};
}

/// Returns "gemm bf16 128x128x64 (CUTLASS)" of "cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<...>>", and
/// "FlashAttnFwdSm90 128x128x64 (CUTLASS)" for other operations: the kernel is named after its template argument.
std::string cutlassDeviceName(std::string_view demangled) {
    const CppName kernel = parseCppName(demangled);
    if (kernel.arguments.empty() || demangled.find("cutlass::") == std::string_view::npos ||
        !isAmong(kernel.base, {"device_kernel", "Kernel", "Kernel2"}))
        return {};
    std::string_view argument = kernel.arguments.front();
    CppName operation = parseCppName(argument);
    while (operation.base.starts_with("enable_") && !operation.arguments.empty()) {
        argument = operation.arguments.front();
        operation = parseCppName(argument);
    }
    if (operation.base.empty()) return {};
    std::string name(operation.base);
    if (name.find("Gemm") != std::string::npos) name = "gemm";
    if (name.find("Conv") == 0) name = "conv";
    // The first number type is that of the operands.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> types{
        {{"cutlass::bfloat16_t", "bf16"},
         {"cutlass::half_t", "f16"},
         {"cutlass::float_e4m3_t", "f8e4m3"},
         {"cutlass::float_e5m2_t", "f8e5m2"},
         {"cutlass::tfloat32_t", "tf32"},
         {"double", "f64"}}};
    const auto& [type, brief] =
        *std::ranges::min_element(types, {}, [argument](const auto& each) { return argument.find(each.first); });
    if (argument.find(type) != std::string_view::npos) name += fmt::format(" {}", brief);
    if (const std::string tile = cuteTile(argument); !tile.empty()) name += " " + tile;
    return name + " (CUTLASS)";
}

/// Returns "cutlass::device_kernel" of "_ZN7cutlass13device_kernelI...": the names of a mangled name that no demangler
/// could read.
std::string namesOfMangled(std::string_view text) {
    if (!removeBegin(text, "_Z")) return {};
    const bool isNested = removeBegin(text, "N");
    std::string names;
    while (!text.empty() && isDigit(text.front())) {
        size_t length = 0;
        while (!text.empty() && isDigit(text.front()) && length < text.size()) {
            length = length * 10 + static_cast<size_t>(text.front() - '0');
            text.remove_prefix(1);
        }
        if (length == 0 || length > text.size()) return {};
        const std::string_view name = text.substr(0, length);
        if (!name.starts_with("_GLOBAL__N")) names += (names.empty() ? "" : "::") + std::string(name);
        text.remove_prefix(length);
        if (!isNested) break;
    }
    return names;
}

}  // namespace

CppName parseCppName(std::string_view text) {
    CppName name;
    size_t begin = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (text.substr(at).starts_with(anonymous)) {
            at += anonymous.size() - 1;
            begin = at + 1;
        } else if (c == ' ' || c == ':') {
            begin = at + 1;
        } else if (c == '<') {
            const size_t end = closing(text, at);
            name.base = text.substr(begin, at - begin);
            name.arguments = parted(text.substr(at + 1, end - at - 1));
            // "outer<int>::inner" names the inner function; a lambda is named by its enclosing function.
            const std::string_view rest = text.substr(std::min(end + 1, text.size()));
            if (!rest.starts_with("::") || rest.starts_with("::operator") || rest.starts_with("::{") ||
                rest.starts_with("::["))
                return name;
            begin = end + 1;
            at = end;
        } else if (c == '(') {
            name.base = text.substr(begin, at - begin);
            name.arguments.clear();
            return name;
        }
    }
    name.base = text.substr(begin);
    name.arguments.clear();
    return name;
}

std::string_view shortTypeName(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> types{
        {{"float", "f32"},
         {"double", "f64"},
         {"c10::Half", "f16"},
         {"__half", "f16"},
         {"half", "f16"},
         {"_Float16", "f16"},
         {"cutlass::half_t", "f16"},
         {"c10::BFloat16", "bf16"},
         {"__nv_bfloat16", "bf16"},
         {"__hip_bfloat16", "bf16"},
         {"cutlass::bfloat16_t", "bf16"},
         {"c10::Float8_e4m3fn", "f8e4m3"},
         {"c10::Float8_e5m2", "f8e5m2"},
         {"c10::complex<float>", "c64"},
         {"c10::complex<double>", "c128"},
         {"long", "i64"},
         {"int", "i32"},
         {"short", "i16"},
         {"signed char", "i8"},
         {"char", "i8"},
         {"unsigned char", "u8"},
         {"unsigned int", "u32"},
         {"unsigned long", "u64"},
         {"bool", "bool"}}};
    text = trimmed(text, " ");
    if (text.ends_with(" const")) text.remove_suffix(6);
    for (const auto& [name, brief] : types)
        if (text == name) return brief;
    return {};
}

std::string libraryKernelName(std::string_view demangled) {
    if (demangled.find_first_of("<( :") != std::string_view::npos) return cutlassName(demangled);
    const NameParts words = wordsOf(demangled);
    for (const auto named : {assemblyName, xmmaName, nvjetName, tensileName, miopenName})
        if (std::string name = named(words); !name.empty()) return name;
    return {};
}

std::string knownKernelName(std::string_view demangled) {
    removeEnd(demangled, ".kd");
    // NCCL's names are clear already, and other code parses them.
    if (demangled.starts_with("nccl")) return {};
    if (removeBegin(demangled, "__amd_rocclr_")) return std::string(demangled) + " (ROCm)";
    if (demangled.starts_with("_Z")) return namesOfMangled(demangled);
    for (const auto named : {tritonName, tritonSourceName, xlaName, libraryKernelName, cutlassDeviceName})
        if (std::string name = named(demangled); !name.empty()) return name;
    if (demangled.find('<') == std::string_view::npos) return {};
    const CppName name = parseCppName(demangled);
    if (std::string known = pytorchName(name); !known.empty()) return known;
    return lambdaName(name);
}

std::string kernelNameInSource(std::string_view name) {
    std::string text(name);
    if (!text.starts_with("_Z")) return text;
    if (text.ends_with(".kd")) text.resize(text.size() - 3);
    return demangledName(text).value_or(text);
}

std::string_view withoutReturnType(std::string_view demangled) {
    if (demangled.starts_with("void ")) demangled.remove_prefix(5);
    return demangled;
}

}  // namespace lanescope
