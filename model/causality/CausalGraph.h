// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/trace/EventRef.h"

namespace lanescope::causality {

/// Part of a run that takes time.
enum class NodeKind : uint8_t {
    Host,    ///< A thread between two calls.
    Call,    ///< An API call, without the time that it waits.
    Return,  ///< End of a call that may have waited.
    Kernel,  ///< Also the start of a kernel that waits for other ranks.
    Copy,
    Memset,
    Graph,       ///< A graph that was recorded as a whole.
    Collective,  ///< Part of a kernel that moves data between ranks.
    Entered,     ///< Time at which all ranks have entered a collective.
    Arrival,     ///< Time at which a batch is there.
};

/// Cause for the start of a node.
enum class EdgeKind : uint8_t {
    Thread,       ///< Earlier part of the same thread.
    Launch,       ///< End of the call that launched the work.
    GraphLaunch,  ///< The same for the first work of a graph.
    Stream,       ///< Earlier work in the same stream.
    Event,        ///< Work before an event for which the stream waits.
    Default,      ///< Work before or after work in the default stream.
    Wait,         ///< Work for which a call waits.
    Copied,       ///< Copy for which its own call waits.
    Queue,        ///< Work that frees a place in the full queue of launches.
    Rank,         ///< A rank that enters a collective.
    HandOver,     ///< Part of another thread that hands over.
    Loader,       ///< Batch for which a thread waits.
    Space,        ///< Work of another stream that occupied the GPU until then.
};
inline constexpr size_t edgeKindCount = 13;

/// Properties that nodes share, by which a change selects them.
struct NodeGroup {
    NodeKind kind = NodeKind::Host;
    /// Index into `Trace::launchConfigs` for kernels; name in `Trace::strings` for calls; `MemcpyKind` for copies.
    uint32_t name = 0;
    uint32_t stack = noIndex;  ///< Frame of the line (`ownPlaces`), or `noIndex`.
    uint32_t process = 0;
    bool isLoading = false;  ///< Gets the next batch.
    bool isUnknown = false;  ///< A thread that waits for an unknown reason.
    bool operator==(const NodeGroup&) const = default;
};

/// A change of all nodes of a group.
struct Scale {
    double factor = 1;       ///< Factor for the nodes' own time.
    int64_t addedNs = 0;     ///< Added to that time.
    bool isRemoved = false;  ///< Also removes waits of calls for work, of ranks for each other, and for batches.
};

/// Causes of some time of a run, as columns. Nodes are in the order of their recorded starts, and an edge leads to a
/// later node. A node starts when all its causes have ended and their delays are over.
class CausalGraph {
  public:
    using Node = uint32_t;

    std::vector<NodeGroup> groups;

    // One per node.
    std::vector<int64_t> startNs, endNs;  ///< As recorded.
    std::vector<int64_t> ownNs;           ///< Time from its start to its end in a replay.
    std::vector<uint32_t> group;
    std::vector<EventRef> event;    ///< Call or work; invalid for others.
    std::vector<uint32_t> edgeEnd;  ///< End of its edges.
    // One per edge.
    std::vector<Node> from;
    std::vector<int32_t> delayNs;  ///< From the end of the cause to the start of the node.
    std::vector<EdgeKind> edgeKind;

    size_t size() const { return startNs.size(); }
    size_t edgesBefore(Node node) const { return node == 0 ? 0 : edgeEnd[node - 1]; }

    /// Returns the end of each node. A node without causes starts as recorded. `scales` has one entry for each group,
    /// or none for the unchanged program. O(nodes + edges).
    std::vector<int64_t> replay(std::span<const Scale> scales = {}) const;

    /// Part of a critical path: a node and the edge that leads to it.
    struct PathPart {
        Node node = 0;
        size_t edge = SIZE_MAX;          ///< `SIZE_MAX` for the first.
        int64_t startNs = 0, endNs = 0;  ///< In the replay.
    };
    /// Returns the causes that determine the end of a node, from a replay, latest first, down to `untilNs`.
    std::vector<PathPart> pathTo(Node node, std::span<const int64_t> ends, std::span<const Scale> scales,
                                 int64_t untilNs) const;

    void reserve(size_t nodes, size_t edges) {
        for (auto* column : {&startNs, &endNs, &ownNs}) column->reserve(nodes);
        for (auto* column : {&group, &edgeEnd}) column->reserve(nodes);
        event.reserve(nodes);
        from.reserve(edges);
        delayNs.reserve(edges);
        edgeKind.reserve(edges);
    }
    /// Appends a node; its edges follow.
    Node addNode(uint32_t nodeGroup, int64_t nodeStartNs, int64_t nodeEndNs, EventRef of = {}) {
        startNs.push_back(nodeStartNs);
        endNs.push_back(nodeEndNs);
        ownNs.push_back(nodeEndNs - nodeStartNs);
        group.push_back(nodeGroup);
        event.push_back(of);
        edgeEnd.push_back(static_cast<uint32_t>(from.size()));
        return static_cast<Node>(size() - 1);
    }
    /// Appends a cause of the last node.
    void addEdge(EdgeKind kind, Node cause, int64_t delay = 0) {
        from.push_back(cause);
        constexpr int64_t most = std::numeric_limits<int32_t>::max();
        delayNs.push_back(static_cast<int32_t>(delay < -most ? -most : delay > most ? most : delay));
        edgeKind.push_back(kind);
        edgeEnd.back() = static_cast<uint32_t>(from.size());
    }

  private:
    bool isDropped(size_t edge, const Scale& scale) const {
        const EdgeKind kind = edgeKind[edge];
        return scale.isRemoved && (kind == EdgeKind::Wait || kind == EdgeKind::Copied || kind == EdgeKind::Rank ||
                                   kind == EdgeKind::Loader);
    }
    int64_t startIn(Node node, std::span<const int64_t> ends, const Scale& scale, size_t* binding = nullptr) const;
};

}  // namespace lanescope::causality
