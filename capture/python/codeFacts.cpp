// SPDX-License-Identifier: Apache-2.0
#include "capture/python/codeFacts.h"

#include <algorithm>
#include <cstring>

#include "capture/python/utf8.h"

namespace lanescope::agent::python {

namespace {

class ByteReader {
  public:
    ByteReader(const Memory& memory, uint64_t address, uint64_t bytes)
        : memory_(memory), next_(address), left_(std::min(bytes, maxTableBytes)) {}

    /// Returns false at the end, and for unreadable memory.
    bool take(uint8_t& byte) {
        if (at_ == filled_ && !fill()) return false;
        byte = piece_[at_++];
        return true;
    }
    bool skip(int count) {
        uint8_t unused = 0;
        for (; count > 0; --count)
            if (!take(unused)) return false;
        return true;
    }
    /// Reads an integer in groups of six bits, the lowest first.
    bool takeNumber(uint32_t& number) {
        number = 0;
        uint8_t byte = 0;
        for (int shift = 0; shift < 32; shift += 6) {
            if (!take(byte)) return false;
            number |= static_cast<uint32_t>(byte & 0x3f) << shift;
            if ((byte & 0x40) == 0) return true;
        }
        return false;
    }
    /// Reads an integer with a sign in its lowest bit.
    bool takeSigned(int64_t& number) {
        uint32_t bits = 0;
        if (!takeNumber(bits)) return false;
        const auto magnitude = static_cast<int64_t>(bits >> 1);
        number = (bits & 1) != 0 ? -magnitude : magnitude;
        return true;
    }

  private:
    static constexpr uint64_t maxTableBytes = uint64_t{512} << 10;

    bool fill() {
        filled_ = static_cast<size_t>(std::min<uint64_t>(left_, sizeof piece_));
        at_ = 0;
        if (filled_ == 0 || !memory_.read(next_, piece_, filled_)) {
            filled_ = 0;
            return false;
        }
        next_ += filled_;
        left_ -= filled_;
        return true;
    }

    const Memory& memory_;
    uint64_t next_, left_;
    size_t at_ = 0, filled_ = 0;
    uint8_t piece_[512];
};

int32_t bounded(int64_t line) { return line > 0 && line <= INT32_MAX ? static_cast<int32_t>(line) : 0; }

int32_t byPairs(ByteReader& table, int64_t line, int64_t byteIndex) {
    int64_t at = 0;
    uint8_t step = 0, lines = 0;
    while (table.take(step) && table.take(lines)) {
        at += step;
        if (at > byteIndex) break;
        line += static_cast<int8_t>(lines);
    }
    return bounded(line);
}

int32_t byRanges(ByteReader& table, int64_t line, int64_t byteIndex) {
    constexpr int8_t noLine = -128;
    int64_t end = 0;
    uint8_t step = 0, byte = 0;
    while (table.take(step) && table.take(byte)) {
        const auto lines = static_cast<int8_t>(byte);
        if (lines != noLine) line += lines;
        end += step;
        if (end > byteIndex) return lines == noLine ? 0 : bounded(line);
    }
    return 0;
}

/// Kinds of entries, by their column data, which is skipped.
enum Form : uint8_t { FirstWithLine = 10, LastWithLine = 12, OnlyLine = 13, Long = 14, NoLine = 15 };

int32_t byLocations(ByteReader& table, int64_t line, int64_t byteIndex) {
    int64_t end = 0;
    uint8_t head = 0;
    while (table.take(head)) {
        const int form = head >> 3 & 15;
        constexpr int unitBytes = 2;
        end += ((head & 7) + 1) * unitBytes;
        int64_t lines = 0;
        uint32_t unused = 0;
        bool isWhole = true;
        if (form == NoLine) {
        } else if (form == Long) {
            isWhole = table.takeSigned(lines) && table.takeNumber(unused) && table.takeNumber(unused) &&
                      table.takeNumber(unused);
        } else if (form == OnlyLine) {
            isWhole = table.takeSigned(lines);
        } else if (form >= FirstWithLine) {
            lines = form - FirstWithLine;
            isWhole = table.skip(2);
        } else {
            isWhole = table.skip(1);
        }
        if (!isWhole) return 0;
        line += lines;
        if (end > byteIndex) return form == NoLine ? 0 : bounded(line);
    }
    return 0;
}

constexpr size_t maxCodeObjectBytes = 512;
constexpr uint64_t unitBytes = 2;

template <class Value>
Value valueAt(const unsigned char* bytes, uint16_t offset) {
    Value value{};
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
}

/// Fields after a text's reference count; see `unicodeobject.h` of each version.
struct TextState {
    uint32_t width = 0;  ///< Bytes per character: 1, 2 or 4.
    bool isAscii = false;
};

/// Reads the state. The width follows the interning state, which takes two bits or, in
/// free-threaded builds, bytes of its own.
bool readState(uint32_t state, TextState& into) {
    for (const int shift : {2, 8, 16}) {
        const uint32_t width = state >> shift & 7;
        const bool isCompact = (state >> (shift + 3) & 1) != 0;
        if ((width != 1 && width != 2 && width != 4) || !isCompact) continue;
        into = {width, (state >> (shift + 4) & 1) != 0};
        return !into.isAscii || width == 1;
    }
    return false;
}

/// Returns the address of a frame's first instruction; 0 if it cannot be read.
uint64_t firstInstruction(const Memory& memory, const FrameLayout& layout, const Frame& frame) {
    if (layout.bytecodeCopies == FrameLayout::none || frame.copy == 0) return frame.code + layout.bytecode;
    uint64_t list = 0, count = 0, copy = 0;
    if (!memory.get(frame.code + layout.bytecodeCopies, list) || !isPlausible(list) || !memory.get(list, count) ||
        frame.copy >= count || !memory.get(list + 8 + uint64_t{frame.copy} * 8, copy))
        return 0;
    return copy;
}

/// Returns the frame's offset, in bytes, from the first instruction; negative before it.
int64_t byteIndexOf(const Memory& memory, const FrameLayout& layout, const Frame& frame) {
    switch (layout.instructionKind) {
        case InstructionKind::ByteIndex: return static_cast<int64_t>(frame.instruction);
        case InstructionKind::UnitIndex: {
            const auto index = static_cast<int32_t>(frame.instruction);
            return index < 0 ? -1 : int64_t{index} * 2;
        }
        case InstructionKind::Pointer: break;
    }
    const uint64_t first = firstInstruction(memory, layout, frame);
    return first == 0 ? -1 : static_cast<int64_t>(frame.instruction - first);
}

}  // namespace

int32_t lineOf(const Memory& memory, LineTableKind kind, uint64_t address, uint64_t bytes, int32_t firstLine,
               int64_t byteIndex) {
    // A frame that has not begun is in the first line of its function.
    if (byteIndex < 0) return bounded(firstLine);
    ByteReader table(memory, address, bytes);
    switch (kind) {
        case LineTableKind::Pairs: return byPairs(table, firstLine, byteIndex);
        case LineTableKind::Ranges: return byRanges(table, firstLine, byteIndex);
        case LineTableKind::Locations: return byLocations(table, firstLine, byteIndex);
    }
    return 0;
}

bool readText(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, uint64_t address, bool keepsEnd,
              char* into, size_t room, size_t& bytes) {
    bytes = 0;
    uint64_t type = 0, length = 0;
    uint32_t bits = 0;
    TextState state;
    if (!isPlausible(address) || !memory.get(address + layout.type, type) || type != types.text ||
        !memory.get(address + layout.textLength, length) || !memory.get(address + layout.textState, bits) ||
        !readState(bits, state) || length > uint64_t{1} << 40)
        return false;
    // Number of characters that fit in any case.
    constexpr size_t widest = 4;
    const uint64_t maxCharacters = state.isAscii ? room : room / widest;
    const uint64_t count = std::min(length, maxCharacters);
    const uint64_t skipped = keepsEnd ? length - count : 0;
    const uint64_t text = address + (state.isAscii ? layout.asciiText : layout.otherText) + skipped * state.width;
    if (state.isAscii) {
        bytes = static_cast<size_t>(count);
        return count == 0 || memory.read(text, into, bytes);
    }
    unsigned char piece[256];
    const uint64_t perPiece = sizeof piece / state.width;
    for (uint64_t done = 0; done < count; done += perPiece) {
        const uint64_t now = std::min(perPiece, count - done);
        if (!memory.read(text + done * state.width, piece, static_cast<size_t>(now * state.width))) return false;
        for (uint64_t i = 0; i < now; ++i) {
            uint32_t character = 0;
            std::memcpy(&character, piece + i * state.width, state.width);
            // Surrogates encode bytes of a file name that are not UTF-8.
            const bool isText = character <= 0x10ffff && (character < 0xd800 || character >= 0xe000);
            bytes += putUtf8(isText ? character : 0xfffd, into + bytes);
        }
    }
    return true;
}

bool readCode(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, uint64_t address,
              bool withTexts, CodeFacts& facts) {
    unsigned char code[maxCodeObjectBytes];
    if (!isPlausible(address) || layout.codeBytes > sizeof code || !memory.read(address, code, layout.codeBytes) ||
        valueAt<uint64_t>(code, layout.type) != types.code)
        return false;
    facts.firstLine = valueAt<int32_t>(code, layout.firstLine);
    const auto table = valueAt<uint64_t>(code, layout.lineTable);
    uint64_t type = 0;
    if (facts.firstLine < 0 || !isPlausible(table) || !memory.get(table + layout.type, type) || type != types.bytes ||
        !memory.get(table + layout.bytesLength, facts.lineTableBytes))
        return false;
    facts.lineTable = table + layout.bytesData;
    if (!withTexts) return true;
    return readText(memory, layout, types, valueAt<uint64_t>(code, layout.name), false, facts.function,
                    sizeof facts.function, facts.functionBytes) &&
           readText(memory, layout, types, valueAt<uint64_t>(code, layout.file), true, facts.file, sizeof facts.file,
                    facts.fileBytes);
}

int32_t lineOfFrame(const Memory& memory, const FrameLayout& layout, const CodeFacts& facts, const Frame& frame) {
    return lineOf(memory, layout.lineTableKind, facts.lineTable, facts.lineTableBytes, facts.firstLine,
                  byteIndexOf(memory, layout, frame));
}

bool isWithinCode(const Memory& memory, const FrameLayout& layout, const Frame& frame) {
    // No function has more; the line table determines the real end of the code.
    constexpr int64_t maxFunctionCodeBytes = int64_t{64} << 20;
    const int64_t index = byteIndexOf(memory, layout, frame);
    return index >= -static_cast<int64_t>(unitBytes) && index < maxFunctionCodeBytes;
}

}  // namespace lanescope::agent::python
