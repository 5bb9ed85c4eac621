// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"

namespace lanescope {

/// How one clock reads by another while nobody sets either: a line. O(1).
struct ClockLine {
    int64_t offsetNs = 0;     ///< What the other shows more, at `originNs`.
    int64_t originNs = 0;     ///< By this clock.
    double driftNsPerNs = 0;  ///< How much faster the other runs: 1e-6 is a microsecond a second.

    /// What the other shows when this one shows `timeNs`; no further from 0 than times may be.
    int64_t at(int64_t timeNs) const {
        const auto drifted = static_cast<int64_t>(
            std::llround(static_cast<double>(timeNs - originNs) * driftNsPerNs));
        return std::clamp(timeNs + offsetNs + drifted, -greatestTimeNs, greatestTimeNs);
    }
    bool operator==(const ClockLine&) const = default;
};

/// How one clock reads by another; after each time that it was set by another line. O(pieces).
struct ClockMap : ClockLine {
    struct Piece {
        int64_t fromNs = 0;  ///< By this clock.
        ClockLine line;
        bool operator==(const Piece&) const = default;
    };
    std::vector<Piece> later{};  ///< Ascending; what holds before the first of them is the line.

    /// As of a line. What is later by this clock is never earlier by the other, so that nothing
    /// ends before it begins: of a clock that was set forward nobody saw the times that it left
    /// out.
    int64_t at(int64_t timeNs) const {
        const ClockLine* line = this;
        int64_t leastNs = -greatestTimeNs;
        for (const Piece& piece : later) {
            if (timeNs < piece.fromNs) break;
            leastNs = std::max(leastNs, line->at(piece.fromNs));
            line = &piece.line;
        }
        return std::max(leastNs, line->at(timeNs));
    }
    TimeRange at(TimeRange range) const { return {at(range.startNs), at(range.endNs)}; }

    /// The same of times that count from `zeroNs` of this clock on; the other's do not.
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
    /// The other is said to show so much more.
    void shift(int64_t byNs) {
        offsetNs += byNs;
        for (Piece& piece : later) piece.line.offsetNs += byNs;
    }
    bool operator==(const ClockMap&) const = default;
};

/// Where what a trace names is in one that it becomes a part of.
struct PartPlacement {
    ClockMap clock;                   ///< From its times to those of the whole.
    std::vector<int64_t> globalPids;  ///< Packed id of each of its processes in the whole.
    std::vector<int64_t> gpuIds;      ///< Number of each of its GPUs in the whole.
};

}  // namespace lanescope
