// SPDX-License-Identifier: Apache-2.0
#include "model/compare/summaryFacts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "model/compare/readingWeight.h"
#include "model/compare/workerConditions.h"
#include "model/format/Fnv1a.h"
#include "model/format/GlobalId.h"
#include "model/trace/notesOf.h"

namespace lanescope::compare {

namespace {

/// More than any trace has that is not made to be long.
constexpr size_t mostWarnings = 1000;
constexpr size_t mostOtherProcesses = 100;

/// That of the run; of its first process where the run has none.
std::string commandLineOf(const Trace& trace) {
    if (!trace.facts.commandLine.empty()) return trace.facts.commandLine;
    for (const Process& process : trace.processes)
        if (!process.facts->commandLine.empty()) return process.facts->commandLine;
    return {};
}

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
    return std::any_of(connections.begin(), connections.end(),
                       [](const GpuConnection& each) { return each.nvlinks > 0; });
}

/// The mean of what the SM clocks of these GPUs were from the first kernel to the last; 0 if they
/// were not read meanwhile.
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

/// Processes that cannot be seen from where the run was recorded have no name there; these may be
/// the run's own, under other numbers.
std::vector<std::string> otherProcessesOf(const Trace& trace, const std::set<uint32_t>& gpus) {
    std::set<int64_t> gpuIds;
    for (const uint32_t gpu : gpus) gpuIds.insert(trace.gpus[gpu].id);
    // Another host gives the same numbers again.
    std::set<std::pair<uint32_t, int64_t>> recorded;
    for (const Process& process : trace.processes)
        recorded.emplace(hostOf(process.globalPid), int64_t{process.pid});
    std::map<int64_t, uint32_t> hosts;
    for (const Stream& stream : trace.streams)
        if (stream.gpu < trace.gpus.size() && stream.process < trace.processes.size())
            hosts.try_emplace(trace.gpus[stream.gpu].id,
                              hostOf(trace.processes[stream.process].globalPid));
    std::set<std::string> names;
    for (const GpuProcessUse& use : trace.interconnect.gpuProcesses)
        if (const auto host = hosts.find(use.gpu); !use.name.empty() && gpuIds.contains(use.gpu) &&
                                                   host != hosts.end() &&
                                                   !recorded.contains({host->second, use.pid}))
            names.insert(use.name);
    if (names.size() > mostOtherProcesses)
        names.erase(std::next(names.begin(), mostOtherProcesses), names.end());
    return {names.begin(), names.end()};
}

template <class Table>
void addTimes(const Table& table, Fnv1a& hash) {
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

int64_t worldSizeOf(const Trace& trace) {
    std::set<uint32_t> processes;
    for (const uint32_t stream : streamsInUse(trace))
        processes.insert(trace.streams[stream].process);
    auto ranks = static_cast<int64_t>(processes.size());
    for (const Process& process : trace.processes)
        ranks = std::max<int64_t>(ranks, process.worldSize.value_or(0));
    return ranks;
}

std::vector<HealthNote> warningsOf(const Trace& trace) {
    std::vector<HealthNote> warnings;
    for (HealthNote& note : notesOf(trace)) {
        if (note.severity == Severity::Info || warnings.size() == mostWarnings) continue;
        note.timeNs.reset();
        warnings.push_back(std::move(note));
    }
    return warnings;
}

SummaryFacts factsOf(const Trace& trace) {
    SummaryFacts facts;
    facts.title = trace.title;
    facts.producer = trace.producer;
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
    facts.isTruncated = std::any_of(trace.processes.begin(), trace.processes.end(),
                                    [](const Process& each) { return each.endedAbnormally; });
    facts.healthWarnings = warningsOf(trace);
    facts.contentHash = contentHashOf(trace);
    return facts;
}

}  // namespace lanescope::compare
