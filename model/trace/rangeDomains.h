// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "model/trace/Tables.h"

namespace lanescope {

// Domains of ranges that mean something to this program. In the others stands what the program that
// was recorded says of itself.

/// NCCL's own.
inline constexpr std::string_view ncclDomain = "NCCL";
/// Calls of NCCL of which only is known when they were written down, behind which they lie: who was
/// late, and when, they do not say.
inline constexpr std::string_view ncclAtWritingDomain = "NCCL, at the time of writing";
/// What a program of PyTorch calls parts of its run (`record_function`), and PyTorch does.
inline constexpr std::string_view annotationDomain = "PyTorch";
/// Operators of PyTorch, each call of one.
inline constexpr std::string_view operatorDomain = "PyTorch operators";
/// Python functions, each call of one.
inline constexpr std::string_view pythonDomain = "Python functions";
/// Annotations as they are on the GPU, in files that hold nothing of the CPU.
inline constexpr std::string_view gpuAnnotationDomain = "PyTorch on the GPU";

/// What JAX, TensorFlow and their compiler note of themselves and of the program.
inline constexpr std::string_view xlaDomain = "XLA";
/// Operations of a compiled program, each where its work was launched.
inline constexpr std::string_view xlaOperationDomain = "XLA operations";
/// Compiled programs, each from its first to its last operation.
inline constexpr std::string_view xlaModuleDomain = "XLA modules";
/// Steps that a program of JAX or TensorFlow announced.
inline constexpr std::string_view xlaStepDomain = "XLA steps";

/// Whether ranges of that domain are calls of NCCL.
constexpr bool isOfNccl(std::string_view domain) {
    return domain == ncclDomain || domain == ncclAtWritingDomain;
}

/// Whether ranges of that domain say which code ran, and not what the program calls its parts:
/// steps are not looked for among them.
constexpr bool tellsOfCode(std::string_view domain) {
    return domain == operatorDomain || domain == pythonDomain || domain == xlaOperationDomain;
}

/// Whether no NVTX had a part in ranges of that domain.
constexpr bool isOfProfiler(std::string_view domain) {
    return tellsOfCode(domain) || domain == annotationDomain || domain == gpuAnnotationDomain ||
           domain == xlaDomain || domain == xlaModuleDomain || domain == xlaStepDomain;
}

/// What torch.profiler calls a wait, in the files that it writes; a wait that nobody knows is one
/// for a context. Names in files may go on behind it.
constexpr std::string_view torchName(SyncType type) {
    switch (type) {
        case SyncType::Event:
            return "Event Sync";
        case SyncType::StreamWaitEvent:
            return "Stream Wait Event";
        case SyncType::Stream:
            return "Stream Sync";
        case SyncType::Context:
        case SyncType::Unknown:
            break;
    }
    return "Context Sync";
}

/// A type of elements as PyTorch and as NCCL calls it.
struct ElementType {
    std::string_view torch, nccl;
    int bytes;
};
/// Of two with one name of NCCL's, the first is what PyTorch calls it.
inline constexpr std::array elementTypes{
    ElementType{"Float", "float32", 4},
    ElementType{"BFloat16", "bfloat16", 2},
    ElementType{"Half", "float16", 2},
    ElementType{"Double", "float64", 8},
    ElementType{"Int", "int32", 4},
    ElementType{"Long", "int64", 8},
    ElementType{"Short", "int16", 2},
    ElementType{"Char", "int8", 1},
    ElementType{"Byte", "uint8", 1},
    ElementType{"Bool", "uint8", 1},
    ElementType{"ComplexFloat", "complex64", 8},
    ElementType{"Float8_e4m3fn", "float8e4m3", 1},
    ElementType{"Float8_e5m2", "float8e5m2", 1},
};

}  // namespace lanescope
