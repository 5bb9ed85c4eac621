// SPDX-License-Identifier: Apache-2.0
#include "model/trace/counterReadings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

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
        std::ranges::sort(changes_, {}, &Change::timeNs);
        CollectedValues sums(changes_.get_allocator().memory());
        if (whole.startNs < changes_.front().timeNs) sums.add(whole.startNs, 0);
        for (size_t next = 0; next < changes_.size();) {
            const int64_t timeNs = changes_[next].timeNs;
            for (; next < changes_.size() && changes_[next].timeNs == timeNs; ++next) take(changes_[next]);
            const double value = unknowns_ > 0 ? unknown : std::max(0.0, sum_);
            const bool isSame = !sums.values.empty() &&
                                (sums.values.back() == value || (std::isnan(sums.values.back()) && unknowns_ > 0));
            if (!isSame || areReadings) sums.add(timeNs, value);
        }
        series.unit = CounterUnit::BytesPerSecond;
        series.set(sums.timesNs, sums.values, std::max(whole.endNs, endNs()));
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
        const auto key = std::ranges::find(keys, series.key);
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
        if (std::ranges::any_of(trace.counters, tellsAll)) continue;
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
                sum.add({fromNs, std::min(window.startNs, whole.endNs)}, unknown);
                fromNs = std::max(fromNs, window.endNs);
            }
            sum.add({fromNs, whole.endNs}, unknown);
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
            traffic ? traffic->busBytes * 1e9 / static_cast<double>(facts.moving().durationNs()) : unknown;
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

/// Suffixes of the keys of both directions, the upper one first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> directions{
    {{".tx", ".rx"}, {".read", ".write"}}};

bool areOfOneSubject(const CounterSeries& a, const CounterSeries& b) {
    return a.source == b.source && a.device == b.device && a.unit == b.unit && a.gpu == b.gpu &&
           a.process == b.process && a.link == b.link && a.core == b.core;
}

bool isOfReadings(const CounterSeries& counter) { return counter.isMeanOfInterval && isMean(counter.unit); }

/// Maximum, and the interval over which it is a mean; the shortest of equal ones.
struct Peak {
    double value = 0;
    std::optional<int64_t> overNs;
};

Peak peakOf(const CounterSeries& counter, TimeRange within) {
    Peak peak{counter.extremesIn(within).maximum, std::nullopt};
    bool isFirst = true;
    if (!isOfReadings(counter)) return peak;
    for (uint32_t sample = 0; sample < counter.size(); ++sample) {
        if (counter.value(sample) != peak.value || !counter.rangeOf(sample).overlaps(within)) continue;
        const std::optional<int64_t> overNs = meanOver(counter, sample);
        if (isFirst || overNs.value_or(0) < peak.overNs.value_or(0)) peak.overNs = overNs;
        isFirst = false;
        if (!peak.overNs) break;
    }
    return peak;
}

constexpr int minWrapBits = 8, maxWrapBits = 63;
/// Threshold of a wrap-around: a counter near its end continues near 0, both within this share of its range.
constexpr long double wrapShare = 0.25L;

/// Sorts samples and keeps one per time.
void tidy(CounterSamples& samples) {
    samples.values.resize(samples.timesNs.size(), std::numeric_limits<long double>::quiet_NaN());
    LargeMemory* const memory = samples.timesNs.get_allocator().memory();
    LargeVector<size_t> order(samples.timesNs.size(), memory);
    std::iota(order.begin(), order.end(), size_t{0});
    if (!std::ranges::is_sorted(samples.timesNs))
        sortLarge(order, [&samples](size_t a, size_t b) { return samples.timesNs[a] < samples.timesNs[b]; });
    LargeVector<int64_t> timesNs(memory);
    LargeVector<long double> values(memory);
    for (const size_t index : order) {
        if (!timesNs.empty() && samples.timesNs[index] == timesNs.back()) {
            values.back() = samples.values[index];
            continue;
        }
        timesNs.push_back(samples.timesNs[index]);
        values.push_back(samples.values[index]);
    }
    samples.timesNs = std::move(timesNs);
    samples.values = std::move(values);
}

CounterUnit rateOf(CounterUnit unit) {
    if (unit == CounterUnit::Bytes) return CounterUnit::BytesPerSecond;
    return unit == CounterUnit::Joules ? CounterUnit::Watts : unit;
}

/// Returns the typical distance of samples; 1 ns for a single one.
int64_t typicalIntervalNs(const LargeVector<int64_t>& timesNs) {
    LargeVector<int64_t> intervals(timesNs.get_allocator());
    for (size_t i = 1; i < timesNs.size(); ++i) intervals.push_back(timesNs[i] - timesNs[i - 1]);
    if (intervals.empty()) return 1;
    return std::max<int64_t>(1, upperMedianOf(std::move(intervals)));
}

/// Returns how long the last value of a gauge is in effect. Unchanged values are not stored, so
/// samples may be much further apart than readings.
int64_t lastValueDurationNs(const CounterSamples& samples) {
    return samples.intervalNs > 0 ? samples.intervalNs : typicalIntervalNs(samples.timesNs);
}

/// Adds amounts of a much shorter interval to the previous one. They occur after clock corrections
/// and would give wrong rates.
void joinShortAmounts(CounterSamples& samples) {
    constexpr int64_t shortPart = 10;  // Divisor of the typical interval.
    const int64_t minNs = typicalIntervalNs(samples.timesNs) / shortPart;
    size_t last = 0;
    for (size_t i = 1; i < samples.timesNs.size(); ++i) {
        if (samples.timesNs[i] - samples.timesNs[last] < minNs) {
            samples.values[last] += samples.values[i];
            continue;
        }
        ++last;
        samples.timesNs[last] = samples.timesNs[i];
        samples.values[last] = samples.values[i];
    }
    samples.timesNs.resize(last + 1);
    samples.values.resize(last + 1);
}

/// Growth of a cumulative counter; NaN if unknown.
class Growth {
  public:
    Growth(int wrapBits, CounterValues& tally) : tally_(tally) {
        if (wrapBits >= minWrapBits && wrapBits <= maxWrapBits) range_ = std::ldexp(1.0L, wrapBits);
    }

    long double between(long double before, long double after) {
        if (!(before >= 0) || !(after >= 0)) return std::numeric_limits<long double>::quiet_NaN();
        if (after >= before) return after - before;
        const bool hasWrapped =
            range_ > 0 && before < range_ && before >= range_ * (1 - wrapShare) && after <= range_ * wrapShare;
        if (!hasWrapped) {
            ++tally_.resetCount;
            return std::numeric_limits<long double>::quiet_NaN();
        }
        ++tally_.wrapCount;
        return range_ - before + after;
    }

  private:
    CounterValues& tally_;
    long double range_ = 0;
};

double perSecond(long double amount, int64_t ns) {
    if (!(amount >= 0) || !std::isfinite(amount)) return unknown;
    return static_cast<double>(amount * 1e9L / static_cast<long double>(ns));
}

double gauge(long double value, CounterUnit unit) {
    // Only temperatures and counts may be negative; otherwise a sampler reports a missing value so.
    const bool mayBeNegative = unit == CounterUnit::Celsius || unit == CounterUnit::Count;
    const bool makesSense = std::isfinite(value) && (value >= 0 || mayBeNegative);
    return makesSense ? static_cast<double>(value) : unknown;
}

}  // namespace

void buildLinkCounters(Trace& trace, const std::stop_token& stop) {
    addNvlinkTotals(trace, stop);
    addCollectives(trace, stop);
    addPeerCopies(trace, stop);
}

CounterPairs counterPairs(const std::vector<CounterSeries>& counters) {
    struct Pair {
        uint32_t upper = noIndex, lower = noIndex;
    };
    // Upper counters by sampler and by link or device; the key is that of the upper one.
    std::map<std::tuple<std::string, std::string, std::string, CounterUnit, uint32_t, uint32_t, int32_t, int32_t>, Pair>
        places;
    for (uint32_t counter = 0; counter < counters.size(); ++counter) {
        const CounterSeries& each = counters[counter];
        for (const auto& [upper, lower] : directions) {
            const bool isUpper = each.key.ends_with(upper);
            if (!isUpper && !each.key.ends_with(lower)) continue;
            const size_t length = each.key.size() - (isUpper ? upper : lower).size();
            Pair& pair = places[{each.key.substr(0, length).append(upper), each.source, each.device, each.unit,
                                 each.gpu, each.process, each.link, each.core}];
            uint32_t& place = isUpper ? pair.upper : pair.lower;
            // A corrupt file may have a direction twice; further ones get their own tracks.
            if (place == noIndex) place = counter;
        }
    }
    CounterPairs pairs;
    pairs.lowerOf.assign(counters.size(), noIndex);
    pairs.upperOf.assign(counters.size(), noIndex);
    for (const auto& [key, pair] : places) {
        if (pair.upper == noIndex || pair.lower == noIndex) continue;
        pairs.lowerOf[pair.upper] = pair.lower;
        pairs.upperOf[pair.lower] = pair.upper;
    }
    return pairs;
}

uint32_t upperCounterOf(const std::vector<CounterSeries>& counters, uint32_t counter) {
    const CounterSeries& own = counters[counter];
    const auto first = [&](std::string_view stem, std::string_view direction) {
        for (uint32_t index = 0; index < counters.size(); ++index) {
            const std::string_view key = counters[index].key;
            if (key.size() == stem.size() + direction.size() && key.starts_with(stem) && key.ends_with(direction) &&
                areOfOneSubject(counters[index], own))
                return index;
        }
        return noIndex;
    };
    for (const auto& [upper, lower] : directions) {
        if (!own.key.ends_with(lower)) continue;
        const std::string_view stem(own.key.data(), own.key.size() - lower.size());
        if (first(stem, lower) == counter) return first(stem, upper);
    }
    return noIndex;
}

bool isMean(CounterUnit unit) {
    return unit == CounterUnit::BytesPerSecond || unit == CounterUnit::Percent || unit == CounterUnit::Watts;
}

std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample, int64_t shownNs) {
    const int64_t heldNs = counter.rangeOf(sample).durationNs();
    const bool isLong = heldNs > maxMomentaryNs || heldNs > shownNs / 2;
    // A mean of zero is zero throughout its interval.
    const double value = counter.value(sample);
    if (!isOfReadings(counter) || !isLong || value == 0 || std::isnan(value)) return std::nullopt;
    return heldNs;
}

std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample) {
    return meanOver(counter, sample, std::numeric_limits<int64_t>::max());
}

bool isMomentary(const CounterSeries& counter, TimeRange range, double value) {
    for (uint32_t sample = 0; sample < counter.size(); ++sample)
        if (counter.value(sample) == value && counter.rangeOf(sample).overlaps(range) && !meanOver(counter, sample))
            return true;
    return false;
}

uint32_t firstInEffectAfter(const CounterSeries& counter, int64_t timeNs) {
    return *std::ranges::partition_point(std::views::iota(0u, counter.size()),
                                         [&](uint32_t sample) { return counter.rangeOf(sample).endNs <= timeNs; });
}

int64_t medianReadingNs(const CounterSeries& counter) {
    std::vector<int64_t> heldNs;
    for (uint32_t sample = 0; counter.size() > 1 && sample < counter.size(); ++sample)
        heldNs.push_back(counter.rangeOf(sample).durationNs());
    const auto medianNs = static_cast<int64_t>(medianOf(heldNs));
    // Repeated equal values may have been dropped.
    return counter.intervalNs > 0 && medianNs > 0 ? std::min(medianNs, counter.intervalNs) : medianNs;
}

std::string shortPeakText(const CounterSeries& counter, TimeRange within) {
    if (!counter.extremesIn(within).hasValue) return "unknown";
    const Peak peak = peakOf(counter, within);
    const std::string value = formatCounter(peak.value, counter.unit);
    return peak.overNs ? fmt::format("{} over {}", value, formatDuration(*peak.overNs)) : value;
}

std::string peakText(const CounterSeries& counter, TimeRange within) {
    if (!counter.extremesIn(within).hasValue) return "unknown";
    return (peakOf(counter, within).overNs ? "mean " : "peak ") + shortPeakText(counter, within);
}

CounterValues counterValues(CounterSamples samples) {
    tidy(samples);
    CounterValues result{.timesNs = LargeVector<int64_t>(samples.timesNs.get_allocator()),
                         .values = LargeVector<double>(samples.timesNs.get_allocator())};
    if (samples.meaning == CounterMeaning::Amount && !samples.timesNs.empty()) joinShortAmounts(samples);
    const size_t count = samples.timesNs.size();
    const bool isRate = samples.meaning == CounterMeaning::Cumulative || samples.meaning == CounterMeaning::Amount;
    result.unit = isRate ? rateOf(samples.unit) : samples.unit;
    if (count == 0) return result;
    if (samples.meaning == CounterMeaning::Gauge) {
        for (const long double value : samples.values) result.values.push_back(gauge(value, samples.unit));
        result.endNs = samples.timesNs.back();
        if (!std::isnan(result.values.back())) result.endNs += lastValueDurationNs(samples);
        result.timesNs = std::move(samples.timesNs);
        return result;
    }
    Growth growth(samples.wrapBits, result);
    for (size_t i = 1; i < count; ++i) {
        const int64_t ns = samples.timesNs[i] - samples.timesNs[i - 1];
        const long double value = samples.values[i];
        result.timesNs.push_back(samples.timesNs[i - 1]);
        if (samples.meaning == CounterMeaning::Average)
            result.values.push_back(gauge(value, samples.unit));
        else if (samples.meaning == CounterMeaning::Amount)
            result.values.push_back(perSecond(value, ns));
        else
            result.values.push_back(perSecond(growth.between(samples.values[i - 1], value), ns));
    }
    result.endNs = samples.timesNs.back();
    return result;
}

CounterSamples samplesOf(const CounterSeries& series) {
    CounterSamples samples{.meaning = series.isMeanOfInterval ? CounterMeaning::Average : CounterMeaning::Gauge,
                           .unit = series.unit,
                           .intervalNs = series.intervalNs};
    const auto add = [&samples](int64_t timeNs, double value) {
        samples.timesNs.push_back(timeNs);
        samples.values.push_back(value);
    };
    if (series.isEmpty()) return samples;
    samples.timesNs.reserve(size_t{series.size()} + 1);
    samples.values.reserve(size_t{series.size()} + 1);
    if (series.isMeanOfInterval) {
        add(series.timeNs(0), unknown);
        for (uint32_t sample = 0; sample < series.size(); ++sample)
            add(series.rangeOf(sample).endNs, series.value(sample));
        return samples;
    }
    for (uint32_t sample = 0; sample < series.size(); ++sample) add(series.timeNs(sample), series.value(sample));
    const bool endsUnknown = std::isnan(samples.values.back());
    if (!endsUnknown && samples.timesNs.back() + lastValueDurationNs(samples) != series.endNs())
        add(series.endNs(), unknown);
    return samples;
}

}  // namespace lanescope
