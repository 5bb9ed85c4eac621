// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/summary/reportList.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/programName.h"
#include "model/trace/stacks.h"
#include "model/trace/startedBy.h"

namespace lanescope {

namespace {

/// States that share a column.
struct StateColumn {
    const char* title;
    std::array<ThreadState, 2> states;
};
constexpr StateColumn columns[] = {
    {"Running", {ThreadState::Running, ThreadState::Running}},
    {"No Core", {ThreadState::Runnable, ThreadState::Runnable}},
    {"GIL", {ThreadState::Gil, ThreadState::Gil}},
    {"Lock", {ThreadState::Lock, ThreadState::Child}},
    {"Input", {ThreadState::Poll, ThreadState::Poll}},
    {"Disk", {ThreadState::Disk, ThreadState::Disk}},
    {"Sleep", {ThreadState::Sleep, ThreadState::Sleep}},
    {"Driver", {ThreadState::Device, ThreadState::Device}},
    {"Other", {ThreadState::Blocked, ThreadState::Unknown}},
};

/// Lanescope's own in a recorded process: what they cost stands with the trace's health.
bool isOfRecorder(const Thread& thread) {
    return thread.name.starts_with("lanescope-");
}

ReportTable threadStates(const ReportQuery& query) {
    const Trace& trace = query.trace;
    ReportTable table;
    table.columns = {{"Process", Unit::Text}, {"Thread", Unit::Text}, {"Time", Unit::Nanoseconds}};
    for (const StateColumn& column : columns)
        table.columns.push_back({column.title, Unit::Percent});
    table.columns.push_back({"Longest At", Unit::Text});
    const StatesOfThreads states(trace);
    const std::vector<std::optional<int>> ranks = ranksServed(trace);
    const TimeRange all{-greatestTimeNs, greatestTimeNs};
    std::vector<std::pair<uint32_t, ThreadTimes>> threads;
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (!states.isEmpty(thread) && !isOfRecorder(trace.threads[thread]))
            threads.emplace_back(
                thread, states.during(thread, query.range.value_or(all)).withUnseenWaits());
    std::erase_if(threads, [](const auto& each) { return each.second.knownNs() == 0; });
    const auto workNs = [](const ThreadTimes& times) {
        return times.of(ThreadState::Running) + times.of(ThreadState::Runnable);
    };
    std::ranges::stable_sort(
        threads, [&](const auto& a, const auto& b) { return workNs(a.second) > workNs(b.second); });
    for (const auto& [thread, times] : threads) {
        const Thread& info = trace.threads[thread];
        const Process& process = trace.processes[info.process];
        std::string whose = fmt::format("{} ({})", process.pid, programName(process));
        // Of a loader worker it is said whose it is.
        if (const std::optional<int> rank = ranks[info.process])
            whose += fmt::format("{}rank {}", process.rank ? ", " : " of ", *rank);
        std::vector<Cell> row{std::move(whose),
                              info.name.empty() ? fmt::format("{}", info.tid)
                                                : fmt::format("{} ({})", info.tid, info.name),
                              times.knownNs()};
        for (const StateColumn& column : columns) {
            int64_t ns = times.of(column.states[0]);
            if (column.states[1] != column.states[0]) ns += times.of(column.states[1]);
            row.emplace_back(100 * static_cast<double>(ns) / static_cast<double>(times.knownNs()));
        }
        row.emplace_back(times.stack == noIndex ? std::string()
                                                : frameText(trace, ownFrame(trace, times.stack)));
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace

const Report threadStatesReport{
    .info = {.name = "thread_states",
             .title = "CPU Thread States",
             .description = "What each CPU thread did: ran, had no core, waited for what, and at "
                            "which line; waits between looks are shared out like those seen, "
                            "if more were seen than not",
             .isDefault = false},
    .build = threadStates,
    .tab = {"Threads", 7, [](const Trace& trace) { return trace.cpuStates.size() > 0; }}};

}  // namespace lanescope
