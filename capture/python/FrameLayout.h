// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lanescope::agent::python {

/// Kind of table that maps instructions of a code object to lines.
enum class LineTableKind : uint8_t {
    Pairs,      ///< Until 3.9: increments of bytes and of lines.
    Ranges,     ///< 3.10: the same for ranges, some of which have no line.
    Locations,  ///< From 3.11 on: an entry per instruction, with columns.
};

/// Form in which a frame stores its current instruction.
enum class InstructionKind : uint8_t {
    ByteIndex,  ///< 3.9: an int, in bytes.
    UnitIndex,  ///< 3.10: an int, in units of two bytes.
    Pointer,    ///< From 3.11 on: into the code object.
};

/// Offsets, in bytes, of the parts of CPython's structures that a stack is made of.
struct FrameLayout {
    static constexpr uint16_t none = 0xffff;

    // From the interpreter to the states of its threads, a list.
    uint16_t interpreters = 0;     ///< In `_PyRuntime`: the first interpreter, which is the main one.
    uint16_t threads = 0;          ///< In an interpreter: the state of a thread.
    uint16_t nextThread = 8;       ///< In that state: the next thread.
    uint16_t collecting = none;    ///< In an interpreter: an int, 1 during garbage collection.
    uint16_t gil = none;           ///< In `_PyRuntime`: the lock of the interpreter (until 3.11).
    uint16_t pointerToGil = none;  ///< In an interpreter: pointer to its lock (from 3.12 on).
    // In a thread's state.
    uint16_t threadId = 0;         ///< `pthread_self` of its thread.
    uint16_t kernelThread = none;  ///< `gettid` of its thread (from 3.11 on).
    uint16_t threadFrame = 0;
    uint16_t frameOfThreadFrame = none;  ///< Frame, if `threadFrame` only leads to it (3.11, 3.12).
    // In a frame.
    uint16_t frameBytes = 0;
    uint16_t previous = 0, code = 0, instruction = 0;
    uint16_t owner = none;          ///< One byte; see `isInternalFrame`.
    uint16_t bytecodeIndex = none;  ///< Index of its copy of the code (free-threaded, from 3.14 on).
    uint16_t firstLocal = 0;        ///< The first argument, such as `self`; from 3.14 on with tags in its lowest bits.
    InstructionKind instructionKind = InstructionKind::Pointer;
    // In a code object.
    uint16_t codeBytes = 0;
    uint16_t firstLine = 0, file = 0, name = 0, lineTable = 0;
    uint16_t bytecode = none;        ///< Start of the instructions.
    uint16_t bytecodeCopies = none;  ///< The list of copies, indexed by `bytecodeIndex`.
    uint16_t version = none;         ///< A unique four-byte number of the code object (from 3.12 on).
    LineTableKind lineTableKind = LineTableKind::Locations;
    // In objects.
    uint16_t type = 8;
    uint16_t textLength = 16, textState = 32;
    uint16_t asciiText = 0, otherText = 0;  ///< Start of the characters.
    uint16_t bytesLength = 16, bytesData = 32;
    uint16_t dictValues = none;  ///< In the values of a dictionary with shared keys; `none`: attributes are unreadable.

    /// Returns true if a frame with that owner is not the program's: the interpreter inserts such frames.
    static bool isInternalFrame(uint8_t owner) { return owner >= 3; }
};

std::optional<FrameLayout> layoutOf(int major, int minor);

/// Returns the layout by an interpreter's self-description (from 3.13 on), given the bytes at `_PyRuntime`. Returns
/// nullopt if the description is invalid, for a version other than 3.13 and 3.14, and for an unreleased one.
std::optional<FrameLayout> layoutOfRuntime(std::span<const std::byte> runtime, int major, int minor);

/// Number of bytes that `layoutOfRuntime` needs.
inline constexpr size_t runtimeBytes = 800;

/// Reads the start of a version: 3 and 12 of "3.12.4". Returns false for another text.
bool readVersion(std::string_view text, int& major, int& minor);

}  // namespace lanescope::agent::python
