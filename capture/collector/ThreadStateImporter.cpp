// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/ThreadStateImporter.h"

#include <algorithm>

#include "capture/collector/unless.h"
#include "model/format/factNames.h"
#include "model/format/tables/Names.h"
#include "model/format/tables/ThreadStates.h"
#include "model/format/threadStates.h"

namespace lanescope::capture {

namespace {

constexpr size_t mostThreads = 100'000;

}  // namespace

void ThreadStateImporter::add(const log::WatchedProcessRecord& record) {
    if (processes_.size() < mostThreads)
        processes_.insert_or_assign(
            record.processId,
            Watched{std::string(context_.strings.text(record.program)), record.parentId});
}

void ThreadStateImporter::add(const log::WatchedThreadRecord& record) {
    if (names_.size() < mostThreads)
        names_.insert_or_assign({record.processId, record.threadId},
                                std::string(context_.strings.text(record.name)));
}

void ThreadStateImporter::add(const log::ThreadRunRecord& record) {
    if (record.endNs < record.startNs) return;
    latestNs_ = std::max(latestNs_, record.endNs);
    ++count_;
    if (seen_.size() < mostThreads) seen_.emplace(record.processId, record.threadId);
    std::optional<int64_t> call, holder;
    if (!context_.strings.text(record.call).empty()) call = context_.strings.traceId(record.call);
    if (record.holderThread != 0)
        holder = globalTid(record.processId, record.holderThread, context_.host);
    constexpr const auto& t = tables::threadStates;
    context_.trace.add(
        t, t.start = context_.time(record.startNs), t.end = context_.time(record.endNs),
        t.globalTid = globalTid(record.processId, record.threadId, context_.host),
        t.state = threadStateFrom(record.state),
        t.callchainId = context_.stacks.traceId(record.stack),
        t.cpuNs = std::max<int64_t>(0, record.cpuNs),
        t.delayNs = std::max<int64_t>(0, record.delayNs), t.callId = call, t.holderTid = holder,
        t.holderCallchainId = context_.stacks.traceId(record.holderStack));
}

void ThreadStateImporter::finish(const std::set<int64_t>& logged) {
    std::set<uint32_t> processes;
    for (const auto& [process, thread] : seen_) processes.insert(process);
    for (const uint32_t process : processes) {
        const int64_t id = globalPid(process, context_.host);
        const auto watched = processes_.find(process);
        // Whose parent is none of the run has nothing to be grouped with.
        if (watched != processes_.end() && processes.contains(watched->second.parent))
            context_.trace.property(facts::parentProcess, std::to_string(watched->second.parent),
                                    id);
        if (logged.contains(id)) continue;
        constexpr const auto& t = tables::processes;
        context_.trace.add(
            t, t.globalPid = id, t.pid = process,
            t.name = watched == processes_.end() ? std::string() : watched->second.program);
    }
    for (const auto& [place, name] : names_) {
        if (!seen_.contains(place)) continue;
        // A name that the process itself told is the better one.
        constexpr int lesser = -1;
        context_.trace.nameThread(globalTid(place.first, place.second, context_.host),
                                  context_.trace.intern(name), lesser);
    }
}

}  // namespace lanescope::capture
