// SPDX-License-Identifier: Apache-2.0
#include "model/build/noteWhatIsMissing.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/values/formatTable.h"

namespace lanescope {

namespace {

/// Says how many events have no times, unless the recorder has said it of each process.
void noteUntimed(std::span<const EventCount> counts, std::vector<HealthNote>& health) {
    int64_t found = 0;
    for (const EventCount& count : counts) found += count.untimed;
    int64_t noted = 0;
    for (const HealthNote& note : health)
        if (note.code == HealthCode::Untimed)
            noted += std::clamp<int64_t>(note.count.value_or(0), 0, found);
    if (noted >= found) return;
    for (const EventCount& count : counts)
        if (count.untimed > 0)
            health.push_back(
                {Severity::Warning,
                 HealthCode::Untimed,
                 fmt::format("{} of {} {} carry no time and are not shown.",
                             formatCount(count.untimed), formatCount(count.total), count.name),
                 {},
                 {},
                 count.untimed});
}

bool isNoted(std::span<const HealthNote> health, HealthCode code) {
    return std::any_of(health.begin(), health.end(),
                       [code](const HealthNote& note) { return note.code == code; });
}

/// The processes of which it is noted.
std::set<int64_t> processesNoted(std::span<const HealthNote> health, HealthCode code) {
    std::set<int64_t> processes;
    for (const HealthNote& note : health)
        if (note.code == code && note.globalPid) processes.insert(*note.globalPid);
    return processes;
}

}  // namespace

void noteWhatIsMissing(std::span<const EventCount> counts, std::span<const Process> processes,
                       std::vector<HealthNote>& health) {
    noteUntimed(counts, health);
    if (std::all_of(counts.begin(), counts.end(),
                    [](const EventCount& each) { return each.total == 0; }))
        health.push_back(
            {Severity::Warning, HealthCode::NoEvents,
             isNoted(health, HealthCode::NotShown)
                 ? "Of this trace nothing can be shown: it holds no CUDA work, API call "
                   "or NVTX range, but what is listed as not shown."
                 : "This trace holds no events: no CUDA work, API call or NVTX range "
                   "was recorded."});
    const std::set<int64_t> noted = processesNoted(health, HealthCode::ProcessEndedAbnormally);
    for (const Process& process : processes)
        if (process.endedAbnormally && !noted.contains(process.globalPid))
            health.push_back({Severity::Warning, HealthCode::ProcessEndedAbnormally,
                              fmt::format("Process {} ended abnormally: the last of its events may "
                                          "be missing.",
                                          process.pid),
                              process.globalPid});
}

}  // namespace lanescope
