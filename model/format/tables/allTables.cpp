// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/allTables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "model/format/tables/ApiCalls.h"
#include "model/format/tables/Copies.h"
#include "model/format/tables/Counters.h"
#include "model/format/tables/Enums.h"
#include "model/format/tables/GpuMetrics.h"
#include "model/format/tables/Gpus.h"
#include "model/format/tables/Graphs.h"
#include "model/format/tables/Kernels.h"
#include "model/format/tables/Links.h"
#include "model/format/tables/MemoryEvents.h"
#include "model/format/tables/Names.h"
#include "model/format/tables/Nccl.h"
#include "model/format/tables/Nvtx.h"
#include "model/format/tables/PageFaults.h"
#include "model/format/tables/Recording.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Stacks.h"
#include "model/format/tables/Stored.h"
#include "model/format/tables/Syncs.h"
#include "model/format/tables/ThreadStates.h"

namespace lanescope::tables {

namespace {

constexpr std::array inTrace = std::to_array<const Table*>(
    {// As Nsight Systems exports them.
     &strings, &kernels, &memcpys, &memsets, &apiCalls, &syncs, &cudaEvents, &overheads, &graphs,
     &graphNodes, &memoryEvents, &poolEvents, &cpuPageFaults, &gpuPageFaults, &nvtxEvents,
     &payloadSchemas, &payloadEntries, &gpuMetrics, &gpuMetricNames, &threadNames, &processes,
     &gpus, &cudaDevices, &contexts, &streams, &nullStreams, &sessionStart, &systemEnvironment,
     &captureMetaData, &exportMetaData, &analysisDetails, &diagnostics, &scheduleEvents,
     &sampleEvents, &samplingCallchains,
     // Ours.
     &ncclOperations, &ncclCommunicators, &ncclPluginOperations, &health, &properties,
     &processStates, &windows, &gaps, &clocks, &topology, &affinities, &linkPeaks, &counters,
     &counterSamples, &gpuProcesses, &samplingMoments, &stacks, &threadStates, &nvtxStacks,
     &backwards, &graphNodeStacks, &untimed,
     // What numbers mean.
     &memoryOperations, &cacheConfigs, &launchTypes, &poolOperations, &poolTypes,
     &sharedMemoryLimits, &faultAccesses, &migrationCauses, &overheadTypes, &streamTypes,
     &syncTypes, &diagnosticSeverities, &diagnosticSources, &diagnosticClocks, &eventTypes,
     &eventClasses, &memcpyKinds, &memoryKinds});

constexpr std::array inStored = std::to_array<const Table*>(
    {&storedFacts, &storedHealth, &storedWorkers, &storedGpuClocks, &storedSteps, &storedParts,
     &storedContributors, &storedOutliers, &storedPlaces, &storedClocks, &storedCommunicators,
     &storedCollectives, &storedKernels, &storedCounters});

}  // namespace

std::span<const Table* const> traceTables() {
    return inTrace;
}

std::span<const Table* const> eventTables() {
    static const std::vector<const Table*> found = [] {
        std::vector<const Table*> events;
        std::ranges::copy_if(inTrace, std::back_inserter(events), [](const Table* table) {
            return table->content() == Content::Events;
        });
        return events;
    }();
    return found;
}

std::span<const Table* const> storedTables() {
    return inStored;
}

}  // namespace lanescope::tables
