// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/emitEvents.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "model/numbers/LargeMemory.h"
#include "model/text/kernelNames.h"
#include "model/trace/Track.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"

namespace lanescope {

void giveEvents(JsonGiving& giving, JsonFindings& findings,
                const std::function<bool(double)>& isWanted) {
    lookAtWork(giving, findings);
    giveGpuWork(giving);
    giveCalls(giving);
    if (!isWanted(0.3)) return;
    giveRanges(giving, findings);
    if (!isWanted(0.9)) return;
    giveEdges(giving, findings);
    giveCounters(giving);
}

namespace {

using Meaning = JsonCounter::Meaning;

/// The number that a text begins with; -1 if it begins with none.
int64_t leadingNumber(std::string_view text) {
    int64_t number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// What PyTorch's own allocator holds; what it says of the CPU is of a process, not of a GPU.
void describeAllocator(const JsonEvents::Counter& counter, JsonGiving& giving,
                       CounterSeries& series) {
    const bool isOfGpu = counter.deviceType != 0 && counter.device >= 0;
    if (isOfGpu) series.gpu = giving.builder.gpu(counter.device);
    const std::string_view where = isOfGpu ? "" : " on the CPU";
    series.unit = CounterUnit::Bytes;
    series.source = "torch";
    switch (counter.meaning) {
        case Meaning::Reserved:
            series.key = "allocator.reserved";
            series.name = fmt::format("Memory reserved by PyTorch{}", where);
            break;
        case Meaning::Change:
            series.key = "allocator.change";
            series.name = fmt::format("Memory allocated by PyTorch since the beginning{}", where);
            break;
        default:
            series.key = "allocator.allocated";
            series.name = fmt::format("Memory allocated by PyTorch{}", where);
            break;
    }
}

void describe(const JsonEvents::Counter& counter, JsonGiving& giving, CounterSeries& series) {
    // "GPU 0 Counters": what is no process, but a GPU.
    constexpr int64_t mostGpus = 1024;
    constexpr std::string_view gpuWord = "GPU ";
    const std::string_view owner = counter.process;
    const int64_t gpu =
        owner.starts_with(gpuWord) ? leadingNumber(owner.substr(gpuWord.size())) : -1;
    if (gpu >= 0 && gpu < mostGpus)
        series.gpu = giving.builder.gpu(gpu);
    else if (!owner.empty())
        series.process = giving.identities.process(counter.process);
    if (counter.meaning != Meaning::Value) return describeAllocator(counter, giving, series);
    const std::string name(giving.builder.text(counter.name));
    const std::string part(giving.builder.text(counter.part));
    const bool saysMore = !part.empty() && part != "value" && part != name;
    series.name = saysMore ? fmt::format("{}: {}", name, part) : name;
    series.key = series.name;
    series.source = "trace";
}

}  // namespace

void giveCounters(JsonGiving& giving) {
    for (size_t index = 0; index < giving.events.counters.size(); ++index) {
        const JsonEvents::Counter& counter = giving.events.counters[index];
        LargeVector<JsonEvents::Sample> samples(giving.builder.memory());
        giving.events.samples[index].consume(
            [&](const JsonEvents::Sample& sample) { samples.push_back(sample); });
        sortLarge(samples, [](const JsonEvents::Sample& a, const JsonEvents::Sample& b) {
            return a.timeNs < b.timeNs;
        });
        CounterSeries series;
        describe(counter, giving, series);
        CounterSamples sampled;
        sampled.unit = series.unit;
        sampled.timesNs = LargeVector<int64_t>(giving.builder.memory());
        sampled.values = LargeVector<long double>(giving.builder.memory());
        long double sum = 0;
        for (const JsonEvents::Sample& sample : samples) {
            sum += sample.value;
            sampled.timesNs.push_back(sample.timeNs - giving.zeroNs);
            sampled.values.push_back(counter.meaning == Meaning::Change ? sum : sample.value);
        }
        giving.builder.counter(std::move(series), std::move(sampled));
    }
}

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
