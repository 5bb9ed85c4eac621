// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/bandwidth/CopyStatistics.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the bytes in `partNs` of a copy of `wholeNs`, which is above 0; rounded to the nearest.
int64_t partOfBytes(int64_t bytes, int64_t partNs, int64_t wholeNs);

/// Returns the reference peak of a group of copies. If the group does not distinguish GPUs, a peak
/// that all GPUs of the trace have.
std::optional<CopyPeak> peakOfGroup(const Trace& trace, const CopyGroup& group);

/// Sums copies in the order of their starts, by group and size bucket.
class CopySweep {
  public:
    CopySweep(size_t groupCount, size_t gpuCount, bool bySize);

    struct Piece {
        int64_t startNs, endNs, bytes;
        uint32_t gpu;  ///< GPU that does the copy.
        /// Kernel time on that GPU before the start and before the end.
        int64_t coveredAtStart, coveredAtEnd;
        bool isClipped;
    };
    /// O(1). Within a group and bucket pieces must come by start.
    void add(uint32_t group, int bucket, const Piece& piece);
    /// Returns those that have any. O(n): the quantiles are selected, not sorted.
    std::vector<CopyStatistics> finish(const std::vector<CopyGroup>& groups);

  private:
    struct Slot {
        CopyStatistics sum;
        std::vector<double> rates;
    };
    /// A busy interval without a pause, of one slot.
    struct Stretch {
        int64_t startNs = 0, endNs = 0, coveredAtStart = 0, coveredAtEnd = 0;
        bool isBusy = false;
        /// Returns true if the piece extended the interval.
        bool extend(const Piece& piece);
        void begin(const Piece& piece);
    };
    /// Returns the intervals of a slot: over all GPUs, then of each GPU.
    Stretch* intervalsOf(size_t slot) { return &intervals_[slot * (gpuCount_ + 1)]; }
    static void closeAll(CopyStatistics& sum, const Stretch& stretch);
    static void closeGpu(CopyStatistics& sum, const Stretch& stretch);

    size_t bucketCount_;
    size_t gpuCount_;
    std::vector<Slot> slots_;
    std::vector<Stretch> intervals_;
};

}  // namespace lanescope
