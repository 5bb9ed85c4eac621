// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/Kernels.h"
#include "model/load/sqlite/GpuPlace.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Kernel.h"

namespace lanescope {

namespace {

constexpr const auto& t = tables::kernels;

LaunchConfig readConfig(TableReader<tables::Kernels>& reader, FileStrings& strings) {
    LaunchConfig config;
    config.demangledName = reader.string(t.demangledName, strings).value_or(0);
    config.shortName = reader.string(t.shortName, strings).value_or(0);
    config.mangledName = reader.string(t.mangledName, strings).value_or(0);
    config.grid = {reader.unsigned32(t.gridX), reader.unsigned32(t.gridY),
                   reader.unsigned32(t.gridZ)};
    config.block = {reader.unsigned32(t.blockX), reader.unsigned32(t.blockY),
                    reader.unsigned32(t.blockZ)};
    config.registersPerThread = reader.unsigned32(t.registersPerThread);
    config.staticSharedBytes = reader.unsigned32(t.staticSharedMemory);
    config.dynamicSharedBytes = reader.unsigned32(t.dynamicSharedMemory);
    return config;
}

}  // namespace

void readKernels(LoadContext& context, FileDirectory& directory) {
    TableReader reader(context, t,
                       {t.start,
                        t.end,
                        t.globalPid,
                        t.deviceId,
                        t.contextId,
                        t.streamId,
                        t.correlationId,
                        t.demangledName,
                        t.shortName,
                        t.mangledName,
                        t.gridX,
                        t.gridY,
                        t.gridZ,
                        t.blockX,
                        t.blockY,
                        t.blockZ,
                        t.registersPerThread,
                        t.staticSharedMemory,
                        t.dynamicSharedMemory,
                        t.graphNodeId},
                       "kernels");
    forEachGpuRow(
        reader, t, directory.identities,
        [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
            context.builder().add<kinds::Kernel>(
                {.startNs = times.startNs,
                 .endNs = times.endNs,
                 .stream = place.stream,
                 .correlation = correlation,
                 .graphNode = static_cast<uint64_t>(reader.integerOr(t.graphNodeId, 0)),
                 .config = context.builder().launchConfig(readConfig(reader, directory.strings))});
        });
    reader.countAs(kinds::Kernel::plural);
}

}  // namespace lanescope
