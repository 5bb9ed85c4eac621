// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/bandwidth/BandwidthAdvice.h"
#include "model/bandwidth/CopyStatistics.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

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
    template <class Table>
    void addTable(const Table& table, EventKind kind);
    CopyClass classAt(EventKind kind, uint32_t row) const;
    Row rowAt(uint32_t copy) const;
    EventRef eventAt(uint32_t copy) const;
    std::vector<CopyGroup> groupsOf(const Query& query, std::vector<uint32_t>& groupOfClass) const;
    CopySweep::Piece pieceOf(uint32_t copy) const;
    CopyLookup lookup() const;
    /// Null if the copies themselves have to be summed.
    const std::vector<CopyGroupSums>* sumsFor(const Query& query) const;
    std::vector<CopyGroupSums> makeSums(CopyGrouping grouping) const;
    std::vector<CopyStatistics> sweep(const Query& query) const;
    template <class Visit>
    void forEachIn(const Query& query, Visit visit) const;
    /// Returns the rows of a table from the first that may reach into the range to before the first after it.
    template <class Table>
    std::pair<uint32_t, uint32_t> rowsIn(const Table& table, std::optional<TimeRange> range, int64_t longestNs) const;
    /// Visits those of these rows that touch the range.
    template <class Table, class Visit>
    void forEachRow(const Table& table, std::pair<uint32_t, uint32_t> rows, std::optional<TimeRange> range,
                    Visit visit) const;
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
        std::vector<std::pair<MemcpyKind, CopyTally>> tallies;
    };
    std::vector<TallyBlock> tallyBlocks_;
    uint32_t minCopiesForSums_;
    mutable std::array<Sums, copyGroupingCount> sums_;
};

}  // namespace lanescope
