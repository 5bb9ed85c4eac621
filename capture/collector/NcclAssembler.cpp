// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NcclAssembler.h"

namespace lanescope::capture {

namespace {

/// One, in a log of NCCL's; what follows is for logs of nonsense.
constexpr size_t mostOfACall = 64;

}  // namespace

using log::NcclEvent;
using log::NcclOperationRecord;

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
        case NcclEvent::Launch:
            addLaunch(record);
            break;
        case NcclEvent::Task:
        case NcclEvent::CopyEngine:
            addTask(record);
            break;
    }
    forgetOldest();
}

void NcclAssembler::add(const log::NcclStopRecord& record) {
    if (const auto task = tasks_.find(record.id); task != tasks_.end()) {
        task->second.interval.endNs = record.timestampNs;
        endTask(task);
    } else if (const auto call = calls_.find(record.id); call != calls_.end()) {
        if (call->second.interval.endNs) return;  // NCCL may stop an event twice
        call->second.interval.endNs = record.timestampNs;
        endCall(call->second);
    } else if (const auto open = openLaunches_.find(record.id); open != openLaunches_.end()) {
        if (const auto launch = launches_.find(open->second);
            launch != launches_.end() && launch->second.interval.begin.id == record.id)
            launch->second.interval.endNs = record.timestampNs;
        openLaunches_.erase(open);
    } else {
        earlyStops_[record.id] = record.timestampNs;
        if (earlyStops_.size() > mostKept) earlyStops_.erase(earlyStops_.begin());
    }
}

void NcclAssembler::finish() {
    while (!tasks_.empty()) endTask(tasks_.begin());
    for (auto& [id, call] : calls_) {
        for (NcclOperation& task : call.waiting) give(std::move(task), call);
        if (!call.isGiven) sink_({call.interval, std::nullopt, std::nullopt});
    }
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
        if (tasks.size() >= mostOfACall) return sink_(operation);
        tasks.push_back(std::move(operation));
    } else if (call->second.interval.endNs || call->second.waiting.size() >= mostOfACall) {
        give(std::move(operation), call->second);
    } else {
        call->second.waiting.push_back(std::move(operation));
    }
}

void NcclAssembler::endCall(Call& call) {
    for (NcclOperation& task : call.waiting) give(std::move(task), call);
    call.waiting.clear();
}

void NcclAssembler::give(NcclOperation operation, Call& call) {
    operation.call = call.interval;
    call.isGiven = true;
    sink_(operation);
}

void NcclAssembler::forgetOldest() {
    if (tasks_.size() > mostKept) endTask(tasks_.begin());
    if (calls_.size() > mostKept) {
        Call& oldest = calls_.begin()->second;
        for (NcclOperation& task : oldest.waiting) give(std::move(task), oldest);
        if (!oldest.isGiven) sink_({oldest.interval, std::nullopt, std::nullopt});
        calls_.erase(calls_.begin());
    }
    if (orphans_.size() > mostKept) {
        for (const NcclOperation& task : orphans_.begin()->second) sink_(task);
        orphans_.erase(orphans_.begin());
    }
    if (launches_.size() > mostKept) launches_.erase(launches_.begin());
    if (openLaunches_.size() > mostKept) openLaunches_.clear();
}

}  // namespace lanescope::capture
