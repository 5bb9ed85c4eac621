// SPDX-License-Identifier: Apache-2.0
#include "capture/python/FrameLayout.h"

#include <array>
#include <cstring>

namespace lanescope::agent::python {

namespace {

/// What 3.9 and 3.10 share: frames are objects, and instructions lie in an object of their own.
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
    layout.frameBytes = 112;
    layout.instruction = 104;
    layout.instructionKind = InstructionKind::ByteIndex;
    layout.lineTableKind = LineTableKind::Pairs;
    return layout;
}

constexpr FrameLayout of310() {
    FrameLayout layout = withFrameObjects();
    layout.frameBytes = 104;
    layout.instruction = 96;
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
    layout.codeBytes = 184;
    layout.firstLine = 72;
    layout.file = 112;
    layout.name = 128;  // the qualified one
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

// Where in what an interpreter tells of itself stands which number, each of eight bytes.
struct Told {
    uint16_t interpreters, threads, garbage, pointerToGil, nextThread;
    uint16_t currentFrame, threadId, kernelThread;
    uint16_t frameBytes, previous, code, instruction, owner, bytecodeIndex;
    uint16_t codeBytes, file, name, lineTable, firstLine, bytecode, bytecodeCopies;
    uint16_t type;
    uint16_t bytesLength, bytesData;
    uint16_t textBytes, textState, textLength, asciiBytes;
    uint16_t collecting;
};

// Numbers before the thread's state: cookie, version and kind of build, 3 of the runtime, and those
// of an interpreter, of which 3.14 has 3 more.
constexpr Told toldBy(bool is314) {
    constexpr int front = 6;
    const int thread = front + (is314 ? 16 : 13);
    const int frame = thread + 9;
    const int code = frame + (is314 ? 8 : 6);
    const int object = code + (is314 ? 11 : 10);
    // Types, tuples and lists, then (3.14) sets, dictionaries, floats and whole numbers.
    const int bytes = object + 2 + 4 + 3 + 3 + (is314 ? 4 : 0) + 3 + 2 + 3;
    const int text = bytes + 3;
    const auto at = [](int number) { return static_cast<uint16_t>(number); };
    return {.interpreters = at(front - 1),
            .threads = at(front + 3),
            // 3.14 tells of the main thread before.
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
            .owner = at(frame + 5),
            .bytecodeIndex = at(is314 ? frame + 7 : 0),
            .codeBytes = at(code),
            .file = at(code + 1),
            .name = at(code + 3),  // the qualified one
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
static_assert((toldBy(true).collecting + 1) * sizeof(uint64_t) <= toldBytes);

}  // namespace

std::optional<FrameLayout> layoutOf(int major, int minor) {
    if (major != 3) return std::nullopt;
    switch (minor) {
        case 9:
            return of39();
        case 10:
            return of310();
        case 11:
            return of311();
        case 12:
            return of312();
        default:
            return std::nullopt;
    }
}

std::optional<FrameLayout> layoutTold(std::span<const std::byte> runtime, int major, int minor) {
    constexpr char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
    if (runtime.size() < toldBytes || major != 3 || (minor != 13 && minor != 14) ||
        std::memcmp(runtime.data(), cookie, sizeof cookie) != 0)
        return std::nullopt;
    const auto number = [&](size_t index) {
        uint64_t value = 0;
        std::memcpy(&value, runtime.data() + index * sizeof value, sizeof value);
        return value;
    };
    const uint64_t version = number(1);
    constexpr uint64_t candidate = 0xc;  // of its four bits for the state of a release
    if (version >> 24 != static_cast<uint64_t>(major) ||
        (version >> 16 & 0xff) != static_cast<uint64_t>(minor) || (version >> 4 & 0xf) < candidate)
        return std::nullopt;
    const bool is314 = minor == 14, isFreeThreaded = number(2) != 0;
    const Told told = toldBy(is314);
    bool isGood = true;
    const auto below = [&](uint64_t most, size_t index) {
        const uint64_t value = number(index);
        isGood &= value < most;
        return static_cast<uint16_t>(value);
    };
    const auto offset = [&](size_t index) { return below(2'048, index); };
    FrameLayout layout;
    layout.interpreters = offset(told.interpreters);
    layout.threads = below(FrameLayout::none, told.threads);  // far into a large structure
    layout.nextThread = offset(told.nextThread);
    layout.collecting =
        static_cast<uint16_t>(below(FrameLayout::none / 2, told.garbage) + offset(told.collecting));
    layout.pointerToGil = below(FrameLayout::none, told.pointerToGil);
    layout.kernelThread = offset(told.kernelThread);
    layout.threadFrame = offset(told.currentFrame);
    layout.threadId = offset(told.threadId);
    layout.frameBytes = offset(told.frameBytes);
    layout.previous = offset(told.previous);
    layout.code = offset(told.code);
    layout.instruction = offset(told.instruction);
    layout.owner = offset(told.owner);
    layout.codeBytes = offset(told.bytecode);
    layout.firstLine = offset(told.firstLine);
    layout.file = offset(told.file);
    layout.name = offset(told.name);
    layout.lineTable = offset(told.lineTable);
    layout.bytecode = offset(told.bytecode);
    layout.type = offset(told.type);
    layout.bytesLength = offset(told.bytesLength);
    layout.bytesData = offset(told.bytesData);
    layout.textState = offset(told.textState);
    layout.textLength = offset(told.textLength);
    layout.asciiText = offset(told.asciiBytes);
    // Behind it a text of another kind has its length and place in UTF-8.
    layout.otherText = static_cast<uint16_t>(layout.asciiText + 16);
    // Five more ints stand between the two in every version that is told of.
    layout.version = static_cast<uint16_t>(layout.firstLine + 24);
    if (isFreeThreaded && is314) {
        layout.bytecodeIndex = offset(told.bytecodeIndex);
        layout.bytecodeCopies = offset(told.bytecodeCopies);
    }
    // A frame, a code object, and what is read of either have to be what a stack can be made of.
    const auto lies = [&](uint16_t at, uint16_t within) { return isGood &= at + 8 <= within; };
    lies(layout.previous, layout.frameBytes);
    lies(layout.code, layout.frameBytes);
    lies(layout.instruction, layout.frameBytes);
    isGood &= layout.owner < layout.frameBytes;
    for (const uint16_t at : {layout.file, layout.name, layout.lineTable})
        lies(at, layout.codeBytes);
    lies(static_cast<uint16_t>(layout.version - 4), layout.codeBytes);
    return isGood ? std::optional(layout) : std::nullopt;
}

}  // namespace lanescope::agent::python
