// SPDX-License-Identifier: Apache-2.0
#include "model/trace/processes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "model/format/factNames.h"

namespace lanescope {

int64_t clockErrorNs(const Process& process) {
    for (const Property& fact : process.facts->others) {
        if (fact.name != clockErrorFact) continue;
        int64_t ns = 0;
        const char* const end = fact.value.data() + fact.value.size();
        const auto [last, error] = std::from_chars(fact.value.data(), end, ns);
        // The value is untrusted.
        return error == std::errc() && last == end && ns > 0 ? ns : 0;
    }
    return 0;
}

namespace {

/// Returns the part of a packed process id that is shared by all processes of a machine.
int64_t machineOf(const Process& process) {
    constexpr int64_t machines = int64_t{1} << 48;
    return process.globalPid / machines;
}

}  // namespace

std::vector<uint32_t> parentProcesses(const Trace& trace) {
    std::map<std::pair<int64_t, uint32_t>, uint32_t> byNumber;
    const auto count = static_cast<uint32_t>(trace.processes.size());
    for (uint32_t process = 0; process < count; ++process)
        byNumber.try_emplace({machineOf(trace.processes[process]), trace.processes[process].pid},
                             process);
    std::vector<uint32_t> parents(count, noIndex);
    for (uint32_t process = 0; process < count; ++process) {
        const Process& info = trace.processes[process];
        for (const Property& fact : info.facts->others) {
            if (fact.name != facts::parentProcess) continue;
            uint32_t pid = 0;
            std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), pid);
            const auto parent = byNumber.find({machineOf(info), pid});
            if (parent != byNumber.end() && parent->second != process)
                parents[process] = parent->second;
        }
    }
    return parents;
}

std::vector<std::optional<int>> ranksServed(const Trace& trace) {
    const std::vector<uint32_t> parents = parentProcesses(trace);
    std::vector<std::optional<int>> ranks(parents.size());
    for (uint32_t process = 0; process < parents.size(); ++process) {
        uint32_t at = process;
        // Limit of ancestors, because a file may contain cycles.
        constexpr int maxGenerations = 16;
        for (int generation = 0; generation < maxGenerations && at != noIndex; ++generation) {
            if ((ranks[process] = trace.processes[at].rank)) break;
            at = parents[at];
        }
    }
    return ranks;
}

namespace {

constexpr double minShare = 0.01;

}  // namespace

GpusOfProcesses::GpusOfProcesses(const Trace& trace) : gpus_(trace.processes.size()) {
    std::vector<std::map<uint32_t, double>> busyNs(trace.processes.size());
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::Stream) continue;
        const Stream& stream = trace.streams[track.subject];
        for (const Lane& lane : track.lanes)
            busyNs[stream.process][stream.gpu] += static_cast<double>(lane.busyBefore(lane.size()));
    }
    for (size_t process = 0; process < busyNs.size(); ++process) {
        const std::map<uint32_t, double>& spent = busyNs[process];
        double maxNs = 0;
        for (const auto& [gpu, ns] : spent) maxNs = std::max(maxNs, ns);
        std::vector<uint32_t>& gpus = gpus_[process];
        for (const auto& [gpu, ns] : spent)
            if (ns >= minShare * maxNs) gpus.push_back(gpu);
        counts_.push_back(gpus.size());
        if (gpus.size() <= maxGpus) continue;
        std::ranges::stable_sort(
            gpus, [&spent](uint32_t a, uint32_t b) { return spent.at(a) > spent.at(b); });
        gpus.resize(maxGpus);
        std::ranges::sort(gpus);
    }
}

}  // namespace lanescope
