// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/python/FrameLayout.h"
#include "capture/python/OwnMemory.h"
#include "capture/python/frameWalk.h"

namespace lanescope::agent::python {

/// Returns the line of the instruction `byteIndex` bytes after the first one of a code object.
/// `firstLine` is the code's first line; `address` and `bytes` are its line table. Returns 0 if it
/// belongs to no line, or if the table cannot be read. O(bytes), at most 0.5 MiB are read.
int32_t lineOf(const Memory& memory, LineTableKind kind, uint64_t address, uint64_t bytes, int32_t firstLine,
               int64_t byteIndex);

/// Addresses of the interpreter's types, which identify objects.
struct KnownTypes {
    uint64_t code = 0, text = 0, bytes = 0;
};

/// Facts of a code object; never its constants, nor the values that it processes.
struct CodeFacts {
    static constexpr size_t maxFunctionBytes = 256, maxFileBytes = 1'024;

    int32_t firstLine = 0;
    uint64_t lineTable = 0;  ///< Its address and length.
    uint64_t lineTableBytes = 0;
    size_t functionBytes = 0, fileBytes = 0;
    char function[maxFunctionBytes];  ///< UTF-8, the beginning of a longer one.
    char file[maxFileBytes];          ///< UTF-8, the end of a longer one.
};

/// Reads a text, or the beginning or end of one that is too long. Sets the number of UTF-8 bytes. Returns false if
/// there is no text at `address`.
bool readText(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, uint64_t address, bool keepsEnd,
              char* into, size_t room, size_t& bytes);

/// Reads and validates the code object at `address`. Returns false if there is none, whatever bytes
/// are there. `withTexts`: also reads its names. Some microseconds.
bool readCode(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, uint64_t address,
              bool withTexts, CodeFacts& facts);

int32_t lineOfFrame(const Memory& memory, const FrameLayout& layout, const CodeFacts& facts, const Frame& frame);

/// Returns true if the frame's instruction is in its code, as far as that can be determined.
bool isWithinCode(const Memory& memory, const FrameLayout& layout, const Frame& frame);

}  // namespace lanescope::agent::python
