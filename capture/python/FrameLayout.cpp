// SPDX-License-Identifier: Apache-2.0
#include "capture/python/FrameLayout.h"

#include <charconv>
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
        uint64_t value = UINT64_MAX;
        if ((index + 1) * sizeof value <= runtime.size())
            std::memcpy(&value, runtime.data() + index * sizeof value, sizeof value);
        return value;
    };
    const uint64_t version = number(1);
    constexpr uint64_t candidate = 0xc;  // value of the four bits for the release state
    if (version >> 24 != static_cast<uint64_t>(major) || (version >> 16 & 0xff) != static_cast<uint64_t>(minor) ||
        (version >> 4 & 0xf) < candidate)
        return std::nullopt;
    const bool is314 = minor == 14, isFreeThreaded = number(2) != 0;
    bool isGood = true;
    const auto below = [&](uint64_t bound, size_t index) {
        const uint64_t value = number(index);
        isGood &= value < bound;
        return static_cast<uint16_t>(value);
    };
    const auto offset = [&](size_t index) { return below(2'048, index); };
    // Indexes of the eight-byte numbers of each structure: after cookie, version, kind of build and 3 of the runtime
    // come those of an interpreter, of which 3.14 has 3 more.
    constexpr size_t interpreter = 6;
    const size_t thread = interpreter + (is314 ? 16 : 13);
    const size_t frame = thread + 9;
    const size_t code = frame + (is314 ? 8 : 6);
    const size_t object = code + (is314 ? 11 : 10);
    // Types, tuples and lists, then (3.14) sets, dictionaries, floats and integers.
    const size_t bytes = object + 2 + 4 + 3 + 3 + (is314 ? 4 : 0) + 3 + 2 + 3;
    const size_t text = bytes + 3;
    FrameLayout layout;
    layout.interpreters = offset(interpreter - 1);
    layout.threads = below(FrameLayout::none, interpreter + 3);  // far into a large structure
    layout.nextThread = offset(thread + 2);
    // 3.14 has the main thread before the garbage collector.
    layout.collecting =
        static_cast<uint16_t>(below(FrameLayout::none / 2, interpreter + (is314 ? 5 : 4)) + offset(text + 5));
    layout.pointerToGil = below(FrameLayout::none, interpreter + (is314 ? 9 : 8));
    layout.threadFrame = offset(thread + 4);
    layout.threadId = offset(thread + 5);
    layout.kernelThread = offset(thread + 6);
    layout.frameBytes = offset(frame);
    layout.previous = offset(frame + 1);
    layout.code = offset(frame + 2);
    layout.instruction = offset(frame + 3);
    layout.firstLocal = offset(frame + 4);
    layout.owner = offset(frame + 5);
    layout.file = offset(code + 1);
    layout.name = offset(code + 3);  // the qualified name
    layout.lineTable = offset(code + 4);
    layout.firstLine = offset(code + 5);
    layout.codeBytes = layout.bytecode = offset(code + 9);
    layout.type = offset(object + 1);
    layout.bytesLength = offset(bytes + 1);
    layout.bytesData = offset(bytes + 2);
    layout.textState = offset(text + 1);
    layout.textLength = offset(text + 2);
    layout.asciiText = offset(text + 3);
    // In a text of another kind, its length and its UTF-8 pointer follow.
    layout.otherText = static_cast<uint16_t>(layout.asciiText + 16);
    // Five more ints are between the two in every self-described version.
    layout.version = static_cast<uint16_t>(layout.firstLine + 24);
    if (!isFreeThreaded) layout.dictValues = 8;
    if (isFreeThreaded && is314) {
        layout.bytecodeIndex = offset(frame + 7);
        layout.bytecodeCopies = offset(code + 10);
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

bool readVersion(std::string_view text, int& major, int& minor) {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, major);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return false;
    return std::from_chars(first.ptr + 1, end, minor).ec == std::errc();
}

}  // namespace lanescope::agent::python
