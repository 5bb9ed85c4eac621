// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "model/trace/Column.h"
#include "model/trace/SliceCategory.h"
#include "model/trace/StringTable.h"

namespace lanescope {

struct Lane;

/// What is known of a lane at one moment.
struct LaneEdge {
    uint32_t slice = 0;      ///< The first that starts then or later.
    int64_t busyNs = 0;      ///< Time that slices covered until then.
    int64_t overhangNs = 0;  ///< How long the slice that covers it goes on, 0 if none does.
};

/// The slices of a lane counted into buckets of time, in levels of buckets twice as wide each: what
/// a picture of any stretch needs without looking at the slices. Immutable once built.
struct LaneTiles {
    /// Buckets of 2^`shift` ns. Bucket 0 begins at `firstBucket << shift`, the others follow.
    struct Level {
        Level() = default;
        explicit Level(LargeMemory* memory)
            : slice(memory),
              busyNs(memory),
              overhangNs(memory),
              widestNs(memory),
              category(memory),
              name(memory) {}

        uint8_t shift = 0;
        int64_t firstBucket = 0;
        // One for each edge between buckets, the outer two included; see `LaneEdge`.
        Column<uint32_t> slice;
        Column<int64_t> busyNs, overhangNs;
        // One for each bucket, of the slices that start in it.
        Column<int64_t> widestNs;        ///< How long the longest is; negative where none starts.
        Column<SliceCategory> category;  ///< Of the first of the longest.
        Column<StringIndex> name;        ///< Of the same.

        size_t bucketCount() const { return widestNs.size(); }
        /// The edge at `timeNs`, which must be one between buckets or lie outside of them all.
        size_t edgeIndex(int64_t timeNs) const {
            const int64_t bucket = timeNs >> shift;
            if (bucket <= firstBucket) return 0;
            const uint64_t index =
                static_cast<uint64_t>(bucket) - static_cast<uint64_t>(firstBucket);
            return index < bucketCount() ? static_cast<size_t>(index) : bucketCount();
        }
        LaneEdge at(int64_t timeNs) const {
            const size_t edge = edgeIndex(timeNs);
            return {slice[edge], busyNs[edge], overhangNs[edge]};
        }
    };
    /// The finest first; none for a lane with few slices.
    std::vector<Level> levels;

    /// How many slices a bucket of the finest level holds on average, at least; less than twice as
    /// many.
    static constexpr uint32_t slicesPerBucket = 16;
    static constexpr uint32_t leastSlices = 4096;
    static constexpr size_t leastBuckets = 2048;

    /// The longest slice of each `runLength` slices in order, then of as many of those, and so on:
    /// finds the longest where many slices lie within one bucket of the finest level.
    static constexpr uint32_t runLength = 64;
    struct Runs {
        Runs() = default;
        explicit Runs(LargeMemory* memory) : widest(memory), widestNs(memory) {}

        Column<uint32_t> widest;
        Column<int64_t> widestNs;
    };
    std::vector<Runs> runs;

    /// The coarsest level whose edges include all multiples of 2^`gridShift` ns; null if even the
    /// finest is too coarse.
    const Level* levelFor(int gridShift) const;
};

/// The tiles of a lane, from its columns of times and in their memory; not whole if stopped. O(n).
LaneTiles buildLaneTiles(const Lane& lane, const std::stop_token& stop = {});

/// The longest of the slices `[first, end)`, of equals the first; the run must not be empty.
/// O(log n), O(n) for a lane without tiles.
uint32_t widestSlice(const Lane& lane, uint32_t first, uint32_t end);

}  // namespace lanescope
