// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/bandwidth/LinkUse.h"
#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/trace/EventRef.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Level of detail by which copies are grouped; each level includes the ones before it.
enum class CopyGrouping : uint8_t {
    Kind,    ///< HtoD, DtoD, memset; PtoP by the two GPUs.
    Memory,  ///< Also by the kinds of memory at both ends.
    Device,  ///< Also by the GPU.
    Size,    ///< As `Memory`, also by size.
};

inline constexpr size_t copyGroupingCount = 4;

/// Size buckets of copies, each four times the previous: below 4 KiB, 4 to 16 KiB ... 256 MiB to 1 GiB, 1 GiB and more.
inline constexpr int sizeBucketCount = 11;
inline constexpr int anySize = -1;
int sizeBucketOf(int64_t bytes);
/// Returns the smallest size in the bucket, and the first that is too large (0 for the last bucket).
int64_t sizeBucketStart(int bucket);
int64_t sizeBucketEnd(int bucket);
/// "< 4 KiB", "4 to 16 KiB", "1 GiB and more".
std::string sizeBucketName(int bucket);

/// Common properties of the copies of a row.
struct CopyGroup {
    bool isMemset = false;
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    /// Indices into `Trace::gpus`; `noIndex` if not distinguished. Equal except for a copy between GPUs.
    uint32_t gpu = noIndex, peer = noIndex;
    int sizeBucket = anySize;
    auto operator<=>(const CopyGroup&) const = default;

    /// "HtoD", "PtoP", "memset".
    std::string_view kindName() const;
    /// Returns the search text for such copies: "memcpy HtoD", "memset".
    std::string searchName() const;
};

/// Returns the kind of host memory of a copy from or to a GPU.
MemoryKind hostSideOf(const CopyGroup& group);

/// Rates of single copies, in GB/s (10^9 bytes per second).
struct CopyRates {
    double minimum = 0, p10 = 0, median = 0, p90 = 0, maximum = 0;
};

/// Returns the rates of single copies; reorders `values`. All 0 for none. O(n): quantiles are selected, not sorted.
CopyRates ratesOf(std::vector<double>& values);

/// Number, bytes and rate of copies. A copy clipped by a selected range counts in part: bytes in proportion to time.
struct CopyStatistics {
    CopyGroup group;
    int64_t count = 0;
    int64_t bytes = 0;
    int64_t busyNs = 0;                   ///< Time in which at least one of them ran, on any GPU.
    int64_t summedNs = 0;                 ///< Sum of their durations, including overlaps.
    int64_t gpuBusyNs = 0;                ///< As `busyNs`, but per GPU, summed over the GPUs.
    int64_t overlappedNs = 0;             ///< Part of `gpuBusyNs` overlapped with a kernel on the same GPU.
    int64_t unratedCount = 0;             ///< Copies without bytes or time: in the counts, not in the rates.
    int64_t ratedBytes = 0;               ///< Bytes of the others.
    int64_t ratedNs = 0;                  ///< Summed durations of the others.
    int64_t clippedCount = 0;             ///< Clipped by an edge of the range.
    std::optional<CopyRates> rates = {};  ///< Nullopt if no copy has a rate.
    std::optional<CopyPeak> peak = {};    ///< Nullopt if unknown, or not the same for all GPUs.

    /// Returns `bytes`; nullopt if that is 0 only because none of their sizes is known.
    std::optional<int64_t> knownBytes() const;
    /// Returns bytes over summed time: the mean of the rates weighted by bytes. Nullopt without a rate.
    std::optional<double> meanGBps() const;
    /// Returns mean over peak, in percent; nullopt if one is unknown.
    std::optional<double> peakPercent() const;
    /// Returns why the mean is above the peak, as is possible for small copies; empty if it is not.
    std::string_view whyBeyondPeak() const;
    /// Returns the overlapped share of the busy time, in percent; nullopt for no time.
    std::optional<double> overlappedPercent() const;
};

/// Facts of a single copy, except its place and size.
struct TalliedCopy {
    EventRef event;
    TimeRange when;            ///< The whole copy.
    int64_t partNs = 0;        ///< Its time within the examined range.
    int64_t bytes = 0;         ///< The whole copy.
    uint32_t callNs = 0;       ///< Duration of the launching call; 0 if unknown.
    bool holdsCaller = false;  ///< That call returned after the copy had ended.
};

/// Sums over copies of one kind, from which advice follows.
struct CopyTally {
    int64_t count = 0;
    int64_t tinyCount = 0, tinyGpuNs = 0, tinyCallNs = 0;
    /// Calls that returned after their copies: their waits for earlier work.
    int64_t holdingCount = 0, holdingCallNs = 0, longestHoldNs = 0;
    int64_t slowestPageableNs = 0, longestNs = 0;
    int64_t pinnedBytes = 0, pinnedNs = 0;  ///< Pinned copies large enough to be fast.
    EventRef tinyExample, holdingExample, slowestPageable, longest;

    /// `group` is that of the copy, always of the same kind.
    void add(const CopyGroup& group, const TalliedCopy& copy);
    /// Adds those of copies that began later.
    void append(const CopyTally& later);
};

/// By `MemcpyKind`.
using CopyTallies = std::array<CopyTally, memcpyKindCount>;

/// Returns the bytes in `partNs` of a copy of `wholeNs`, which is above 0; rounded to the nearest.
int64_t partOfBytes(int64_t bytes, int64_t partNs, int64_t wholeNs);

/// Returns the reference peak of a group of copies. If it distinguishes no GPUs, a peak that all of them have.
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

/// Returns the part of a copy in a range; `isClipped` if that is not all of it. Kernel times stay those of all of it.
CopySweep::Piece clippedTo(const TimeRange& range, CopySweep::Piece piece);

}  // namespace lanescope
