#include "model/load/GpuPlace.h"
#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

void readGraphs(LoadContext& context, FileDirectory& directory) {
    constexpr int graphId = firstOwnColumn;
    TableReader reader(context, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", gpuColumns({"graphId"}),
                       "CUDA graphs");
    GraphTable& table = context.trace().graphs;
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(gpuStart, gpuEnd);
        if (!times) continue;
        const GpuPlace place = readGpuPlace(reader, directory.identities);
        if (place.stream == noIndex) {
            reader.skipRow();
            continue;
        }
        table.startNs.push_back(times->startNs);
        table.endNs.push_back(times->endNs);
        table.graph.push_back(reader.integerOr(graphId, 0));
        table.stream.push_back(place.stream);
        table.correlation.push_back(reader.unsigned32(gpuCorrelation));
    }
    if (reader.hasTable() && reader.rowCount() > 0)
        context.trace().counts.push_back(
            {"CUDA graph launches", reader.rowCount(), reader.untimedCount()});
}

}  // namespace lanescope
