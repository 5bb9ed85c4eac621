// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// A frame and the modules of a PyTorch model around it, as addresses of objects; 0: none.
struct ModuleCall {
    uint64_t module = 0;  ///< The innermost module: that which the frame calls, if `isCall`.
    uint64_t outer = 0;   ///< The module around it.
    bool isCall = false;
    uint64_t identity = 0;  ///< The identity of `module`, if `isCall`.
};

/// Class of a module and, after a blank, its path of attributes below the outer module: "Block layers.3". Without the
/// path if the outer module does not contain it. UTF-8.
struct ModuleText {
    static constexpr size_t maxBytes = 512;
    size_t bytes = 0;
    char content[maxBytes];

    std::string_view text() const { return {content, bytes}; }
};

/// Returns true for the function of PyTorch that calls each module, whose first argument is the module.
bool isModuleCall(const CodeFacts& facts);

/// Returns true for the functions of PyTorch that make modules on a GPU, or move them there.
bool makesModules(const CodeFacts& facts);

/// Reads the class and path of a called module, whatever bytes are there; omits what is unreadable. `attribute`
/// caches an address between calls of a process, at first 0. Some microseconds, up to milliseconds for models with
/// thousands of modules.
void readModule(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, const ModuleCall& call,
                uint64_t& attribute, ModuleText& into);

}  // namespace lanescope::agent::python
