// SPDX-License-Identifier: Apache-2.0
#include "model/merge/joinInspector.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "model/format/GlobalId.h"
#include "model/merge/InspectorJoin.h"
#include "model/merge/fileNotes.h"
#include "model/trace/knowsOnlyNccl.h"

namespace lanescope {

namespace {

/// A process of one of the traces.
struct ProcessPlace {
    size_t trace = 0;
    uint32_t process = 0;
};

std::string hostNameOf(const Trace& trace, const Process& process) {
    for (const HostName& each : trace.facts.hosts)
        if (each.number == static_cast<int64_t>(hostOf(process.globalPid))) return each.name;
    return process.facts->host.empty() ? trace.facts.host : process.facts->host;
}

/// The process that it is in another trace: of that PID and that host, which one that does not name
/// its own may have. Nothing if several may be it.
std::optional<ProcessPlace> sameProcess(std::span<const TracePtr> traces, const std::string& host,
                                        uint32_t pid) {
    std::vector<ProcessPlace> named, unnamed;
    for (size_t index = 0; index < traces.size(); ++index) {
        const Trace& trace = *traces[index];
        if (knowsOnlyNccl(trace.producer)) continue;
        for (uint32_t process = 0; process < trace.processes.size(); ++process) {
            if (trace.processes[process].pid != pid) continue;
            const std::string of = hostNameOf(trace, trace.processes[process]);
            if (!of.empty() && of == host) named.push_back({index, process});
            if (of.empty() || host.empty()) unnamed.push_back({index, process});
        }
    }
    const std::vector<ProcessPlace>& found = named.empty() ? unnamed : named;
    return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

}  // namespace

std::vector<TracePtr> joinInspector(std::span<const TracePtr> traces, unsigned threads,
                                    const std::stop_token& stop) {
    std::vector<TracePtr> all(traces.begin(), traces.end());
    const std::vector<std::string> names = shortNames(traces);
    std::map<size_t, InspectorJoin> joins;
    for (size_t index = 0; index < all.size(); ++index) {
        TracePtr& log = all[index];
        if (!knowsOnlyNccl(log->producer)) continue;
        std::vector<ProcessPlace> places;
        for (const Process& process : log->processes)
            if (const auto place = sameProcess(traces, hostNameOf(*log, process), process.pid))
                places.push_back(*place);
        // Of logs that were put together, of which only some lie beside a trace, all stay apart.
        if (places.empty() || places.size() < log->processes.size()) continue;
        const auto joinOf = [&](size_t trace) -> InspectorJoin& {
            return joins.try_emplace(trace, *traces[trace], names[trace]).first->second;
        };
        TakenOperations taken;
        for (uint32_t process = 0; process < places.size(); ++process)
            joinOf(places[process].trace)
                .add({*log, names[index]}, process, places[process].process, taken);
        // Once, however many traces have a part of it.
        joinOf(places.front().trace).addNotes({*log, names[index]}, taken);
        log = nullptr;
    }
    for (auto& [index, join] : joins) {
        all[index] = join.finish(threads, stop);
        if (!all[index]) return {traces.begin(), traces.end()};
    }
    std::erase(all, nullptr);
    return all;
}

}  // namespace lanescope
