// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "model/trace/Tables.h"

namespace lanescope {

// Domains of ranges with a meaning in Lanescope. Other domains are those of the recorded program.

/// Ranges of NCCL itself.
inline constexpr std::string_view ncclDomain = "NCCL";
/// NCCL calls with a known write time only, from which their times are derived. They do not show which rank was late.
inline constexpr std::string_view ncclAtWritingDomain = "NCCL, at the time of writing";
/// Annotations of a PyTorch program (`record_function`) and of PyTorch itself.
inline constexpr std::string_view annotationDomain = "PyTorch";
inline constexpr std::string_view operatorDomain = "PyTorch operators";
inline constexpr std::string_view pythonDomain = "Python functions";
/// Samples of threads, as ranges in files of `lanescope export -f perfetto`.
inline constexpr std::string_view threadStateDomain = "thread_state";
inline constexpr std::string_view stackDomain = "stack";
/// Annotations projected to the GPU, in files without CPU events.
inline constexpr std::string_view gpuAnnotationDomain = "PyTorch on the GPU";

/// Annotations of JAX, TensorFlow and their compiler about themselves and the program.
inline constexpr std::string_view xlaDomain = "XLA";
/// Operations of a compiled program, where their work was launched.
inline constexpr std::string_view xlaOperationDomain = "XLA operations";
/// Compiled programs, each from its first to its last operation.
inline constexpr std::string_view xlaModuleDomain = "XLA modules";
/// Steps annotated by a JAX or TensorFlow program.
inline constexpr std::string_view xlaStepDomain = "XLA steps";

/// Returns true if ranges of that domain are NCCL calls.
constexpr bool isNcclDomain(std::string_view domain) { return domain == ncclDomain || domain == ncclAtWritingDomain; }

/// Returns true if ranges of that domain are functions or states of threads, which lead to no place in the program's
/// own ranges.
constexpr bool isFunctionDomain(std::string_view domain) {
    return domain == pythonDomain || domain == threadStateDomain || domain == stackDomain;
}

/// Returns true if ranges of that domain are code that ran, not the program's own phases: they are
/// not searched for steps.
constexpr bool isCodeDomain(std::string_view domain) {
    return domain == operatorDomain || domain == xlaOperationDomain || isFunctionDomain(domain);
}

/// Returns true if ranges of that domain do not come from NVTX.
constexpr bool isProfilerDomain(std::string_view domain) {
    return isCodeDomain(domain) || domain == annotationDomain || domain == gpuAnnotationDomain || domain == xlaDomain ||
           domain == xlaModuleDomain || domain == xlaStepDomain;
}

/// Returns torch.profiler's name of a wait in its files; unknown types are context waits. Names in
/// files may have a suffix.
constexpr std::string_view torchName(SyncType type) {
    switch (type) {
        case SyncType::Event: return "Event Sync";
        case SyncType::StreamWaitEvent: return "Stream Wait Event";
        case SyncType::Stream: return "Stream Sync";
        case SyncType::Context:
        case SyncType::Unknown: break;
    }
    return "Context Sync";
}

struct ElementType {
    std::string_view torch, nccl;
    int bytes;
};
/// If two share NCCL's name, the first one is PyTorch's.
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
