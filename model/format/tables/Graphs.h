// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Graphs : TableOf<Graphs> {
    constexpr Graphs()
        : TableOf("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                  "a launch of a CUDA graph that was recorded as a whole; its kernels have no rows",
                  Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this,
                                                     "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process that launched it"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"graphId"> graphId{this, "the same as graphExecId, for want of another"};
    Integer<"graphExecId"> graphExecId{this, "CUPTI's number of the graph"};
};
inline constexpr Graphs graphs;

struct GraphNodes : TableOf<GraphNodes> {
    constexpr GraphNodes()
        : TableOf("CUDA_GRAPH_NODE_EVENTS",
                  "a node of a CUDA graph was made; recorded with Python stacks") {}

    /// What Nsight Systems calls such an event, in `StringIds`, and its number of the class.
    static constexpr const char* eventName = "Graph Node Creation";
    static constexpr int nodeCreation = 77;

    Integer<"start"> start{this, "when, ns"};
    Integer<"end"> end{this, "the same"};
    Integer<"eventClass"> eventClass{this, "as ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread that made it"};
    Integer<"nameId"> nameId{this, "\"Graph Node Creation\", in StringIds"};
    Integer<"graphNodeId"> graphNodeId{this, "its number in its process, as in the kernels' table"};
    OptionalInteger<"originalGraphNodeId"> originalGraphNodeId{
        this,
        "the node of which it is a copy, as all nodes of a graph are that was made ready to run; "
        "NULL if it is none"};
};
inline constexpr GraphNodes graphNodes;

struct GraphNodeStacks : TableOf<GraphNodeStacks> {
    constexpr GraphNodeStacks()
        : TableOf("LANESCOPE_GRAPH_NODE_STACKS", "where a node of a CUDA graph was captured") {}

    Integer<"nodeRow"> nodeRow{this, "rowid of the node in CUDA_GRAPH_NODE_EVENTS"};
    Integer<"callchainId"> callchainId{this, "its Python stack, in LANESCOPE_STACKS"};
};
inline constexpr GraphNodeStacks graphNodeStacks;

}  // namespace lanescope::tables
