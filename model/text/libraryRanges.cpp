// SPDX-License-Identifier: Apache-2.0
#include "model/text/libraryRanges.h"

#include <algorithm>
#include <array>

#include "model/format/text.h"
#include "model/text/knownRangeName.h"

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
    return std::any_of(libraryDomains.begin(), libraryDomains.end(), [domain](std::string_view known) {
        return std::equal(domain.begin(), domain.end(), known.begin(), known.end(),
                          [](char a, char b) { return lowerCase(a) == b; });
    });
}

bool isLibraryName(std::string_view name) {
    return std::any_of(libraryNames.begin(), libraryNames.end(), [name](const NamePattern& pattern) {
        if (!name.starts_with(pattern.prefix)) return false;
        const std::string_view rest = name.substr(pattern.prefix.size());
        return pattern.after == After::Anything || (!rest.empty() && isUpper(rest.front()));
    });
}

}  // namespace

RangeAuthor rangeAuthor(std::string_view name, std::string_view domain) {
    // XLA marks each phase of the compiler, each operation, and each execution of a program.
    if (const auto xla = xlaAnnotation(name))
        return xla->what == executedProgram ? RangeAuthor::CompiledProgram : RangeAuthor::Library;
    return isLibraryDomain(domain) || isLibraryName(name) ? RangeAuthor::Library : RangeAuthor::Program;
}

bool isWithinCompiler(std::string_view path) { return path.find(compilingAnnotation) != std::string_view::npos; }

}  // namespace lanescope
