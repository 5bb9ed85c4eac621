// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/Graphs.h"
#include "model/load/sqlite/GpuPlace.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Graph.h"

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
    if (reader.rowCount() > 0) reader.countAs(kinds::Graph::plural);
}

}  // namespace lanescope
