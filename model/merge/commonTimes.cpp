// SPDX-License-Identifier: Apache-2.0
#include "model/merge/fitClocks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "model/analysis/StepSelection.h"
#include "model/format/parseNumber.h"
#include "model/format/text.h"
#include "model/numbers/groups.h"
#include "model/trace/collectives.h"

namespace lanescope {

namespace {

/// Maximum common times that are used. More times add no precision.
constexpr size_t maxTimes = 4000;

/// One rank's part in a collective.
struct Part {
    std::string operation;
    uint64_t communicator = 0;
    int64_t number = -1;  ///< NCCL's number; -1 if unknown.
    int64_t bytes = -1;
    uint32_t rank = 0;  ///< Number of the process among all of the traces.
    Sighting sighting;
};

/// Returns true if it cannot end before all have begun: each rank needs data of every other.
bool needsAll(std::string_view operation) {
    constexpr std::array<std::string_view, 5> operations{"AllReduce", "AllGather", "ReduceScatter", "AlltoAll",
                                                         "AlltoAllv"};
    return std::ranges::find(operations, operation) != operations.end();
}

std::vector<Part> partsOf(std::span<const ClockedTrace> traces) {
    std::vector<Part> parts;
    uint32_t firstProcess = 0;
    for (const ClockedTrace& each : traces) {
        const Trace& trace = *each.trace;
        for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
            const NcclFacts facts = trace.nccl.facts[row];
            const std::string_view operation = trace.strings.at(trace.nccl.operation[row]);
            // Ranks end independently in operations that do not need all of them.
            if (facts.operationCount == 0 || facts.isCaptured || trace.nccl.communicator[row] == 0 ||
                !needsAll(operation) || !isTimedCall(trace, row))
                continue;
            const uint32_t thread = trace.nvtx.thread[trace.nccl.nvtx[row]];
            parts.push_back({std::string(operation),
                             trace.nccl.communicator[row],
                             facts.sequence,
                             trace.nccl.bytes[row],
                             firstProcess + trace.threads[thread].process,
                             {each.clock, facts.gpu.startNs + each.zeroNs, facts.gpu.endNs + each.zeroNs}});
        }
        firstProcess += static_cast<uint32_t>(trace.processes.size());
    }
    return parts;
}

/// Numbers the parts of one operation of a communicator within their rank, if all ranks have
/// equally many, of the same sizes in the same order. `parts` are by rank and time.
bool number(std::span<Part> parts) {
    std::vector<int64_t> sizes;
    size_t place = 0;
    for (size_t at = 0; at < parts.size(); ++at) {
        const bool isNewRank = at == 0 || parts[at].rank != parts[at - 1].rank;
        if (isNewRank && at > 0 && place != sizes.size()) return false;
        if (isNewRank) place = 0;
        if (parts[at].rank == parts.front().rank)
            sizes.push_back(parts[at].bytes);
        else if (place >= sizes.size() || sizes[place] != parts[at].bytes)
            return false;
        parts[at].number = static_cast<int64_t>(place++);
    }
    return place == sizes.size();
}

bool isOfSeveralClocks(const CommonTime& moment) {
    return std::ranges::any_of(moment.sightings,
                               [&](const Sighting& each) { return each.clock != moment.sightings.front().clock; });
}

/// A collective, while its ranks are collected.
struct Collected {
    CommonTime moment{.sightings = {}, .isCausal = true};
    std::set<uint32_t> ranks;
    bool isCalledTwice = false;  ///< Called twice by one rank: these are two, which cannot be distinguished.
};

/// Returns the number at the end of a name: 12 for "ProfilerStep#12".
std::optional<int64_t> numberAtEnd(std::string_view name) {
    size_t begin = name.size();
    while (begin > 0 && isDigit(name[begin - 1])) --begin;
    return parseNumber<int64_t>(name.substr(begin));
}

/// A side that took this many times the minimum has waited.
constexpr int64_t timesLonger = 2;

/// From a rank of a communicator to another.
struct Route {
    uint64_t communicator = 0;
    int32_t from = -1, to = -1;
    auto operator<=>(const Route&) const = default;
};

struct Side {
    int64_t bytes = -1;
    Sighting sighting;
    int64_t lengthNs() const { return sighting.endNs - sighting.beginNs; }
};

struct Sides {
    std::vector<Side> sent, received;
};

/// Returns the caller's rank in its communicator; with two ranks the one that is not its peer.
int32_t ownRank(const NcclFacts& facts) {
    if (facts.rank >= 0) return facts.rank;
    return facts.rankCount == 2 && (facts.peer == 0 || facts.peer == 1) ? 1 - facts.peer : -1;
}

std::map<Route, Sides> sidesOf(std::span<const ClockedTrace> traces) {
    std::map<Route, Sides> found;
    for (const ClockedTrace& each : traces) {
        const Trace& trace = *each.trace;
        for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
            const std::string_view operation = trace.strings.at(trace.nccl.operation[row]);
            const bool isSend = operation == "Send";
            if (!isSend && operation != "Recv") continue;
            const NcclFacts facts = trace.nccl.facts[row];
            const int32_t own = ownRank(facts);
            // Work shared by several messages ends with the last of them, whatever its destination.
            if (facts.operationCount == 0 || facts.sharedBy != 1 || facts.isCaptured || own < 0 || facts.peer < 0 ||
                trace.nccl.communicator[row] == 0 || !isTimedCall(trace, row))
                continue;
            Sides& sides = found[isSend ? Route{trace.nccl.communicator[row], own, facts.peer}
                                        : Route{trace.nccl.communicator[row], facts.peer, own}];
            (isSend ? sides.sent : sides.received)
                .push_back({trace.nccl.bytes[row],
                            {each.clock, facts.gpu.startNs + each.zeroNs, facts.gpu.endNs + each.zeroNs}});
        }
    }
    return found;
}

/// Pairs the n-th sent with the n-th received message, if there are equally many of the same sizes.
bool areAlike(Sides& sides) {
    const auto byTime = [](const Side& a, const Side& b) { return a.sighting.beginNs < b.sighting.beginNs; };
    std::ranges::sort(sides.sent, byTime);
    std::ranges::sort(sides.received, byTime);
    return std::ranges::equal(sides.sent, sides.received, {}, &Side::bytes, &Side::bytes);
}

/// Returns the minimum time of sending, by size.
std::map<int64_t, int64_t> shortestOf(const std::vector<Side>& sides) {
    std::map<int64_t, int64_t> shortest;
    for (const Side& side : sides) {
        int64_t& least = shortest.try_emplace(side.bytes, std::numeric_limits<int64_t>::max()).first->second;
        least = std::min(least, side.lengthNs());
    }
    return shortest;
}

}  // namespace

std::vector<CommonTime> thinned(std::vector<CommonTime> moments) {
    if (moments.size() <= maxTimes) return moments;
    std::ranges::sort(moments, {}, [](const CommonTime& each) { return each.sightings.front().endNs; });
    std::vector<CommonTime> kept;
    for (size_t i = 0; i < maxTimes; ++i) kept.push_back(std::move(moments[i * moments.size() / maxTimes]));
    return kept;
}

std::vector<CommonTime> commonCollectives(std::span<const ClockedTrace> traces) {
    std::vector<Part> parts = partsOf(traces);
    const auto ofOne = [](const Part& part) { return std::tie(part.communicator, part.operation); };
    std::ranges::sort(parts, {},
                      [&](const Part& each) { return std::tuple(ofOne(each), each.rank, each.sighting.beginNs); });
    std::vector<CommonTime> moments;
    forEachGroup(parts, ofOne, [&moments](std::span<Part> alike) {
        const bool isNumbered = std::ranges::all_of(alike, [](const Part& part) { return part.number >= 0; });
        if (!isNumbered && !number(alike)) return;
        std::map<int64_t, Collected> byNumber;
        for (const Part& part : alike) {
            Collected& collected = byNumber[part.number];
            collected.isCalledTwice |= !collected.ranks.insert(part.rank).second;
            collected.moment.sightings.push_back(part.sighting);
        }
        for (auto& [unused, each] : byNumber)
            if (!each.isCalledTwice && isOfSeveralClocks(each.moment)) moments.push_back(std::move(each.moment));
    });
    return thinned(std::move(moments));
}

std::vector<CommonTime> commonSteps(std::span<const ClockedTrace> traces) {
    std::map<std::pair<std::string, int64_t>, CommonTime> byNumber;
    StepSelection everyStep{.keepsWarmUp = true};
    for (const ClockedTrace& each : traces) {
        const Result<RunSteps> steps = findSteps(*each.trace, everyStep);
        if (!steps || steps->source == StepSource::WholeRun) continue;
        for (const WorkerSteps& worker : steps->workers)
            for (const StepSpan& step : worker.steps) {
                const int64_t timeNs = step.range.startNs + each.zeroNs;
                const int64_t number = numberAtEnd(step.name).value_or(step.number);
                byNumber[{steps->pattern, number}].sightings.push_back({each.clock, timeNs, timeNs});
            }
    }
    std::vector<CommonTime> moments;
    for (auto& [unused, moment] : byNumber)
        if (isOfSeveralClocks(moment)) moments.push_back(std::move(moment));
    return thinned(std::move(moments));
}

std::vector<CommonTime> commonMessages(std::span<const ClockedTrace> traces) {
    std::vector<CommonTime> moments;
    for (auto& [route, sides] : sidesOf(traces)) {
        if (!areAlike(sides)) continue;
        const std::map<int64_t, int64_t> shortest = shortestOf(sides.sent);
        for (size_t number = 0; number < sides.sent.size(); ++number) {
            const Side& sent = sides.sent[number];
            const Side& received = sides.received[number];
            // Data that fits into NCCL's buffers is sent before a receiver is there. Both sides are
            // there at the end only if one of them waited for the other.
            const bool isSure = received.lengthNs() >= timesLonger * sent.lengthNs() ||
                                sent.lengthNs() >= timesLonger * shortest.at(sent.bytes);
            if (isSure && sent.sighting.clock != received.sighting.clock)
                moments.push_back({{sent.sighting, received.sighting}, false});
        }
    }
    return thinned(std::move(moments));
}

}  // namespace lanescope
