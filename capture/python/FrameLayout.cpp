// SPDX-License-Identifier: Apache-2.0
#include "capture/python/FrameLayout.h"

#include <array>
#include <cstring>

namespace lanescope::agent::python {

namespace {

/// Common part of 3.9 and 3.10: frames are objects, and instructions are in an object of their own.
constexpr FrameLayout withFrameObjects() {
    FrameLayout layout;
    layout.interpreters = 32;
    layout.threads = 8;
    layout.collecting = 816;
    layout.gil = 352;
    layout.threadId = 176;
    layout.threadFrame = 24;
    layout.previous = 24;
    layout.code = 32;
    layout.codeBytes = 176;
    layout.firstLine = 40;
    layout.file = 104;
    layout.name = 112;
    layout.lineTable = 120;
    layout.asciiText = 48;
    layout.otherText = 72;
    return layout;
}

constexpr FrameLayout of39() {
    FrameLayout layout = withFrameObjects();
    layout.frameBytes = 368;
    layout.instruction = 104;
    layout.firstLocal = 360;
    layout.instructionKind = InstructionKind::ByteIndex;
    layout.lineTableKind = LineTableKind::Pairs;
    return layout;
}

constexpr FrameLayout of310() {
    FrameLayout layout = withFrameObjects();
    layout.frameBytes = 360;
    layout.instruction = 96;
    layout.firstLocal = 352;
    layout.instructionKind = InstructionKind::UnitIndex;
    layout.lineTableKind = LineTableKind::Ranges;
    return layout;
}

constexpr FrameLayout of311() {
    FrameLayout layout;
    layout.interpreters = 40;
    layout.threads = 16;
    layout.collecting = 848;
    layout.gil = 360;
    layout.threadId = 152;
    layout.kernelThread = 160;
    layout.threadFrame = 56;
    layout.frameOfThreadFrame = 8;
    layout.frameBytes = 80;
    layout.previous = 48;
    layout.code = 32;
    layout.instruction = 56;
    layout.owner = 69;
    layout.firstLocal = 72;
    layout.dictValues = 0;
    layout.codeBytes = 184;
    layout.firstLine = 72;
    layout.file = 112;
    layout.name = 128;  // the qualified name
    layout.lineTable = 136;
    layout.bytecode = 184;
    layout.asciiText = 48;
    layout.otherText = 72;
    return layout;
}

constexpr FrameLayout of312() {
    FrameLayout layout = of311();
    layout.threads = 72;
    layout.collecting = 312;
    layout.gil = FrameLayout::none;
    layout.pointerToGil = 384;
    layout.threadId = 136;
    layout.kernelThread = 144;
    layout.frameOfThreadFrame = 0;
    layout.previous = 8;
    layout.code = 0;
    layout.owner = 70;
    layout.codeBytes = 192;
    layout.firstLine = 68;
    layout.version = 92;
    layout.bytecode = 192;
    layout.asciiText = 40;
    layout.otherText = 56;
    return layout;
}

// Indexes of the eight-byte numbers in an interpreter's self-description.
struct RuntimeOffsets {
    uint16_t interpreters, threads, garbage, pointerToGil, nextThread;
    uint16_t currentFrame, threadId, kernelThread;
    uint16_t frameBytes, previous, code, instruction, firstLocal, owner, bytecodeIndex;
    uint16_t codeBytes, file, name, lineTable, firstLine, bytecode, bytecodeCopies;
    uint16_t type;
    uint16_t bytesLength, bytesData;
    uint16_t textBytes, textState, textLength, asciiBytes;
    uint16_t collecting;
};

// Numbers before those of the thread's state: cookie, version and kind of build, 3 of the runtime,
// and those of an interpreter, of which 3.14 has 3 more.
constexpr RuntimeOffsets runtimeOffsetsOf(bool is314) {
    constexpr int front = 6;
    const int thread = front + (is314 ? 16 : 13);
    const int frame = thread + 9;
    const int code = frame + (is314 ? 8 : 6);
    const int object = code + (is314 ? 11 : 10);
    // Types, tuples and lists, then (3.14) sets, dictionaries, floats and integers.
    const int bytes = object + 2 + 4 + 3 + 3 + (is314 ? 4 : 0) + 3 + 2 + 3;
    const int text = bytes + 3;
    const auto at = [](int number) { return static_cast<uint16_t>(number); };
    return {.interpreters = at(front - 1),
            .threads = at(front + 3),
            // 3.14 has the main thread before it.
            .garbage = at(front + (is314 ? 5 : 4)),
            .pointerToGil = at(front + (is314 ? 9 : 8)),
            .nextThread = at(thread + 2),
            .currentFrame = at(thread + 4),
            .threadId = at(thread + 5),
            .kernelThread = at(thread + 6),
            .frameBytes = at(frame),
            .previous = at(frame + 1),
            .code = at(frame + 2),
            .instruction = at(frame + 3),
            .firstLocal = at(frame + 4),
            .owner = at(frame + 5),
            .bytecodeIndex = at(is314 ? frame + 7 : 0),
            .codeBytes = at(code),
            .file = at(code + 1),
            .name = at(code + 3),  // the qualified name
            .lineTable = at(code + 4),
            .firstLine = at(code + 5),
            .bytecode = at(code + 9),
            .bytecodeCopies = at(is314 ? code + 10 : 0),
            .type = at(object + 1),
            .bytesLength = at(bytes + 1),
            .bytesData = at(bytes + 2),
            .textBytes = at(text),
            .textState = at(text + 1),
            .textLength = at(text + 2),
            .asciiBytes = at(text + 3),
            .collecting = at(text + 5)};
}
static_assert((runtimeOffsetsOf(true).collecting + 1) * sizeof(uint64_t) <= runtimeBytes);

}  // namespace

std::optional<FrameLayout> layoutOf(int major, int minor) {
    if (major != 3) return std::nullopt;
    switch (minor) {
        case 9: return of39();
        case 10: return of310();
        case 11: return of311();
        case 12: return of312();
        default: return std::nullopt;
    }
}

std::optional<FrameLayout> layoutOfRuntime(std::span<const std::byte> runtime, int major, int minor) {
    constexpr char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
    if (runtime.size() < runtimeBytes || major != 3 || (minor != 13 && minor != 14) ||
        std::memcmp(runtime.data(), cookie, sizeof cookie) != 0)
        return std::nullopt;
    const auto number = [&](size_t index) {
        uint64_t value = 0;
        std::memcpy(&value, runtime.data() + index * sizeof value, sizeof value);
        return value;
    };
    const uint64_t version = number(1);
    constexpr uint64_t candidate = 0xc;  // value of the four bits for the release state
    if (version >> 24 != static_cast<uint64_t>(major) || (version >> 16 & 0xff) != static_cast<uint64_t>(minor) ||
        (version >> 4 & 0xf) < candidate)
        return std::nullopt;
    const bool is314 = minor == 14, isFreeThreaded = number(2) != 0;
    const RuntimeOffsets runtimeOffsets = runtimeOffsetsOf(is314);
    bool isGood = true;
    const auto below = [&](uint64_t bound, size_t index) {
        const uint64_t value = number(index);
        isGood &= value < bound;
        return static_cast<uint16_t>(value);
    };
    const auto offset = [&](size_t index) { return below(2'048, index); };
    FrameLayout layout;
    layout.interpreters = offset(runtimeOffsets.interpreters);
    layout.threads = below(FrameLayout::none, runtimeOffsets.threads);  // far into a large structure
    layout.nextThread = offset(runtimeOffsets.nextThread);
    layout.collecting =
        static_cast<uint16_t>(below(FrameLayout::none / 2, runtimeOffsets.garbage) + offset(runtimeOffsets.collecting));
    layout.pointerToGil = below(FrameLayout::none, runtimeOffsets.pointerToGil);
    layout.kernelThread = offset(runtimeOffsets.kernelThread);
    layout.threadFrame = offset(runtimeOffsets.currentFrame);
    layout.threadId = offset(runtimeOffsets.threadId);
    layout.frameBytes = offset(runtimeOffsets.frameBytes);
    layout.previous = offset(runtimeOffsets.previous);
    layout.code = offset(runtimeOffsets.code);
    layout.instruction = offset(runtimeOffsets.instruction);
    layout.firstLocal = offset(runtimeOffsets.firstLocal);
    layout.owner = offset(runtimeOffsets.owner);
    layout.codeBytes = offset(runtimeOffsets.bytecode);
    layout.firstLine = offset(runtimeOffsets.firstLine);
    layout.file = offset(runtimeOffsets.file);
    layout.name = offset(runtimeOffsets.name);
    layout.lineTable = offset(runtimeOffsets.lineTable);
    layout.bytecode = offset(runtimeOffsets.bytecode);
    layout.type = offset(runtimeOffsets.type);
    layout.bytesLength = offset(runtimeOffsets.bytesLength);
    layout.bytesData = offset(runtimeOffsets.bytesData);
    layout.textState = offset(runtimeOffsets.textState);
    layout.textLength = offset(runtimeOffsets.textLength);
    layout.asciiText = offset(runtimeOffsets.asciiBytes);
    // In a text of another kind, its length and its UTF-8 pointer follow.
    layout.otherText = static_cast<uint16_t>(layout.asciiText + 16);
    // Five more ints are between the two in every self-described version.
    layout.version = static_cast<uint16_t>(layout.firstLine + 24);
    if (!isFreeThreaded) layout.dictValues = 8;
    if (isFreeThreaded && is314) {
        layout.bytecodeIndex = offset(runtimeOffsets.bytecodeIndex);
        layout.bytecodeCopies = offset(runtimeOffsets.bytecodeCopies);
    }
    // The offsets must be inside a frame, a code object and the parts read of either.
    const auto lies = [&](uint16_t at, uint16_t within) { return isGood &= at + 8 <= within; };
    lies(layout.previous, layout.frameBytes);
    lies(layout.code, layout.frameBytes);
    lies(layout.instruction, layout.frameBytes);
    lies(layout.firstLocal, layout.frameBytes);
    isGood &= layout.owner < layout.frameBytes;
    for (const uint16_t at : {layout.file, layout.name, layout.lineTable}) lies(at, layout.codeBytes);
    lies(static_cast<uint16_t>(layout.version - 4), layout.codeBytes);
    return isGood ? std::optional(layout) : std::nullopt;
}

}  // namespace lanescope::agent::python
