// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/python/FrameLayout.h"
#include "capture/python/OwnMemory.h"
#include "capture/python/frameWalk.h"

namespace lanescope::agent::python {

/// The line of the instruction `byteIndex` bytes behind the first one of a code object that begins
/// in line `firstLine`, by its line table of `bytes` bytes at `address`. 0 if it belongs to none,
/// or if the table cannot be read. O(bytes), of which half a MiB are read at most.
int32_t lineOf(const Memory& memory, LineTableKind kind, uint64_t address, uint64_t bytes,
               int32_t firstLine, int64_t byteIndex);

/// Where the interpreter has its types, by which objects are known.
struct KnownTypes {
    uint64_t code = 0, text = 0, bytes = 0;
};

/// What is told of a code object; never what is in it, nor the values that it works on.
struct CodeFacts {
    static constexpr size_t longestFunction = 256, longestFile = 1'024;

    int32_t firstLine = 0;
    uint64_t lineTable = 0;  ///< Where it begins, and how long it is.
    uint64_t lineTableBytes = 0;
    size_t functionBytes = 0, fileBytes = 0;
    char function[longestFunction];  ///< UTF-8, the beginning of a longer one.
    char file[longestFile];          ///< UTF-8, the end of a longer one.
};

/// Looks at the code object at `address`, carefully: false if there is none, whatever lies there.
/// `withTexts`: also at its names. Some microseconds.
bool readCode(const Memory& memory, const FrameLayout& layout, const KnownTypes& types,
              uint64_t address, bool withTexts, CodeFacts& facts);

/// The line at which a frame with that code is; 0 if it is at none.
int32_t lineOfFrame(const Memory& memory, const FrameLayout& layout, const CodeFacts& facts,
                    const Frame& frame);

/// Whether the instruction of a frame is one of its code, as far as can be told.
bool isWithinCode(const Memory& memory, const FrameLayout& layout, const Frame& frame);

}  // namespace lanescope::agent::python
