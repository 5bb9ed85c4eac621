// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace lanescope::agent::python {

/// How a code object tells which line an instruction belongs to.
enum class LineTableKind : uint8_t {
    Pairs,      ///< Until 3.9: steps of bytes and of lines.
    Ranges,     ///< 3.10: the same for ranges, some of which have no line.
    Locations,  ///< From 3.11 on: an entry for each instruction, with columns.
};

/// How a frame tells which instruction it is at.
enum class InstructionKind : uint8_t {
    ByteIndex,  ///< 3.9: an int, in bytes.
    UnitIndex,  ///< 3.10: an int, in units of two bytes.
    Pointer,    ///< From 3.11 on: into the code object.
};

/// Where in CPython's structures that lies which a stack is made of: offsets in bytes.
struct FrameLayout {
    static constexpr uint16_t none = 0xffff;

    // From the interpreter to the states of its threads, a list.
    uint16_t interpreters = 0;   ///< Of `_PyRuntime`: the first interpreter, which is the main one.
    uint16_t threads = 0;        ///< Of an interpreter: the state of a thread.
    uint16_t nextThread = 8;     ///< Of that: of the next thread.
    uint16_t collecting = none;  ///< Of an interpreter: an int, 1 while it collects garbage.
    uint16_t gil = none;         ///< Of `_PyRuntime`: the lock of the interpreter (until 3.11).
    uint16_t pointerToGil = none;  ///< Of an interpreter: where its lock lies (from 3.12 on).
    // Of a thread's state.
    uint16_t threadId = 0;         ///< What `pthread_self` says of whose state it is.
    uint16_t kernelThread = none;  ///< What `gettid` says (from 3.11 on).
    uint16_t threadFrame = 0;
    uint16_t frameOfThreadFrame =
        none;  ///< Where `threadFrame` only leads to the frame (3.11, 3.12).
    // Of a frame.
    uint16_t frameBytes = 0;
    uint16_t previous = 0, code = 0, instruction = 0;
    uint16_t owner = none;  ///< One byte; see `isForeign`.
    uint16_t bytecodeIndex =
        none;  ///< Which copy of the code it runs (free-threaded, from 3.14 on).
    InstructionKind instructionKind = InstructionKind::Pointer;
    // Of a code object.
    uint16_t codeBytes = 0;
    uint16_t firstLine = 0, file = 0, name = 0, lineTable = 0;
    uint16_t bytecode = none;        ///< Where the instructions begin.
    uint16_t bytecodeCopies = none;  ///< The list of copies that `bytecodeIndex` counts.
    uint16_t version =
        none;  ///< A number of four bytes that no other code object has (from 3.12 on).
    LineTableKind lineTableKind = LineTableKind::Locations;
    // Of objects.
    uint16_t type = 8;
    uint16_t textLength = 16, textState = 32;
    uint16_t asciiText = 0, otherText = 0;  ///< Where the characters begin.
    uint16_t bytesLength = 16, bytesData = 32;

    /// Whether a frame with that owner is none of the program's: the interpreter puts some between.
    static bool isForeign(uint8_t owner) { return owner >= 3; }
};

/// The layout of 3.9 to 3.12; nothing for others.
std::optional<FrameLayout> layoutOf(int major, int minor);

/// The layout that an interpreter from 3.13 on tells of itself, by the bytes at `_PyRuntime`.
/// Nothing if that is not what it claims to be, for a version other than 3.13 and 3.14, and for
/// one that was not released.
std::optional<FrameLayout> layoutTold(std::span<const std::byte> runtime, int major, int minor);

/// How many bytes `layoutTold` wants.
inline constexpr size_t toldBytes = 800;

}  // namespace lanescope::agent::python
