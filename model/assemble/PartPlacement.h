// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"

namespace lanescope {

/// The reading of one clock as a linear function of another, while neither is set. O(1).
struct ClockLine {
    int64_t offsetNs = 0;     ///< Lead of the other clock at `originNs`.
    int64_t originNs = 0;     ///< On this clock.
    double driftNsPerNs = 0;  ///< Relative speed minus 1: 1e-6 is 1 µs per second.

    /// Returns the reading of the other clock when this clock shows `timeNs`, clamped to the range of valid times.
    int64_t at(int64_t timeNs) const {
        const auto drifted = static_cast<int64_t>(std::llround(static_cast<double>(timeNs - originNs) * driftNsPerNs));
        return std::clamp(timeNs + offsetNs + drifted, -maxTimestampNs, maxTimestampNs);
    }
    bool operator==(const ClockLine&) const = default;
};

/// The reading of one clock on another, with a further line after each time that a clock was set. O(pieces).
struct ClockMap : ClockLine {
    struct Piece {
        int64_t fromNs = 0;  ///< On this clock.
        ClockLine line;
        bool operator==(const Piece&) const = default;
    };
    std::vector<Piece> later{};  ///< Ascending. The base line holds before the first of them.

    /// Returns the reading of the other clock. The result is monotonic, so that no event ends
    /// before its start. Times that a clock skipped when it was set forward are clamped.
    int64_t at(int64_t timeNs) const {
        const ClockLine* line = this;
        int64_t minNs = -maxTimestampNs;
        for (const Piece& piece : later) {
            if (timeNs < piece.fromNs) break;
            minNs = std::max(minNs, line->at(piece.fromNs));
            line = &piece.line;
        }
        return std::max(minNs, line->at(timeNs));
    }
    TimeRange at(TimeRange range) const { return {at(range.startNs), at(range.endNs)}; }

    /// Shifts the origin of this clock to `zeroNs`. The other clock does not change.
    void countFrom(int64_t zeroNs) {
        const auto count = [zeroNs](ClockLine& line) {
            line.originNs -= zeroNs;
            line.offsetNs += zeroNs;
        };
        count(*this);
        for (Piece& piece : later) {
            piece.fromNs -= zeroNs;
            count(piece.line);
        }
    }
    void shift(int64_t byNs) {
        offsetNs += byNs;
        for (Piece& piece : later) piece.line.offsetNs += byNs;
    }
    bool operator==(const ClockMap&) const = default;
};

/// The placement of the times and subjects of a trace in the trace that it becomes a part of.
struct PartPlacement {
    ClockMap clock;                   ///< From times of the part to times of the whole.
    std::vector<int64_t> globalPids;  ///< Packed id in the whole of each process.
    std::vector<int64_t> gpuIds;      ///< Number in the whole of each GPU.
};

}  // namespace lanescope
