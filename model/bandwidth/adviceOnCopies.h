// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/bandwidth/BandwidthAdvice.h"
#include "model/bandwidth/CopyStatistics.h"
#include "model/bandwidth/CopyTally.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Says what could be better about copies. What is worth less than a small share of the time looked
/// at is not said.
class CopyAdviser {
  public:
    /// `range` is the time that gains are compared with, `kernelNs` how long each GPU ran kernels
    /// in it, by index into `Trace::gpus`.
    CopyAdviser(const Trace& trace, TimeRange range, std::vector<int64_t> kernelNs)
        : trace_(trace), range_(range), kernelNs_(std::move(kernelNs)) {}

    /// `rows` are the statistics of the same copies as `CopyGrouping::Device`. Greatest gain first.
    std::vector<BandwidthAdvice> advise(const CopyTallies& tallies,
                                        const std::vector<CopyStatistics>& rows);

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

}  // namespace lanescope
