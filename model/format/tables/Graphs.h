// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Graphs : TableOf<Graphs> {
    constexpr Graphs()
        : TableOf("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                  "a launch of a CUDA graph that was recorded as a whole; its kernels have no rows",
                  Content::Events) {}

    OptionalInteger<"start"> start{this, "when it began, ns; NULL if it was not timed"};
    OptionalInteger<"end"> end{this, "when it ended, ns; NULL if it was not timed"};
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
        : TableOf("LANESCOPE_GRAPH_NODES",
                  "a node of a CUDA graph, and where the program was when it made it") {}

    Integer<"globalTid"> globalTid{this, "the thread that made it"};
    Integer<"timestamp"> timestamp{this, "when, ns"};
    Integer<"graphNodeId"> graphNodeId{this, "its number in its process, as in the kernels' table"};
    OptionalInteger<"originalNodeId"> originalNodeId{
        this,
        "the node of which it is a copy, as all nodes of a graph are that was made ready to run; "
        "NULL if it is none"};
    OptionalInteger<"callchainId"> callchainId{
        this,
        "the Python stack at its capture, in LANESCOPE_STACKS; NULL if it has none, and of a copy"};
};
inline constexpr GraphNodes graphNodes;

}  // namespace lanescope::tables
