// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "capture/python/FrameLayout.h"
#include "capture/python/OwnMemory.h"

namespace lanescope::agent::python {

/// One frame: which code, and where in it.
struct Frame {
    uint64_t code = 0;         ///< Address of the code object.
    uint64_t instruction = 0;  ///< As `FrameLayout::instructionKind` says.
    uint64_t identity = 0;     ///< Tells the code object from one that lay there before.
    uint32_t copy = 0;         ///< Which copy of its instructions, in a free-threaded build.
};

struct Walked {
    uint32_t count = 0;    ///< Frames, the innermost first.
    bool isCut = false;    ///< There were more.
    bool isWhole = false;  ///< Nothing on the way was out of place.
};

/// Where lies in frames and code objects of 3.12, 3.13 and 3.14, as released for 64 bits, what
/// their `FrameLayout` says, too. As constants it needs no registers, of which a walk then has
/// enough.
template <uint16_t ownerAt>
struct UsualLayout {
    static constexpr uint16_t previous = 8, code = 0, instruction = 56, owner = ownerAt,
                              firstLine = 68, version = 92, bytecodeIndex = FrameLayout::none;
    static constexpr InstructionKind instructionKind = InstructionKind::Pointer;

    static bool isThatOf(const FrameLayout& told) {
        return told.previous == previous && told.code == code && told.instruction == instruction &&
               told.owner == owner && told.firstLine == firstLine && told.version == version &&
               told.bytecodeIndex == bytecodeIndex && told.instructionKind == instructionKind;
    }
};
using UsualLayout12 = UsualLayout<70>;  ///< 3.12 and 3.13.
using UsualLayout14 = UsualLayout<74>;

/// The identity of code that has no number.
template <class Memory>
bool readIdentityOfParts(const Memory& memory, const FrameLayout& layout, uint32_t firstLine,
                         Frame& frame) {
    uint64_t file = 0, name = 0, lines = 0, fileLength = 0, lineBytes = 0;
    if (!memory.get(frame.code + layout.file, file) ||
        !memory.get(frame.code + layout.name, name) ||
        !memory.get(frame.code + layout.lineTable, lines) || !isPlausible(file) ||
        !isPlausible(lines) || !memory.get(file + layout.textLength, fileLength) ||
        !memory.get(lines + layout.bytesLength, lineBytes))
        return false;
    // Each piece has a factor of its own, so that none waits for another.
    uint64_t mixed = name * 0xd6e8feb86659fd93 + lines * 0xa0761d6478bd642f + firstLine;
    const auto add = [&](uint64_t at, uint64_t factor) {
        uint64_t piece = 0;
        if (!memory.get(at, piece)) return false;
        mixed += (piece ^ piece >> 32) * factor;
        return true;
    };
    // A piece has eight bytes, which lie there also where a text is shorter: room for objects comes
    // in multiples of 16.
    constexpr uint64_t pieceBytes = 8, most = uint64_t{1} << 24;
    const auto lastPiece = [](uint64_t length) {
        return length > pieceBytes && length < most ? length - pieceBytes : 0;
    };
    const uint64_t data = lines + layout.bytesData, last = lastPiece(lineBytes);
    if (!add(file + layout.asciiText + lastPiece(fileLength), 0xe7037ed1a0b428db) ||
        !add(data, 0x8ebc6af09c88c6e3) || !add(data + last / 3, 0x589965cc75374cc3) ||
        !add(data + last * 2 / 3, 0x1d8e4e27c47d124f) || !add(data + last, 0xeb44accab455d165))
        return false;
    frame.identity = mixed + fileLength + (lineBytes << 20);
    return true;
}

/// Fills in what tells the code object of `frame` from others that lay at its place. From 3.12 on
/// it has a number of its own. Until then its parts do: where they lie, and since these places may
/// have been another's too, what is in them, of long ones in some places.
template <class Memory, class Layout>
bool readIdentity(const Memory& memory, const Layout& layout, Frame& frame) {
    uint32_t firstLine = 0;
    if (!memory.get(frame.code + layout.firstLine, firstLine)) return false;
    if (layout.version != FrameLayout::none) {
        uint32_t version = 0;
        if (!memory.get(frame.code + layout.version, version)) return false;
        frame.identity = uint64_t{firstLine} << 32 | version;
        return true;
    }
    if constexpr (std::is_same_v<Layout, FrameLayout>)
        return readIdentityOfParts(memory, layout, firstLine, frame);
    return false;
}

/// Calls `take(const Frame&)` for each frame from the one at `at` outwards, and for `most` of them.
/// If the thread is the calling one it is in here, so nobody changes its frames; those of another
/// may change meanwhile, which may show as a walk that is not whole. With any `Memory` but
/// `PlainMemory` any bytes may lie there. Ends after twice as many steps as `most`. With
/// `PlainMemory`, warm caches and a `UsualLayout` 1.3 to 2.5 ns a frame, with a `FrameLayout` to 7.
/// Without `hasIdentity` code objects are not looked at.
template <bool hasIdentity, class Memory, class Layout, class Take>
Walked visitFrom(const Memory& memory, const Layout& layout, uint64_t at, uint32_t most,
                 Take&& take) {
    // Frames further out lie before this one, mostly: so far that they have come when it is their
    // turn.
    constexpr uint64_t ahead = 256;
    Walked walked;
    Frame frame;
    for (uint32_t steps = 2 * most + 16; at != 0 && steps > 0; --steps) {
        if (!isPlausible(at)) return walked;
        memory.expect(at - ahead);
        uint8_t owner = 0;
        if (layout.owner != FrameLayout::none && !memory.get(at + layout.owner, owner))
            return walked;
        if (!FrameLayout::isForeign(owner)) {
            if (walked.count == most) {
                walked.isCut = walked.isWhole = true;
                return walked;
            }
            if (!memory.get(at + layout.code, frame.code)) return walked;
            frame.code &= ~uint64_t{7};  // from 3.14 on the lowest bits say how it is counted
            if (!isPlausible(frame.code)) return walked;
            if (layout.instructionKind == InstructionKind::Pointer) {
                if (!memory.get(at + layout.instruction, frame.instruction)) return walked;
            } else {
                int32_t index = 0;
                if (!memory.get(at + layout.instruction, index)) return walked;
                frame.instruction = static_cast<uint64_t>(int64_t{index});
            }
            if (layout.bytecodeIndex != FrameLayout::none &&
                !memory.get(at + layout.bytecodeIndex, frame.copy))
                return walked;
            if constexpr (hasIdentity)
                if (!readIdentity(memory, layout, frame)) return walked;
            take(static_cast<const Frame&>(frame));
            ++walked.count;
        }
        if (!memory.get(at + layout.previous, at)) return walked;
    }
    walked.isWhole = at == 0;
    return walked;
}

/// `visitFrom` for the thread whose state lies at `threadState`, from its innermost frame on.
template <bool hasIdentity = true, class Memory, class Take>
Walked visitFrames(const Memory& memory, const FrameLayout& layout, uint64_t threadState,
                   uint32_t most, Take&& take) {
    uint64_t at = 0;
    if (!isPlausible(threadState) || !memory.get(threadState + layout.threadFrame, at)) return {};
    if (layout.frameOfThreadFrame != FrameLayout::none) {
        if (at == 0) return {0, false, true};  // it has run nothing yet
        if (!isPlausible(at) || !memory.get(at + layout.frameOfThreadFrame, at)) return {};
    }
    if constexpr (std::is_same_v<Memory, PlainMemory>) {
        if (UsualLayout12::isThatOf(layout))
            return visitFrom<hasIdentity>(memory, UsualLayout12(), at, most, take);
        if (UsualLayout14::isThatOf(layout))
            return visitFrom<hasIdentity>(memory, UsualLayout14(), at, most, take);
    }
    return visitFrom<hasIdentity>(memory, layout, at, most, take);
}

/// The frames as `visitFrames` has them, as many as there is room for.
template <bool hasIdentity = true, class Memory>
Walked walkFrames(const Memory& memory, const FrameLayout& layout, uint64_t threadState,
                  std::span<Frame> into) {
    Frame* next = into.data();
    return visitFrames<hasIdentity>(memory, layout, threadState, static_cast<uint32_t>(into.size()),
                                    [&next](const Frame& frame) { *next++ = frame; });
}

}  // namespace lanescope::agent::python
