// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/bandwidth/CopyStatistics.h"
#include "model/format/TimeRange.h"
#include "model/trace/EventRef.h"
#include "model/trace/Trace.h"

namespace lanescope {

enum class AdviceKind : uint8_t {
    PageableMemory,  ///< Pinned host memory would be faster.
    TinyCopies,      ///< So small that launching them is their whole cost.
    PeerOverPcie,    ///< Copies between GPUs without NVLink.
    NotOverlapped,   ///< Copies while the GPU computes nothing.
    BlockingCopies,  ///< Copies whose call waits until they have ended.
};

/// A possible improvement of copies, with its maximum gain.
struct BandwidthAdvice {
    AdviceKind kind = AdviceKind::PageableMemory;
    std::string sentence;  ///< Text for the user, with the figures.
    int64_t gainNs = 0;    ///< Upper bound; never more than the time of the copies.
    EventRef example;      ///< The most significant copy.
};

/// Finds possible improvements of copies. Gains below a small share of the examined time are omitted.
class CopyAdviser {
  public:
    /// `range` is the time that gains are compared with, `kernelNs` the kernel time in it by index into `Trace::gpus`.
    CopyAdviser(const Trace& trace, TimeRange range, std::vector<int64_t> kernelNs)
        : trace_(trace), range_(range), kernelNs_(std::move(kernelNs)) {}

    /// Returns advice, largest gain first. `rows` are the statistics of the same copies by `CopyGrouping::Device`.
    std::vector<BandwidthAdvice> advise(const CopyTallies& tallies, const std::vector<CopyStatistics>& rows);

  private:
    void advisePinning(MemcpyKind kind, const std::vector<CopyStatistics>& rows);
    void adviseBatching(MemcpyKind kind);
    void adviseOverlap(MemcpyKind kind, const std::vector<CopyStatistics>& rows);
    void adviseNotWaiting();
    void adviseOnPeers(const std::vector<CopyStatistics>& rows);
    bool isWorthIt(int64_t gainNs, double share) const;

    const Trace& trace_;
    TimeRange range_;
    std::vector<int64_t> kernelNs_;
    CopyTallies tallies_{};
    std::vector<BandwidthAdvice> advice_;
};

/// One copy in a chart: position, size and rate.
struct CopyPoint {
    EventRef event;
    int64_t startNs = 0;
    int64_t endNs = 0;
    int64_t bytes = 0;
    uint32_t group = 0;  ///< Index into the requested groups.
    double gigabytesPerSecond = 0;
};

/// The memcpys and memsets of a trace, prepared for sums over any range of time. Immutable; any thread.
class CopyIndex {
  public:
    /// Minimum number of copies for which sums of ranges are kept.
    static constexpr uint32_t minCopiesForSums = 20'000;
    /// O(n log n) in copies and kernels.
    explicit CopyIndex(TracePtr trace, uint32_t minCopies = minCopiesForSums);

    const Trace& trace() const { return *trace_; }
    uint32_t size() const { return static_cast<uint32_t>(classOf_.size()); }

    struct Query {
        CopyGrouping grouping = CopyGrouping::Memory;
        std::optional<TimeRange> range;  ///< Nullopt for the whole trace.
        uint32_t process = noIndex;      ///< Only of this process.
    };
    /// Returns a row for each active group, most bytes first. O(k + log n) for k copies in the range. For all processes
    /// of a trace with many copies O(groups * log n), except for a grouping's first query of a range: O(n log n).
    std::vector<CopyStatistics> statistics(const Query& query) const;
    /// Returns possible improvements, largest gain first. Costs as `statistics`, plus a visit per some hundred copies.
    std::vector<BandwidthAdvice> advice(std::optional<TimeRange> range = std::nullopt) const;
    /// Calls `visit` with the copies that have a rate and touch the range, unclipped, in batches: the memcpys by start,
    /// then the memsets. `groups` is filled before, in the order of `CopyPoint::group`. O(k + log n).
    void visitRated(const Query& query, std::vector<CopyGroup>& groups,
                    const std::function<void(std::span<const CopyPoint>)>& visit) const;

  private:
    /// Copies that no grouping ever distinguishes.
    struct CopyClass {
        CopyGroup group;  ///< As `CopyGrouping::Device`.
        uint32_t process = noIndex;
        uint32_t streamGpu = noIndex;  ///< GPU that does the copy.
        auto operator<=>(const CopyClass&) const = default;
    };
    /// Kernels of one GPU without overlaps, with the covered time up to each.
    struct KernelTime {
        std::vector<int64_t> startNs, endNs, coveredNs;
        int64_t before(int64_t timeNs) const;
    };
    struct Row {
        int64_t startNs, endNs, bytes;
    };
    /// The sums of one grouping, made on first use.
    struct Sums {
        std::once_flag once;
        std::atomic<bool> isMade = false;
        std::vector<CopyGroupSums> groups;
    };

    void addKernels();
    void addTable(const auto& table, EventKind kind);
    CopyClass classAt(EventKind kind, uint32_t row) const;
    Row rowAt(uint32_t copy) const;
    EventRef eventAt(uint32_t copy) const;
    std::vector<CopyGroup> groupsOf(const Query& query, std::vector<uint32_t>& groupOfClass) const;
    CopySweep::Piece pieceOf(uint32_t copy, const Row& row) const;
    CopyLookup lookup() const;
    /// Null if the copies themselves have to be summed.
    const std::vector<CopyGroupSums>* sumsFor(const Query& query) const;
    std::vector<CopyGroupSums> makeSums(CopyGrouping grouping) const;
    std::vector<CopyStatistics> sweep(const Query& query) const;
    void forEachIn(const Query& query, auto visit) const;
    /// Returns the rows of a table from the first that may reach into the range to before the first after it.
    std::pair<uint32_t, uint32_t> rowsIn(const auto& table, std::optional<TimeRange> range, int64_t longestNs) const;
    /// Visits those of these rows that touch the range.
    void forEachRow(const auto& table, std::pair<uint32_t, uint32_t> rows, std::optional<TimeRange> range,
                    auto visit) const;
    TalliedCopy talliedAt(uint32_t memcpy, const Row& row) const;
    void addTallies();
    CopyTallies talliesIn(TimeRange range) const;

    TracePtr trace_;
    uint32_t memcpyCount_ = 0;  ///< Memsets come after the memcpys.
    std::vector<CopyClass> classes_;
    std::vector<KernelTime> kernels_;                     ///< Sorted by GPU.
    std::vector<uint16_t> classOf_;                       ///< Class of each copy.
    std::vector<int64_t> coveredAtStart_, coveredAtEnd_;  ///< `KernelTime::before`.
    std::vector<uint32_t> callNs_;                        ///< Duration of the launching call; saturated.
    std::vector<bool> holdsCaller_;                       ///< The call returned after the copy had ended.
    std::array<int64_t, 2> longestNs_{};                  ///< For memcpys and for memsets.
    /// Tallies of a block of memcpys, and the end of the last of them.
    struct TallyBlock {
        int64_t latestEndNs = 0;
        std::vector<std::pair<MemcpyKind, CopyTally>> tallies = {};
    };
    std::vector<TallyBlock> tallyBlocks_;
    uint32_t minCopiesForSums_;
    mutable std::array<Sums, copyGroupingCount> sums_;
};

/// Horizontal axis of a chart of copies.
enum class CopyAxis : uint8_t { Time, Size };

/// Resolution of a chart.
struct CopyGrid {
    CopyAxis across = CopyAxis::Time;
    int columns = 300;
    int rows = 100;
};

/// The copies of one group in one place of a chart.
struct CopyCell {
    CopyPoint largest;  ///< The one with the most bytes, the first of several.
    int64_t count = 0;
};

/// From the slowest to the fastest copy. Rates that differ by a large factor need a logarithmic scale.
struct RateExtent {
    double minGBps = 0, maxGBps = 0;  ///< Both 0 if there is no copy with a rate.
    bool isEmpty() const { return maxGBps <= 0; }
    bool isLogarithmic() const;
};

struct CopyCells {
    std::vector<CopyGroup> groups;     ///< Indexed by `CopyPoint::group`.
    std::vector<CopyCell> cells = {};  ///< By group, then from left to right.
    RateExtent rates;
    int64_t minBytes = 0, maxBytes = 0;
    int64_t copyCount = 0;  ///< Number of copies with a rate.
};

/// Returns the copies with a rate, at most one cell for each group and place of the grid. Every copy is in exactly one
/// cell. The time axis is the range of the query, or that of the trace. Sizes and rates are logarithmic, or rates
/// linear if they are close together. O(k + groups * places) for the k copies in the range.
CopyCells copyCells(const CopyIndex& index, const CopyIndex::Query& query, const CopyGrid& grid);

/// The copies of one group with about the same rate.
struct RateBin {
    uint32_t group = 0;
    int bin = 0;
    int64_t count = 0;
    int64_t bytes = 0;
    CopyPoint largest;
};

struct RateHistogram {
    std::vector<CopyGroup> groups = {};
    RateExtent rates;
    int binCount = 0;
    std::vector<RateBin> bins = {};  ///< By bin, then by group; without empty ones.
    /// Returns the rate at the start of a bin; for `binCount` the end of the last.
    double binStart(int bin) const;
};

/// Returns bins of equal width on the scale of `RateExtent`. O(k + groups * bins).
RateHistogram rateHistogram(const CopyIndex& index, const CopyIndex::Query& query, int binCount);

}  // namespace lanescope
