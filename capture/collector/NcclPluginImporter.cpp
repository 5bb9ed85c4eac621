// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NcclPluginImporter.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "capture/collector/TraceWriter.h"
#include "model/format/factNames.h"
#include "model/format/ncclFunctions.h"
#include "model/format/tables/Ranges.h"

namespace lanescope::capture {

using log::NcclEvent;
using log::NcclOperationRecord;

namespace {

/// Maximum tasks per call, to bound corrupt logs. NCCL has one.
constexpr size_t maxTasksPerCall = 64;

constexpr std::string_view prefix = "nccl";

/// Returns the bytes of the whole message, or nullopt if a damaged log makes it larger than any memory.
std::optional<int64_t> bytesOf(uint64_t count, int64_t elementBytes) {
    constexpr auto maxBytes = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (elementBytes == 0 || count > maxBytes / static_cast<uint64_t>(elementBytes)) return std::nullopt;
    return static_cast<int64_t>(count) * elementBytes;
}

}  // namespace

void NcclAssembler::add(const NcclOperationRecord& record) {
    switch (record.event) {
        case NcclEvent::Call: {
            Call& call = calls_[record.id];
            call = {{record, takeEarlyStop(record.id)}, false, {}};
            if (const auto early = orphans_.find(record.id); early != orphans_.end()) {
                call.waiting = std::move(early->second);
                orphans_.erase(early);
            }
            if (call.interval.endNs) endCall(call);
            break;
        }
        case NcclEvent::Launch: addLaunch(record); break;
        case NcclEvent::Task:
        case NcclEvent::CopyEngine: addTask(record); break;
    }
    forgetOldest();
}

void NcclAssembler::add(const log::NcclStopRecord& record) {
    if (const auto task = tasks_.find(record.id); task != tasks_.end()) {
        task->second.interval.endNs = record.timestampNs;
        endTask(task);
    } else if (const auto call = calls_.find(record.id); call != calls_.end()) {
        if (call->second.interval.endNs) return;
        call->second.interval.endNs = record.timestampNs;
        endCall(call->second);
    } else if (const auto open = openLaunches_.find(record.id); open != openLaunches_.end()) {
        if (const auto launch = launches_.find(open->second);
            launch != launches_.end() && launch->second.interval.begin.id == record.id)
            launch->second.interval.endNs = record.timestampNs;
        openLaunches_.erase(open);
    } else {
        earlyStops_[record.id] = record.timestampNs;
        if (earlyStops_.size() > maxKept) earlyStops_.erase(earlyStops_.begin());
    }
}

void NcclAssembler::finish() {
    while (!tasks_.empty()) endTask(tasks_.begin());
    for (auto& [id, call] : calls_) finishCall(call);
    calls_.clear();
    for (const auto& [id, tasks] : orphans_)
        for (const NcclOperation& task : tasks) sink_(task);
    orphans_.clear();
    launches_.clear();
    openLaunches_.clear();
    earlyStops_.clear();
}

std::optional<int64_t> NcclAssembler::takeEarlyStop(uint64_t id) {
    const auto early = earlyStops_.find(id);
    if (early == earlyStops_.end()) return std::nullopt;
    const int64_t endNs = early->second;
    earlyStops_.erase(early);
    return endNs;
}

void NcclAssembler::addLaunch(const NcclOperationRecord& record) {
    const std::pair key{record.threadId, record.communicator};
    launches_[key] = {{record, takeEarlyStop(record.id)}, false};
    if (!launches_[key].interval.endNs) openLaunches_[record.id] = key;
}

void NcclAssembler::addTask(const NcclOperationRecord& record) {
    Task task{{record, takeEarlyStop(record.id)}, std::nullopt};
    const std::pair key{record.threadId, record.communicator};
    if (const auto launch = launches_.find(key);
        record.event == NcclEvent::Task && launch != launches_.end() && !launch->second.isOver)
        task.launch = key;
    const auto [place, isNew] = tasks_.insert_or_assign(record.id, std::move(task));
    if (place->second.interval.endNs) endTask(place);
}

void NcclAssembler::endTask(std::map<uint64_t, Task>::iterator open) {
    NcclOperation operation{std::nullopt, open->second.interval, std::nullopt};
    if (open->second.launch) {
        if (const auto launch = launches_.find(*open->second.launch); launch != launches_.end()) {
            operation.launch = launch->second.interval;
            launch->second.isOver = true;
        }
    }
    tasks_.erase(open);
    const uint64_t parent = operation.task->begin.parent;
    if (parent == 0) return sink_(operation);
    if (const auto call = calls_.find(parent); call == calls_.end()) {
        std::vector<NcclOperation>& tasks = orphans_[parent];
        if (tasks.size() >= maxTasksPerCall) return sink_(operation);
        tasks.push_back(std::move(operation));
    } else if (call->second.interval.endNs || call->second.waiting.size() >= maxTasksPerCall) {
        pass(std::move(operation), call->second);
    } else {
        call->second.waiting.push_back(std::move(operation));
    }
}

void NcclAssembler::endCall(Call& call) {
    for (NcclOperation& task : call.waiting) pass(std::move(task), call);
    call.waiting.clear();
}

void NcclAssembler::finishCall(Call& call) {
    endCall(call);
    if (!call.isPassed) sink_({call.interval, std::nullopt, std::nullopt});
}

void NcclAssembler::pass(NcclOperation operation, Call& call) {
    operation.call = call.interval;
    call.isPassed = true;
    sink_(operation);
}

void NcclAssembler::forgetOldest() {
    if (tasks_.size() > maxKept) endTask(tasks_.begin());
    if (calls_.size() > maxKept) {
        finishCall(calls_.begin()->second);
        calls_.erase(calls_.begin());
    }
    if (orphans_.size() > maxKept) {
        for (const NcclOperation& task : orphans_.begin()->second) sink_(task);
        orphans_.erase(orphans_.begin());
    }
    if (launches_.size() > maxKept) launches_.erase(launches_.begin());
    if (openLaunches_.size() > maxKept) openLaunches_.clear();
}

int64_t ncclDatatypeBytes(std::string_view name) {
    static constexpr std::pair<std::string_view, int64_t> types[] = {
        {"ncclInt8", 1},    {"ncclUint8", 1},    {"ncclInt32", 4},      {"ncclUint32", 4},
        {"ncclInt64", 8},   {"ncclUint64", 8},   {"ncclFloat16", 2},    {"ncclFloat32", 4},
        {"ncclFloat64", 8}, {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1},
    };
    const auto* found = std::ranges::find(types, name, [](const auto& type) { return type.first; });
    return found == std::end(types) ? 0 : found->second;
}

std::string ncclDatatypeName(std::string_view name) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::string(name);
    std::string brief(name.substr(prefix.size()));
    brief[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(brief[0])));
    return brief;
}

NcclPluginImporter::NcclPluginImporter(ProcessContext& process)
    : process_(process), assembler_([this](const NcclOperation& operation) { write(operation); }) {}

void NcclPluginImporter::add(const log::NcclCommunicatorRecord& record) {
    interfaceVersion_ = record.interfaceVersion;
    // A log repeats its communicators in each of its files.
    if (!communicators_.emplace(record.hash, record.rank).second) return;
    constexpr const auto& t = tables::ncclCommunicators;
    process_.trace.add(t, t.globalPid = process_.processId(), t.communicator = record.hash,
                       t.rank = nullIfNegative(record.rank), t.rankCount = nullIfNegative(record.rankCount),
                       t.nodeCount = nullIfNegative(record.nodeCount),
                       t.name = nullIfEmpty(process_.strings.text(record.name)));
}

void NcclPluginImporter::finish() {
    assembler_.finish();
    if (interfaceVersion_)
        process_.trace.property(facts::ncclProfilerInterface, std::to_string(*interfaceVersion_), process_.processId());
}

void NcclPluginImporter::write(const NcclOperation& operation) {
    // The call has the program's types; NCCL gathers and broadcasts bytes, whatever the program's type was.
    const log::NcclOperationRecord* task = operation.task ? &operation.task->begin : nullptr;
    const log::NcclOperationRecord& request = operation.call ? operation.call->begin : *task;
    const LogStrings& strings = process_.strings;
    const std::string_view function = ncclOperationName(strings.text(request.function));
    const NcclFunction* known = findNcclFunction(function);
    const std::string datatype(strings.text(request.datatype));
    const std::string brief = ncclDatatypeName(datatype);
    const bool isTypeLost =
        !operation.call && datatype == "ncclInt8" && (function == "AllGather" || function == "Broadcast");

    const auto timeOf = [this](const std::optional<NcclInterval>& interval) {
        return interval ? std::optional<int64_t>(process_.time(interval->begin.timestampNs)) : std::nullopt;
    };
    const auto endOf = [this](const std::optional<NcclInterval>& interval) {
        return interval && interval->endNs ? std::optional<int64_t>(process_.time(*interval->endNs)) : std::nullopt;
    };
    const auto threadOf = [this](const std::optional<NcclInterval>& interval) {
        return interval ? std::optional<int64_t>(process_.threadId(interval->begin.threadId)) : std::nullopt;
    };
    const bool isCopied = task && task->event == log::NcclEvent::CopyEngine;
    const std::string_view algorithm =
        isCopied ? std::string_view("copy engine") : strings.text(task ? task->algorithm : 0);
    const auto nothing = std::optional<int64_t>();
    // Stack of the program's call; with an older NCCL that of the handover.
    const std::optional<int64_t> stack = process_.stacks.traceId(request.stack);
    constexpr const auto& t = tables::ncclPluginOperations;
    process_.trace.add(
        t, t.globalTid = threadOf(operation.call), t.start = timeOf(operation.call), t.end = endOf(operation.call),
        t.operation = nullIfEmpty(function), t.datatype = isTypeLost ? std::nullopt : nullIfEmpty(brief),
        t.count = isTypeLost ? nothing : std::optional<int64_t>(request.count),
        t.bytes = bytesOf(request.count, ncclDatatypeBytes(datatype)),
        t.communicator = nullIfZero(request.communicator), t.rank = nullIfNegative(request.rank),
        t.root = known && known->root != NcclRoot::None ? nullIfNegative(request.root) : nothing,
        t.peer = task ? nullIfNegative(task->peer) : nothing,
        t.sequence = task ? nullIfNegative(task->sequence) : nothing, t.algorithm = nullIfEmpty(algorithm),
        t.protocol = nullIfEmpty(strings.text(task ? task->protocol : 0)),
        t.channels = task ? nullIfZero(int64_t{task->channels}) : nothing,
        t.warps = task ? nullIfZero(int64_t{task->warps}) : nothing,
        t.isCaptured = operation.call ? std::optional<int64_t>(request.isCaptured != 0) : nothing,
        t.enqueueGlobalTid = threadOf(operation.task), t.enqueueStart = timeOf(operation.task),
        t.enqueueEnd = endOf(operation.task), t.launchGlobalTid = threadOf(operation.launch),
        t.launchStart = timeOf(operation.launch), t.launchEnd = endOf(operation.launch), t.callchainId = stack);
    ++operations_;
}

}  // namespace lanescope::capture
