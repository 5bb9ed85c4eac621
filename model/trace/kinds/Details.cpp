// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/Details.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/kinds/OpenRanges.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/kinds/rangeDetails.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

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
