// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/emitEvents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/format/GlobalId.h"
#include "model/importers/events/JsonCursor.h"
#include "model/text/apiCalls.h"
#include "model/text/kernelNames.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"

namespace lanescope {

namespace {

constexpr std::array callKinds{ImportedEventKind::RuntimeCall, ImportedEventKind::DriverCall};
/// Processes with a call of one correlation that may own its work. A host has fewer ranks.
constexpr size_t maxCallers = 64;

/// Returns the number of a process or thread, if it is a possible system id.
std::optional<uint32_t> systemId(const std::string& name, uint32_t maxId) {
    const std::optional<int64_t> number = decimalOf(name, 0);
    if (!number || *number < 0 || *number > maxId) return std::nullopt;
    return static_cast<uint32_t>(*number);
}

/// Returns "pt_autograd_0" for "thread 2919752 (pt_autograd_0)", a thread name of torch.profiler.
std::string plainThreadName(const std::string& name) {
    const size_t open = name.find('(');
    if (!name.starts_with("thread ") || open == std::string::npos || !name.ends_with(')')) return name;
    return name.substr(open + 1, name.size() - open - 2);
}

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
    const bool isReserved = counter.meaning == Meaning::Reserved, isChange = counter.meaning == Meaning::Change;
    series.key = isReserved ? "allocator.reserved" : isChange ? "allocator.change" : "allocator.allocated";
    series.name = fmt::format("Memory {} by PyTorch{}{}", isReserved ? "reserved" : "allocated",
                              isChange ? " since the beginning" : "", where);
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
        LaunchConfig config{.demangledName = each.name};
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

/// Returns the wanted id, or a free one.
uint32_t ImportedIdentities::Ids::take(std::optional<uint32_t> wanted) {
    // All ids above it are used, so that many names do not scan all ids each.
    while (!wanted && free > 0 && used.contains(free)) --free;
    const uint32_t id = wanted.value_or(free);
    used.insert(id);
    return id;
}

ImportedIdentities::ImportedIdentities(const ImportedEvents& events, TraceBuilder& builder)
    : events_(events), builder_(builder), threads_(events.threads.size(), noIndex), calls_(builder.memory()) {
    for (const ImportedEvents::Thread& each : events.threads)
        if (const std::optional<uint32_t> id = systemId(each.process, maxSystemId)) {
            processIds_.take(id);
            if (const std::optional<uint32_t> number = systemId(each.thread, maxSystemId))
                threadIds_[globalPid(*id)].take(number);
        }
    findMainProcess();
}

void ImportedIdentities::findMainProcess() {
    std::map<std::string, uint64_t> calls, slices;
    for (const ImportedEventKind kind :
         {ImportedEventKind::Annotation, ImportedEventKind::Operator, ImportedEventKind::Python,
          ImportedEventKind::RuntimeCall, ImportedEventKind::DriverCall, ImportedEventKind::Other}) {
        const bool isCall = std::ranges::find(callKinds, kind) != callKinds.end();
        std::vector<uint64_t> ofThreads(events_.threads.size());
        events_.slices(kind).forEach([&](const ImportedSlice& each) { ++ofThreads[each.thread]; });
        for (size_t thread = 0; thread < ofThreads.size(); ++thread)
            if (ofThreads[thread] > 0) (isCall ? calls : slices)[events_.threads[thread].process] += ofThreads[thread];
    }
    const auto keyOfMaximum = [](const auto& counts) {
        return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
    };
    if (!calls.empty())
        mainProcess_ = keyOfMaximum(calls);
    else if (!slices.empty())
        mainProcess_ = keyOfMaximum(slices);
    if (calls.size() < 2) return;
    for (const ImportedEventKind kind : callKinds)
        events_.slices(kind).forEach([this](const ImportedSlice& each) {
            const uint32_t caller = each.extra != 0 ? process(events_.threads[each.thread].process) : noIndex;
            if (caller != noIndex) calls_.push_back({each.extra, caller, each.startNs});
        });
    const auto keyOf = [](const Call& call) { return std::tie(call.correlation, call.process); };
    std::ranges::stable_sort(calls_, {}, keyOf);
    calls_.erase(std::ranges::unique(calls_, {}, keyOf).begin(), calls_.end());
    findOwners();
}

std::span<const ImportedIdentities::Call> ImportedIdentities::callsOf(uint32_t correlation) const {
    const auto [begin, end] = std::ranges::equal_range(calls_, correlation, {}, &Call::correlation);
    return {begin, end};
}

/// The traces of several ranks in one file count their calls each from 1. A rank has one GPU: each GPU belongs to the
/// process that alone can have launched most of its work, else to the next process in order.
void ImportedIdentities::findOwners() {
    struct Votes {
        int64_t alone = 0, possible = 0;
    };
    std::map<int64_t, std::map<uint32_t, Votes>> votes;  // by GPU and process
    bool isAnyShared = false;
    events_.gpuWork.forEach([&](const ImportedGpuWork& work) {
        std::span<const Call> callers = callsOf(work.correlation);
        callers = callers.first(std::min(callers.size(), maxCallers));
        isAnyShared = isAnyShared || callers.size() > 1;
        const auto isPossible = [&](const Call& call) { return call.startNs <= work.startNs; };
        const auto count = std::ranges::count_if(callers, isPossible);
        for (const Call& call : callers) {
            if (!isPossible(call)) continue;
            Votes& each = votes[events_.places[work.place].device][call.process];
            ++each.possible;
            each.alone += count == 1 ? 1 : 0;
        }
    });
    if (!isAnyShared) return;
    const auto pidOf = [this](uint32_t process) { return builder_.trace().processes[process].pid; };
    std::set<uint32_t> taken;
    for (const bool areAlone : {true, false})
        for (const auto& [device, ofProcesses] : votes) {
            if (owners_.contains(device)) continue;
            const auto key = [&](const auto& each) {
                return std::tuple(-each.second.alone, taken.contains(each.first), -each.second.possible,
                                  pidOf(each.first));
            };
            const auto& [process, best] = *std::ranges::min_element(ofProcesses, {}, key);
            if (areAlone && best.alone == 0) continue;
            owners_.emplace(device, process);
            taken.insert(process);
        }
}

int64_t ImportedIdentities::packedProcess(const std::string& name) {
    const auto found = processes_.find(name);
    if (found != processes_.end()) return found->second;
    const std::optional<uint32_t> number = systemId(name, maxSystemId);
    const int64_t packed = globalPid(processIds_.take(number));
    processes_.emplace(name, packed);
    const auto named = events_.processNames.find(name);
    if (named != events_.processNames.end() && !named->second.empty())
        builder_.nameProcess(packed, named->second);
    else if (!number && !name.empty())
        builder_.nameProcess(packed, name);
    return packed;
}

int64_t ImportedIdentities::packedThread(int64_t process, const std::string& name) {
    const std::optional<uint32_t> number = systemId(name, maxSystemId);
    const int64_t packed = process | threadIds_[process].take(number);
    if (!number) builder_.nameThread(packed, fmt::format("Thread {}", name));
    return packed;
}

uint32_t ImportedIdentities::process(const std::string& name) { return builder_.process(packedProcess(name)); }

uint32_t ImportedIdentities::thread(uint32_t number) {
    if (threads_[number] != noIndex) return threads_[number];
    const ImportedEvents::Thread& owner = events_.threads[number];
    const int64_t packed = packedThread(packedProcess(owner.process), owner.thread);
    const auto named = events_.threadNames.find(owner);
    if (named != events_.threadNames.end() && !named->second.empty())
        builder_.nameThread(packed, plainThreadName(named->second));
    return threads_[number] = builder_.thread(packed);
}

uint32_t ImportedIdentities::threadOfPlace(uint32_t place) {
    const auto [found, isNew] = threadsOfPlaces_.try_emplace(place, noIndex);
    if (isNew) {
        const ImportedPlace& where = events_.places[place];
        const int64_t packed =
            packedThread(packedProcess(mainProcess_), fmt::format("GPU {} {}", where.device, where.stream));
        builder_.nameThread(packed, fmt::format("GPU {}, stream {}", where.device, where.stream));
        found->second = builder_.thread(packed);
    }
    return found->second;
}

uint32_t ImportedIdentities::processOfWork(const ImportedGpuWork& work) {
    const std::span<const Call> callers = callsOf(work.correlation);
    const auto owner = owners_.find(events_.places[work.place].device);
    if (owner != owners_.end() && std::ranges::binary_search(callers, owner->second, {}, &Call::process))
        return owner->second;
    return callers.empty() ? mainProcess() : callers.front().process;
}

uint32_t ImportedIdentities::stream(uint32_t place, uint32_t process) {
    const ImportedPlace& where = events_.places[place];
    if (where.stream < 0) return noIndex;
    const uint32_t gpu = builder_.gpu(where.device);
    return gpu == noIndex ? noIndex : builder_.stream(process, gpu, where.context, where.stream);
}

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

void emitCounters(EmitContext& output) {
    for (size_t index = 0; index < output.events.counters.size(); ++index) {
        const ImportedEvents::Counter& counter = output.events.counters[index];
        LargeVector<ImportedEvents::Sample> samples(output.builder.memory());
        output.events.samples[index].consume([&](const ImportedEvents::Sample& sample) { samples.push_back(sample); });
        sortLarge(samples,
                  [](const ImportedEvents::Sample& a, const ImportedEvents::Sample& b) { return a.timeNs < b.timeNs; });
        CounterSeries series;
        describe(counter, output, series);
        CounterSamples sampled{.unit = series.unit,
                               .timesNs = LargeVector<int64_t>(output.builder.memory()),
                               .values = LargeVector<long double>(output.builder.memory())};
        long double sum = 0;
        for (const ImportedEvents::Sample& sample : samples) {
            sum += sample.value;
            sampled.timesNs.push_back(sample.timeNs - output.zeroNs);
            sampled.values.push_back(counter.meaning == Meaning::Change ? sum : sample.value);
        }
        output.builder.counter(std::move(series), std::move(sampled));
    }
}

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
                return std::ranges::binary_search(keys, key);
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
        if (!std::ranges::binary_search(called, key)) ++findings.workWithoutCall;
    countOverlaps(events, output.builder.memory(), findings);
}

/// Adds GPU work of which the row has only what its kind alone has.
template <class Kind>
void addWork(EmitContext& output, const ImportedGpuWork& work, uint32_t stream, typename Kind::Row row) {
    row.stream = stream;
    row.correlation = work.correlation;
    const int64_t startNs = work.startNs - output.zeroNs;
    output.builder.add<Kind>({startNs, startNs + work.durationNs}, row);
}

void emitGpuWork(EmitContext& output) {
    const std::vector<uint32_t> configs = launchConfigs(output);
    TraceBuilder& builder = output.builder;
    uint32_t awaited = 0;  // waits with a known record
    output.events.gpuWork.consume([&](const ImportedGpuWork& work) {
        const uint32_t process = output.identities.processOfWork(work);
        const uint32_t stream = output.identities.stream(work.place, process);
        const auto gpu = [&](int16_t device) { return device < 0 ? noIndex : builder.gpu(device); };
        switch (work.kind) {
            case ImportedEventKind::Kernel:
                addWork<kinds::Kernel>(
                    output, work, stream,
                    {.graphNode = static_cast<uint64_t>(work.amount), .config = configs[work.config]});
                break;
            case ImportedEventKind::Memcpy:
                addWork<kinds::Memcpy>(output, work, stream,
                                       {.bytes = work.amount,
                                        .kind = work.copy,
                                        .sourceMemory = work.source,
                                        .destinationMemory = work.destination,
                                        .sourceGpu = gpu(work.sourceDevice),
                                        .destinationGpu = gpu(work.destinationDevice)});
                break;
            case ImportedEventKind::Memset:
                addWork<kinds::Memset>(output, work, stream, {.bytes = work.amount, .memory = work.destination});
                break;
            case ImportedEventKind::Sync:
                addWork<kinds::Sync>(output, work, stream, {.type = work.sync, .process = process});
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
