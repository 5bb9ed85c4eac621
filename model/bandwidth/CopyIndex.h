#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/bandwidth/BandwidthAdvice.h"
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
    /// O(n log n) in copies and kernels.
    explicit CopyIndex(TracePtr trace);

    const Trace& trace() const { return *trace_; }
    uint32_t size() const { return static_cast<uint32_t>(classOf_.size()); }

    struct Query {
        CopyGrouping grouping = CopyGrouping::Memory;
        std::optional<TimeRange> range;  ///< The whole trace if not given.
        uint32_t process = noIndex;      ///< Only of this process.
    };
    /// A row for each group that did something, most bytes first. O(k + log n) for the k copies in
    /// the range.
    std::vector<CopyStatistics> statistics(const Query& query) const;
    /// What could be better, the greatest gain first. O(k + log n).
    std::vector<BandwidthAdvice> advice(std::optional<TimeRange> range = std::nullopt) const;
    /// The copies with a rate, by start, at most `most` of them: of more, every n-th, but of each
    /// group at least some. `groups` are filled in the order in which `CopyPoint::group` counts.
    std::vector<CopyPoint> points(const Query& query, size_t most,
                                  std::vector<CopyGroup>& groups) const;
    /// Calls `visit` with each copy that has a rate and touches the range, uncut: the memcpys by
    /// start, then the memsets. `groups` as in `points`. O(k + log n).
    void visitRated(const Query& query, std::vector<CopyGroup>& groups,
                    const std::function<void(const CopyPoint&)>& visit) const;

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
    class Sweep;

    void addKernels();
    template <class Table>
    void addTable(const Table& table, EventKind kind);
    CopyClass classAt(EventKind kind, uint32_t row) const;
    Row rowAt(uint32_t copy) const;
    EventRef eventAt(uint32_t copy) const;
    uint32_t memcpyCount() const { return memcpyCount_; }
    std::vector<CopyGroup> groupsOf(const Query& query, std::vector<uint32_t>& groupOfClass) const;
    template <class Visit>
    void forEachIn(const Query& query, Visit visit) const;

    TracePtr trace_;
    uint32_t memcpyCount_ = 0;  ///< Memsets come after the memcpys.
    std::vector<CopyClass> classes_;
    std::vector<KernelTime> kernels_;                     ///< By GPU.
    std::vector<uint16_t> classOf_;                       ///< Of each copy.
    std::vector<int64_t> coveredAtStart_, coveredAtEnd_;  ///< `KernelTime::before`.
    std::vector<uint32_t> callNs_;        ///< Of the call that launched it; saturated.
    std::vector<bool> holdsCaller_;       ///< The call returned after the copy had ended.
    std::array<int64_t, 2> longestNs_{};  ///< Of memcpys and of memsets.
};

}  // namespace lanescope
