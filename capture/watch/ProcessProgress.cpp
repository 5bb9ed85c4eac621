// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/ProcessProgress.h"

#include <limits>

#include "capture/collector/NcclPluginImporter.h"
#include "capture/collector/symbolNames.h"
#include "capture/sample/ProcessCounters.h"
#include "model/format/factNames.h"
#include "model/format/ncclFunctions.h"

namespace lanescope::capture {

using log::NcclEvent;

namespace {

/// Maximum number of frames of a stack that are searched for a line of the program.
constexpr int maxDepth = 256;

int64_t asCount(uint64_t count) {
    return static_cast<int64_t>(std::min<uint64_t>(count, std::numeric_limits<int64_t>::max()));
}

}  // namespace

void ProcessProgress::operator()(const log::StringRecord& record, std::string_view text) {
    strings_.set(record.id, cleaned(text.substr(0, maxStringBytes)));
}

std::string ProcessProgress::text(uint32_t id) {
    const std::string* const found = strings_.find(id);
    return found && id != 0 ? *found : std::string();
}

void ProcessProgress::operator()(const log::PropertyRecord& record) {
    const std::string name = text(record.name), value = text(record.value);
    if (name == facts::rank) process_.rank = numberIn(value, -1);
    if (name == facts::worldSize) process_.worldSize = numberIn(value);
    if (name == facts::host) process_.host = value;
    if (name == facts::program) process_.program = value;
    if (name == facts::processStart) process_.startTicks = value;
}

void ProcessProgress::operator()(const log::StackRecord& record) {
    const std::string file = text(record.file);
    stacks_.set(record.stack, {record.parent, !file.empty() && !isLibraryFile(file),
                               pythonLine(text(record.function), file, record.line)});
}

std::string ProcessProgress::lineOf(uint32_t stack) {
    std::string innermost;
    for (int depth = 0; stack != 0 && depth < maxDepth; ++depth) {
        const Frame* const frame = stacks_.find(stack);
        if (!frame) break;
        if (frame->isOwn) return frame->line;
        if (innermost.empty()) innermost = frame->line;
        stack = frame->parent;
    }
    return innermost;
}

void ProcessProgress::operator()(const log::ApiRecord& record) {
    addTime(record.endNs);
    const std::string* const api = strings_.find(record.name);
    const bool launches = api && api->find("Launch") != std::string::npos && api->find("HostFunc") == std::string::npos;
    if (!launches || record.returnValue != 0 || record.correlationId == 0) return;
    Launch launch{record.startNs, record.threadId, record.stack, *api, api->find("GraphLaunch") != std::string::npos};
    if (const Work* const work = finishedEarly_.find(record.correlationId)) return finish(launch, *work);
    // A GPU's queue is far shorter; more launches without an end are launches whose GPU work is not recorded.
    if (launches_.size() >= maxLaunches) forgetLaunches();
    launches_.insert_or_assign(record.correlationId, std::move(launch));
}

void ProcessProgress::addGpuWork(int64_t endNs, uint32_t correlation, Work work) {
    addTime(endNs);
    if (endNs <= 0) {  // It had not ended when CUPTI was asked for all work.
        unfinished_.set(correlation, std::move(work));
        unfinishedNs_ = process_.lastEventNs;
        return;
    }
    if (unfinished_.size() > 0 && endNs > unfinishedNs_) {  // The GPU works again; the unfinished work has no times.
        unfinished_ = {};
        forgetLaunches();
    }
    process_.lastGpuEndNs = std::max(process_.lastGpuEndNs, endNs);
    if (const auto launch = launches_.find(correlation); launch != launches_.end()) {
        finish(launch->second, work);
        launches_.erase(launch);
    } else {
        finishedEarly_.set(correlation, std::move(work));
    }
}

void ProcessProgress::finish(const Launch& launch, const Work& work) {
    Line* line = lines_.find(launch.stack);
    if (!line) line = &lines_.set(launch.stack, {work});
    line->isAmbiguous |= line->work != work;
    line->lastFinishedNs = std::max(line->lastFinishedNs, launch.startNs);
}

ProcessProgress::Communicator& ProcessProgress::communicator(uint64_t hash, int32_t rank) {
    auto found = communicators_.lower_bound({hash, rank < 0 ? std::numeric_limits<int32_t>::min() : rank});
    if (found != communicators_.end() && found->first.first == hash && (rank < 0 || found->first.second == rank))
        return found->second;
    if (communicators_.size() >= maxCommunicators)
        communicators_.erase(
            std::ranges::min_element(communicators_, {}, [](const auto& each) { return each.second.lastNs; }));
    Communicator& made = communicators_[{hash, rank}];
    made.place.hash = hash;
    made.place.rank = rank;
    return made;
}

void ProcessProgress::operator()(const log::NcclCommunicatorRecord& record) {
    Communicator& found = communicator(record.hash, record.rank);
    found.place.name = text(record.name);
    found.place.rankCount = record.rankCount;
    found.lastNs = std::max(found.lastNs, record.timestampNs);
}

void ProcessProgress::operator()(const log::NcclOperationRecord& record) {
    addTime(record.timestampNs);
    if (record.event == NcclEvent::Launch || record.communicator == 0) return;
    Communicator& found = communicator(record.communicator, record.rank);
    CommunicatorPlace& place = found.place;
    found.lastNs = std::max(found.lastNs, record.timestampNs);
    const int64_t* const stop = earlyStops_.find(record.id);
    const std::string datatype = text(record.datatype);
    const int64_t count = asCount(record.count), elementBytes = ncclDatatypeBytes(datatype);
    const bool hasBytes = elementBytes > 0 && count <= std::numeric_limits<int64_t>::max() / elementBytes;
    NcclPlace operation{std::string(ncclOperationName(text(record.function))),
                        ncclDatatypeName(datatype),
                        record.sequence,
                        count,
                        hasBytes ? count * elementBytes : -1,
                        record.root,
                        record.peer,
                        record.threadId,
                        record.timestampNs,
                        stop ? *stop : 0,
                        lineOf(record.stack)};
    if (!stop) {
        if (open_.size() >= maxOpen) open_.clear();
        open_[record.id] = {{place.hash, place.rank}, record.timestampNs};
    }
    // Events of several threads are not in order.
    if (record.event == NcclEvent::Call) {
        if (record.timestampNs < place.call.begunNs) return;
        place.call = std::move(operation);
        // Replays of a captured call are not reported.
        place.hasTask = record.isCaptured != 0;
        found.callId = record.id;
        return;
    }
    if (record.parent != 0 && record.parent == found.callId) {
        place.hasTask = true;
        if (operation.line.empty() || !place.call.line.empty()) operation.line = place.call.line;
    }
    // The peers of sends differ, so their sequences are not comparable.
    if (record.peer < 0 && record.sequence >= 0 &&
        (place.sequences.size() < maxFunctions || place.sequences.contains(operation.operation)))
        place.sequences[operation.operation] = std::max(place.sequences[operation.operation], record.sequence);
    const auto later =
        std::ranges::upper_bound(place.operations, operation.begunNs, std::ranges::less(), &NcclPlace::begunNs);
    place.operations.insert(later, std::move(operation));
    if (place.operations.size() > maxOperations) place.operations.erase(place.operations.begin());
}

void ProcessProgress::operator()(const log::NcclStopRecord& record) {
    addTime(record.timestampNs);
    const auto open = open_.find(record.id);
    if (open == open_.end()) {
        earlyStops_.set(record.id, record.timestampNs);
        return;
    }
    const auto& [key, begunNs] = open->second;
    if (const auto found = communicators_.find(key); found != communicators_.end()) {
        CommunicatorPlace& place = found->second.place;
        const bool isCall = found->second.callId == record.id;
        if (isCall) place.call.endedNs = record.timestampNs;
        for (NcclPlace& each : place.operations)
            if (!isCall && each.begunNs == begunNs) each.endedNs = record.timestampNs;
    }
    open_.erase(open);
}

void ProcessProgress::operator()(const log::EndRecord& record) {
    addTime(record.timestampNs);
    if (record.reason == log::EndReason::LogFull) return;
    process_.isAlive = false;
    process_.end = record.reason == log::EndReason::Signal ? "signal " + std::to_string(record.signal) : "exit";
}

ProcessState ProcessProgress::state(uint32_t pid, int64_t nowNs) {
    ProcessState state = process_;
    state.pid = pid;
    state.atNs = nowNs;
    const Launch* oldest = nullptr;
    const Work* oldestWork = nullptr;
    for (const auto& [correlation, launch] : launches_) {
        if (oldest && oldest->startNs <= launch.startNs) continue;
        const Work* const work = unfinished_.find(correlation);
        // Work that CUPTI does not report as unfinished has ended in a buffer that is not complete.
        if (unfinished_.size() > 0 && !work) continue;
        // The record of its GPU work was lost if a later launch of the line has ended.
        const Line* const line = launch.stack == 0 ? nullptr : lines_.find(launch.stack);
        if (work || !line || line->lastFinishedNs <= launch.startNs) oldest = &launch, oldestWork = work;
    }
    if (oldest) {
        const Line* const line = lines_.find(oldest->stack);
        const bool isKnown = oldestWork || (line && !line->isAmbiguous);
        const Work work = oldestWork ? *oldestWork : isKnown ? line->work : Work{{}, oldest->isGraph};
        const std::string full = work.isGraph ? work.name : demangled(work.name);
        state.launch = {oldest->startNs, oldest->api,   lineOf(oldest->stack), std::string(shortFunctionName(full)),
                        work.isGraph,    oldest->thread};
    }
    for (const auto& [key, each] : communicators_) state.communicators.push_back(each.place);
    return state;
}

size_t ProcessProgress::kept() const {
    return strings_.size() + stacks_.size() + lines_.size() + finishedEarly_.size() + unfinished_.size() +
           launches_.size() + communicators_.size() + open_.size() + earlyStops_.size();
}

int32_t ProcessProgress::rankCount(uint64_t hash) const {
    const auto found = communicators_.lower_bound({hash, INT32_MIN});
    return found != communicators_.end() && found->first.first == hash ? found->second.place.rankCount : 0;
}

}  // namespace lanescope::capture
