// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/runConditions.h"

#include <iterator>
#include <optional>
#include <unordered_map>

#include "model/format/GlobalId.h"
#include "model/format/checksums.h"
#include "model/numbers/Statistics.h"
#include "model/text/knownRangeName.h"
#include "model/trace/counterReadings.h"
#include "model/trace/gpuNames.h"
#include "model/trace/healthNotes.h"

namespace lanescope::analysis {

namespace {

/// Maximum clock of a processor, in Hz, because a corrupt file may contain any value.
constexpr double maxHz = 1e12;
/// Maximum number of processors, more than any machine has.
constexpr double maxProcessors = 1e6;
constexpr double maxMemoryBytes = 1e15;

/// Calls `sink(sample, piece)` for each known value in force within `range`.
void forEachValueIn(const CounterSeries& series, TimeRange range, auto sink) {
    for (uint32_t sample = firstInEffectAfter(series, range.startNs);
         sample < series.size() && series.timeNs(sample) < range.endNs; ++sample) {
        const TimeRange piece = series.rangeOf(sample).intersected(range);
        if (piece.durationNs() > 0 && std::isfinite(series.value(sample))) sink(sample, piece);
    }
}

uint64_t slowingIn(double value) {
    return value >= 0 && value < 0x1p63 ? static_cast<uint64_t>(value) & slowingReasons() : 0;
}

bool isClock(double hz) { return hz > 0 && hz < maxHz; }

struct Mean {
    int64_t ns = 0;
    double weighted = 0, weights = 0;
};

/// Finds the longest time with such throttle reasons, without readings above their mean.
void findLongest(const CounterSeries& reasons, const CounterSeries& clock, std::span<const TimeRange> steps,
                 ClockState& state) {
    // Clocks jitter; one reading a little above the mean ends nothing.
    const double maxHzAtMean = 1.01 * static_cast<double>(state.smClockHz);
    TimeRange current;
    for (const TimeRange& step : steps)
        forEachValueIn(reasons, step, [&](uint32_t sample, TimeRange held) {
            if (slowingIn(reasons.value(sample)) != state.reasons) return;
            forEachValueIn(clock, held, [&](uint32_t reading, TimeRange piece) {
                const double hz = clock.value(reading);
                if (!isClock(hz) || hz > maxHzAtMean) return;
                if (piece.startNs != current.endNs) current.startNs = piece.startNs;
                current.endNs = piece.endNs;
                if (current.durationNs() <= state.longestNs) return;
                state.longestStartNs = current.startNs;
                state.longestNs = current.durationNs();
            });
        });
}

void addClocks(const CounterSeries& reasons, const CounterSeries* clock, std::span<const TimeRange> steps,
               WorkerSummary& worker) {
    std::map<uint64_t, Mean> means;
    for (const TimeRange& step : steps)
        forEachValueIn(reasons, step, [&](uint32_t sample, TimeRange held) {
            Mean& mean = means[slowingIn(reasons.value(sample))];
            mean.ns += held.durationNs();
            if (clock == nullptr) return;
            forEachValueIn(*clock, held, [&](uint32_t reading, TimeRange) {
                const double hz = clock->value(reading);
                const double weight = isClock(hz) ? weightWithin(*clock, reading, held) : 0;
                mean.weighted += hz * weight;
                mean.weights += weight;
            });
        });
    for (const auto& [flags, mean] : means)
        worker.clocks.push_back({flags, mean.ns, mean.weights > 0 ? std::llround(mean.weighted / mean.weights) : 0});
    if (clock != nullptr)
        for (ClockState& state : worker.clocks)
            if (state.reasons != 0 && state.smClockHz > 0) findLongest(reasons, *clock, steps, state);
}

/// Returns nullopt if less than half of the steps is known.
std::optional<int64_t> heldBackIn(const CounterSeries& heldBack, std::span<const TimeRange> steps) {
    double sumNs = 0;
    int64_t knownNs = 0, allNs = 0;
    for (const TimeRange& step : steps) {
        allNs += step.durationNs();
        forEachValueIn(heldBack, step, [&](uint32_t sample, TimeRange piece) {
            knownNs += piece.durationNs();
            sumNs += std::clamp(heldBack.value(sample), 0.0, maxProcessors) * static_cast<double>(piece.durationNs());
        });
    }
    constexpr double maxSumNs = 9e17;
    if (knownNs == 0 || knownNs < allNs / 2) return std::nullopt;
    return std::llround(std::min(sumNs, maxSumNs));
}

/// Maximum number of warnings. Only hostile traces have more.
constexpr size_t maxWarnings = 1000;
constexpr size_t maxOtherProcesses = 100;

std::set<uint32_t> streamsInUse(const Trace& trace) {
    std::vector<bool> isUsed(trace.streams.size());
    for (const auto* streams : {&trace.kernels.stream, &trace.memcpys.stream, &trace.graphs.stream})
        for (const uint32_t stream : *streams) isUsed[stream] = true;
    std::set<uint32_t> used;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream)
        if (isUsed[stream]) used.insert(stream);
    return used;
}

bool hasNvlink(const Trace& trace) {
    const auto& connections = trace.interconnect.connections;
    return std::ranges::any_of(connections, [](const GpuConnection& each) { return each.nvlinks > 0; });
}

/// Returns the mean SM clock of these GPUs from the first kernel to the last; 0 without readings.
int64_t smClockOf(const Trace& trace, const std::set<uint32_t>& gpus) {
    if (trace.kernels.size() == 0) return 0;
    const TimeRange range{trace.kernels.startNs.front(), trace.kernels.endNs.back()};
    double sum = 0;
    int64_t clocks = 0;
    for (const CounterSeries& series : trace.counters) {
        if (series.key != "clock.sm" || !gpus.contains(series.gpu)) continue;
        double weighted = 0, weights = 0;
        for (uint32_t sample = 0; sample < series.size(); ++sample) {
            if (std::isnan(series.value(sample))) continue;
            const double weight = weightWithin(series, sample, range);
            weighted += series.value(sample) * weight;
            weights += weight;
        }
        if (weights <= 0) continue;
        sum += weighted / weights;
        ++clocks;
    }
    return clocks > 0 ? std::llround(sum / static_cast<double>(clocks)) : 0;
}

/// Processes invisible to the recorder have no name there. They may be the run's own, under other numbers.
std::vector<std::string> otherProcessesOf(const Trace& trace, const std::set<uint32_t>& gpus) {
    std::set<int64_t> gpuIds;
    for (const uint32_t gpu : gpus) gpuIds.insert(trace.gpus[gpu].id);
    // Another host uses the same numbers again.
    std::set<std::pair<uint32_t, int64_t>> recorded;
    for (const Process& process : trace.processes) recorded.emplace(hostOf(process.globalPid), int64_t{process.pid});
    std::map<int64_t, uint32_t> hosts;
    for (const Stream& stream : trace.streams)
        if (stream.gpu < trace.gpus.size() && stream.process < trace.processes.size())
            hosts.try_emplace(trace.gpus[stream.gpu].id, hostOf(trace.processes[stream.process].globalPid));
    std::set<std::string> names;
    for (const GpuProcessUse& use : trace.interconnect.gpuProcesses)
        if (const auto host = hosts.find(use.gpu); !use.name.empty() && gpuIds.contains(use.gpu) &&
                                                   host != hosts.end() && !recorded.contains({host->second, use.pid}))
            names.insert(use.name);
    if (names.size() > maxOtherProcesses) names.erase(std::next(names.begin(), maxOtherProcesses), names.end());
    return {names.begin(), names.end()};
}

void addTimes(const auto& table, Fnv1a& hash) {
    hash.add(uint64_t{table.size()});
    for (const int64_t startNs : table.startNs) hash.add(static_cast<uint64_t>(startNs));
    for (const int64_t endNs : table.endNs) hash.add(static_cast<uint64_t>(endNs));
}

uint64_t contentHashOf(const Trace& trace) {
    Fnv1a hash;
    hash.add(static_cast<uint64_t>(trace.startUtcNs));
    addTimes(trace.kernels, hash);
    addTimes(trace.memcpys, hash);
    addTimes(trace.nvtx, hash);
    hash.add(uint64_t{trace.apiCalls.size()});
    for (const Process& process : trace.processes) hash.add(uint64_t{process.pid});
    return hash.value();
}

}  // namespace

MachineCounters::MachineCounters(const Trace& trace) {
    for (const CounterSeries& each : trace.counters) {
        if (each.process != noIndex || each.isEmpty()) continue;
        const auto [known, isNew] = counters_.try_emplace({each.gpu, each.key}, &each);
        if (!isNew) known->second = nullptr;
    }
}

const CounterSeries* MachineCounters::counter(std::string_view key, uint32_t gpu) const {
    const auto found = counters_.find({gpu, key});
    return found == counters_.end() ? nullptr : found->second;
}

void addConditions(const MachineCounters& counters, uint32_t gpu, std::span<const TimeRange> steps,
                   WorkerSummary& worker) {
    const CounterSeries* clock = counters.counter("clock.sm", gpu);
    if (clock != nullptr && isClock(clock->maximum())) worker.highestSmClockHz = std::llround(clock->maximum());
    if (const CounterSeries* used = counters.counter("memory.used", gpu); used != nullptr && used->hasValue())
        worker.usedMemoryBytes = std::llround(std::clamp(used->maximum(), 0.0, maxMemoryBytes));
    if (const CounterSeries* reasons = counters.counter("throttle.reasons", gpu))
        addClocks(*reasons, clock, steps, worker);
    if (const CounterSeries* heldBack = counters.counter("cgroup.cpu.throttled", noIndex))
        worker.heldBackNs = heldBackIn(*heldBack, steps);
}

StepPauses pausesBetween(std::span<const TimeRange> steps, const WorkList& work) {
    StepPauses pauses;
    int64_t largestIdleNs = 0, busyUntilNs = INT64_MIN;
    WorkList::Reader next(work);
    for (size_t step = 1; step < steps.size(); ++step) {
        const TimeRange pause{steps[step - 1].endNs, steps[step].startNs};
        if (pause.durationNs() <= 0) continue;
        int64_t idleNs = 0, fromNs = pause.startNs;
        for (; !next.isAtEnd() && next->startNs < pause.endNs; next.next()) {
            fromNs = std::max(fromNs, busyUntilNs);
            idleNs += std::max<int64_t>(0, next->startNs - fromNs);
            busyUntilNs = std::max(busyUntilNs, next->endNs);
        }
        idleNs += std::max<int64_t>(0, pause.endNs - std::max(fromNs, busyUntilNs));
        ++pauses.count;
        pauses.ns += pause.durationNs();
        pauses.idleNs += idleNs;
        if (idleNs <= largestIdleNs) continue;
        largestIdleNs = idleNs;
        pauses.longestStartNs = pause.startNs;
        pauses.longestNs = pause.durationNs();
    }
    return pauses;
}

int64_t cpuLimitOf(const Trace& trace) {
    const CounterSeries* limit = MachineCounters(trace).counter("cgroup.cpu.limit", noIndex);
    if (limit == nullptr || !limit->hasValue()) return 0;
    // It may change during the run; the tightest limit is the one that may slow a run down.
    return std::llround(std::clamp(limit->minimum(), 0.0, 100 * maxProcessors));
}

std::set<uint32_t> sharedGpusOf(const Trace& trace) {
    std::set<uint32_t> shared;
    std::map<uint32_t, uint32_t> processOf;
    for (const uint32_t stream : streamsInUse(trace)) {
        const auto [known, isNew] = processOf.try_emplace(trace.streams[stream].gpu, trace.streams[stream].process);
        if (!isNew && known->second != trace.streams[stream].process) shared.insert(known->first);
    }
    for (const auto& [gpu, process] : processOf)
        if (!otherProcessesOf(trace, {gpu}).empty()) shared.insert(gpu);
    return shared;
}

int64_t worldSizeOf(const Trace& trace) {
    std::set<uint32_t> processes;
    for (const uint32_t stream : streamsInUse(trace)) processes.insert(trace.streams[stream].process);
    auto ranks = static_cast<int64_t>(processes.size());
    for (const Process& process : trace.processes) ranks = std::max<int64_t>(ranks, process.worldSize.value_or(0));
    return ranks;
}

std::vector<HealthNote> warningsOf(const Trace& trace) {
    std::vector<HealthNote> warnings;
    for (HealthNote& note : healthNotesOf(trace)) {
        if (note.severity == Severity::Info || warnings.size() == maxWarnings) continue;
        note.timeNs.reset();
        warnings.push_back(std::move(note));
    }
    return warnings;
}

SummaryFacts factsOf(const Trace& trace) {
    SummaryFacts facts{.title = trace.title, .producer = trace.producer, .producerKind = trace.producerKind};
    facts.driver = trace.facts.driverVersion;
    facts.cuda = trace.facts.driverCudaVersion;
    facts.commandLine = commandLineOf(trace);
    facts.host = trace.facts.host;
    facts.startUtcNs = trace.startUtcNs;
    facts.recordOptions = trace.facts.recordOptions;
    std::set<uint32_t> gpus;
    for (const uint32_t stream : streamsInUse(trace)) gpus.insert(trace.streams[stream].gpu);
    for (const uint32_t gpu : gpus) facts.gpuNames.push_back(trace.gpus[gpu].name);
    facts.smClockHz = smClockOf(trace, gpus);
    facts.cpuLimitPercent = cpuLimitOf(trace);
    facts.otherGpuProcesses = otherProcessesOf(trace, gpus);
    facts.isNvlinkPresent = hasNvlink(trace);
    facts.worldSize = worldSizeOf(trace);
    facts.kernelCount = trace.kernels.size();
    facts.hasApiCalls = trace.apiCalls.size() > 0;
    facts.isTruncated = std::ranges::any_of(trace.processes, [](const Process& each) { return each.endedAbnormally; });
    facts.healthWarnings = warningsOf(trace);
    facts.contentHash = contentHashOf(trace);
    return facts;
}

namespace {

/// Shares of the time of all work: minimum of a stream that counts; maxima of the default stream and of overlaps.
constexpr double minStreamShare = 0.05, maxDefaultShare = 0.10, maxOverlapShare = 0.01;
/// Minimum operations on the default stream per step. Fewer operations order little.
constexpr double minOperationsPerStep = 0.5;

/// Returns the stream of a kernel, copy or memset; `noIndex` for other work.
uint32_t operationStream(const Trace& trace, EventRef event) {
    if (event.kind() == EventKind::Kernel) return trace.kernels.stream[event.row()];
    if (event.kind() == EventKind::Memcpy) return trace.memcpys.stream[event.row()];
    if (event.kind() == EventKind::Memset) return trace.memsets.stream[event.row()];
    return noIndex;
}

/// Time of a run that a compilation may have lengthened: between its steps, and that of late launches within.
class LateTime {
  public:
    explicit LateTime(const std::vector<StepSummary>& steps) : steps_(steps) {
        double sumNs = 0;
        for (size_t step = 0; step < steps.size(); ++step) {
            if (step > 0) sumNs += lateNs(step - 1, steps[step].startNs);
            beforeNs_.push_back(sumNs);
        }
    }
    /// Returns the time up to `ns`, 0 at the first step. The late launches of a step are spread evenly. O(log steps).
    double at(int64_t ns) const {
        const auto next = std::ranges::upper_bound(steps_, ns, {}, &StepSummary::startNs);
        if (next == steps_.begin()) return 0;
        const auto step = static_cast<size_t>(next - steps_.begin()) - 1;
        return beforeNs_[step] + lateNs(step, ns);
    }

  private:
    double lateNs(size_t step, int64_t untilNs) const {
        const StepSummary& in = steps_[step];
        const auto ns = static_cast<double>(untilNs - in.startNs), wallNs = static_cast<double>(in.wallNs);
        const double share = wallNs > 0 ? std::min(ns / wallNs, 1.0) : 1;
        // Time after the last step is no pause between steps.
        return share * static_cast<double>(in.parts[StepPart::LaunchBound]) +
               (step + 1 < steps_.size() ? std::max(ns - wallNs, 0.0) : 0);
    }

    const std::vector<StepSummary>& steps_;
    std::vector<double> beforeNs_;
};

}  // namespace

void addRecompilation(const Trace& trace, uint32_t process, WorkerSummary& worker) {
    const LateTime late(worker.steps);
    const NvtxTable& ranges = trace.nvtx;
    std::unordered_map<StringIndex, std::string_view> programOf;
    std::map<std::string_view, std::pair<int64_t, double>> programs;
    for (uint32_t row = 0; row < ranges.size() && !worker.steps.empty(); ++row) {
        if (ranges.isOpen[row] != 0 || trace.threads[ranges.thread[row]].process != process) continue;
        const auto [known, isNew] = programOf.try_emplace(ranges.text[row]);
        if (isNew) {
            const std::string_view name = trace.strings.at(ranges.text[row]);
            if (isXlaCompilation(name)) known->second = xlaAnnotation(name).value_or(XlaAnnotation()).module;
        }
        if (known->second.empty()) continue;
        auto& [count, lateNs] = programs[known->second];
        ++count;
        // Compilations at the start are no reason for late work.
        if (ranges.startNs[row] >= worker.steps.front().startNs)
            lateNs += late.at(ranges.endNs[row]) - late.at(ranges.startNs[row]);
    }
    double maxLateNs = 0;
    for (const auto& [program, found] : programs) {
        const auto& [count, lateNs] = found;
        if (count < 2 || lateNs <= maxLateNs || lateNs < static_cast<double>(worker.pauses.idleNs) / 2) continue;
        maxLateNs = lateNs;
        worker.recompiled = program;
        worker.compilations = count;
    }
}

StreamOrder streamOrder(const Trace& trace, const WorkList& work, std::span<const TimeRange> steps) {
    std::map<uint32_t, int64_t> spentNs;  // By stream but the default one.
    int64_t defaultNs = 0, overlapNs = 0, otherNs = 0, untilNs = INT64_MIN, operations = 0;
    auto step = steps.begin();
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        while (step != steps.end() && step->endNs <= each->startNs) ++step;
        if (step == steps.end()) break;
        const uint32_t stream = operationStream(trace, each->event);
        if (each->startNs < step->startNs || stream == noIndex) continue;
        const int64_t ns = each->endNs - each->startNs;
        if (trace.streams[stream].isNullStream) {
            defaultNs = saturatingSum(defaultNs, ns);
            ++operations;
            continue;
        }
        spentNs[stream] = saturatingSum(spentNs[stream], ns);
        otherNs = saturatingSum(otherNs, ns);
        if (untilNs > each->startNs)
            overlapNs = saturatingSum(overlapNs, std::min(untilNs, each->endNs) - each->startNs);
        untilNs = std::max(untilNs, each->endNs);
    }
    const auto allNs = static_cast<double>(otherNs) + static_cast<double>(defaultNs);
    const auto streams = std::ranges::count_if(
        spentNs, [&](const auto& each) { return static_cast<double>(each.second) >= minStreamShare * allNs; });
    const bool isOrdered =
        streams >= 2 && static_cast<double>(operations) >= minOperationsPerStep * static_cast<double>(steps.size()) &&
        static_cast<double>(defaultNs) <= maxDefaultShare * allNs &&
        static_cast<double>(overlapNs) <= maxOverlapShare * allNs;
    return isOrdered ? StreamOrder{streams, operations} : StreamOrder();
}

}  // namespace lanescope::analysis
