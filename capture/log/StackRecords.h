// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/log/LogFormat.h"

namespace lanescope::log {

// Where the program was when it called. Strings are ids of `StringRecord`s.

/// A Python stack: its innermost frame, and the stack that is left without that. Stands before all
/// that names it.
struct StackRecord {
    RecordHeader header;
    uint32_t stack;   ///< Its number in this process, from 1.
    uint32_t parent;  ///< 0 if the frame is the only one.
    uint32_t function, file;
    uint32_t line;  ///< 0 if unknown.
    uint32_t reserved;
};

/// A node of a CUDA graph was made: captured, or copied of another.
struct GraphNodeRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t node;      ///< CUPTI's number, as `KernelRecord::graphNodeId`.
    uint64_t original;  ///< Of what it is a copy; 0 if it is none.
    uint32_t threadId;
    uint32_t stack;  ///< Of a `StackRecord` of this log; 0 if there was none, and of a copy.
};

}  // namespace lanescope::log
