// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope {

/// Kernels of a library that move data between GPUs, recognized by their names.
struct CollectivePattern {
    std::string_view project = {};  ///< For users: "DeepEP". Empty for NCCL, whose operations stand alone.
    std::string_view begin = {};    ///< Start of the qualified name, or empty.
    std::string_view part = {};     ///< Text within the qualified name, or empty.
    std::string_view except = {};   ///< Text of kernels that only compute, or empty.
    std::string_view source = {};   ///< Public source of the names.
};

/// Returns the table, the only place that decides whether a kernel communicates. The first match counts.
std::span<const CollectivePattern> collectivePatterns();

/// Returns the words of names in lower case without separators that mean communication, if no pattern matches.
std::vector<std::string_view> collectiveWords();
/// Returns the words of names of kernels that compute all the same.
std::vector<std::string_view> computingWords();

/// Returns the operation of a kernel that communicates between GPUs, without algorithm and data type:
/// "AllReduce" for NCCL, "DeepEP dispatch" or "vLLM AllReduce" for other libraries. Empty for other
/// kernels. `name` is demangled or in linker form. Linear; any thread.
std::string collectiveOperation(std::string_view name);

/// Returns true for names of NCCL's and RCCL's kernels.
bool isNcclKernel(std::string_view name);

/// Returns true for kernels of NCCL that sum gradients.
bool isGradientCollective(std::string_view name);

/// Returns the library of an operation: "NCCL", "DeepEP".
std::string_view libraryOf(std::string_view operation);

/// Returns the operation with the name of its library: "NCCL AllReduce", "DeepEP dispatch".
std::string withLibrary(std::string_view operation);

}  // namespace lanescope
