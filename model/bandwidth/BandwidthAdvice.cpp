// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/BandwidthAdvice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

constexpr int64_t manyCopies = 1000;
/// Minimum gains that are reported, as shares of the examined time.
constexpr double minPinningGain = 0.002, minBatchingGain = 0.005, minOverlappingGain = 0.02, minNotWaitingGain = 0.01,
                 minOtherLinkGain = 0.002;
constexpr double wellOverlappedPercent = 50;

/// A sum over GPUs.
struct Sum {
    int64_t bytes = 0, ratedBytes = 0, ratedNs = 0, gpuBusyNs = 0, overlappedNs = 0;

    void add(const CopyStatistics& row) {
        bytes = saturatingSum(bytes, row.bytes);
        ratedBytes = saturatingSum(ratedBytes, row.ratedBytes);
        ratedNs = saturatingSum(ratedNs, row.ratedNs);
        gpuBusyNs = saturatingSum(gpuBusyNs, row.gpuBusyNs);
        overlappedNs = saturatingSum(overlappedNs, row.overlappedNs);
    }
    double gigabytesPerSecond() const {
        return ratedNs > 0 ? static_cast<double>(ratedBytes) / static_cast<double>(ratedNs) : 0;
    }
};

size_t slotOf(MemcpyKind kind) { return static_cast<size_t>(kind); }

/// "9.6", "55", "0.42".
std::string rate(double gigabytesPerSecond) { return fmt::format("{:.3g}", gigabytesPerSecond); }

}  // namespace

bool CopyAdviser::isWorthIt(int64_t gainNs, double share) const {
    return gainNs > 0 && static_cast<double>(gainNs) >= share * static_cast<double>(range_.durationNs());
}

void CopyAdviser::advisePinning(MemcpyKind kind, const std::vector<CopyStatistics>& rows) {
    Sum all, pageable;
    std::optional<CopyPeak> peak;
    for (const CopyStatistics& row : rows) {
        if (row.group.isMemset || row.group.kind != kind) continue;
        all.add(row);
        if (hostSideOf(row.group) != MemoryKind::Pageable) continue;
        pageable.add(row);
        if (!peak) peak = peakOfCopy(trace_, kind, MemoryKind::Pinned, trace_.gpus[row.group.gpu].id);
    }
    if (pageable.ratedNs == 0 || all.bytes <= 0) return;
    const CopyTally& tally = tallies_[slotOf(kind)];
    double reachable = 0;
    std::string reaches;
    if (peak && peak->link == LinkKind::HostCopy) {
        reachable = peak->gigabytesPerSecond;
        reaches = fmt::format("pinned reaches {} (measured)", rate(reachable));
    } else if (tally.pinnedNs > 0) {
        reachable = static_cast<double>(tally.pinnedBytes) / static_cast<double>(tally.pinnedNs);
        reaches = fmt::format("pinned copies of this run reach {}", rate(reachable));
    } else if (peak) {
        reachable = peak->gigabytesPerSecond;
        reaches = fmt::format("pinned can reach up to {} (nominal)", rate(reachable));
    }
    const double actual = pageable.gigabytesPerSecond();
    if (reachable <= actual) return;
    const auto gainNs = static_cast<int64_t>(static_cast<double>(pageable.gpuBusyNs) * (1 - actual / reachable));
    if (!isWorthIt(gainNs, minPinningGain)) return;
    const double share = 100 * static_cast<double>(pageable.bytes) / static_cast<double>(all.bytes);
    advice_.push_back(
        {AdviceKind::PageableMemory,
         fmt::format("{:.0f} % of {} bytes were pageable at {} GB/s; {}. Pinning could save about {} of {} of the run.",
                     share, name(kind), rate(actual), reaches, formatDuration(gainNs),
                     formatDuration(range_.durationNs())),
         gainNs, tally.slowestPageable});
}

void CopyAdviser::adviseBatching(MemcpyKind kind) {
    const CopyTally& tally = tallies_[slotOf(kind)];
    const int64_t gainNs = std::max(tally.tinyCallNs, tally.tinyGpuNs);
    if (tally.tinyCount < manyCopies || !isWorthIt(gainNs, minBatchingGain)) return;
    const std::string where = tally.tinyCallNs > tally.tinyGpuNs
                                  ? fmt::format("{} in the calls, {} on the GPU", formatDuration(tally.tinyCallNs),
                                                formatDuration(tally.tinyGpuNs))
                                  : fmt::format("{} on the GPU", formatDuration(tally.tinyGpuNs));
    advice_.push_back({AdviceKind::TinyCopies,
                       fmt::format("{} {} copies under 4 KiB: {}. Their cost is latency. Batch them.",
                                   formatCount(tally.tinyCount), name(kind), where),
                       gainNs, tally.tinyExample});
}

void CopyAdviser::adviseOverlap(MemcpyKind kind, const std::vector<CopyStatistics>& rows) {
    Sum sum;
    bool isPageable = false;
    std::map<uint32_t, Sum> byGpu;
    for (const CopyStatistics& row : rows) {
        if (row.group.isMemset || row.group.kind != kind) continue;
        sum.add(row);
        isPageable = isPageable || hostSideOf(row.group) == MemoryKind::Pageable;
        byGpu[row.group.gpu].add(row);
    }
    // Copies overlap only with kernels of their GPU, and with none twice.
    int64_t gainNs = 0;
    for (const auto& [gpu, of] : byGpu) {
        const int64_t kernelNs = gpu < kernelNs_.size() ? kernelNs_[gpu] : 0;
        gainNs +=
            std::clamp<int64_t>(of.gpuBusyNs - of.overlappedNs, 0, std::max<int64_t>(0, kernelNs - of.overlappedNs));
    }
    if (sum.gpuBusyNs <= 0 || !isWorthIt(gainNs, minOverlappingGain)) return;
    const double percent = 100 * static_cast<double>(sum.overlappedNs) / static_cast<double>(sum.gpuBusyNs);
    if (percent >= wellOverlappedPercent) return;
    const std::string overlapText = percent < 0.5 ? "none" : fmt::format("only {:.0f} %", percent);
    advice_.push_back({AdviceKind::NotOverlapped,
                       fmt::format("{} copies took {}, {} of it overlapped with kernels of the same GPU: on a separate "
                                   "stream{}, up to {} could be overlapped.",
                                   name(kind), formatDuration(sum.gpuBusyNs), overlapText,
                                   isPageable ? ", and with pinned memory" : "", formatDuration(gainNs)),
                       gainNs, tallies_[slotOf(kind)].longest});
}

void CopyAdviser::adviseNotWaiting() {
    const CopyTally& tally = tallies_[slotOf(MemcpyKind::DtoH)];
    if (!isWorthIt(tally.holdingCallNs, minNotWaitingGain)) return;
    advice_.push_back(
        {AdviceKind::BlockingCopies,
         fmt::format(
             "{} DtoH copies blocked their threads for {}, waiting for earlier work: read results later or less often.",
             formatCount(tally.holdingCount), formatDuration(tally.holdingCallNs)),
         tally.holdingCallNs, tally.holdingExample});
}

void CopyAdviser::adviseOnPeers(const std::vector<CopyStatistics>& rows) {
    for (const CopyStatistics& row : rows) {
        if (row.group.kind != MemcpyKind::PtoP || row.group.gpu == row.group.peer) continue;
        const int64_t gpu = trace_.gpus[row.group.gpu].id;
        const int64_t peer = trace_.gpus[row.group.peer].id;
        const GpuConnection* const connection = connectionOf(trace_, gpu, peer);
        const std::optional<double> mean = row.meanGBps();
        if (!connection || connection->nvlinks > 0 || !mean || !isWorthIt(row.gpuBusyNs, minOtherLinkGain)) continue;
        const std::string word = connection->abbreviation.empty() ? connection->name : connection->abbreviation;
        advice_.push_back(
            {AdviceKind::PeerOverPcie,
             fmt::format("{} were copied from GPU {} to GPU {} at {} GB/s in {}: no NVLink connects them ({}).",
                         formatBytes(row.bytes), gpu, peer, rate(*mean), formatDuration(row.gpuBusyNs),
                         word.empty() ? "PCIe" : word),
             row.gpuBusyNs, tallies_[slotOf(MemcpyKind::PtoP)].longest});
    }
}

std::vector<BandwidthAdvice> CopyAdviser::advise(const CopyTallies& tallies, const std::vector<CopyStatistics>& rows) {
    tallies_ = tallies;
    advisePinning(MemcpyKind::HtoD, rows);
    advisePinning(MemcpyKind::DtoH, rows);
    for (const MemcpyKind kind : {MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::DtoD, MemcpyKind::PtoP})
        adviseBatching(kind);
    for (const MemcpyKind kind : {MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::PtoP}) adviseOverlap(kind, rows);
    adviseNotWaiting();
    adviseOnPeers(rows);
    std::ranges::stable_sort(advice_, std::ranges::greater(), [](const auto& each) { return each.gainNs; });
    return std::move(advice_);
}

}  // namespace lanescope
