// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/LinkUse.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <ranges>

#include "model/bandwidth/CopyStatistics.h"
#include "model/format/factNames.h"
#include "model/numbers/Statistics.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

/// Returns bytes per second of one NVLink and direction, by the GPU's compute capability.
double bytesPerNvlink(int computeMajor) {
    if (computeMajor == 6) return 20e9;
    if (computeMajor >= 7 && computeMajor <= 9) return 25e9;
    if (computeMajor == 10) return 50e9;
    return 0;
}

const Gpu* gpuNumbered(const Trace& trace, int64_t id) {
    const auto found = std::ranges::find_if(trace.gpus, [id](const Gpu& gpu) { return gpu.id == id; });
    return found == trace.gpus.end() ? nullptr : &*found;
}

/// Returns the facts of the GPU of that number; empty if unknown.
GpuFacts factsOf(const Trace& trace, int64_t gpu) {
    for (const GpuFacts& each : trace.gpuFacts)
        if (each.gpu == gpu) return each;
    return {};
}

int toInt(const std::optional<int64_t>& value) {
    return static_cast<int>(std::clamp<int64_t>(value.value_or(0), 0, INT32_MAX));
}

CopyPeak peakFrom(double bytesPerSecond, PeakOrigin origin, LinkKind link) {
    return {bytesPerSecond / 1e9, origin, link};
}

/// Returns the best peak for which `fits` is true: measured ones first.
const LinkPeak* findPeak(const Trace& trace, LinkKind kind, int64_t gpu, auto fits) {
    const LinkPeak* best = nullptr;
    for (const LinkPeak& peak : trace.interconnect.peaks) {
        if (peak.kind != kind || peak.gpu != gpu || !fits(peak)) continue;
        const bool isBetter = best == nullptr || peak.origin > best->origin;
        if (isBetter) best = &peak;
    }
    return best;
}

std::optional<CopyPeak> peakOfHostCopy(const Trace& trace, LinkDirection direction, MemoryKind memory, int64_t gpu) {
    const LinkPeak* const measured = findPeak(trace, LinkKind::HostCopy, gpu, [&](const LinkPeak& peak) {
        return peak.direction == direction && peak.memory == memory;
    });
    if (measured) return peakFrom(static_cast<double>(measured->bytesPerSecond), measured->origin, LinkKind::HostCopy);
    return peakOfPcie(trace, gpu);
}

std::optional<CopyPeak> peakOfMemory(const Trace& trace, int64_t gpu, double accesses) {
    const LinkPeak* const peak = findPeak(trace, LinkKind::Dram, gpu, [](const LinkPeak&) { return true; });
    if (peak) return peakFrom(static_cast<double>(peak->bytesPerSecond) / accesses, peak->origin, LinkKind::Dram);
    const Gpu* const info = gpuNumbered(trace, gpu);
    if (!info || info->memoryBandwidthBytesPerSecond <= 0) return std::nullopt;
    return peakFrom(static_cast<double>(info->memoryBandwidthBytesPerSecond) / accesses, PeakOrigin::Nominal,
                    LinkKind::Dram);
}

}  // namespace

const GpuConnection* connectionOf(const Trace& trace, int64_t gpu, int64_t peer) {
    const auto& connections = trace.interconnect.connections;
    const auto found = std::ranges::find_if(
        connections, [&](const GpuConnection& each) { return each.gpu == gpu && each.peer == peer; });
    return found == connections.end() ? nullptr : &*found;
}

std::optional<CopyPeak> peakOfPcie(const Trace& trace, int64_t gpu) {
    const LinkPeak* const peak =
        findPeak(trace, LinkKind::Pcie, gpu, [](const LinkPeak& each) { return each.peer == noGpuId; });
    if (peak) return peakFrom(static_cast<double>(peak->bytesPerSecond), peak->origin, LinkKind::Pcie);
    const GpuFacts facts = factsOf(trace, gpu);
    const int64_t nominal = pcieBytesPerSecond(toInt(facts.pcieGeneration), toInt(facts.pcieWidth));
    if (nominal <= 0) return std::nullopt;
    return peakFrom(static_cast<double>(nominal), PeakOrigin::Nominal, LinkKind::Pcie);
}

std::optional<CopyPeak> peakOfNvlink(const Trace& trace, int64_t gpu, int64_t peer) {
    const LinkPeak* found = nullptr;
    if (peer != noGpuId)
        found = findPeak(trace, LinkKind::NvLink, gpu, [&](const LinkPeak& each) { return each.peer == peer; });
    const GpuConnection* const connection = peer == noGpuId ? nullptr : connectionOf(trace, gpu, peer);
    const LinkPeak* const whole =
        findPeak(trace, LinkKind::NvLink, gpu, [](const LinkPeak& each) { return each.peer == noGpuId; });
    if (!found && whole) {
        // With direct links a pair has only some of those of the GPU.
        const bool isPart =
            connection && connection->nvlinks > 0 && whole->links > 0 && connection->nvlinks < whole->links;
        const double share = isPart ? static_cast<double>(connection->nvlinks) / whole->links : 1.0;
        return peakFrom(static_cast<double>(whole->bytesPerSecond) * share, whole->origin, LinkKind::NvLink);
    }
    if (found) return peakFrom(static_cast<double>(found->bytesPerSecond), found->origin, LinkKind::NvLink);
    const Gpu* const info = gpuNumbered(trace, gpu);
    const int links = connection ? connection->nvlinks : toInt(factsOf(trace, gpu).nvlinkCount);
    const double nominal = info ? nominalNvlinkBytesPerSecond(info->computeMajor, links) : 0;
    if (nominal <= 0) return std::nullopt;
    return peakFrom(nominal, PeakOrigin::Nominal, LinkKind::NvLink);
}

std::optional<CopyPeak> peakOfCopy(const Trace& trace, MemcpyKind kind, MemoryKind hostMemory, int64_t gpu,
                                   int64_t peer) {
    switch (kind) {
        case MemcpyKind::HtoD:
        case MemcpyKind::HtoA: return peakOfHostCopy(trace, LinkDirection::Receive, hostMemory, gpu);
        case MemcpyKind::DtoH:
        case MemcpyKind::AtoH: return peakOfHostCopy(trace, LinkDirection::Transmit, hostMemory, gpu);
        case MemcpyKind::UvmHtoD:
        case MemcpyKind::UvmDtoH: return peakOfPcie(trace, gpu);
        case MemcpyKind::DtoD:
        case MemcpyKind::AtoA:
        case MemcpyKind::AtoD:
        case MemcpyKind::DtoA: return peakOfMemory(trace, gpu, 2);
        case MemcpyKind::PtoP:
        case MemcpyKind::UvmDtoD: {
            if (peer == noGpuId || peer == gpu) return std::nullopt;
            const GpuConnection* const connection = connectionOf(trace, gpu, peer);
            const bool isConnected = connection && connection->nvlinks > 0;
            if (isConnected) return peakOfNvlink(trace, gpu, peer);
            const LinkPeak* const measured =
                findPeak(trace, LinkKind::Pcie, gpu, [&](const LinkPeak& e) { return e.peer == peer; });
            if (measured)
                return peakFrom(static_cast<double>(measured->bytesPerSecond), measured->origin, LinkKind::Pcie);
            if (const auto peak = peakOfNvlink(trace, gpu, peer)) return peak;
            return connection ? peakOfPcie(trace, gpu) : std::nullopt;
        }
        case MemcpyKind::HtoH:
        case MemcpyKind::Unknown: break;
    }
    return std::nullopt;
}

std::optional<CopyPeak> peakOfMemset(const Trace& trace, int64_t gpu) { return peakOfMemory(trace, gpu, 1); }

double nominalNvlinkBytesPerSecond(int computeMajor, int links) {
    return links > 0 ? bytesPerNvlink(computeMajor) * links : 0;
}

int32_t nvlinksOf(const Trace& trace, int64_t gpu) {
    int32_t links = toInt(factsOf(trace, gpu).nvlinkCount);
    for (const LinkPeak& peak : trace.interconnect.peaks)
        if (peak.kind == LinkKind::NvLink && peak.gpu == gpu) links = std::max(links, peak.links);
    for (const GpuConnection& each : trace.interconnect.connections)
        if (each.gpu == gpu) links = std::max(links, each.nvlinks);
    return links;
}

bool isMigDevice(const Gpu& gpu) { return isMigUuid(gpu.uuid) || isMigName(gpu.name); }

std::string_view name(PeakOrigin origin) { return origin == PeakOrigin::Measured ? "measured" : "nominal"; }

namespace {

/// A reading that is later than this, or than this part of its range, does not belong to the end of the range: the
/// sampler or the machine was late.
constexpr int64_t maxDelayNs = 10'000'000, maxDelayDivisor = 50;

/// Returns the time of the counter's reading for `readingNs`: the nearest of the values within the reading. A reading
/// without a change has no sample of its own, and any time in it is equally good.
std::optional<int64_t> timeOfReading(const CounterSeries& series, int64_t readingNs, TimeRange reading) {
    if (reading.isEmpty() || series.isEmpty()) return std::nullopt;
    // The last value ends the series, and may have no sample there.
    const auto timeOf = [&](uint32_t sample) {
        return sample < series.size() ? series.timeNs(sample) : series.endNs();
    };
    const auto firstFrom = [&](int64_t timeNs) {
        return *std::ranges::partition_point(std::views::iota(0U, series.size()),
                                             [&](uint32_t sample) { return series.timeNs(sample) < timeNs; });
    };
    const uint32_t next = firstFrom(readingNs);
    std::optional<int64_t> bestNs;
    for (const uint32_t sample : {next, next - 1}) {
        if (sample > series.size()) continue;  // Before the first.
        const int64_t timeNs = timeOf(sample);
        if (timeNs < reading.startNs || timeNs > reading.endNs) continue;
        if (!bestNs || std::abs(timeNs - readingNs) < std::abs(*bestNs - readingNs)) bestNs = timeNs;
    }
    if (bestNs) return bestNs;
    const uint32_t after = firstFrom(reading.startNs);
    const bool isStill = after > 0 && series.value(after - 1) == 0 && series.rangeOf(after - 1).endNs >= reading.endNs;
    return isStill ? std::optional(reading.startNs) : std::nullopt;
}

CounterIntegral sumOver(const CounterSeries& series, TimeRange range) {
    CounterIntegral result{.wholeNs = std::max<int64_t>(0, range.durationNs())};
    if (range.isEmpty() || series.isEmpty()) return result;
    const uint32_t first = firstInEffectAfter(series, range.startNs);
    long double sum = 0;
    result.isExact = first < series.size() && series.timeNs(first) == range.startNs;
    bool endsWithSample = false;
    for (uint32_t sample = first; sample < series.size(); ++sample) {
        if (series.timeNs(sample) >= range.endNs) break;
        const TimeRange held = series.rangeOf(sample);
        endsWithSample = held.endNs == range.endNs;
        const TimeRange part = held.intersected(range);
        const double value = series.value(sample);
        if (std::isnan(value) || part.isEmpty()) continue;
        result.maximum = result.hasValue() ? std::max(result.maximum, value) : value;
        result.knownNs += part.durationNs();
        if (value != 0) result.longestIntervalNs = std::max(result.longestIntervalNs, held.durationNs());
        sum += static_cast<long double>(value) * static_cast<long double>(part.durationNs());
    }
    result.isExact = result.isExact && endsWithSample && result.isComplete();
    result.amount = static_cast<double>(sum / 1e9L);
    return result;
}

/// Minimum bytes of a copy that counts. Smaller copies give little evidence about the link.
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

CounterIntegral integralOf(const CounterSeries& series, TimeRange range) {
    CounterIntegral all = sumOver(series, range);
    if (!isMean(series.unit) || all.longestIntervalNs <= range.durationNs()) return all;
    return CounterIntegral{.wholeNs = all.wholeNs, .isUnread = true};
}

CounterIntegral integralBetween(const CounterSeries& series, TimeRange range, TimeRange startReading,
                                TimeRange endReading) {
    const int64_t toleranceNs = std::max(maxDelayNs, range.durationNs() / maxDelayDivisor);
    const auto isNear = [toleranceNs](std::optional<int64_t> timeNs, int64_t readingNs) {
        return timeNs && std::abs(*timeNs - readingNs) <= toleranceNs;
    };
    const std::optional<int64_t> startNs = timeOfReading(series, range.startNs, startReading);
    const std::optional<int64_t> endNs = timeOfReading(series, range.endNs, endReading);
    // One reading may have served both ends of a short range.
    if (!isNear(startNs, range.startNs) || !isNear(endNs, range.endNs) || *endNs <= *startNs)
        return integralOf(series, range);
    CounterIntegral result = sumOver(series, {*startNs, *endNs});
    result.isExact = result.isComplete();
    return result;
}

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
