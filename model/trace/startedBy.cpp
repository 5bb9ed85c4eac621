// SPDX-License-Identifier: Apache-2.0
#include "model/trace/startedBy.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "model/format/factNames.h"

namespace lanescope {

namespace {

/// The part of a process's number in the file that it shares with the others of its machine.
int64_t machineOf(const Process& process) {
    constexpr int64_t machines = int64_t{1} << 48;
    return process.globalPid / machines;
}

}  // namespace

std::vector<uint32_t> startedBy(const Trace& trace) {
    std::map<std::pair<int64_t, uint32_t>, uint32_t> byNumber;
    const auto count = static_cast<uint32_t>(trace.processes.size());
    for (uint32_t process = 0; process < count; ++process)
        byNumber.try_emplace({machineOf(trace.processes[process]), trace.processes[process].pid},
                             process);
    std::vector<uint32_t> parents(count, noIndex);
    for (uint32_t process = 0; process < count; ++process) {
        const Process& info = trace.processes[process];
        for (const Property& fact : info.facts->others) {
            if (fact.name != facts::parentProcess) continue;
            uint32_t pid = 0;
            std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), pid);
            const auto parent = byNumber.find({machineOf(info), pid});
            if (parent != byNumber.end() && parent->second != process)
                parents[process] = parent->second;
        }
    }
    return parents;
}

std::vector<std::optional<int>> ranksServed(const Trace& trace) {
    const std::vector<uint32_t> parents = startedBy(trace);
    std::vector<std::optional<int>> ranks(parents.size());
    for (uint32_t process = 0; process < parents.size(); ++process) {
        uint32_t at = process;
        // A file may say that two have started each other.
        constexpr int mostGenerations = 16;
        for (int generation = 0; generation < mostGenerations && at != noIndex; ++generation) {
            if ((ranks[process] = trace.processes[at].rank)) break;
            at = parents[at];
        }
    }
    return ranks;
}

}  // namespace lanescope
