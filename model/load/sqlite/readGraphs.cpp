// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/Graphs.h"
#include "model/format/tables/Older.h"
#include "model/load/sqlite/GpuPlace.h"
#include "model/load/sqlite/StacksOfRows.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/kinds/GraphNode.h"

namespace lanescope {

void readGraphs(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::graphs;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId,
                        t.correlationId, t.graphId},
                       "CUDA graphs");
    forEachGpuRow(reader, t, directory.identities,
                  [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
                      context.builder().add<kinds::Graph>({.startNs = times.startNs,
                                                           .endNs = times.endNs,
                                                           .graph = reader.integerOr(t.graphId, 0),
                                                           .stream = place.stream,
                                                           .correlation = correlation});
                  });
    if (reader.totalCount() > 0) reader.countAs(kinds::Graph::plural);
}

namespace {

/// Nodes of a trace of ours before version 7.
void readOldGraphNodes(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::oldGraphNodes;
    TableReader reader(context, t,
                       {t.globalTid, t.timestamp, t.graphNodeId, t.originalNodeId, t.callchainId},
                       "nodes of CUDA graphs");
    while (reader.next()) {
        const std::optional<int64_t> tid = reader.integer(t.globalTid);
        const std::optional<int64_t> timeNs = reader.time(t.timestamp);
        const std::optional<int64_t> node = reader.integer(t.graphNodeId);
        const uint32_t thread = tid ? directory.identities.thread(*tid) : noIndex;
        if (thread == noIndex || !timeNs || !node) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::GraphNode>(
            {.timeNs = *timeNs,
             .thread = thread,
             .node = static_cast<uint64_t>(*node),
             .original = static_cast<uint64_t>(reader.integerOr(t.originalNodeId, 0)),
             .stack = directory.stackOf(reader.integer(t.callchainId))});
    }
}

}  // namespace

void readGraphNodes(LoadContext& context, FileDirectory& directory) {
    readOldGraphNodes(context, directory);
    constexpr const auto& t = tables::graphNodes;
    constexpr const auto& s = tables::graphNodeStacks;
    constexpr auto rowNumber = tables::rowNumber<tables::GraphNodes>;
    StacksOfRows stacks(context.builder().memory());
    stacks.read(context, directory, s, s.nodeRow, "Python stacks of nodes of CUDA graphs");
    TableReader reader(
        context, t,
        {t.start, t.eventClass, t.globalTid, t.graphNodeId, t.originalGraphNodeId, rowNumber},
        "nodes of CUDA graphs");
    while (reader.next()) {
        // Exports tell here of changes of nodes, too.
        constexpr int64_t creation = tables::GraphNodes::nodeCreation;
        if (reader.integerOr(t.eventClass, creation) != creation) continue;
        const std::optional<int64_t> tid = reader.integer(t.globalTid);
        const std::optional<int64_t> timeNs = reader.time(t.start);
        const std::optional<int64_t> node = reader.integer(t.graphNodeId);
        const uint32_t thread = tid ? directory.identities.thread(*tid) : noIndex;
        if (thread == noIndex || !timeNs || !node) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::GraphNode>(
            {.timeNs = *timeNs,
             .thread = thread,
             .node = static_cast<uint64_t>(*node),
             .original = static_cast<uint64_t>(reader.integerOr(t.originalGraphNodeId, 0)),
             .stack = stacks.of(reader.integerOr(rowNumber, 0))});
    }
}

}  // namespace lanescope
