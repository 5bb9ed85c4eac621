// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "model/bandwidth/BandwidthAdvice.h"
#include "model/bandwidth/CopyGroupSums.h"
#include "model/bandwidth/CopyStatistics.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// One copy for a chart: where it stands, how large and how fast it was.
struct CopyPoint {
    EventRef event;
    int64_t startNs = 0;
    int64_t endNs = 0;
    int64_t bytes = 0;
    uint32_t group = 0;  ///< Into the groups asked for.
    double gigabytesPerSecond = 0;
};

/// The memcpys and memsets of a trace, made ready to be summed up for any range of time, again and
/// again, while a user drags. Immutable; any thread.
class CopyIndex {
  public:
    /// Of this many copies on the sums of ranges are kept ready.
    static constexpr uint32_t fewestForSums = 20'000;
    /// O(n log n) in copies and kernels.
    explicit CopyIndex(TracePtr trace, uint32_t fewestCopiesForSums = fewestForSums);

    const Trace& trace() const { return *trace_; }
    uint32_t size() const { return static_cast<uint32_t>(classOf_.size()); }

    struct Query {
        CopyGrouping grouping = CopyGrouping::Memory;
        std::optional<TimeRange> range;  ///< The whole trace if not given.
        uint32_t process = noIndex;      ///< Only of this process.
    };
    /// A row for each group that did something, most bytes first. O(k + log n) for the k copies in
    /// the range. Of all processes of a trace with many copies O(groups * log n), but for the first
    /// time that a grouping is asked for a range, which takes O(n log n).
    std::vector<CopyStatistics> statistics(const Query& query) const;
    /// What could be better, the greatest gain first. As `statistics`, and a look at each of some
    /// hundred copies together.
    std::vector<BandwidthAdvice> advice(std::optional<TimeRange> range = std::nullopt) const;
    /// Calls `visit` with the copies that have a rate and touch the range, uncut, some at a time:
    /// the memcpys by start, then the memsets. `groups` are filled before, in the order in which
    /// `CopyPoint::group` counts. O(k + log n).
    void visitRated(const Query& query, std::vector<CopyGroup>& groups,
                    const std::function<void(std::span<const CopyPoint>)>& visit) const;

  private:
    /// Copies that no grouping ever tells apart.
    struct CopyClass {
        CopyGroup group;  ///< As `CopyGrouping::Device`.
        uint32_t process = noIndex;
        uint32_t streamGpu = noIndex;  ///< That does the copy.
        auto operator<=>(const CopyClass&) const = default;
    };
    /// Kernels of one GPU without overlaps, with the time that they cover up to each.
    struct KernelTime {
        std::vector<int64_t> startNs, endNs, coveredNs;
        int64_t before(int64_t timeNs) const;
    };
    struct Row {
        int64_t startNs, endNs, bytes;
    };
    /// The sums of one grouping, made when they are first wanted.
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
    /// Null where the copies themselves have to be summed up.
    const std::vector<CopyGroupSums>* sumsFor(const Query& query) const;
    std::vector<CopyGroupSums> makeSums(CopyGrouping grouping) const;
    std::vector<CopyStatistics> sweep(const Query& query) const;
    template <class Visit>
    void forEachIn(const Query& query, Visit visit) const;
    /// The rows of a table from the first that may reach into the range to before the first behind.
    template <class Table>
    std::pair<uint32_t, uint32_t> rowsIn(const Table& table, std::optional<TimeRange> range,
                                         int64_t longestNs) const;
    /// Those of these rows that touch the range.
    template <class Table, class Visit>
    void forEachRow(const Table& table, std::pair<uint32_t, uint32_t> rows,
                    std::optional<TimeRange> range, Visit visit) const;
    TalliedCopy talliedAt(uint32_t memcpy, const Row& row) const;
    void addTallies();
    CopyTallies talliesIn(TimeRange range) const;

    TracePtr trace_;
    uint32_t memcpyCount_ = 0;  ///< Memsets come after the memcpys.
    std::vector<CopyClass> classes_;
    std::vector<KernelTime> kernels_;                     ///< By GPU.
    std::vector<uint16_t> classOf_;                       ///< Of each copy.
    std::vector<int64_t> coveredAtStart_, coveredAtEnd_;  ///< `KernelTime::before`.
    std::vector<uint32_t> callNs_;        ///< Of the call that launched it; saturated.
    std::vector<bool> holdsCaller_;       ///< The call returned after the copy had ended.
    std::array<int64_t, 2> longestNs_{};  ///< Of memcpys and of memsets.
    /// Of each so many memcpys what they tell together, and when the last of them ends.
    struct TallyBlock {
        int64_t latestEndNs = 0;
        std::vector<std::pair<MemcpyKind, CopyTally>> tallies;
    };
    std::vector<TallyBlock> tallyBlocks_;
    uint32_t fewestForSums_;
    mutable std::array<Sums, copyGroupingCount> sums_;
};

}  // namespace lanescope
