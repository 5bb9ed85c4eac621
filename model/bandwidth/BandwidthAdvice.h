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
    TinyCopies,      ///< So small that starting them is all they cost.
    PeerOverPcie,    ///< Copies from GPU to GPU that no NVLink carries.
    NotOverlapped,   ///< Copies while the GPU computes nothing.
    BlockingCopies,  ///< Copies whose call waits until they have ended.
};

/// Something about the copies that could be better, with what it may be worth.
struct BandwidthAdvice {
    AdviceKind kind = AdviceKind::PageableMemory;
    std::string sentence;  ///< For the user, with the figures.
    int64_t gainNs = 0;    ///< At most this much time; never more than what they took.
    EventRef example;      ///< The copy that shows it best.
};

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
