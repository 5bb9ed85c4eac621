// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/LinkUse.h"

#include <algorithm>
#include <map>

#include "model/bandwidth/CopySweep.h"
#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

/// Smaller copies give little evidence about the link.
constexpr int64_t largeBytes = 1 << 20;

/// Sums of a pair while its copies are added, by start.
struct Growing {
    LinkUse use;
    int64_t busyUntilNs = 0;
    bool isBusy = false;
    int64_t maxBytes = -1;
    double minGBps = 0;

    void add(TimeRange when) {
        const int64_t fromNs = isBusy ? std::max(when.startNs, busyUntilNs) : when.startNs;
        use.copyBusyNs += std::max<int64_t>(0, when.endNs - fromNs);
        busyUntilNs = isBusy ? std::max(busyUntilNs, when.endNs) : when.endNs;
        isBusy = true;
    }

    /// The whole copy, even if a range clips it.
    void consider(EventRef event, int64_t bytes, int64_t wholeNs) {
        if (bytes > maxBytes) {
            maxBytes = bytes;
            use.largest = event;
        }
        if (bytes < largeBytes || wholeNs <= 0) return;
        const double rate = static_cast<double>(bytes) / static_cast<double>(wholeNs);
        use.bestCopyGBps = std::max(use.bestCopyGBps, rate);
        if (use.slowest.isValid() && rate >= minGBps) return;
        minGBps = rate;
        use.slowest = event;
    }
};

int64_t gpuIdOf(const Trace& trace, int16_t gpu) {
    const bool isKnown = gpu >= 0 && static_cast<size_t>(gpu) < trace.gpus.size();
    return isKnown ? trace.gpus[static_cast<size_t>(gpu)].id : noGpuId;
}

}  // namespace

std::optional<double> LinkUse::meanGBps() const {
    if (copyBusyNs <= 0 || copyBytes <= 0) return std::nullopt;
    return static_cast<double>(copyBytes) / static_cast<double>(copyBusyNs);
}

std::optional<double> LinkUse::peakPercent() const {
    const std::optional<double> mean = meanGBps();
    if (!mean || !peak) return std::nullopt;
    return 100 * *mean / peak->gigabytesPerSecond;
}

std::vector<LinkUse> linkUse(const Trace& trace, std::optional<TimeRange> range) {
    std::map<std::pair<int64_t, int64_t>, Growing> pairs;
    for (const GpuConnection& connection : trace.interconnect.connections)
        pairs[{connection.gpu, connection.peer}].use.connection = &connection;
    const MemcpyTable& copies = trace.memcpys;
    for (uint32_t row = 0; row < copies.size(); ++row) {
        if (copies.kind[row] != MemcpyKind::PtoP) continue;
        const int64_t gpu = gpuIdOf(trace, copies.sourceDevice[row]);
        const int64_t peer = gpuIdOf(trace, copies.destinationDevice[row]);
        if (gpu == noGpuId || peer == noGpuId || gpu == peer) continue;
        const TimeRange whole{copies.startNs[row], copies.endNs[row]};
        const TimeRange when = range ? whole.intersected(*range) : whole;
        if (range && when.isEmpty()) continue;
        Growing& pair = pairs[{gpu, peer}];
        ++pair.use.copyCount;
        pair.consider(EventRef(EventKind::Memcpy, row), copies.bytes[row], whole.durationNs());
        if (whole.isEmpty()) {
            pair.use.copyBytes = saturatingSum(pair.use.copyBytes, copies.bytes[row]);
            continue;
        }
        const int64_t bytes = partOfBytes(copies.bytes[row], when.durationNs(), whole.durationNs());
        pair.use.copyBytes = saturatingSum(pair.use.copyBytes, bytes);
        pair.add(when);
    }
    std::vector<LinkUse> uses;
    for (auto& [key, pair] : pairs) {
        pair.use.gpu = key.first;
        pair.use.peer = key.second;
        pair.use.peak = peakOfCopy(trace, MemcpyKind::PtoP, MemoryKind::Unknown, key.first, key.second);
        uses.push_back(pair.use);
    }
    return uses;
}

}  // namespace lanescope
