// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <unordered_map>

#include "model/causality/buildGraph.h"
#include "model/numbers/Statistics.h"

namespace lanescope::causality {

namespace {

/// A cause that ended this long after all others is the only possible one.
constexpr int64_t clearNs = 10'000;
/// Maximum delay from the end of GPU work to the return of a call that awaited it. A longer delay has another cause.
constexpr int64_t maxReturnDelayNs = 100'000;
constexpr size_t kindCount = static_cast<size_t>(NodeKind::Arrival) + 1;
/// Own time of a call that always waits, so that its own time cannot be measured.
constexpr int64_t alwaysWaitingNs = 5'000;
/// Maximum calls per name for a median. More calls hardly change it.
constexpr size_t maxSamples = 20'000;

using Node = CausalGraph::Node;

bool isTimed(EdgeKind kind) {
    return kind != EdgeKind::Thread && kind != EdgeKind::HandOver && kind != EdgeKind::Rank && kind != EdgeKind::Loader;
}

/// Returns true if a cause of the node other than the call ended so late that the call may have waited for it.
bool mayStartLater(const CausalGraph& graph, Node node, Node call) {
    for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge)
        if (graph.from[edge] != call && graph.endNs[graph.from[edge]] > graph.startNs[call] - maxWorkDelayNs)
            return true;
    return false;
}

/// Returns true if the call before this return may have waited for earlier work.
bool mayHaveWaited(const CausalGraph& graph, Node node, Node call) {
    for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge) {
        const Node cause = graph.from[edge];
        if (cause == call) continue;
        // A copy of the call itself ends in it, but may have waited for its stream.
        const bool isLater = graph.edgeKind[edge] == EdgeKind::Copied
                                 ? mayStartLater(graph, cause, call)
                                 : graph.endNs[cause] > graph.startNs[call] - maxReturnDelayNs;
        if (isLater) return true;
    }
    return false;
}

/// Returns the call of a return; the node itself for others.
Node callOf(const CausalGraph& graph, Node node) {
    if (graph.groups[graph.group[node]].kind != NodeKind::Return) return node;
    for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge)
        if (graph.edgeKind[edge] == EdgeKind::Thread) return graph.from[edge];
    return node;
}

/// Limits the own time of calls that may have waited to that of equal calls that did not.
void setOwnTimes(CausalGraph& graph) {
    std::unordered_map<uint32_t, std::vector<int64_t>> free, waiting;  // by group
    const auto forEachReturn = [&graph](auto visit) {
        for (Node node = 0; node < graph.size(); ++node) {
            const Node call = callOf(graph, node);
            if (call != node && graph.groups[graph.group[call]].kind == NodeKind::Call) visit(node, call);
        }
    };
    const auto nameOf = [&graph](Node call) { return graph.groups[graph.group[call]].name; };
    forEachReturn([&](Node node, Node call) {
        std::vector<int64_t>& into = (mayHaveWaited(graph, node, call) ? waiting : free)[nameOf(call)];
        if (into.size() < maxSamples) into.push_back(graph.ownNs[call]);
    });
    std::unordered_map<uint32_t, int64_t> typical;
    for (auto& [name, times] : waiting) typical[name] = std::min(*std::ranges::min_element(times), alwaysWaitingNs);
    for (auto& [name, times] : free) typical[name] = upperMedianOf(times);
    forEachReturn([&](Node node, Node call) {
        if (mayHaveWaited(graph, node, call)) graph.ownNs[call] = std::min(graph.ownNs[call], typical[nameOf(call)]);
    });
}

struct Delays {
    int64_t sumNs = 0, count = 0;
    void add(int64_t delayNs) {
        sumNs += delayNs;
        ++count;
    }
    int64_t meanNs() const { return count > 0 ? sumNs / count : 0; }
};

/// Mean delays of edges whose cause is unambiguous (`clearNs`), per kind of edge and kind of node. Edges of streams and
/// copies also have a mean per group of nodes, because directions of copies differ.
class DelayTable {
  public:
    explicit DelayTable(const CausalGraph& graph) : graph_(graph), ofGroup_(graph.groups.size()) {}

    void add(Node node, size_t edge) {
        const int64_t delayNs = graph_.delayNs[edge];
        of(node, edge).add(delayNs);
        ofEdge_[static_cast<size_t>(graph_.edgeKind[edge])].add(delayNs);
        if (isOfGroup(edge)) ofGroup_[graph_.group[node]].add(delayNs);
    }
    /// Returns 0 without a clear delay of the kind: the edge then only orders.
    int64_t typicalNs(Node node, size_t edge) {
        constexpr int64_t minCount = 8;
        const Delays& ofGroup = ofGroup_[graph_.group[node]];
        if (isOfGroup(edge) && ofGroup.count >= minCount) return ofGroup.meanNs();
        const Delays& ofKind = of(node, edge);
        return ofKind.count > 0 ? ofKind.meanNs() : ofEdge_[static_cast<size_t>(graph_.edgeKind[edge])].meanNs();
    }

  private:
    bool isOfGroup(size_t edge) const {
        return graph_.edgeKind[edge] == EdgeKind::Stream || graph_.edgeKind[edge] == EdgeKind::Copied;
    }
    Delays& of(Node node, size_t edge) {
        return ofKind_[static_cast<size_t>(graph_.edgeKind[edge]) * kindCount +
                       static_cast<size_t>(graph_.groups[graph_.group[node]].kind)];
    }

    const CausalGraph& graph_;
    std::array<Delays, edgeKindCount * kindCount> ofKind_;
    std::array<Delays, edgeKindCount> ofEdge_;
    std::vector<Delays> ofGroup_;
};

}  // namespace

void setTypicalDelays(CausalGraph& graph) {
    setOwnTimes(graph);
    DelayTable delays(graph);
    for (Node node = 0; node < graph.size(); ++node) {
        int64_t lastNs = INT64_MIN, beforeNs = INT64_MIN;
        size_t last = SIZE_MAX;
        for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge) {
            const Node cause = graph.from[edge];
            const bool isOfThread = graph.edgeKind[edge] == EdgeKind::Thread;
            const int64_t endNs = isOfThread ? graph.startNs[cause] + graph.ownNs[cause] : graph.endNs[cause];
            beforeNs = std::max(beforeNs, std::min(endNs, lastNs));
            if (endNs <= lastNs) continue;
            lastNs = endNs;
            last = edge;
        }
        if (last == SIZE_MAX || !isTimed(graph.edgeKind[last])) continue;
        if (beforeNs != INT64_MIN && beforeNs > lastNs - clearNs) continue;
        const bool isReturn = graph.edgeKind[last] == EdgeKind::Wait || graph.edgeKind[last] == EdgeKind::Copied;
        if (graph.delayNs[last] <= (isReturn ? maxReturnDelayNs : maxWorkDelayNs)) delays.add(node, last);
    }
    for (Node node = 0; node < graph.size(); ++node)
        for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge)
            if (isTimed(graph.edgeKind[edge]))
                graph.delayNs[edge] =
                    static_cast<int32_t>(std::min<int64_t>(graph.delayNs[edge], delays.typicalNs(node, edge)));
}

}  // namespace lanescope::causality
