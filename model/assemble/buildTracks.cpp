// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/buildTracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "model/text/formatTable.h"
#include "model/trace/Track.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/processes.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// Number of threads per process that are unfolded at first.
constexpr size_t unfoldedThreads = 2;

Track& addThreadTrack(Trace& trace, TrackKind kind, uint32_t thread, int32_t parent, std::string title,
                      std::vector<Lane>& lanes, uint32_t droppedCount) {
    const uint32_t track = addTrack(trace, kind, thread, parent, std::move(title));
    trace.tracks[track].lanes = std::move(lanes);
    noteDropped(trace, track, droppedCount);
    return trace.tracks[track];
}

void addDomainTrack(Trace& trace, uint32_t thread, int32_t parent, DomainLanes& work) {
    const std::string_view domain = trace.strings.at(work.domain);
    std::string title = "NVTX";
    if (isProfilerDomain(domain))
        title = domain;
    else if (work.domain != 0)
        title += fmt::format(": {}", domain);
    addThreadTrack(trace, TrackKind::ThreadNvtx, thread, parent, std::move(title), work.lanes, work.droppedCount);
}

void addStateTracks(Trace& trace, uint32_t thread, int32_t parent, StateLanes& work) {
    if (!work.states.empty())
        addThreadTrack(trace, TrackKind::ThreadStates, thread, parent, "State", work.states, work.droppedCalls);
    if (!work.stacks.empty())
        addThreadTrack(trace, TrackKind::ThreadStacks, thread, parent, "Stack", work.stacks, work.droppedFrames)
            .isInitiallyFolded = true;
}

void addThreadTracks(Trace& trace, uint32_t thread, int32_t parent, bool isFolded, std::string_view callsTitle,
                     ThreadLanes& work) {
    const Thread& info = trace.threads[thread];
    const std::string number = fmt::format("TID {}", info.tid);
    const uint32_t threadTrack = addTrack(trace, TrackKind::Thread, thread, parent,
                                          info.name.empty() ? fmt::format("Thread {}", info.tid) : info.name,
                                          info.name.empty() ? std::string() : number);
    trace.tracks[threadTrack].isInitiallyFolded = isFolded;
    const auto own = static_cast<int32_t>(threadTrack);

    for (DomainLanes& domain : work.domains) addDomainTrack(trace, thread, own, domain);
    if (!work.calls.empty())
        addThreadTrack(trace, TrackKind::ThreadApi, thread, own, std::string(callsTitle), work.calls,
                       work.droppedCalls);
    if (work.states.hasValue()) addStateTracks(trace, thread, own, work.states.edit());
    trace.tracks[threadTrack].lanes = std::move(work.busy);
}

/// Returns the processes by their rank, the main process of a rank first. Processes without a rank
/// follow in the order of the file.
std::vector<uint32_t> orderedProcesses(const Trace& trace, const std::vector<std::optional<int>>& ranks) {
    std::vector<uint32_t> order(trace.processes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
        if (ranks[a] != ranks[b]) return ranks[a] && (!ranks[b] || *ranks[a] < *ranks[b]);
        return trace.processes[a].rank.has_value() && !trace.processes[b].rank.has_value();
    });
    return order;
}

/// Sorts by activity, the busiest first. The main thread leads unless it is almost idle.
void sortThreads(const Trace& trace, const std::vector<ThreadLanes>& work, std::vector<uint32_t>& threads) {
    constexpr uint64_t littleOf = 50;
    uint64_t maxCount = 0;
    for (const uint32_t thread : threads) maxCount = std::max(maxCount, work[thread].count);
    const auto place = [&](uint32_t thread) {
        const Thread& info = trace.threads[thread];
        const uint64_t count = work[thread].count;
        const bool isMain = info.tid == trace.processes[info.process].pid;
        return std::pair(isMain && count * littleOf >= maxCount, count);
    };
    std::ranges::stable_sort(threads, std::greater(), place);
}

std::string subtitleOf(const Process& process, std::optional<int> rank) {
    std::string text = processSubtitle(process);
    if (rank && !process.rank) text += fmt::format(", of rank {}", *rank);
    return text;
}

/// The ranges of one domain. Ranges that start and end by handle may overlap in any way, so they
/// get lanes below the nested ones.
struct DomainWork {
    explicit DomainWork(LargeMemory* memory) : nested(Packing::Nested, memory), loose(Packing::Compact, memory) {}

    LaneBuilder nested, loose;
    uint32_t count = 0;
};

/// The events of one thread while they are distributed over lanes.
struct ThreadWork {
    explicit ThreadWork(LargeMemory* memory) : calls(Packing::Nested, memory) {}

    LaneBuilder calls;
    std::map<StringIndex, DomainWork> domains;
    uint64_t count = 0;
};

/// Collects the calls and ranges of one thread at a time. The intermediate form needs much more
/// memory than the result, and a file may name many threads.
class ThreadCollector {
  public:
    ThreadCollector(const Trace& trace, const std::stop_token& stop)
        : trace_(trace),
          stop_(stop),
          calls_(trace.apiCalls.thread, trace.threads.size(), stop),
          ranges_(trace.nvtx.thread, trace.threads.size(), stop),
          category_(trace.strings.size()),
          isKnown_(trace.strings.size()),
          isNccl_(trace.nvtx.size()) {
        for (const uint32_t row : trace.nccl.nvtx) isNccl_[row] = true;
    }

    ThreadWork workOf(uint32_t thread) {
        ThreadWork work(trace_.memory.get());
        for (const uint32_t row : calls_.of(thread))
            if (!isStopped(stop_, row)) takeCall(row, work);
        for (const uint32_t row : ranges_.of(thread))
            if (!isStopped(stop_, row)) takeRange(row, work);
        return work;
    }

  private:
    void takeCall(uint32_t row, ThreadWork& work) {
        const ApiTable& calls = trace_.apiCalls;
        const StringIndex name = calls.name[row];
        if (!isKnown_[name]) {
            category_[name] = apiCategory(trace_.strings.at(name));
            isKnown_[name] = true;
        }
        work.calls.add(calls.startNs[row], calls.endNs[row], name, EventRef(EventKind::Api, row), category_[name]);
        ++work.count;
    }
    void takeRange(uint32_t row, ThreadWork& work) {
        const NvtxTable& nvtx = trace_.nvtx;
        DomainWork& domain = work.domains.try_emplace(nvtx.domain[row], trace_.memory.get()).first->second;
        LaneBuilder& builder = nvtx.style[row] == NvtxStyle::StartEnd ? domain.loose : domain.nested;
        builder.add(nvtx.startNs[row], nvtx.endNs[row], nvtx.text[row], EventRef(EventKind::Nvtx, row),
                    isNccl_[row] ? SliceCategory::NcclCall : SliceCategory::Nvtx);
        ++domain.count;
        ++work.count;
    }

    const Trace& trace_;
    const std::stop_token& stop_;
    RowsByOwner calls_, ranges_;
    std::vector<SliceCategory> category_;  ///< By name.
    std::vector<bool> isKnown_, isNccl_;
};

/// Returns the sort position of a domain. Ranges of the program are shown above the code that it ran.
int placeOf(std::string_view domain) {
    if (domain == pythonDomain) return 2;
    return domain == operatorDomain ? 1 : 0;
}

DomainLanes lanesOf(StringIndex domain, DomainWork& work) {
    DomainLanes lanes{.domain = domain, .lanes = work.nested.build()};
    for (Lane& lane : work.loose.build()) lanes.lanes.push_back(std::move(lane));
    lanes.droppedCount = work.nested.droppedCount() + work.loose.droppedCount();
    return lanes;
}

ThreadLanes lanesOf(const Trace& trace, ThreadWork work, Rare<StateLanes> states, StringIndex busy,
                    const std::stop_token& stop) {
    ThreadLanes lanes{.count = work.count};
    std::vector<StringIndex> domains = mapped(work.domains, [](const auto& each) { return each.first; });
    std::ranges::stable_sort(domains, {}, [&](StringIndex domain) {
        return std::tuple(domain != 0, placeOf(trace.strings.at(domain)), -int64_t{work.domains.at(domain).count});
    });
    for (const StringIndex domain : domains) lanes.domains.push_back(lanesOf(domain, work.domains.at(domain)));
    lanes.calls = work.calls.build();
    lanes.droppedCalls = work.calls.droppedCount();
    lanes.states = std::move(states);
    std::vector<const Lane*> all;
    if (!lanes.calls.empty())
        for (const Lane& lane : lanes.calls) all.push_back(&lane);
    else if (!lanes.domains.empty())
        for (const Lane& lane : lanes.domains.back().lanes) all.push_back(&lane);
    // For a thread without calls, the lane shows its running time.
    if (lanes.count == 0 && !lanes.states->running.empty())
        lanes.busy = std::move(lanes.states.edit().running);
    else
        lanes.busy.push_back(unionOf(all, busy, SliceCategory::Busy, stop));
    return lanes;
}

/// After this time without a known stack, the thread is assumed to have left its functions.
constexpr int64_t maxStackGapNs = 50'000'000;
/// Importing a Python package alone takes more than 100. The recorder keeps 256 frames of a stack.
constexpr size_t maxDrawnDepth = 256;
/// A thread with less running time in total gets no track.
constexpr int64_t minWorkNs = 1'000'000;

/// The functions of one thread over time. Frames that two consecutive stacks share from the outermost on continue.
class Flame {
  public:
    explicit Flame(LargeMemory* memory) : memory_(memory) {}

    void take(const Trace& trace, uint32_t row) {
        const CpuStateTable& states = trace.cpuStates;
        const uint32_t stack = states.stack[row];
        const int64_t startNs = states.startNs[row];
        if (stack == noIndex) return;
        if (!open_.empty() && startNs - endNs_ > maxStackGapNs) closeFrom(0);
        frames_ = framesOf(trace, stack);
        std::ranges::reverse(frames_);
        if (states.source[row] == StateSource::Samples)
            keepOuter(trace);
        else
            frames_.insert(frames_.begin(), outer_.begin(), outer_.end());
        size_t same = 0;
        while (same < std::min(frames_.size(), open_.size()) && isSame(trace, open_[same].frame, frames_[same])) ++same;
        // Common frames continue over the gap. Others end before it.
        closeFrom(same);
        for (size_t depth = same; depth < frames_.size(); ++depth)
            open_.push_back({frames_[depth], row, std::max(startNs, endNs_)});
        endNs_ = std::max(endNs_, states.endNs[row]);
        trace_ = &trace;
    }

    std::vector<Lane> build() {
        closeFrom(0);
        return std::move(lanes_);
    }
    uint32_t droppedCount() const { return dropped_; }

  private:
    struct Open {
        uint32_t frame, row;
        int64_t startNs;
    };

    static bool isSame(const Trace& trace, uint32_t a, uint32_t b) {
        const StackTable& stacks = trace.stacks;
        return a == b || (stacks.function[a] == stacks.function[b] && stacks.file[a] == stacks.file[b]);
    }

    /// Keeps the outer frames. State samples contain Python frames only, stack samples also their
    /// native callers, which are still active while the thread waits.
    void keepOuter(const Trace& trace) {
        const auto python = std::ranges::find_if(frames_, [&](uint32_t frame) { return trace.stacks.line[frame] > 0; });
        if (python != frames_.end()) outer_.assign(frames_.begin(), python);
    }

    void closeFrom(size_t depth) {
        for (size_t at = depth; at < open_.size(); ++at) {
            if (at >= maxDrawnDepth) {
                ++dropped_;
                continue;
            }
            while (at >= lanes_.size()) lanes_.emplace_back(memory_);
            const Open& open = open_[at];
            appendSlice(lanes_[at], open.startNs, std::max(endNs_, open.startNs), trace_->stacks.function[open.frame],
                        EventRef(EventKind::CpuState, open.row), SliceCategory::CpuFrame);
        }
        if (depth < open_.size()) open_.resize(depth);
    }

    LargeMemory* memory_;
    const Trace* trace_ = nullptr;
    std::vector<Open> open_;  ///< The outermost first.
    std::vector<uint32_t> frames_;
    std::vector<uint32_t> outer_;  ///< Native callers in the latest sample with Python frames.
    std::vector<Lane> lanes_;
    int64_t endNs_ = INT64_MIN;
    uint32_t dropped_ = 0;
};

struct StateWork {
    explicit StateWork(LargeMemory* memory)
        : states(Packing::Compact, memory),
          calls(Packing::Nested, memory),
          running(Packing::Compact, memory),
          flame(memory) {}

    LaneBuilder states, calls, running;
    Flame flame;
    int64_t ranNs = 0;
    bool hasStack = false;
};

void take(const Trace& trace, uint32_t row, const StateNames& names, StringIndex busy, StateWork& work) {
    const CpuStateTable& states = trace.cpuStates;
    const int64_t startNs = states.startNs[row], endNs = states.endNs[row];
    const StateSource source = states.source[row];
    const EventRef event(EventKind::CpuState, row);
    const bool runs = states.state[row] == ThreadState::Running;
    if (source == StateSource::Calls) {
        work.calls.add(startNs, endNs, states.call[row], event, kinds::CpuState::categoryOf(trace, row));
        work.ranNs = minWorkNs;
    } else if (source != StateSource::Samples) {
        work.states.add(startNs, endNs, names.of(states.state[row], isMixed(trace, row)), event,
                        kinds::CpuState::categoryOf(trace, row));
        work.ranNs += states.cpuNs[row];
    } else {
        work.ranNs = minWorkNs;
    }
    if (runs) work.running.add(startNs, endNs, busy, EventRef(), SliceCategory::Busy);
    // The stack of a call is drawn below the call.
    if (source != StateSource::Calls) work.hasStack = work.hasStack || states.stack[row] != noIndex;
}

/// Reads the stacks of a thread. CPU samples are used while it ran, state samples while it waited.
void takeStacks(const Trace& trace, std::span<const uint32_t> rows, Flame& flame) {
    const CpuStateTable& states = trace.cpuStates;
    const bool isSampled =
        std::ranges::any_of(rows, [&](uint32_t row) { return states.source[row] == StateSource::Samples; });
    std::vector<uint32_t> taken;
    for (const uint32_t row : rows) {
        const StateSource source = states.source[row];
        if (source != StateSource::Calls &&
            (!isSampled || source == StateSource::Samples || isWaiting(states.state[row])))
            taken.push_back(row);
    }
    if (isSampled) std::ranges::stable_sort(taken, {}, [&](uint32_t row) { return states.startNs[row]; });
    for (const uint32_t row : taken) flame.take(trace, row);
}

void noteSkippedGpus(Trace& trace) {
    const GpusOfProcesses gpus(trace);
    for (uint32_t process = 0; process < trace.processes.size(); ++process)
        if (gpus.countOf(process) > GpusOfProcesses::maxGpus)
            trace.health.push_back(
                {Severity::Warning, HealthCode::GpusNotExplained,
                 fmt::format("Process {} uses {} GPUs: steps and idle causes cover only the {} most used.",
                             trace.processes[process].pid, formatCount(static_cast<int64_t>(gpus.countOf(process))),
                             GpusOfProcesses::maxGpus),
                 trace.processes[process].globalPid});
}

void addEventTrack(Trace& trace, auto kind, std::span<const uint32_t> rows, kinds::TrackSubject own, uint32_t parent) {
    if (rows.empty()) return;
    LaneBuilder builder(Packing::Compact, trace.memory.get());
    for (const uint32_t row : rows) {
        const TimeRange range = kind.rangeOf(trace, row);
        builder.add(range.startNs, range.endNs, trace.strings.intern(kind.nameOf(trace, row)), EventRef(kind.kind, row),
                    kind.categoryOf(trace, row));
    }
    const uint32_t track = addTrack(trace, own.kind, own.subject, static_cast<int32_t>(parent),
                                    std::string(kind.trackTitle), std::string(kind.trackSubtitle));
    trace.tracks[track].lanes = builder.build();
    noteDropped(trace, track, builder.droppedCount());
}

}  // namespace

void addProcessTracks(Trace& trace, const TrackSources& sources, std::vector<ThreadLanes> work, StringIndex busy,
                      const std::stop_token& stop) {
    std::vector<std::vector<uint32_t>> threadsOf(trace.processes.size());
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (work[thread].count > 0 || work[thread].states->isWorthShowing)
            threadsOf[trace.threads[thread].process].push_back(thread);
    const std::string callsTitle = fmt::format("{} API", name(trace.gpuApi));
    const std::vector<std::optional<int>> ranks = ranksServed(trace);
    for (const uint32_t process : orderedProcesses(trace, ranks)) {
        std::vector<uint32_t>& threads = threadsOf[process];
        if (threads.empty() && !sources.hasAny({.process = process})) continue;
        sortThreads(trace, work, threads);
        const Process& info = trace.processes[process];
        const uint32_t processTrack =
            addTrack(trace, TrackKind::Process, process, -1,
                     info.name.empty() ? fmt::format("Process {}", info.pid) : std::string(programName(info)),
                     subtitleOf(info, ranks[process]));
        std::vector<size_t> threadTracks;
        for (size_t i = 0; i < threads.size(); ++i) {
            threadTracks.push_back(trace.tracks.size());
            addThreadTracks(trace, threads[i], static_cast<int32_t>(processTrack), i >= unfoldedThreads, callsTitle,
                            work[threads[i]]);
        }
        addEventTracks(trace, sources, {.process = process}, processTrack);
        addCounterTracks(trace, sources, {.process = process}, processTrack);
        std::vector<const Lane*> summaries;
        for (const size_t track : threadTracks) summaries.push_back(&trace.tracks[track].lanes.front());
        trace.tracks[processTrack].lanes.push_back(unionOf(summaries, busy, SliceCategory::Busy, stop));
    }
}

std::vector<ThreadLanes> collectThreadLanes(const Trace& trace, const StateNames& names, StringIndex busy,
                                            const std::stop_token& stop) {
    ThreadCollector collector(trace, stop);
    const RowsByOwner states(trace.cpuStates.thread, trace.threads.size(), stop);
    std::vector<ThreadLanes> lanes;
    lanes.reserve(trace.threads.size());
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
        Rare<StateLanes> ofStates;
        if (const auto rows = states.of(thread); !rows.empty()) ofStates = stateLanes(trace, rows, names, busy, stop);
        lanes.push_back(lanesOf(trace, collector.workOf(thread), std::move(ofStates), busy, stop));
    }
    return lanes;
}

StateNames::StateNames(Trace& trace) {
    if (trace.cpuStates.size() == 0) return;
    for (size_t state = 0; state < threadStateCount; ++state)
        for (const bool isMixed : {false, true})
            names_[state * 2 + (isMixed ? 1 : 0)] =
                trace.strings.intern(stateText(static_cast<ThreadState>(state), isMixed));
}

StateLanes stateLanes(const Trace& trace, std::span<const uint32_t> rows, const StateNames& names, StringIndex busy,
                      const std::stop_token& stop) {
    StateWork work(trace.memory.get());
    for (const uint32_t row : rows)
        if (!isStopped(stop, row)) take(trace, row, names, busy, work);
    if (!stop.stop_requested()) takeStacks(trace, rows, work.flame);
    StateLanes lanes{.states = work.states.build(), .isWorthShowing = work.hasStack || work.ranNs >= minWorkNs};
    for (Lane& lane : work.calls.build()) lanes.states.push_back(std::move(lane));
    lanes.droppedCalls = work.states.droppedCount() + work.calls.droppedCount();
    lanes.stacks = work.flame.build();
    lanes.droppedFrames = work.flame.droppedCount();
    lanes.running = work.running.build();
    if (lanes.running.size() > 1) lanes.running.resize(1);
    return lanes;
}

TrackSources::TrackSources(const Trace& trace, const std::stop_token& stop)
    : gpus_(static_cast<uint32_t>(trace.gpus.size())),
      processes_(static_cast<uint32_t>(trace.processes.size())),
      whole_(trace.timelineRange()),
      pairs_(counterPairs(trace.counters)) {
    const size_t owners = size_t{gpus_} + processes_ + 1;
    Column<uint32_t> ofCounters(trace.memory.get());
    for (const CounterSeries& series : trace.counters) ofCounters.push_back(numberOf({series.gpu, series.process}));
    counters_ =
        RowsByOwner(ofCounters, owners, stop, [this](uint32_t counter) { return pairs_.upperOf[counter] == noIndex; });
    forEachKind([&](auto each) {
        if constexpr (requires { each.trackTitle; }) {
            Column<uint32_t> ofEvents(trace.memory.get());
            for (uint32_t row = 0; row < each.size(trace); ++row) {
                if (isStopped(stop, row)) break;
                const kinds::TrackSubject own = each.trackOf(trace, row);
                const bool isOfGpu = own.kind == TrackKind::GpuEvents;
                ofEvents.push_back(numberOf({isOfGpu ? own.subject : noIndex, isOfGpu ? noIndex : own.subject}));
            }
            events_.emplace_back(ofEvents, owners, stop);
        }
    });
}

bool TrackSources::hasAny(Owner owner) const {
    const uint32_t number = numberOf(owner);
    return !counters_.of(number).empty() ||
           std::ranges::any_of(events_, [&](const RowsByOwner& kind) { return !kind.of(number).empty(); });
}

uint32_t addTrack(Trace& trace, TrackKind kind, uint32_t subject, int32_t parent, std::string title,
                  std::string subtitle) {
    Track track{.kind = kind, .title = std::move(title), .subtitle = std::move(subtitle), .parent = parent};
    track.depth =
        parent < 0 ? uint16_t{0} : static_cast<uint16_t>(trace.tracks[static_cast<uint32_t>(parent)].depth + 1);
    track.subject = subject;
    trace.tracks.push_back(std::move(track));
    return static_cast<uint32_t>(trace.tracks.size() - 1);
}

std::string processSubtitle(const Process& process) {
    std::string text = fmt::format("PID {}", process.pid);
    if (process.rank) text += fmt::format(", rank {}", *process.rank);
    if (process.endedAbnormally) text += ", no exit record";
    return text;
}

void noteDropped(Trace& trace, uint32_t track, uint32_t count) {
    if (count == 0) return;
    trace.health.push_back(
        {Severity::Warning, HealthCode::EventsNotDrawn,
         fmt::format("{} of the track \"{}\" {} not drawn, as more than {} others overlap there. Summaries include {}.",
                     count == 1 ? "1 event" : fmt::format("{} events", count), trace.tracks[track].title,
                     count == 1 ? "is" : "are", LanePacker::maxLanes, count == 1 ? "it" : "them")});
}

void buildTracks(Trace& trace, GpuLanes ofGpus, std::vector<ThreadLanes> ofThreads, StringIndex busy,
                 const std::stop_token& stop) {
    trace.tracks.clear();
    const TrackSources sources(trace, stop);
    if (stop.stop_requested()) return;
    addGpuTracks(trace, sources, std::move(ofGpus), stop);
    addProcessTracks(trace, sources, std::move(ofThreads), busy, stop);
    addHostTracks(trace, sources);
    markUnrecorded(trace);
    noteSkippedGpus(trace);
}

void addEventTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner, uint32_t parent) {
    const kinds::TrackSubject own = owner.gpu != noIndex ? kinds::TrackSubject{TrackKind::GpuEvents, owner.gpu}
                                                         : kinds::TrackSubject{TrackKind::ProcessEvents, owner.process};
    size_t number = 0;
    forEachKind([&](auto each) {
        if constexpr (requires { each.trackTitle; })
            addEventTrack(trace, each, sources.eventsOf(number++, owner), own, parent);
    });
}

}  // namespace lanescope
