// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/emitEvents.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/numbers/LargeMemory.h"
#include "model/text/apiCalls.h"
#include "model/text/kernelNames.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"

namespace lanescope {

void emitEvents(EmitContext& output, EmitFindings& findings, const std::function<bool(double)>& isWanted) {
    checkWork(output, findings);
    emitGpuWork(output);
    emitCalls(output);
    if (!isWanted(0.3)) return;
    emitRanges(output, findings);
    if (!isWanted(0.9)) return;
    emitEdges(output, findings);
    emitCounters(output);
}

namespace {

using Meaning = ImportedCounter::Meaning;

/// Returns the number at the start of a text, or -1.
int64_t leadingNumber(std::string_view text) {
    int64_t number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Describes a counter of PyTorch's allocator. Its CPU values belong to a process, not to a GPU.
void describeAllocator(const ImportedEvents::Counter& counter, EmitContext& output, CounterSeries& series) {
    const bool isOfGpu = counter.deviceType != 0 && counter.device >= 0;
    if (isOfGpu) series.gpu = output.builder.gpu(counter.device);
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

void describe(const ImportedEvents::Counter& counter, EmitContext& output, CounterSeries& series) {
    // "GPU 0 Counters" is the name of a GPU, not of a process.
    constexpr int64_t maxGpus = 1024;
    constexpr std::string_view gpuWord = "GPU ";
    const std::string_view owner = counter.process;
    const int64_t gpu = owner.starts_with(gpuWord) ? leadingNumber(owner.substr(gpuWord.size())) : -1;
    if (gpu >= 0 && gpu < maxGpus)
        series.gpu = output.builder.gpu(gpu);
    else if (!owner.empty())
        series.process = output.identities.process(counter.process);
    if (counter.meaning != Meaning::Value) return describeAllocator(counter, output, series);
    const std::string name(output.builder.text(counter.name));
    const std::string part(output.builder.text(counter.part));
    const bool hasDetails = !part.empty() && part != "value" && part != name;
    series.name = hasDetails ? fmt::format("{}: {}", name, part) : name;
    series.key = series.name;
    series.source = "trace";
}

}  // namespace

void emitCounters(EmitContext& output) {
    for (size_t index = 0; index < output.events.counters.size(); ++index) {
        const ImportedEvents::Counter& counter = output.events.counters[index];
        LargeVector<ImportedEvents::Sample> samples(output.builder.memory());
        output.events.samples[index].consume([&](const ImportedEvents::Sample& sample) { samples.push_back(sample); });
        sortLarge(samples,
                  [](const ImportedEvents::Sample& a, const ImportedEvents::Sample& b) { return a.timeNs < b.timeNs; });
        CounterSeries series;
        describe(counter, output, series);
        CounterSamples sampled;
        sampled.unit = series.unit;
        sampled.timesNs = LargeVector<int64_t>(output.builder.memory());
        sampled.values = LargeVector<long double>(output.builder.memory());
        long double sum = 0;
        for (const ImportedEvents::Sample& sample : samples) {
            sum += sample.value;
            sampled.timesNs.push_back(sample.timeNs - output.zeroNs);
            sampled.values.push_back(counter.meaning == Meaning::Change ? sum : sample.value);
        }
        output.builder.counter(std::move(series), std::move(sampled));
    }
}

namespace {

constexpr std::array callKinds{ImportedEventKind::RuntimeCall, ImportedEventKind::DriverCall};

/// Returns true for work on a stream other than a wait.
bool isWork(const ImportedGpuWork& work) {
    return work.kind == ImportedEventKind::Kernel || work.kind == ImportedEventKind::Memcpy ||
           work.kind == ImportedEventKind::Memset;
}

uint64_t keyOf(uint32_t process, uint32_t correlation) { return uint64_t{process} << 32 | correlation; }

/// Returns the launch configurations of the trace for those of the file.
std::vector<uint32_t> launchConfigs(EmitContext& output) {
    std::vector<uint32_t> configs;
    for (const ImportedLaunch& each : output.events.launches) {
        LaunchConfig config;
        config.demangledName = each.name;
        const std::string name(output.builder.text(each.name));
        config.shortName = output.builder.intern(kernelBaseName(name));
        config.grid = each.grid;
        config.block = each.block;
        config.registersPerThread = each.registers;
        config.dynamicSharedBytes = each.sharedBytes;
        configs.push_back(output.builder.launchConfig(config));
    }
    return configs;
}

void countOverlaps(const ImportedEvents& events, LargeMemory* memory, EmitFindings& findings) {
    struct Interval {
        uint32_t place;
        int64_t startNs, endNs;
    };
    LargeVector<Interval> intervals(memory);
    events.gpuWork.forEach([&](const ImportedGpuWork& each) {
        if (isWork(each)) intervals.push_back({each.place, each.startNs, each.startNs + each.durationNs});
    });
    sortLarge(intervals, [](const Interval& a, const Interval& b) {
        return a.place != b.place ? a.place < b.place : a.startNs < b.startNs;
    });
    // With times in whole microseconds, neighbours overlap by one.
    const int64_t minOverlapNs = events.tally.fractions == 0 ? 1001 : 1;
    uint32_t place = noIndex;
    int64_t untilNs = 0;
    for (const Interval& each : intervals) {
        if (each.place != place) {
            place = each.place;
            untilNs = each.endNs;
            continue;
        }
        if (untilNs - each.startNs >= minOverlapNs) {
            ++findings.overlaps;
            findings.maxOverlapNs = std::max(findings.maxOverlapNs, std::min(untilNs, each.endNs) - each.startNs);
        }
        untilNs = std::max(untilNs, each.endNs);
    }
}

}  // namespace

namespace {

/// A call that launches work.
struct Launching {
    uint32_t process = 0;
    TimeRange time;
    enum class Work : uint8_t { Timed, Untimed, None } work = Work::None;
};

/// Calls that matter for launches, by the names of a trace.
class LaunchingCalls {
  public:
    enum class Role : uint8_t { None, Launch, BeginCapture, EndCapture };

    explicit LaunchingCalls(const TraceBuilder& builder) : builder_(builder) {}

    Role roleOf(StringIndex name) {
        const auto [known, isNew] = roles_.try_emplace(name, Role::None);
        if (!isNew) return known->second;
        const std::string_view text = builder_.text(name);
        if (text.find("BeginCapture") != std::string_view::npos)
            known->second = Role::BeginCapture;
        else if (text.find("EndCapture") != std::string_view::npos)
            known->second = Role::EndCapture;
        else if (callClassOf(text) == CallClass::Launch)
            known->second = Role::Launch;
        return known->second;
    }

  private:
    const TraceBuilder& builder_;
    std::unordered_map<StringIndex, Role> roles_;
};

/// Starts and ends of captures of graphs. Launches of a thread that captures do no work yet.
class Captures {
  public:
    explicit Captures(LargeMemory* memory) : edges_(memory) {}

    void add(uint32_t thread, int64_t timeNs, bool isBegin) { edges_.push_back({thread, timeNs, isBegin}); }
    void sort() {
        sortLarge(edges_, [](const Edge& a, const Edge& b) { return a.key() < b.key(); });
    }
    bool contain(uint32_t thread, int64_t timeNs) const {
        const auto after = std::ranges::upper_bound(edges_, std::pair(thread, timeNs), {}, &Edge::key);
        if (after == edges_.begin()) return false;
        const Edge& last = *std::prev(after);
        return last.thread == thread && last.isBegin;
    }

  private:
    struct Edge {
        uint32_t thread = 0;
        int64_t timeNs = 0;
        bool isBegin = false;
        std::pair<uint32_t, int64_t> key() const { return {thread, timeNs}; }
    };
    LargeVector<Edge> edges_;
};

/// Adds a gap for each run of calls whose work has no time.
void addGaps(EmitContext& output, const LargeVector<Launching>& launches) {
    constexpr size_t maxGaps = 10'000;
    const Launching* last = nullptr;
    for (const Launching& each : launches) {
        std::vector<Gap>& gaps = output.builder.processes()[each.process].gaps;
        const bool isNext = last != nullptr && last->process == each.process && last->work == Launching::Work::Untimed;
        last = &each;
        if (each.work != Launching::Work::Untimed) continue;
        const TimeRange time{each.time.startNs - output.zeroNs, each.time.endNs - output.zeroNs};
        if (isNext && !gaps.empty()) {
            gaps.back().range.endNs = time.endNs;
            ++gaps.back().count;
        } else if (gaps.size() < maxGaps) {
            gaps.push_back({Loss::CudaActivity, time, 1});
        }
    }
}

void countLaunches(const LargeVector<Launching>& launches, EmitFindings& findings) {
    int64_t since = 0;
    uint32_t process = noIndex;
    for (const Launching& each : launches) {
        if (each.process != process) since = 0;
        process = each.process;
        ++findings.launches;
        if (each.work == Launching::Work::None) {
            ++findings.callsWithoutWork;
            ++since;
        } else {
            findings.callsWithoutWorkBetween += std::exchange(since, 0);
        }
    }
}

}  // namespace

void checkWork(EmitContext& output, EmitFindings& findings) {
    const ImportedEvents& events = output.events;
    LargeMemory* const memory = output.builder.memory();
    LargeVector<uint64_t> called(memory), done(memory), untimed(memory);
    const auto keysOf = [&](const BlockList<ImportedGpuWork>& work, LargeVector<uint64_t>& keys) {
        work.forEach([&](const ImportedGpuWork& each) {
            if (isWork(each)) keys.push_back(keyOf(output.identities.processOfWork(each), each.correlation));
        });
        sortLarge(keys, std::less<uint64_t>());
    };
    keysOf(events.gpuWork, done);
    keysOf(events.untimedWork, untimed);
    LargeVector<Launching> launches(memory);
    const std::less<uint64_t> isLess;
    using Role = LaunchingCalls::Role;
    LaunchingCalls calls(output.builder);
    Captures captures(memory);
    for (const ImportedEventKind kind : callKinds)
        events.slices(kind).forEach([&](const ImportedSlice& each) {
            const Role role = calls.roleOf(each.name);
            if (role == Role::BeginCapture || role == Role::EndCapture)
                captures.add(each.thread, each.startNs, role == Role::BeginCapture);
        });
    captures.sort();
    for (const ImportedEventKind kind : callKinds)
        events.slices(kind).forEach([&](const ImportedSlice& each) {
            if (each.extra == 0) return;
            const uint32_t thread = output.identities.thread(each.thread);
            if (thread == noIndex) return;
            const uint32_t process = output.builder.trace().threads[thread].process;
            const uint64_t key = keyOf(process, each.extra);
            called.push_back(key);
            if (calls.roleOf(each.name) != Role::Launch || captures.contain(each.thread, each.startNs)) return;
            const auto isIn = [key](const LargeVector<uint64_t>& keys) {
                return std::binary_search(keys.begin(), keys.end(), key);
            };
            launches.push_back({process,
                                {each.startNs, each.startNs + std::max<int64_t>(0, each.durationNs)},
                                isIn(done)      ? Launching::Work::Timed
                                : isIn(untimed) ? Launching::Work::Untimed
                                                : Launching::Work::None});
        });
    sortLarge(called, isLess);
    sortLarge(launches, [](const Launching& a, const Launching& b) {
        return std::tie(a.process, a.time.startNs) < std::tie(b.process, b.time.startNs);
    });
    countLaunches(launches, findings);
    if (!untimed.empty()) addGaps(output, launches);
    for (const uint64_t key : done)
        if (!std::binary_search(called.begin(), called.end(), key)) ++findings.workWithoutCall;
    countOverlaps(events, output.builder.memory(), findings);
}

void emitGpuWork(EmitContext& output) {
    const std::vector<uint32_t> configs = launchConfigs(output);
    TraceBuilder& builder = output.builder;
    uint32_t awaited = 0;  // waits with a known record
    output.events.gpuWork.consume([&](const ImportedGpuWork& work) {
        const uint32_t process = output.identities.processOfWork(work);
        const uint32_t stream = output.identities.stream(work.place, process);
        const int64_t startNs = work.startNs - output.zeroNs;
        const int64_t endNs = startNs + work.durationNs;
        const auto gpu = [&](int16_t device) { return device < 0 ? noIndex : builder.gpu(device); };
        switch (work.kind) {
            case ImportedEventKind::Kernel:
                builder.add<kinds::Kernel>({.startNs = startNs,
                                            .endNs = endNs,
                                            .stream = stream,
                                            .correlation = work.correlation,
                                            .graphNode = static_cast<uint64_t>(work.amount),
                                            .config = configs[work.config]});
                break;
            case ImportedEventKind::Memcpy:
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
            case ImportedEventKind::Memset:
                builder.add<kinds::Memset>({.startNs = startNs,
                                            .endNs = endNs,
                                            .bytes = work.amount,
                                            .memory = work.destination,
                                            .stream = stream,
                                            .correlation = work.correlation});
                break;
            case ImportedEventKind::Sync:
                builder.add<kinds::Sync>({.startNs = startNs,
                                          .endNs = endNs,
                                          .type = work.sync,
                                          .stream = stream,
                                          .process = process,
                                          .correlation = work.correlation});
                if (work.sync == SyncType::StreamWaitEvent && work.amount > 0) {
                    const ImportedPlace& where = output.events.places[work.place];
                    const uint32_t recorded =
                        builder.stream(process, builder.gpu(where.device), where.context, work.config);
                    ++awaited;
                    builder.eventRecord(
                        {.stream = recorded, .eventSync = awaited, .correlation = static_cast<uint32_t>(work.amount)});
                    builder.eventWait({.stream = stream, .eventSync = awaited, .correlation = work.correlation});
                }
                break;
            default: break;
        }
    });
}

}  // namespace lanescope
