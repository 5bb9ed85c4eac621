// SPDX-License-Identifier: Apache-2.0
#include "model/merge/checkTogether.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "model/merge/TraceExcerpt.h"
#include "model/text/formatValue.h"
#include "model/text/programOf.h"

namespace lanescope {

namespace {

/// Returns true if both contain the same recording, as copies and links of a file do.
bool areCopies(const Trace& one, const Trace& other) {
    const auto isSame = [](const Process& a, const Process& b) {
        return a.globalPid == b.globalPid && a.rank == b.rank && a.facts->bootId == b.facts->bootId;
    };
    return one.kernels.size() + one.apiCalls.size() + one.nvtx.size() > 0 && one.startUtcNs == other.startUtcNs &&
           one.facts.host == other.facts.host && std::ranges::equal(one.processes, other.processes, isSame) &&
           one.kernels.startNs == other.kernels.startNs && one.kernels.endNs == other.kernels.endNs &&
           one.apiCalls.startNs == other.apiCalls.startNs && one.nvtx.startNs == other.nvtx.startNs &&
           one.nvtx.endNs == other.nvtx.endNs;
}

/// Copies would count twice.
Result<void> checkNoCopies(std::span<const TracePtr> traces) {
    std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<const Trace*>> alike;
    for (const TracePtr& trace : traces) {
        auto& others = alike[{trace->startUtcNs, trace->range.startNs, trace->range.endNs}];
        for (const Trace* other : others)
            if (areCopies(*other, *trace))
                return fail("{} and {} contain the same recording. Name one of them.", other->path.string(),
                            trace->path.string());
        others.push_back(trace.get());
    }
    return {};
}

std::set<int> ranksOf(const Trace& trace) {
    std::set<int> ranks;
    for (const Process& process : trace.processes)
        if (const std::optional<int> rank = rankOf(trace, process)) ranks.insert(*rank);
    return ranks;
}

/// Returns the time from one trace to the other on the clocks of their hosts; 0 if they overlap, nullopt if unknown.
std::optional<int64_t> distanceNs(const Trace& one, const Trace& other) {
    if (one.startUtcNs == 0 || other.startUtcNs == 0) return std::nullopt;
    const auto timeOf = [](const Trace& trace) {
        return TimeRange{trace.startUtcNs + trace.range.startNs, trace.startUtcNs + trace.range.endNs};
    };
    const TimeRange a = timeOf(one), b = timeOf(other);
    return std::max<int64_t>({0, a.startNs - b.endNs, b.startNs - a.endNs});
}

std::string bootOf(const Trace& trace) {
    for (const Process& process : trace.processes)
        if (!process.facts->bootId.empty()) return process.facts->bootId;
    return {};
}

/// Hosts of one name are distinguished by their boots.
bool areOfTwoHosts(const Trace& one, const Trace& other) {
    if (!bootOf(one).empty() && !bootOf(other).empty() && bootOf(one) != bootOf(other)) return true;
    return !one.facts.host.empty() && !other.facts.host.empty() && one.facts.host != other.facts.host;
}

std::string distanceText(std::optional<int64_t> ns) {
    return ns && *ns > 0 ? fmt::format(", {} between them", formatDuration(*ns)) : std::string();
}

/// A rank runs once in a job.
Result<void> checkRanks(std::span<const TracePtr> traces) {
    std::map<int, std::vector<const Trace*>> ofRank;
    for (const TracePtr& trace : traces) {
        if (trace->producerKind == ProducerKind::NcclInspector) continue;
        for (const int rank : ranksOf(*trace)) {
            for (const Trace* other : ofRank[rank]) {
                const std::optional<int64_t> distance = distanceNs(*other, *trace);
                if (areOfTwoHosts(*other, *trace) && distance.value_or(0) == 0) continue;
                return fail(
                    "{0} and {1}: both contain rank {2}{3}. Merge one trace of each rank. To compare two runs, "
                    "use \"lanescope compare {0} {1}\".",
                    other->path.string(), trace->path.string(), rank, distanceText(distance));
            }
            ofRank[rank].push_back(trace.get());
        }
    }
    return {};
}

std::string commandOf(const Trace& trace) {
    if (!trace.facts.commandLine.empty()) return trace.facts.commandLine;
    for (const Process& process : trace.processes)
        if (!process.facts->commandLine.empty()) return process.facts->commandLine;
    return {};
}

/// The processes of one run overlap. The clocks of two hosts may disagree.
Result<void> checkRuns(std::span<const TracePtr> traces) {
    std::map<std::string, std::vector<const Trace*>> ofProgram;
    for (const TracePtr& trace : traces) {
        const std::string program = programOf(commandOf(*trace));
        if (program.empty() || !ranksOf(*trace).empty()) continue;
        for (const Trace* other : ofProgram[program]) {
            const std::optional<int64_t> distance = distanceNs(*other, *trace);
            if (!distance || *distance == 0 || areOfTwoHosts(*other, *trace)) continue;
            return fail("{0} and {1}: two runs of one program{2}. To compare them, use \"lanescope compare {0} {1}\".",
                        other->path.string(), trace->path.string(), distanceText(distance));
        }
        ofProgram[program].push_back(trace.get());
    }
    return {};
}

}  // namespace

std::string differentPrograms(std::span<const TracePtr> traces) {
    const Trace* first = nullptr;
    std::string known;
    for (const TracePtr& trace : traces) {
        const std::string program = programOf(commandOf(*trace));
        if (program.empty() || program == known) continue;
        if (first != nullptr)
            return fmt::format(
                "{} and {} are of different programs (\"{}\" and \"{}\"{}): check that they belong together.",
                first->title, trace->title, known, program, distanceText(distanceNs(*first, *trace)));
        first = trace.get();
        known = program;
    }
    return {};
}

Result<void> checkTogether(std::span<const TracePtr> traces) {
    if (Result<void> distinct = checkNoCopies(traces); !distinct) return distinct;
    if (Result<void> ranks = checkRanks(traces); !ranks) return ranks;
    return checkRuns(traces);
}

}  // namespace lanescope
