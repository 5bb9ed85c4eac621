// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "capture/python/FrameLayout.h"
#include "capture/python/OwnMemory.h"

namespace lanescope::agent::python {

struct Frame {
    uint64_t at = 0;           ///< Address of the frame.
    uint64_t code = 0;         ///< Address of the code object.
    uint64_t instruction = 0;  ///< As `FrameLayout::instructionKind` defines.
    uint64_t identity = 0;     ///< Distinguishes the code object from an earlier one at its address.
    uint32_t copy = 0;         ///< Index of the copy of its instructions, in a free-threaded build.
};

struct Walked {
    uint32_t count = 0;    ///< Number of frames, innermost first.
    bool isCut = false;    ///< More frames existed.
    bool isWhole = false;  ///< Every step of the walk was valid.
};

/// Offsets of frames and code objects in released 64-bit builds of 3.12, 3.13 and 3.14, as in their
/// `FrameLayout`. As constants they need no registers, which a walk is short of otherwise.
template <uint16_t ownerAt>
struct ReleasedLayout {
    static constexpr uint16_t previous = 8, code = 0, instruction = 56, owner = ownerAt, firstLine = 68, version = 92,
                              bytecodeIndex = FrameLayout::none;
    static constexpr InstructionKind instructionKind = InstructionKind::Pointer;

    static bool isThatOf(const FrameLayout& layout) {
        return layout.previous == previous && layout.code == code && layout.instruction == instruction &&
               layout.owner == owner && layout.firstLine == firstLine && layout.version == version &&
               layout.bytecodeIndex == bytecodeIndex && layout.instructionKind == instructionKind;
    }
};
using ReleasedLayout12 = ReleasedLayout<70>;  ///< 3.12 and 3.13.
using ReleasedLayout14 = ReleasedLayout<74>;

/// Returns the identity of code without a number.
bool readIdentityOfParts(const auto& memory, const FrameLayout& layout, uint32_t firstLine, Frame& frame) {
    uint64_t file = 0, name = 0, lines = 0, fileLength = 0, lineBytes = 0;
    if (!memory.get(frame.code + layout.file, file) || !memory.get(frame.code + layout.name, name) ||
        !memory.get(frame.code + layout.lineTable, lines) || !isPlausible(file) || !isPlausible(lines) ||
        !memory.get(file + layout.textLength, fileLength) || !memory.get(lines + layout.bytesLength, lineBytes))
        return false;
    // Each part has its own factor, so that the multiplications run in parallel.
    uint64_t mixed = name * 0xd6e8feb86659fd93 + lines * 0xa0761d6478bd642f + firstLine;
    const auto add = [&](uint64_t at, uint64_t factor) {
        uint64_t piece = 0;
        if (!memory.get(at, piece)) return false;
        mixed += (piece ^ piece >> 32) * factor;
        return true;
    };
    // A piece of eight bytes is readable even if a text is shorter: objects are allocated in multiples of 16.
    constexpr uint64_t pieceBytes = 8, maxCount = uint64_t{1} << 24;
    const auto lastPiece = [](uint64_t length) {
        return length > pieceBytes && length < maxCount ? length - pieceBytes : 0;
    };
    const uint64_t data = lines + layout.bytesData, last = lastPiece(lineBytes);
    if (!add(file + layout.asciiText + lastPiece(fileLength), 0xe7037ed1a0b428db) || !add(data, 0x8ebc6af09c88c6e3) ||
        !add(data + last / 3, 0x589965cc75374cc3) || !add(data + last * 2 / 3, 0x1d8e4e27c47d124f) ||
        !add(data + last, 0xeb44accab455d165))
        return false;
    frame.identity = mixed + fileLength + (lineBytes << 20);
    return true;
}

/// Sets the identity of `frame`, which distinguishes its code object from others at the same
/// address. From 3.12 on it is the code's own number. Before, it is a hash of the addresses and
/// contents of its parts, of long ones in samples, since addresses may be reused.
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
    if constexpr (std::is_same_v<Layout, FrameLayout>) return readIdentityOfParts(memory, layout, firstLine, frame);
    return false;
}

/// Calls `take(const Frame&)` for each frame from the one at `at` outwards, up to `maxCount` of them. The calling
/// thread's own frames do not change during the call. Frames of another thread may change, which may show as a walk
/// that is not whole. With any `Memory` but `PlainMemory`, any bytes are allowed. Ends after twice as many steps as
/// `maxCount`. With `PlainMemory` and warm caches takes 1.3 to 2.5 ns per frame with a `ReleasedLayout`, up to 7 ns
/// with a `FrameLayout`. Without `hasIdentity` code objects are not read.
template <bool hasIdentity, class Memory, class Layout, class Take>
Walked visitFrom(const Memory& memory, const Layout& layout, uint64_t at, uint32_t maxCount, Take&& take) {
    // Outer frames are usually at lower addresses: prefetches far enough to have them in time.
    constexpr uint64_t ahead = 256;
    Walked walked;
    Frame frame;
    for (uint32_t steps = 2 * maxCount + 16; at != 0 && steps > 0; --steps) {
        if (!isPlausible(at)) return walked;
        memory.expect(at - ahead);
        uint8_t owner = 0;
        if (layout.owner != FrameLayout::none && !memory.get(at + layout.owner, owner)) return walked;
        if (!FrameLayout::isInternalFrame(owner)) {
            if (walked.count == maxCount) {
                walked.isCut = walked.isWhole = true;
                return walked;
            }
            frame.at = at;
            if (!memory.get(at + layout.code, frame.code)) return walked;
            frame.code &= ~uint64_t{7};  // from 3.14 on the lowest bits are reference-count tags
            if (!isPlausible(frame.code)) return walked;
            if (layout.instructionKind == InstructionKind::Pointer) {
                if (!memory.get(at + layout.instruction, frame.instruction)) return walked;
            } else {
                int32_t index = 0;
                if (!memory.get(at + layout.instruction, index)) return walked;
                frame.instruction = static_cast<uint64_t>(int64_t{index});
            }
            if (layout.bytecodeIndex != FrameLayout::none && !memory.get(at + layout.bytecodeIndex, frame.copy))
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

/// Runs `visitFrom` for the thread whose state is at `threadState`, from its innermost frame on.
template <bool hasIdentity = true, class Memory, class Take>
Walked visitFrames(const Memory& memory, const FrameLayout& layout, uint64_t threadState, uint32_t maxCount,
                   Take&& take) {
    uint64_t at = 0;
    if (!isPlausible(threadState) || !memory.get(threadState + layout.threadFrame, at)) return {};
    if (layout.frameOfThreadFrame != FrameLayout::none) {
        if (at == 0) return {0, false, true};  // it has run nothing yet
        if (!isPlausible(at) || !memory.get(at + layout.frameOfThreadFrame, at)) return {};
    }
    if constexpr (std::is_same_v<Memory, PlainMemory>) {
        if (ReleasedLayout12::isThatOf(layout))
            return visitFrom<hasIdentity>(memory, ReleasedLayout12(), at, maxCount, take);
        if (ReleasedLayout14::isThatOf(layout))
            return visitFrom<hasIdentity>(memory, ReleasedLayout14(), at, maxCount, take);
    }
    return visitFrom<hasIdentity>(memory, layout, at, maxCount, take);
}

/// Copies the frames of `visitFrames`, as many as fit.
template <bool hasIdentity = true, class Memory>
Walked walkFrames(const Memory& memory, const FrameLayout& layout, uint64_t threadState, std::span<Frame> into) {
    Frame* next = into.data();
    return visitFrames<hasIdentity>(memory, layout, threadState, static_cast<uint32_t>(into.size()),
                                    [&next](const Frame& frame) { *next++ = frame; });
}

}  // namespace lanescope::agent::python
