// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/eventFacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/collectives.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

std::span<const EventKind> kindsInOrder() { return kinds::KindsInOrder::numbers; }

std::string_view nameOfKind(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.name; });
}

bool isRecorded(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.origin == kinds::Origin::Recorded; });
}

bool isSampled(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.origin == kinds::Origin::Sampled; });
}

bool mayHold(TrackKind track, EventKind events) {
    return visitKind(events, [track](auto each) { return std::ranges::find(each.tracks, track) != each.tracks.end(); });
}

bool isGpuWork(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.isGpuWork; });
}

uint32_t streamOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.streamOf(trace, row); });
}

uint32_t threadOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.threadOf(trace, row); });
}

uint32_t gpuOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.gpuOf(trace, row); });
}

uint32_t correlationOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.correlationOf(trace, row); });
}

std::optional<int64_t> bytesOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.bytesOf(trace, row); });
}

std::vector<Property> describe(const Trace& trace, EventRef event) {
    kinds::Details details(trace, event);
    visitKind(trace, event, [&](auto each, uint32_t row) { each.describe(trace, row, details); });
    return details.take();
}

// Functions of `Trace` that need the descriptions of all kinds.

uint32_t Trace::rowCount(EventKind kind) const {
    return visitKind(kind, [this](auto each) { return each.size(*this); });
}

TimeRange Trace::rangeOf(EventRef event) const {
    return visitKind(*this, event, [this](auto each, uint32_t row) { return each.rangeOf(*this, row); });
}

std::string Trace::nameOf(EventRef event) const {
    return visitKind(*this, event, [this](auto each, uint32_t row) { return each.nameOf(*this, row); });
}

EventRef Trace::launchingCall(EventRef gpuWork) const {
    return visitKind(*this, gpuWork, [this](auto each, uint32_t row) -> EventRef {
        if constexpr (each.isGpuWork) {
            const uint32_t correlation = each.correlationOf(*this, row);
            if (correlation != 0) return callOf(*this, each.processOf(*this, row), correlation);
        }
        return {};
    });
}

std::vector<EventRef> Trace::launchedWork(EventRef apiCall) const {
    std::vector<EventRef> work;
    if (apiCall.kind() != EventKind::Api || apiCall.row() >= apiCalls.size()) return work;
    const uint32_t correlation = apiCalls.correlation[apiCall.row()];
    if (correlation == 0) return work;
    work = workOf(*this, threads[apiCalls.thread[apiCall.row()]].process, correlation);
    std::ranges::stable_sort(work, {}, [this](EventRef each) { return rangeOf(each).startNs; });
    return work;
}

namespace {

/// Returns the first slice of a track of states that belongs to the sample or covers its begin: a
/// state extends over equal samples.
SliceLocation locateState(const Track& track, uint32_t index, EventRef event, int64_t startNs) {
    for (uint32_t laneIndex = 0; laneIndex < track.lanes.size(); ++laneIndex) {
        const Lane& lane = track.lanes[laneIndex];
        const auto after = std::ranges::upper_bound(lane.startNs, startNs);
        const auto slice = static_cast<uint32_t>(after - lane.startNs.begin()) - 1;
        if (after == lane.startNs.begin()) continue;
        if (lane.event[slice] == event || lane.endNs(slice) > startNs) return {index, laneIndex, slice};
    }
    return {};
}

SliceLocation locateSample(const Trace& trace, EventRef event) {
    const Trace::SamplePlace sample = trace.samplePlace(event);
    if (sample.counter == noIndex) return {};
    const uint32_t upper = upperCounterOf(trace.counters, sample.counter);
    for (uint32_t index = 0; index < trace.tracks.size(); ++index) {
        const Track& track = trace.tracks[index];
        if (track.kind == TrackKind::Counter && upper != noIndex && track.subject == upper)
            return {index, 1, sample.sample};
        if (track.subject != sample.counter) continue;
        if (track.kind == TrackKind::Counter) return {index, 0, sample.sample};
        if (track.kind == TrackKind::CounterStates)
            return locateState(track, index, event, trace.rangeOf(event).startNs);
    }
    return {};
}

/// Limit of threads that are listed singly; more are summed.
constexpr size_t maxListedThreads = 2;

std::string threadName(const Trace& trace, uint32_t thread) {
    const Thread& which = trace.threads[thread];
    return which.name.empty() ? fmt::format("thread {}", which.tid)
                              : fmt::format("thread {} ({})", which.tid, printable(which.name));
}

std::string communicatorText(const Trace& trace, uint32_t row) {
    const uint64_t hash = trace.nccl.communicator[row];
    const std::string name(trace.strings.at(trace.nccl.facts[row].communicatorName));
    if (hash == 0) return name;
    return name.empty() ? communicatorId(hash) : fmt::format("{} ({})", name, communicatorId(hash));
}

std::string rankText(const NcclFacts& facts) {
    if (facts.rank < 0) return {};
    return facts.rankCount < 0 ? fmt::format("{}", facts.rank) : fmt::format("{} of {}", facts.rank, facts.rankCount);
}

/// "RING, SIMPLE".
std::string algorithmText(const Trace& trace, const NcclFacts& facts) {
    std::string text(trace.strings.at(facts.algorithm));
    const std::string_view protocol = trace.strings.at(facts.protocol);
    if (!text.empty() && !protocol.empty()) text += ", ";
    return text.append(protocol);
}

std::string elementsText(const Trace& trace, const NcclFacts& facts) {
    const std::string_view type = trace.strings.at(facts.datatype);
    if (facts.count < 0) return std::string(type);
    return fmt::format("{} {}", formatCount(facts.count), type);
}

std::string numberText(int64_t number) { return number < 0 ? std::string() : fmt::format("{}", number); }

}  // namespace

SliceLocation Trace::locate(EventRef event) const {
    // A curve has no slices.
    if (event.kind() == EventKind::CounterSample) return locateSample(*this, event);
    const kinds::TrackSubject own =
        visitKind(*this, event, [this](auto each, uint32_t row) { return each.trackOf(*this, row); });
    if (own.subject == noIndex) return {};
    const int64_t startNs = rangeOf(event).startNs;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
        if (tracks[track].kind != own.kind || tracks[track].subject != own.subject) continue;
        for (uint32_t laneIndex = 0; laneIndex < tracks[track].lanes.size(); ++laneIndex) {
            const Lane& lane = tracks[track].lanes[laneIndex];
            const auto first = std::ranges::lower_bound(lane.startNs, startNs);
            for (auto slice = static_cast<uint32_t>(first - lane.startNs.begin());
                 slice < lane.size() && lane.startNs[slice] == startNs; ++slice)
                if (lane.event[slice] == event) return {track, laneIndex, slice};
        }
    }
    return {};
}

std::vector<ThreadLaunches> launchesDuring(const Trace& trace, uint32_t thread, TimeRange during, uint32_t stream) {
    const ApiTable& calls = trace.apiCalls;
    const auto place = [&calls](int64_t timeNs) {
        return static_cast<uint32_t>(std::ranges::lower_bound(calls.startNs, timeNs) - calls.startNs.begin());
    };
    const uint32_t first = place(during.startNs), end = place(during.endNs);
    std::vector<ThreadLaunches> result;
    if (end <= first || end - first > maxScannedCalls) return result;
    const uint32_t process = trace.threads[thread].process;
    std::map<uint32_t, int64_t> countOf;
    for (uint32_t row = first; row < end; ++row) {
        if (trace.threads[calls.thread[row]].process != process || calls.correlation[row] == 0) continue;
        for (const EventRef work : trace.launchedWork(EventRef(EventKind::Api, row)))
            countOf[calls.thread[row]] += stream == noIndex || streamOf(trace, work) == stream ? 1 : 0;
    }
    for (const auto& [each, count] : countOf)
        if (count > 0) result.push_back({each, count});
    std::ranges::stable_sort(result, {},
                             [thread](const auto& each) { return std::pair(each.thread != thread, -each.count); });
    return result;
}

std::string launchesText(const Trace& trace, uint32_t thread, const std::vector<ThreadLaunches>& launches) {
    if (launches.empty()) return {};
    const bool isOwn = launches.front().thread == thread;
    std::string text = fmt::format("{} by this thread", formatCount(isOwn ? launches.front().count : 0));
    int64_t others = 0;
    size_t told = 0;
    for (const ThreadLaunches& each : launches) {
        if (each.thread == thread) continue;
        if (told == maxListedThreads) {
            others += each.count;
            continue;
        }
        ++told;
        text += fmt::format(", {} by {}", formatCount(each.count), threadName(trace, each.thread));
    }
    if (others > 0) text += fmt::format(", {} by others", formatCount(others));
    return told > 0 ? text + " meanwhile" : text;
}

uint32_t ncclCallOfRange(const Trace& trace, uint32_t nvtx) {
    const Column<uint32_t>& rows = trace.nccl.nvtx;
    const auto found = std::ranges::lower_bound(rows, nvtx);
    if (found == rows.end() || *found != nvtx) return noIndex;
    return static_cast<uint32_t>(found - rows.begin());
}

NcclLaunch launchOfNcclCall(const Trace& trace, uint32_t row) {
    const NcclFacts facts = trace.nccl.facts[row];
    if (facts.launchThread != noIndex) return {facts.launchThread, facts.launch};
    const uint32_t nvtx = trace.nccl.nvtx[row];
    return {trace.nvtx.thread[nvtx], {trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]}};
}

/// Maximum number of NCCL calls before a launch that are searched for its call. Groups of calls are smaller.
constexpr uint32_t maxCallsBefore = 4096;

uint32_t ncclCallOfWork(const Trace& trace, EventRef work) {
    const EventRef call = trace.launchingCall(work);
    if (!call.isValid()) return noIndex;
    const uint32_t thread = trace.apiCalls.thread[call.row()];
    const int64_t callNs = trace.apiCalls.startNs[call.row()];
    // Rows are sorted by the begin of the calls, and no call launches before its begin.
    const Column<uint32_t>& rangeOf = trace.nccl.nvtx;
    const auto firstAfter = std::partition_point(rangeOf.begin(), rangeOf.end(),
                                                 [&](uint32_t nvtx) { return trace.nvtx.startNs[nvtx] <= callNs; });
    const auto end = static_cast<uint32_t>(firstAfter - rangeOf.begin());
    for (uint32_t row = end - std::min(end, maxCallsBefore); row < end; ++row) {
        const NcclLaunch launch = launchOfNcclCall(trace, row);
        if (thread == launch.thread && callNs >= launch.during.startNs && callNs < launch.during.endNs) return row;
    }
    return noIndex;
}

std::string payloadText(const Trace& trace, uint32_t nvtx) {
    const std::string_view payload = trace.strings.at(trace.nvtx.payload[nvtx]);
    const bool isNcclDomain = trace.strings.at(trace.nvtx.domain[nvtx]) == ncclDomain;
    return isNcclDomain ? withCommunicatorIds(payload) : std::string(payload);
}

std::vector<Property> describeNcclCall(const Trace& trace, uint32_t row) {
    const NcclFacts& facts = trace.nccl.facts[row];
    std::vector<Property> lines;
    const auto add = [&lines](std::string name, std::string value) {
        if (!value.empty()) lines.push_back({std::move(name), std::move(value)});
    };
    add("NCCL operation", std::string(trace.strings.at(trace.nccl.operation[row])));
    if (trace.nccl.bytes[row] >= 0) add("Message size", formatBytes(trace.nccl.bytes[row]));
    add("Elements", elementsText(trace, facts));
    add("Algorithm", algorithmText(trace, facts));
    add("Channels", numberText(facts.channels));
    add("Warps per channel", numberText(facts.warps));
    add("Sequence number", numberText(facts.sequence));
    add("Root", numberText(facts.root));
    add("Peer", numberText(facts.peer));
    add("Communicator", communicatorText(trace, row));
    add("NCCL rank", rankText(facts));
    if (facts.isCaptured) add("Captured", "into a CUDA graph");
    if (facts.operationCount == 0) return lines;
    add("Time on the GPU", formatDuration(facts.gpu.durationNs()));
    if (facts.waitedNs >= 0) {
        add("Waited for other ranks", formatDuration(facts.waitedNs));
        add("Moved data", formatDuration(facts.moving().durationNs()));
    }
    if (facts.sharedBy > 1) add("Kernel shared by", fmt::format("{} NCCL operations", facts.sharedBy));
    if (const std::optional<NcclRate> rate = ncclRate(trace, row)) {
        add("Alg bandwidth", fmt::format("{:.2f} GB/s", rate->algorithmGBps()));
        add("Bus bandwidth", fmt::format("{:.2f} GB/s", rate->busGBps()));
    }
    return lines;
}

EventRef innermostRange(const Trace& trace, uint32_t thread, int64_t timeNs, std::string_view domain) {
    EventRef innermost;
    int64_t latestNs = std::numeric_limits<int64_t>::min();
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::ThreadNvtx || track.subject != thread) continue;
        for (const Lane& lane : track.lanes) {
            const uint32_t slice = lane.firstEndingAt(timeNs + 1);
            if (slice >= lane.size() || lane.startNs[slice] > timeNs) continue;
            const EventRef range = lane.event[slice];
            // A track has the ranges of one domain.
            if (range.kind() != EventKind::Nvtx || trace.strings.at(trace.nvtx.domain[range.row()]) != domain) break;
            if (lane.startNs[slice] < latestNs) continue;
            latestNs = lane.startNs[slice];
            innermost = range;
        }
    }
    return innermost;
}

}  // namespace lanescope

namespace lanescope::kinds {

std::string exactSeconds(int64_t timeNs) {
    const int64_t second = 1'000'000'000;
    return fmt::format("{}{}.{:09} s", timeNs < 0 ? "-" : "", std::abs(timeNs / second), std::abs(timeNs % second));
}

void Details::add(std::string name, std::string value) {
    if (!value.empty()) lines_.push_back({std::move(name), std::move(value)});
}

void Details::addTimes() {
    const TimeRange range = trace_.rangeOf(event_);
    add("Start", exactSeconds(range.startNs));
    if (range.durationNs() > 0) add("Duration", formatDuration(range.durationNs()));
}

void Details::addThread(uint32_t thread) {
    const Thread& info = trace_.threads[thread];
    add("Thread",
        info.name.empty() ? fmt::format("TID {}", info.tid) : fmt::format("{} (TID {})", info.name, info.tid));
    addProcess(info.process);
}

void Details::addProcess(uint32_t process) {
    const Process& info = trace_.processes[process];
    std::string text = fmt::format("{}{}PID {}", info.name, info.name.empty() ? "" : ", ", info.pid);
    if (info.rank) text += fmt::format(", rank {}", *info.rank);
    add("Process", std::move(text));
}

void Details::addGpu(uint32_t gpu) {
    const Gpu& info = trace_.gpus[gpu];
    add("GPU", info.name.empty() ? fmt::format("{}", info.id) : fmt::format("{} ({})", info.id, info.name));
}

void Details::addStream(uint32_t stream) {
    const Stream& info = trace_.streams[stream];
    addGpu(info.gpu);
    add("Stream",
        fmt::format("{}{}, context {}", info.streamId, info.isNullStream ? " (default)" : "", info.contextId));
    addProcess(info.process);
}

void Details::addLaunch() {
    const EventRef call = trace_.launchingCall(event_);
    if (!call.isValid()) return addPlace(pythonPlace(trace_, event_));
    add("Launched by", trace_.nameOf(call));
    const Thread& thread = trace_.threads[trace_.apiCalls.thread[call.row()]];
    add("Launching thread", thread.name.empty() ? fmt::format("TID {}", thread.tid) : thread.name);
    const int64_t callNs = trace_.rangeOf(call).startNs;
    const auto addCode = [&](const char* name, std::string_view domain) {
        const EventRef range = innermostRange(trace_, trace_.apiCalls.thread[call.row()], callNs, domain);
        if (range.isValid()) add(name, trace_.nameOf(range));
    };
    addCode("Operator", operatorDomain);
    addCode("Python function", pythonDomain);
    const int64_t waitNs = trace_.rangeOf(event_).startNs - callNs;
    if (waitNs >= 0) add("Launch to start", formatDuration(waitNs));
    const PythonPlace place = pythonPlace(trace_, event_);
    const PythonPlace launch = pythonPlace(trace_, call);
    if (place.isCaptured) addFrames("Graph launched at", {}, launch.stack);
    addPlace(place);
    addModule();
}

void Details::addModule() {
    WorkModules modules(trace_);
    const uint32_t index = modules.of(event_);
    if (index != noIndex) {
        const Module& module = modules.modules()[index];
        add("Module", module.type.empty() ? module.path : fmt::format("{} ({})", module.path, module.type));
    }
    add("Compiled from", compiledOperators(trace_, event_));
    const uint32_t node = launchedWork(trace_, event_).node;
    if (node == noIndex) return;
    std::string ranges;
    for (const uint32_t range :
         OpenRanges(trace_, false).at(trace_.graphNodes.thread[node], trace_.graphNodes.timeNs[node]))
        ranges += (ranges.empty() ? "" : " / ") + trace_.nameOf({EventKind::Nvtx, range});
    add("Ranges at capture", std::move(ranges));
}

void Details::addPlace(const PythonPlace& place) {
    if (!place.isCaptured) return addStack(place.stack, place.isLent);
    addFrames(place.isLent ? "Called at capture from" : "Called at capture", "Python stack", place.stack);
}

void Details::addStack(uint32_t stack, bool isLent) {
    addFrames(isLent ? "Called from" : "Python line", "Python stack", stack);
}

void Details::addFrames(std::string line, std::string whole, uint32_t stack) {
    if (stack == noIndex) return;
    add(std::move(line), frameText(trace_, ownFrame(trace_, stack)));
    if (whole.empty()) return;
    std::string text;
    for (const uint32_t frame : framesOf(trace_, stack)) text += (text.empty() ? "" : "\n") + frameText(trace_, frame);
    add(std::move(whole), std::move(text));
}

void Details::addBandwidth(int64_t bytes) {
    const int64_t durationNs = trace_.rangeOf(event_).durationNs();
    add("Size", fmt::format("{} ({} bytes)", formatBytes(bytes), formatCount(bytes)));
    if (durationNs > 0)
        add("Bandwidth", fmt::format("{:.2f} GB/s", static_cast<double>(bytes) / static_cast<double>(durationNs)));
}

void Details::addNcclCall(uint32_t call) {
    if (call == noIndex) return;
    for (Property& line : describeNcclCall(trace_, call)) add(std::move(line.name), std::move(line.value));
}

void Details::addBackward(uint32_t nvtx) {
    const auto addOthers = [this](const char* name, const std::vector<EventRef>& others) {
        if (others.empty()) return;
        const EventRef other = others.front();
        const Thread& thread = trace_.threads[trace_.nvtx.thread[other.row()]];
        std::string text =
            fmt::format("{} at {} on {}", trace_.nameOf(other), exactSeconds(trace_.rangeOf(other).startNs),
                        thread.name.empty() ? fmt::format("TID {}", thread.tid) : thread.name);
        if (others.size() > 1) text += fmt::format(", and {} more", others.size() - 1);
        add(name, std::move(text));
    };
    addOthers("Forward", forwardOf(trace_, {EventKind::Nvtx, nvtx}));
    addOthers("Backward", backwardOf(trace_, {EventKind::Nvtx, nvtx}));
}

void Details::addRange(uint32_t nvtx) {
    const NvtxTable& table = trace_.nvtx;
    if (const auto xla = xlaAnnotation(trace_.strings.at(table.text[nvtx]))) {
        add("XLA operation", std::string(xla->operation));
        add("XLA module", std::string(xla->module));
        add("In the program", std::string(xla->source));
    }
    add("Domain", std::string(trace_.strings.at(table.domain[nvtx])));
    add("Category", std::string(trace_.strings.at(table.category[nvtx])));
    addNcclCall(ncclCallOfRange(trace_, nvtx));
    add("Payload", payloadText(trace_, nvtx));
    addBackward(nvtx);
    addStack(table.stack[nvtx], table.isStackLent[nvtx] != 0);
}

}  // namespace lanescope::kinds
