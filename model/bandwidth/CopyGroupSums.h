// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/bandwidth/CopySweep.h"

namespace lanescope {

/// A permutation of the numbers below n that finds the k-th smallest number of any range of
/// positions without visiting the range: a wavelet matrix, with a level of n bits for each bit of
/// the numbers. Some 1.5 * log2(n) bits per number. Immutable; any thread.
class RankSequence {
  public:
    RankSequence() = default;
    /// `ranks` contains each number below its size once. O(n log n).
    explicit RankSequence(std::vector<uint32_t> ranks);

    size_t size() const { return size_; }
    /// Returns the number at a position. O(log n).
    uint32_t at(size_t position) const;
    /// Returns the `k`-th smallest, from 0, of the numbers from position `first` to before `last`, without those of
    /// `left`, which are among them and sorted. There must be more than `k`. O(log n * log left).
    uint32_t select(size_t first, size_t last, size_t k, std::span<const uint32_t> left = {}) const;

  private:
    /// One bit of each number, in the order in which the levels above sorted them.
    struct Level {
        std::vector<uint64_t> bits;
        std::vector<uint32_t> onesBefore;  ///< Per word.
        uint32_t zeros = 0;

        bool bit(size_t position) const { return (bits[position / 64] >> (position % 64)) & 1; }
        size_t ones(size_t position) const;
    };
    std::vector<Level> levels_;  ///< From the highest bit down.
    size_t size_ = 0;
};

/// Access to single copies, by number.
struct CopyLookup {
    std::function<CopySweep::Piece(uint32_t copy)> piece;
    /// Kernel time of a GPU before a time.
    std::function<int64_t(uint32_t gpu, int64_t timeNs)> kernelNsBefore;
};

/// The copies of one group, with prefix sums per block, so that any range of time is summed without visiting the copies
/// in its middle: sums and unions are differences of the values at the edges, quantiles come from a `RankSequence`. The
/// results are those of a `CopySweep`, to the bit. Some 14 bytes per copy. Immutable; any thread.
class CopyGroupSums {
  public:
    /// `copies` are of one group, by start. O(n log n).
    CopyGroupSums(CopyGroup group, std::vector<uint32_t> copies, size_t gpuCount, const CopyLookup& lookup);

    /// Returns false if sums are too large to be subtracted from each other, or copies not in order.
    bool isUsable() const { return isUsable_; }
    /// Returns nullopt if no copy is in the range. O(log n), and the copies clipped by an edge.
    std::optional<CopyStatistics> sumUp(std::optional<TimeRange> range, const CopyLookup& lookup) const;

  private:
    /// Time in which at least one of some copies runs.
    struct Union {
        int64_t busyNs = 0, untilNs = 0;
        /// Overlapped with kernels: in all, and of the GPU's kernels before `untilNs`.
        int64_t overlappedNs = 0, coveredAtEnd = 0;
        bool isBusy = false;
        void add(const CopySweep::Piece& piece);
    };
    /// State after the first copies, unclipped.
    struct State {
        uint32_t count = 0;
        int64_t unrated = 0, bytes = 0, summedNs = 0, ratedNs = 0, ratedBytes = 0;
        Union all;
        std::vector<Union> gpus;
        void add(const CopySweep::Piece& piece);
    };
    struct Block {
        State before;
        int64_t startNs = 0;      ///< Start of its first copy.
        int64_t latestEndNs = 0;  ///< Latest end of its own copies.
    };
    /// A copy that is clipped by an edge.
    struct ClippedCopy {
        uint32_t index;  ///< Index within the group.
        uint32_t rated;  ///< Number of earlier ones with a rate.
        CopySweep::Piece whole;
    };
    State stateBefore(int64_t timeNs, const CopyLookup& lookup) const;
    State stateAtEnd(const CopyLookup& lookup) const;
    /// Returns the copies from number `from` to before `to` that end after `timeNs`.
    std::vector<ClippedCopy> endingAfter(int64_t timeNs, uint32_t from, uint32_t to, const CopyLookup& lookup) const;
    CopyRates ratesOfRange(size_t first, size_t last, std::vector<uint32_t> left, std::vector<double> added,
                           const CopyLookup& lookup) const;

    CopyGroup group_;
    size_t gpuCount_;
    std::vector<uint32_t> copies_;
    std::vector<Block> blocks_;
    RankSequence ranks_;                ///< Ranks of the copies with a rate, by start.
    std::vector<uint32_t> copyOfRank_;  ///< From the slowest.
    bool isUsable_ = true;
};

/// Returns the part of a copy in a range; `isClipped` if that is not all of it. Kernel times stay
/// those of the whole copy.
CopySweep::Piece clippedTo(const TimeRange& range, CopySweep::Piece piece);

}  // namespace lanescope
