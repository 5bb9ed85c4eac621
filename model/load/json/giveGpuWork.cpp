// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "model/load/json/giveEvents.h"
#include "model/trace/categories.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/Memset.h"
#include "model/trace/kinds/Sync.h"
#include "model/values/kernelName.h"
#include "model/values/sortLarge.h"

namespace lanescope {

namespace {

constexpr std::array callKinds{JsonEventKind::RuntimeCall, JsonEventKind::DriverCall};

/// Whether something stands on a stream, and is no wait.
bool isWork(const JsonGpuWork& work) {
    return work.kind == JsonEventKind::Kernel || work.kind == JsonEventKind::Memcpy ||
           work.kind == JsonEventKind::Memset;
}

uint64_t keyOf(uint32_t process, uint32_t correlation) {
    return uint64_t{process} << 32 | correlation;
}

/// Launch configurations of the file as those of the trace.
std::vector<uint32_t> launchConfigs(JsonGiving& giving) {
    std::vector<uint32_t> configs;
    for (const JsonLaunch& each : giving.events.launches) {
        LaunchConfig config;
        config.demangledName = each.name;
        const std::string name(giving.builder.text(each.name));
        config.shortName = giving.builder.intern(kernelBaseName(name));
        config.grid = each.grid;
        config.block = each.block;
        config.registersPerThread = each.registers;
        config.dynamicSharedBytes = each.sharedBytes;
        configs.push_back(giving.builder.launchConfig(config));
    }
    return configs;
}

void countOverlaps(const JsonEvents& events, LargeMemory* memory, JsonFindings& findings) {
    struct Stretch {
        uint32_t place;
        int64_t startNs, endNs;
    };
    LargeVector<Stretch> stretches(memory);
    events.gpuWork.forEach([&](const JsonGpuWork& each) {
        if (isWork(each))
            stretches.push_back({each.place, each.startNs, each.startNs + each.durationNs});
    });
    sortLarge(stretches, [](const Stretch& a, const Stretch& b) {
        return a.place != b.place ? a.place < b.place : a.startNs < b.startNs;
    });
    // Where times are whole microseconds, neighbours overlap by one.
    const int64_t leastNs = events.tally.fractions == 0 ? 1001 : 1;
    uint32_t place = noIndex;
    int64_t untilNs = 0;
    for (const Stretch& each : stretches) {
        if (each.place != place) {
            place = each.place;
            untilNs = each.endNs;
            continue;
        }
        if (untilNs - each.startNs >= leastNs) {
            ++findings.overlaps;
            findings.longestOverlapNs =
                std::max(findings.longestOverlapNs, std::min(untilNs, each.endNs) - each.startNs);
        }
        untilNs = std::max(untilNs, each.endNs);
    }
}

}  // namespace

void lookAtWork(JsonGiving& giving, JsonFindings& findings) {
    const JsonEvents& events = giving.events;
    LargeVector<uint64_t> called(giving.builder.memory()), done(giving.builder.memory());
    events.gpuWork.forEach([&](const JsonGpuWork& each) {
        if (isWork(each))
            done.push_back(
                keyOf(giving.identities.processOfWork(each.correlation), each.correlation));
    });
    const std::less<uint64_t> isLess;
    sortLarge(done, isLess);
    for (const JsonEventKind kind : callKinds)
        events.slices(kind).forEach([&](const JsonSlice& each) {
            if (each.extra == 0) return;
            const uint32_t process =
                giving.builder.trace().threads[giving.identities.thread(each.thread)].process;
            const uint64_t key = keyOf(process, each.extra);
            called.push_back(key);
            const bool isLaunch =
                apiCategory(giving.builder.text(each.name)) == SliceCategory::ApiLaunch;
            if (isLaunch && !std::binary_search(done.begin(), done.end(), key))
                ++findings.callsWithoutWork;
        });
    sortLarge(called, isLess);
    for (const uint64_t key : done)
        if (!std::binary_search(called.begin(), called.end(), key)) ++findings.workWithoutCall;
    countOverlaps(events, giving.builder.memory(), findings);
}

void giveGpuWork(JsonGiving& giving) {
    const std::vector<uint32_t> configs = launchConfigs(giving);
    TraceBuilder& builder = giving.builder;
    uint32_t awaited = 0;  // waits whose record is known
    giving.events.gpuWork.consume([&](const JsonGpuWork& work) {
        const uint32_t process = giving.identities.processOfWork(work.correlation);
        const uint32_t stream = giving.identities.stream(work.place, process);
        const int64_t startNs = work.startNs - giving.zeroNs;
        const int64_t endNs = startNs + work.durationNs;
        const auto gpu = [&](int16_t device) { return device < 0 ? noIndex : builder.gpu(device); };
        switch (work.kind) {
            case JsonEventKind::Kernel:
                builder.add<kinds::Kernel>({.startNs = startNs,
                                            .endNs = endNs,
                                            .stream = stream,
                                            .correlation = work.correlation,
                                            .graphNode = static_cast<uint64_t>(work.amount),
                                            .config = configs[work.config]});
                break;
            case JsonEventKind::Memcpy:
                builder.add<kinds::Memcpy>({.startNs = startNs,
                                            .endNs = endNs,
                                            .bytes = work.amount,
                                            .kind = work.copy,
                                            .sourceMemory = work.source,
                                            .destinationMemory = work.destination,
                                            .sourceGpu = gpu(work.sourceDevice),
                                            .destinationGpu = gpu(work.destinationDevice),
                                            .stream = stream,
                                            .correlation = work.correlation});
                break;
            case JsonEventKind::Memset:
                builder.add<kinds::Memset>({.startNs = startNs,
                                            .endNs = endNs,
                                            .bytes = work.amount,
                                            .memory = work.destination,
                                            .stream = stream,
                                            .correlation = work.correlation});
                break;
            case JsonEventKind::Sync:
                builder.add<kinds::Sync>({.startNs = startNs,
                                          .endNs = endNs,
                                          .type = work.sync,
                                          .stream = stream,
                                          .process = process,
                                          .correlation = work.correlation});
                if (work.sync == SyncType::StreamWaitEvent && work.amount > 0) {
                    const JsonPlace& where = giving.events.places[work.place];
                    const uint32_t recorded = builder.stream(process, builder.gpu(where.device),
                                                             where.context, work.config);
                    ++awaited;
                    builder.eventRecord({.stream = recorded,
                                         .eventSync = awaited,
                                         .correlation = static_cast<uint32_t>(work.amount)});
                    builder.eventWait(
                        {.stream = stream, .eventSync = awaited, .correlation = work.correlation});
                }
                break;
            default:
                break;
        }
    });
}

}  // namespace lanescope
