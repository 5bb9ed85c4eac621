#include "model/load/GpuPlace.h"
#include "model/load/LaunchConfigs.h"
#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

enum Column {
    demangledName = firstOwnColumn,
    shortName,
    mangledName,
    gridX,
    gridY,
    gridZ,
    blockX,
    blockY,
    blockZ,
    registersPerThread,
    staticShared,
    dynamicShared,
    graphNode,
};

LaunchConfig readConfig(RowReader& reader, FileStrings& strings) {
    LaunchConfig config;
    config.demangledName = reader.string(demangledName, strings).value_or(0);
    config.shortName = reader.string(shortName, strings).value_or(0);
    config.mangledName = reader.string(mangledName, strings).value_or(0);
    for (int axis = 0; axis < 3; ++axis) {
        config.grid[static_cast<size_t>(axis)] = reader.unsigned32(gridX + axis);
        config.block[static_cast<size_t>(axis)] = reader.unsigned32(blockX + axis);
    }
    config.registersPerThread = reader.unsigned32(registersPerThread);
    config.staticSharedBytes = reader.unsigned32(staticShared);
    config.dynamicSharedBytes = reader.unsigned32(dynamicShared);
    return config;
}

}  // namespace

void readKernels(LoadContext& context, FileDirectory& directory) {
    TableReader reader(context, "CUPTI_ACTIVITY_KIND_KERNEL",
                       gpuColumns({"demangledName", "shortName", "mangledName", "gridX", "gridY",
                                   "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
                                   "staticSharedMemory", "dynamicSharedMemory", "graphNodeId"}),
                       "kernels");
    KernelTable& table = context.trace().kernels;
    LaunchConfigs configs(context.trace().launchConfigs);
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
        table.config.push_back(configs.indexOf(readConfig(reader, directory.strings)));
        table.stream.push_back(place.stream);
        table.correlation.push_back(reader.unsigned32(gpuCorrelation));
        table.graphNode.push_back(static_cast<uint64_t>(reader.integerOr(graphNode, 0)));
    }
    if (reader.hasTable())
        context.trace().counts.push_back({"kernels", reader.rowCount(), reader.untimedCount()});
}

}  // namespace lanescope
