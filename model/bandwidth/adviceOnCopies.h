#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/bandwidth/BandwidthAdvice.h"
#include "model/bandwidth/CopyStatistics.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Collects what single copies tell, and then says what could be better. What is worth less than a
/// small share of the time looked at is not said.
class CopyAdviser {
  public:
    /// `range` is the time that gains are compared with.
    CopyAdviser(const Trace& trace, TimeRange range) : trace_(trace), range_(range) {}

    /// `callNs` is how long the call that launched the copy took, `holdsCaller` whether it returned
    /// after the copy had ended.
    void add(const CopyGroup& group, EventRef event, TimeRange when, int64_t bytes, uint32_t callNs,
             bool holdsCaller);
    /// `rows` are the statistics of the same copies as `CopyGrouping::Device`. Greatest gain first.
    std::vector<BandwidthAdvice> finish(const std::vector<CopyStatistics>& rows);

  private:
    /// Of the copies of one kind.
    struct Tally {
        int64_t tinyCount = 0, tinyGpuNs = 0, tinyCallNs = 0;
        int64_t holdingCount = 0, holdingCallNs = 0, longestHoldNs = 0;
        int64_t slowestNs = 0;
        EventRef tinyExample, holdingExample, slowestPageable, longest;
        int64_t slowestPageableNs = 0, longestNs = 0;
        int64_t pinnedBytes = 0, pinnedNs = 0;  ///< Of pinned copies large enough to be fast.
    };

    void advisePinning(MemcpyKind kind, const std::vector<CopyStatistics>& rows);
    void adviseBatching(MemcpyKind kind);
    void adviseOverlap(MemcpyKind kind, const std::vector<CopyStatistics>& rows);
    void adviseNotWaiting();
    void adviseOnPeers(const std::vector<CopyStatistics>& rows);
    bool isWorthIt(int64_t gainNs, double share) const;

    const Trace& trace_;
    TimeRange range_;
    std::array<Tally, memcpyKindCount> tallies_{};
    std::vector<BandwidthAdvice> advice_;
};

}  // namespace lanescope
