// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "model/trace/Tables.h"

namespace lanescope {

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
