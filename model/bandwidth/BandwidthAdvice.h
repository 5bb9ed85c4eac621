// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/bandwidth/CopyStatistics.h"
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

}  // namespace lanescope
