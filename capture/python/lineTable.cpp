// SPDX-License-Identifier: Apache-2.0
#include "capture/python/lineTable.h"

#include <algorithm>
namespace lanescope::agent::python {

namespace {

/// Bytes one after the other, read in pieces.
class ByteReader {
  public:
    ByteReader(const Memory& memory, uint64_t address, uint64_t bytes)
        : memory_(memory), next_(address), left_(std::min(bytes, mostBytes)) {}

    /// False at the end, and where there is nothing to read.
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
    /// A whole number in pieces of six bits, the lowest first.
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
    /// The same with a sign in its lowest bit.
    bool takeSigned(int64_t& number) {
        uint32_t bits = 0;
        if (!takeNumber(bits)) return false;
        const auto magnitude = static_cast<int64_t>(bits >> 1);
        number = (bits & 1) != 0 ? -magnitude : magnitude;
        return true;
    }

  private:
    static constexpr uint64_t mostBytes = uint64_t{512} << 10;

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

int32_t bounded(int64_t line) {
    return line > 0 && line <= INT32_MAX ? static_cast<int32_t>(line) : 0;
}

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

/// What an entry says beside its line, which is passed over.
enum Form : uint8_t {
    FirstWithLine = 10,
    LastWithLine = 12,
    OnlyLine = 13,
    Long = 14,
    NoLine = 15
};

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
            isWhole = table.takeSigned(lines) && table.takeNumber(unused) &&
                      table.takeNumber(unused) && table.takeNumber(unused);
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

}  // namespace

int32_t lineOf(const Memory& memory, LineTableKind kind, uint64_t address, uint64_t bytes,
               int32_t firstLine, int64_t byteIndex) {
    // A frame that has not begun is in the line in which its function begins.
    if (byteIndex < 0) return bounded(firstLine);
    ByteReader table(memory, address, bytes);
    switch (kind) {
        case LineTableKind::Pairs:
            return byPairs(table, firstLine, byteIndex);
        case LineTableKind::Ranges:
            return byRanges(table, firstLine, byteIndex);
        case LineTableKind::Locations:
            return byLocations(table, firstLine, byteIndex);
    }
    return 0;
}

}  // namespace lanescope::agent::python
