// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks, as moments that their clocks share.
#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "model/merge/commonMoments.h"
#include "model/trace/matchCollectives.h"

namespace lanescope {

namespace {

/// Who took this many times longer than it can take waited.
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

/// The rank of who calls in its communicator; of two it is the one that its peer is not.
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
            // Work that several messages share ends with the last of them, wherever that goes.
            if (facts.operationCount == 0 || facts.sharedBy != 1 || facts.isCaptured || own < 0 ||
                facts.peer < 0 || trace.nccl.communicator[row] == 0 || !isTimedCall(trace, row))
                continue;
            Sides& sides = found[isSend ? Route{trace.nccl.communicator[row], own, facts.peer}
                                        : Route{trace.nccl.communicator[row], facts.peer, own}];
            (isSend ? sides.sent : sides.received)
                .push_back(
                    {trace.nccl.bytes[row],
                     {each.clock, facts.gpu.startNs + each.zeroNs, facts.gpu.endNs + each.zeroNs}});
        }
    }
    return found;
}

/// The n-th that was sent is the n-th that was received, if there are as many of the same sizes.
bool areAlike(Sides& sides) {
    const auto byTime = [](const Side& a, const Side& b) {
        return a.sighting.beginNs < b.sighting.beginNs;
    };
    std::sort(sides.sent.begin(), sides.sent.end(), byTime);
    std::sort(sides.received.begin(), sides.received.end(), byTime);
    return std::equal(sides.sent.begin(), sides.sent.end(), sides.received.begin(),
                      sides.received.end(),
                      [](const Side& a, const Side& b) { return a.bytes == b.bytes; });
}

/// The shortest time that sending takes, by size.
std::map<int64_t, int64_t> shortestOf(const std::vector<Side>& sides) {
    std::map<int64_t, int64_t> shortest;
    for (const Side& side : sides) {
        int64_t& least =
            shortest.try_emplace(side.bytes, std::numeric_limits<int64_t>::max()).first->second;
        least = std::min(least, side.lengthNs());
    }
    return shortest;
}

}  // namespace

std::vector<CommonMoment> commonMessages(std::span<const ClockedTrace> traces) {
    std::vector<CommonMoment> moments;
    for (auto& [route, sides] : sidesOf(traces)) {
        if (!areAlike(sides)) continue;
        const std::map<int64_t, int64_t> shortest = shortestOf(sides.sent);
        for (size_t number = 0; number < sides.sent.size(); ++number) {
            const Side& sent = sides.sent[number];
            const Side& received = sides.received[number];
            // What fits into NCCL's buffers is sent before anybody is there to receive it. Only
            // where one of them waited for the other, both are there when it ends.
            const bool isSure = received.lengthNs() >= timesLonger * sent.lengthNs() ||
                                sent.lengthNs() >= timesLonger * shortest.at(sent.bytes);
            if (isSure && sent.sighting.clock != received.sighting.clock)
                moments.push_back({{sent.sighting, received.sighting}, false});
        }
    }
    return thinned(std::move(moments));
}

}  // namespace lanescope
