// SPDX-License-Identifier: Apache-2.0
#include "model/trace/buildLinkCounters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "model/trace/collectives.h"
#include "model/trace/tasks.h"

namespace lanescope {

namespace {

constexpr double unknownRate = std::numeric_limits<double>::quiet_NaN();

/// Sum of rates that apply for an interval each.
class RateSum {
  public:
    explicit RateSum(LargeMemory* memory) : changes_(memory) {}

    /// A NaN rate makes the sum unknown for its interval.
    void add(TimeRange range, double bytesPerSecond) {
        if (range.isEmpty()) return;
        changes_.push_back({range.startNs, bytesPerSecond, true});
        changes_.push_back({range.endNs, bytesPerSecond, false});
    }
    bool isEmpty() const { return changes_.empty(); }

    /// Fills the series with the sum over `whole`, 0 where there is no rate. Readings are all kept,
    /// so that the times of the readings remain known.
    void fill(CounterSeries& series, TimeRange whole, bool areReadings) {
        std::sort(changes_.begin(), changes_.end(),
                  [](const Change& a, const Change& b) { return a.timeNs < b.timeNs; });
        LargeMemory* const memory = changes_.get_allocator().memory();
        LargeVector<int64_t> timesNs(memory);
        LargeVector<double> values(memory);
        if (whole.startNs < changes_.front().timeNs) {
            timesNs.push_back(whole.startNs);
            values.push_back(0);
        }
        for (size_t next = 0; next < changes_.size();) {
            const int64_t timeNs = changes_[next].timeNs;
            for (; next < changes_.size() && changes_[next].timeNs == timeNs; ++next) take(changes_[next]);
            const double value = unknowns_ > 0 ? unknownRate : std::max(0.0, sum_);
            const bool isSame =
                !values.empty() && (values.back() == value || (std::isnan(values.back()) && unknowns_ > 0));
            if (isSame && !areReadings) continue;
            timesNs.push_back(timeNs);
            values.push_back(value);
        }
        series.unit = CounterUnit::BytesPerSecond;
        series.set(timesNs, values, std::max(whole.endNs, endNs()));
    }
    int64_t endNs() const { return changes_.empty() ? 0 : changes_.back().timeNs; }

  private:
    struct Change {
        int64_t timeNs;
        double rate;
        bool isStart;
    };

    void take(const Change& change) {
        const int by = change.isStart ? 1 : -1;
        if (std::isnan(change.rate)) {
            unknowns_ += by;
            return;
        }
        active_ += by;
        sum_ += by * change.rate;
        if (active_ == 0) sum_ = 0;  // Removes rounding errors.
    }

    LargeVector<Change> changes_;
    int64_t active_ = 0, unknowns_ = 0;
    double sum_ = 0;
};

/// Sum of the links of one GPU and direction.
struct LinkSum {
    explicit LinkSum(LargeMemory* memory) : sum(memory) {}

    RateSum sum;
    TimeRange range;
    std::string source;
    int32_t links = 0;
};

void addNvlinkTotals(Trace& trace, const std::stop_token& stop) {
    static constexpr std::array keys{nvlinkSentKey, nvlinkReceivedKey};
    std::map<std::pair<uint32_t, size_t>, LinkSum> sums;  // By GPU and direction.
    for (const CounterSeries& series : trace.counters) {
        if (series.link < 0 || series.gpu == noIndex || series.isEmpty()) continue;
        const auto key = std::find(keys.begin(), keys.end(), series.key);
        if (key == keys.end()) continue;
        const std::pair place{series.gpu, static_cast<size_t>(key - keys.begin())};
        LinkSum& sum = sums.try_emplace(place, trace.memory.get()).first->second;
        const TimeRange range{series.timeNs(0), series.endNs()};
        // The sum is unknown before the first and after the last value of any link.
        sum.range = sum.links == 0 ? range : sum.range.intersected(range);
        ++sum.links;
        sum.source = series.source;
    }
    for (auto& [id, sum] : sums) {
        const auto& [gpu, direction] = id;
        const auto tellsAll = [source = sum.source, of = gpu, key = keys[direction]](const CounterSeries& series) {
            return series.gpu == of && series.key == key && series.link < 0 && series.source == source;
        };
        // A total from the sampler has a higher rate than its links, so it is preferred.
        if (stop.stop_requested()) return;
        if (std::any_of(trace.counters.begin(), trace.counters.end(), tellsAll)) continue;
        for (const CounterSeries& series : trace.counters) {
            if (series.gpu != gpu || series.link < 0 || series.key != keys[direction]) continue;
            for (uint32_t sample = 0; sample < series.size() && !isStopped(stop, sample); ++sample)
                sum.sum.add(series.rangeOf(sample).intersected(sum.range), series.value(sample));
        }
        if (sum.sum.isEmpty()) continue;
        CounterSeries total;
        total.name = direction == 0 ? "NVLink transmitted" : "NVLink received";
        total.key = keys[direction];
        total.source = sum.source;
        total.gpu = gpu;
        sum.sum.fill(total, sum.range, true);
        trace.counters.push_back(std::move(total));
    }
}

struct GpuUser {
    uint32_t process = noIndex;
    bool isShared = false;  ///< True if several processes do.

    void take(uint32_t index) {
        isShared = isShared || (process != noIndex && process != index);
        process = index;
    }
};

/// Adds a counter of the users of a GPU, unless the sum is empty.
void addComputed(Trace& trace, uint32_t gpu, const GpuUser& user, RateSum& sum, std::string_view key,
                 const char* name) {
    if (sum.isEmpty()) return;
    CounterSeries series;
    series.name = name;
    series.key = key;
    series.gpu = gpu;
    TimeRange whole = trace.range;
    if (!user.isShared && user.process != noIndex) {
        const Process& process = trace.processes[user.process];
        series.process = user.process;
        whole = process.range;
        // Unknown while the process did not record.
        int64_t fromNs = whole.startNs;
        if (process.hasWindows) {
            for (const TimeRange& window : process.windows) {
                sum.add({fromNs, std::min(window.startNs, whole.endNs)}, unknownRate);
                fromNs = std::max(fromNs, window.endNs);
            }
            sum.add({fromNs, whole.endNs}, unknownRate);
        }
    }
    sum.fill(series, whole, false);
    trace.counters.push_back(std::move(series));
}

/// Returns the GPU on which each process runs its NCCL kernels. Processes with several GPUs are
/// omitted, because the communicator's GPU is unknown.
std::unordered_map<uint32_t, uint32_t> onlyGpuOfProcess(const Trace& trace, const std::stop_token& stop) {
    std::unordered_map<uint32_t, uint32_t> gpus;
    std::vector<bool> isUsed(trace.streams.size());
    for (uint32_t row = 0; row < trace.kernels.size() && !isStopped(stop, row); ++row)
        isUsed[trace.kernels.stream[row]] = true;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
        if (!isUsed[stream]) continue;
        const Stream& each = trace.streams[stream];
        const auto [found, isNew] = gpus.try_emplace(each.process, each.gpu);
        if (!isNew && found->second != each.gpu) found->second = noIndex;
    }
    return gpus;
}

/// Returns the GPU of each NCCL call that has a projection; `noIndex` for others.
LargeVector<uint32_t> gpuOfCall(const Trace& trace, const std::stop_token& stop) {
    LargeVector<uint32_t> gpus(trace.nccl.size(), noIndex, trace.memory.get());
    const ProjectionTable& projections = trace.projections;
    for (uint32_t row = 0; row < projections.size() && !isStopped(stop, row); ++row)
        if (const uint32_t call = trace.nccl.rowOf(projections.nvtx[row]); call != noIndex)
            gpus[call] = trace.streams[projections.stream[row]].gpu;
    return gpus;
}

void addCollectives(Trace& trace, const std::stop_token& stop) {
    if (trace.nccl.size() == 0) return;
    const auto ofProcess = onlyGpuOfProcess(trace, stop);
    const LargeVector<uint32_t> ofCall = gpuOfCall(trace, stop);
    struct Collectives {
        explicit Collectives(LargeMemory* memory) : sum(memory) {}
        GpuUser user;
        RateSum sum;
    };
    std::map<uint32_t, Collectives> byGpu;
    for (uint32_t row = 0; row < trace.nccl.size() && !isStopped(stop, row); ++row) {
        const NcclFacts& facts = trace.nccl.facts[row];
        if (facts.operationCount == 0 || facts.moving().isEmpty()) continue;
        const uint32_t nvtx = trace.nccl.nvtx[row];
        const uint32_t process = trace.threads[trace.nvtx.thread[nvtx]].process;
        uint32_t gpu = ofCall[row];
        if (gpu == noIndex)
            if (const auto found = ofProcess.find(process); found != ofProcess.end()) gpu = found->second;
        if (gpu == noIndex) continue;
        const std::optional<NcclTraffic> traffic =
            ncclTraffic(trace.strings.at(trace.nccl.operation[row]), trace.nccl.bytes[row], facts.rankCount);
        if (!traffic && facts.sharedBy > 1) continue;
        const double rate =
            traffic ? traffic->busBytes * 1e9 / static_cast<double>(facts.moving().durationNs()) : unknownRate;
        Collectives& of = byGpu.try_emplace(gpu, trace.memory.get()).first->second;
        of.sum.add(facts.moving(), rate);
        of.user.take(process);
    }
    for (auto& [gpu, of] : byGpu)
        addComputed(trace, gpu, of.user, of.sum, collectivesKey, "NCCL bus bandwidth (computed)");
}

void addPeerCopies(Trace& trace, const std::stop_token& stop) {
    struct PeerCopies {
        explicit PeerCopies(LargeMemory* memory) : sent(memory), received(memory) {}
        GpuUser user;
        RateSum sent, received;
    };
    std::map<uint32_t, PeerCopies> byGpu;
    const MemcpyTable& copies = trace.memcpys;
    const auto isKnown = [&trace](int16_t gpu) { return gpu >= 0 && static_cast<size_t>(gpu) < trace.gpus.size(); };
    for (uint32_t row = 0; row < copies.size() && !isStopped(stop, row); ++row) {
        if (copies.kind[row] != MemcpyKind::PtoP) continue;
        const int16_t from = copies.sourceDevice[row], to = copies.destinationDevice[row];
        const TimeRange range{copies.startNs[row], copies.endNs[row]};
        if (range.isEmpty() || copies.bytes[row] <= 0 || from == to) continue;
        const double rate = static_cast<double>(copies.bytes[row]) * 1e9 / static_cast<double>(range.durationNs());
        const uint32_t process = trace.streams[copies.stream[row]].process;
        const auto take = [&](int16_t gpu, RateSum PeerCopies::*direction) {
            if (!isKnown(gpu)) return;
            PeerCopies& of = byGpu.try_emplace(static_cast<uint32_t>(gpu), trace.memory.get()).first->second;
            (of.*direction).add(range, rate);
            of.user.take(process);
        };
        take(from, &PeerCopies::sent);
        take(to, &PeerCopies::received);
    }
    for (auto& [gpu, of] : byGpu) {
        addComputed(trace, gpu, of.user, of.sent, peerCopiesSentKey, "Peer copies transmitted (computed)");
        addComputed(trace, gpu, of.user, of.received, peerCopiesReceivedKey, "Peer copies received (computed)");
    }
}

}  // namespace

void buildLinkCounters(Trace& trace, const std::stop_token& stop) {
    addNvlinkTotals(trace, stop);
    addCollectives(trace, stop);
    addPeerCopies(trace, stop);
}

}  // namespace lanescope
