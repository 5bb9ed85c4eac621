// SPDX-License-Identifier: Apache-2.0
#include "model/text/knownRangeName.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/format/text.h"

namespace lanescope {

namespace {

/// Required character after a prefix, so that "cublas benchmark" remains a name of the program.
enum class After : uint8_t { Anything, Capital };

struct NamePattern {
    std::string_view prefix;
    After after = After::Anything;
};

/// NVTX domains that libraries create for their own ranges, in lower case.
constexpr std::array<std::string_view, 17> libraryDomains{
    "cccl",      // CUB, Thrust and libcu++ mark each algorithm
    "cub",       // the same, by older versions
    "thrust",    // the same
    "cublas",    // calls of the library
    "cublaslt",  // the same
    "cudnn",     // calls, by CUDNN_LOGLEVEL or frontends
    "cufft",     // calls of the library
    "cusolver",  // the same
    "cusparse",  // the same
    "cutensor",  // the same
    "nccl",      // collectives, which are parts of steps
    "nvshmem",   // the same
    "ucx",       // the same
    "dali",      // operators of a data pipeline, ahead of the steps
    "libcudf",   // functions of RAPIDS
    "raft",      // the same
    "tensorrt",  // layers of an engine
};

/// Names that libraries give to their own ranges.
constexpr std::array<NamePattern, 19> libraryNames{{
    {"cub::"},
    {"thrust::"},
    {"cuda::"},
    {"cublas", After::Capital},
    {"cudnn", After::Capital},
    {"cufft", After::Capital},
    {"cusolver", After::Capital},
    {"cusparse", After::Capital},
    {"cutensor", After::Capital},
    {"nccl", After::Capital},
    {"nvshmem_"},
    {"nccl:"},   // PyTorch's range around a collective
    {"gloo:"},   // the same
    {"mpi:"},    // the same
    {"ucc:"},    // the same
    {"c10d::"},  // operators of torch.distributed
    {"[DALI]"},
    {"aten::"},  // operators of PyTorch's emit_nvtx
    {"autograd::engine::"},
}};

constexpr std::string_view executedProgram = "XlaModule";
/// Start of XLA's annotations around its compiler and the parts of it.
constexpr std::string_view compilingAnnotation = "(XlaCompile";

bool isLibraryDomain(std::string_view domain) {
    return std::ranges::any_of(libraryDomains, [domain](std::string_view known) {
        return std::ranges::equal(domain, known, [](char a, char b) { return lowerCase(a) == b; });
    });
}

bool isLibraryName(std::string_view name) {
    return std::ranges::any_of(libraryNames, [name](const NamePattern& pattern) {
        if (!name.starts_with(pattern.prefix)) return false;
        const std::string_view rest = name.substr(pattern.prefix.size());
        return pattern.after == After::Anything || (!rest.empty() && isUpper(rest.front()));
    });
}

/// Returns the text after "key=" up to the next comma; empty if missing.
std::string_view valueOf(std::string_view facts, std::string_view key) {
    while (!facts.empty()) {
        const size_t end = facts.find(',');
        const std::string_view fact = facts.substr(0, end);
        if (fact.size() > key.size() && fact.starts_with(key) && fact[key.size()] == '=')
            return fact.substr(key.size() + 1);
        if (end == std::string_view::npos) break;
        facts.remove_prefix(end + 1);
    }
    return {};
}

/// Returns "aten::mm" of a range of PyTorch's `emit_nvtx`; empty for other ranges.
std::string_view torchOperator(std::string_view text) {
    // Their order differs by version and options.
    constexpr std::array<std::string_view, 3> facts{", seq = ", ", op_id = ", ", sizes = ["};
    size_t end = std::string_view::npos;
    for (const std::string_view fact : facts) {
        const size_t at = text.find(fact);
        const size_t value = at + fact.size();
        if (at == 0 || at == std::string_view::npos) continue;
        // In a pattern of names a '#' stands for the number.
        const bool isNumber = value < text.size() && (isDigit(text[value]) || text[value] == '#');
        if (isNumber || fact.ends_with('[')) end = std::min(end, at);
    }
    return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

}  // namespace

RangeAuthor rangeAuthor(std::string_view name, std::string_view domain) {
    // XLA marks each phase of the compiler, each operation, and each execution of a program.
    if (const auto xla = xlaAnnotation(name))
        return xla->what == executedProgram ? RangeAuthor::CompiledProgram : RangeAuthor::Library;
    return isLibraryDomain(domain) || isLibraryName(name) ? RangeAuthor::Library : RangeAuthor::Program;
}

bool isXlaCompilation(std::string_view name) { return name.find("XlaCompile:") != std::string_view::npos; }
bool isWithinCompiler(std::string_view path) { return path.find(compilingAnnotation) != std::string_view::npos; }

std::optional<XlaAnnotation> xlaAnnotation(std::string_view text) {
    if (text.starts_with("TSL:")) text.remove_prefix(4);
    const size_t begin = text.find(":#");
    if (begin == std::string_view::npos || begin == 0 || !text.ends_with('#')) return std::nullopt;
    const std::string_view what = text.substr(0, begin);
    std::string_view facts = text.substr(begin + 2);
    if (facts.empty()) return std::nullopt;
    facts.remove_suffix(1);
    XlaAnnotation found{what, valueOf(facts, "hlo_op"), valueOf(facts, "hlo_module"), valueOf(facts, "name")};
    if (found.module.empty()) found.module = valueOf(facts, "module");
    if (found.operation.empty() && found.module.empty() && found.source.empty()) return std::nullopt;
    return found;
}

std::string knownRangeName(std::string_view text) {
    const std::optional<XlaAnnotation> xla = xlaAnnotation(text);
    if (!xla) return std::string(torchOperator(text));
    if (!xla->operation.empty() && !xla->module.empty())
        return fmt::format("{} in {} ({})", xla->operation, xla->module, xla->what);
    // Most informative first.
    for (const std::string_view value : {xla->operation, xla->source, xla->module})
        if (!value.empty()) return fmt::format("{} ({})", value, xla->what);
    return {};
}

bool isWithinXlaProgram(std::string_view path) {
    return path.find("(Thunk)") != std::string_view::npos &&
           path.find("broadcast_in_dim (XlaModule)") == std::string_view::npos;
}

bool isWithinXlaLoop(std::string_view path) {
    while (!path.empty()) {
        const std::string_view range = path.substr(0, path.find('/'));
        if (range.starts_with("while") && range.ends_with("(Thunk)")) return true;
        path.remove_prefix(std::min(path.size(), range.size() + 1));
    }
    return false;
}

std::string_view searchedPart(std::string_view known) {
    const size_t kind = known.rfind(" (");
    if (kind != std::string_view::npos && kind > 0 && known.ends_with(')')) {
        known = known.substr(0, kind);
        if (const size_t in = known.find(" in "); in != std::string_view::npos && in > 0) known = known.substr(0, in);
    }
    std::string_view longest;
    while (!known.empty()) {
        const size_t end = std::min(known.find('#'), known.size());
        if (end > longest.size()) longest = known.substr(0, end);
        known.remove_prefix(std::min(known.size(), end + 1));
    }
    return longest;
}

bool isOperationRange(std::string_view text) {
    return text.starts_with("aten::") || text.starts_with("TSL:Thunk:#") || text.starts_with("Thunk:#");
}

}  // namespace lanescope
