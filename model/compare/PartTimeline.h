// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/compare/WorkerTimeline.h"

namespace lanescope::compare {

/// What one worker did from its first to its last work, piece by piece, kept to be asked again and
/// again. Immutable.
class PartTimeline {
  public:
    PartTimeline() = default;
    /// O(n log n) in the pieces that `range` falls into.
    PartTimeline(const WorkerTimeline& timeline, TimeRange range);

    TimeRange range() const { return range_; }
    /// How much of each part lies in a time. O(log n).
    StepParts sumIn(TimeRange asked) const;
    /// The same of `count` equal columns of a time, each into its place of `sums`.
    /// O(count log n).
    void columns(TimeRange asked, size_t count, std::vector<StepParts>& sums) const;

    /// Calls `visit(range, contributor)` for what lies in a time, by start. O(log n) and the calls.
    template <class Visit>
    void forEachIn(TimeRange asked, Visit visit) const {
        asked = asked.intersected(range_);
        if (asked.isEmpty()) return;
        for (size_t piece = pieceAt(asked.startNs);
             piece < startNs_.size() && startNs_[piece] < asked.endNs; ++piece)
            visit(TimeRange{startNs_[piece], endOf(piece)}.intersected(asked),
                  contributors_[piece]);
    }
    StepPart partOf(uint32_t contributor) const { return parts_[contributor]; }

  private:
    static constexpr size_t blockSize = 64;

    size_t pieceAt(int64_t timeNs) const {
        const auto after = std::upper_bound(startNs_.begin(), startNs_.end(), timeNs);
        return static_cast<size_t>(after - startNs_.begin()) - (after != startNs_.begin() ? 1 : 0);
    }
    int64_t endOf(size_t piece) const {
        return piece + 1 < startNs_.size() ? startNs_[piece + 1] : range_.endNs;
    }
    /// From the start of the range to a time in it.
    StepParts sumBefore(int64_t timeNs) const;

    TimeRange range_;
    // A piece lasts until the next begins: they cover the range.
    std::vector<int64_t> startNs_;
    std::vector<uint32_t> contributors_;
    std::vector<StepPart> parts_;    ///< By contributor.
    std::vector<StepParts> before_;  ///< Of all pieces before each block.
};

}  // namespace lanescope::compare
