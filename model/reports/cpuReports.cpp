// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/reports/GroupedValues.h"
#include "model/reports/reports.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/processes.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// A native or Python function, on any line.
using Function = std::pair<StringIndex, StringIndex>;  ///< Its name and its file.

struct Count {
    int64_t self = 0;   ///< Samples in which it was innermost.
    int64_t total = 0;  ///< Samples that contain it; once each, however deep it calls itself.
};

/// Data of a process or a thread.
struct OfOne {
    int64_t samples = 0;
    std::map<Function, Count> functions;
};

enum class By : uint8_t { Process, Thread };

/// Counts the samples by process or thread and stack.
std::map<std::pair<uint32_t, uint32_t>, int64_t> samplesByStack(const ReportQuery& query, By by) {
    const CpuStateTable& states = query.trace.cpuStates;
    std::map<std::pair<uint32_t, uint32_t>, int64_t> samples;
    for (uint32_t row = 0; row < states.size(); ++row) {
        if (states.source[row] != StateSource::Samples || states.stack[row] == noIndex) continue;
        if (query.range && !query.range->contains(states.startNs[row])) continue;
        const uint32_t thread = states.thread[row];
        const uint32_t whose = by == By::Thread ? thread : query.trace.threads[thread].process;
        ++samples[{whose, states.stack[row]}];
    }
    return samples;
}

std::string called(const Thread& thread) {
    return thread.name.empty() ? fmt::format("{}", thread.tid) : fmt::format("{} ({})", thread.tid, thread.name);
}

ReportTable cpuFunctionsBy(const ReportQuery& query, By by) {
    const Trace& trace = query.trace;
    std::map<uint32_t, OfOne> all;
    for (const auto& [whose, samples] : samplesByStack(query, by)) {
        OfOne& one = all[whose.first];
        one.samples += samples;
        std::set<Function> seen;
        for (const uint32_t frame : framesOf(trace, whose.second)) {
            const Function function{trace.stacks.function[frame], trace.stacks.file[frame]};
            Count& count = one.functions[function];
            if (seen.empty()) count.self += samples;
            if (seen.insert(function).second) count.total += samples;
        }
    }
    ReportTable table{.columns = {{"Self", Unit::Percent},
                                  {"Total", Unit::Percent},
                                  {"Self Samples", Unit::Count},
                                  {"Total Samples", Unit::Count},
                                  {"Process", Unit::Text}}};
    if (by == By::Thread) table.columns.push_back({"Thread", Unit::Text});
    table.columns.push_back({"Function", Unit::Text});
    table.columns.push_back({"File", Unit::Text});
    std::vector<std::tuple<uint32_t, Function, Count>> rows;
    for (const auto& [index, one] : all)
        for (const auto& [function, count] : one.functions) rows.emplace_back(index, function, count);
    std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
        const Count &x = std::get<Count>(a), &y = std::get<Count>(b);
        return x.self != y.self ? x.self > y.self : x.total > y.total;
    });
    for (const auto& [index, function, count] : rows) {
        const auto samples = static_cast<double>(all[index].samples);
        const Process& process = trace.processes[by == By::Thread ? trace.threads[index].process : index];
        std::vector<Cell>& row = table.rows.emplace_back();
        row = {100 * static_cast<double>(count.self) / samples, 100 * static_cast<double>(count.total) / samples,
               count.self, count.total, fmt::format("{} ({})", process.pid, programName(process))};
        if (by == By::Thread) row.push_back(called(trace.threads[index]));
        row.push_back(std::string(trace.strings.at(function.first)));
        row.push_back(std::string(trace.strings.at(function.second)));
    }
    return table;
}

/// States that share a column.
struct StateColumn {
    const char* title;
    std::array<ThreadState, 2> states;
};
constexpr StateColumn columns[] = {
    {"Running", {ThreadState::Running, ThreadState::Running}},
    {"Runnable", {ThreadState::Runnable, ThreadState::Runnable}},
    {"GIL", {ThreadState::Gil, ThreadState::Gil}},
    {"Lock", {ThreadState::Lock, ThreadState::Child}},
    {"Input", {ThreadState::Poll, ThreadState::Poll}},
    {"Disk", {ThreadState::Disk, ThreadState::Disk}},
    {"Sleep", {ThreadState::Sleep, ThreadState::Sleep}},
    {"Driver", {ThreadState::Device, ThreadState::Device}},
    {"Other", {ThreadState::Blocked, ThreadState::Unknown}},
};

ReportTable threadStates(const ReportQuery& query) {
    const Trace& trace = query.trace;
    ReportTable table{.columns = {{"Process", Unit::Text}, {"Thread", Unit::Text}, {"Time", Unit::Nanoseconds}}};
    for (const StateColumn& column : columns) table.columns.push_back({column.title, Unit::Percent});
    table.columns.push_back({"Most Time At", Unit::Text});
    const StatesOfThreads states(trace);
    const std::vector<std::optional<int>> ranks = ranksServed(trace);
    const TimeRange all{-maxTimestampNs, maxTimestampNs};
    std::vector<std::pair<uint32_t, ThreadTimes>> threads;
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (!states.isEmpty(thread) && !isAgentThread(trace.threads[thread]))
            threads.emplace_back(thread, states.during(thread, query.range.value_or(all)).withUnseenWaits());
    std::erase_if(threads, [](const auto& each) { return each.second.knownNs() == 0; });
    const auto workNs = [](const ThreadTimes& times) {
        return times.of(ThreadState::Running) + times.of(ThreadState::Runnable);
    };
    std::ranges::stable_sort(threads, std::ranges::greater(), [&](const auto& each) { return workNs(each.second); });
    for (const auto& [thread, times] : threads) {
        const Thread& info = trace.threads[thread];
        const Process& process = trace.processes[info.process];
        std::string whose = fmt::format("{} ({})", process.pid, programName(process));
        // A loader worker is shown with its owner.
        if (const std::optional<int> rank = ranks[info.process])
            whose += fmt::format("{}rank {}", process.rank ? ", " : " of ", *rank);
        std::vector<Cell> row{std::move(whose), called(info), times.knownNs()};
        for (const StateColumn& column : columns) {
            int64_t ns = times.of(column.states[0]);
            if (column.states[1] != column.states[0]) ns += times.of(column.states[1]);
            row.emplace_back(100 * static_cast<double>(ns) / static_cast<double>(times.knownNs()));
        }
        row.emplace_back(times.stack == noIndex ? std::string() : frameText(trace, ownFrame(trace, times.stack)));
        table.rows.push_back(std::move(row));
    }
    return table;
}

constexpr std::string_view noLine = "(no Python line)";

/// Formats lines, without repeated work.
class FrameLines {
  public:
    explicit FrameLines(const Trace& trace) : trace_(trace), places_(ownPlaces(trace)) {}

    /// Returns the place of a stack; `noIndex` for none.
    uint32_t placeOf(uint32_t stack) const { return stack < places_.size() ? places_[stack] : noIndex; }
    std::string text(uint32_t place) const { return place == noIndex ? std::string(noLine) : placeText(trace_, place); }
    std::string function(uint32_t place) const {
        return place == noIndex ? std::string() : std::string(trace_.strings.at(trace_.stacks.function[place]));
    }
    std::string file(uint32_t place) const {
        return place == noIndex ? std::string() : std::string(trace_.strings.at(trace_.stacks.file[place]));
    }

  private:
    const Trace& trace_;
    std::vector<uint32_t> places_;
};

/// Returns the relation of a line to its group, as a number.
uint32_t relationOf(bool isLent, bool isCaptured) { return (isLent ? 1u : 0u) | (isCaptured ? 2u : 0u); }
/// Returns if a line is one of the thread itself or of one it works for, and if a CUDA graph was captured.
std::string_view relationText(uint32_t place, uint32_t relation) {
    constexpr std::array<std::string_view, 4> texts{"at", "called from", "captured at", "captured from"};
    return place == noIndex ? "" : texts[relation & 3];
}

/// Returns a summary by line, of values grouped by place and `relationOf`.
ReportTable byLine(const Trace& trace, const FrameLines& lines, GroupedValues& values, std::string_view countColumn) {
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : values.groups()) {
        const uint32_t place = GroupedValues::high(group.key);
        const uint32_t relation = GroupedValues::low(group.key);
        rows.push_back(
            {group,
             {std::string(relationText(place, relation)), lines.text(place), lines.function(place), lines.file(place)},
             {}});
    }
    ReportTable table = summaryTable({.countColumn = countColumn, .labelColumns = {"How", "Line", "Function", "File"}},
                                     std::move(rows));
    if (trace.stacks.size() == 0) {
        table.rows.clear();
        table.searches.clear();
    }
    return table;
}

ReportTable kernelsByLine(const ReportQuery& query) {
    const FrameLines lines(query.trace);
    GroupedValues durations;
    forEachLaunchedWork(query.trace, [&](const LaunchedWork& work) {
        if (work.work.kind() != EventKind::Kernel) return;
        durations.addTime(GroupedValues::pairKey(lines.placeOf(work.place.stack),
                                                 relationOf(work.place.isLent, work.place.isCaptured)),
                          query, work.times.startNs, work.times.endNs);
    });
    return byLine(query.trace, lines, durations, "Instances");
}

ReportTable launchesByLine(const ReportQuery& query) {
    const ApiTable& calls = query.trace.apiCalls;
    const FrameLines lines(query.trace);
    GroupedValues durations;
    for (uint32_t row = 0; row < calls.size(); ++row)
        durations.addTime(
            GroupedValues::pairKey(lines.placeOf(calls.stack[row]), relationOf(calls.isStackLent[row] != 0, false)),
            query, calls.startNs[row], calls.endNs[row]);
    return byLine(query.trace, lines, durations, "Num Calls");
}

/// GPU work before it is sorted by start.
struct Piece {
    int64_t startNs, endNs;
    uint32_t place;
    auto operator<=>(const Piece&) const = default;
};

ReportTable idleByLine(const ReportQuery& query) {
    const Trace& trace = query.trace;
    const FrameLines lines(trace);
    std::vector<std::vector<Piece>> ofGpu(trace.gpus.size());
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        if (work.gpu < ofGpu.size())
            ofGpu[work.gpu].push_back({work.times.startNs, work.times.endNs, lines.placeOf(work.place.stack)});
    });
    GroupedValues gaps;
    for (std::vector<Piece>& pieces : ofGpu) {
        std::sort(pieces.begin(), pieces.end());
        int64_t busyUntilNs = pieces.empty() ? 0 : pieces.front().endNs;
        uint32_t last = pieces.empty() ? noIndex : pieces.front().place;
        for (const Piece& piece : pieces) {
            TimeRange gap{busyUntilNs, piece.startNs};
            if (query.range) gap = gap.intersected(*query.range);
            if (gap.durationNs() > 0) gaps.add(GroupedValues::pairKey(last, piece.place), gap.durationNs());
            if (piece.endNs < busyUntilNs) continue;
            busyUntilNs = piece.endNs;
            last = piece.place;
        }
        std::vector<Piece>().swap(pieces);
    }
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : gaps.groups()) {
        if (trace.stacks.size() == 0) break;
        const uint32_t after = GroupedValues::high(group.key);
        const uint32_t before = GroupedValues::low(group.key);
        rows.push_back(
            {group, {lines.text(after), lines.text(before), lines.function(after), lines.function(before)}, {}});
    }
    return summaryTable({.totalColumn = "Idle Time",
                         .countColumn = "Gaps",
                         .labelColumns = {"After Line", "Before Line", "After Function", "Before Function"}},
                        std::move(rows));
}

}  // namespace

const Report cpuFunctionsReport{
    .info = {"cpu_functions", "CPU Functions", "CPU profile by function (native and Python), from samples"},
    .build = [](const ReportQuery& query) { return cpuFunctionsBy(query, By::Process); }};

const Report cpuFunctionsByThreadReport{
    .info = {"cpu_functions_by_thread", "CPU Functions by Thread", "The same for each thread"},
    .build = [](const ReportQuery& query) { return cpuFunctionsBy(query, By::Thread); }};

const Report threadStatesReport{.info = {"thread_states", "CPU Thread States",
                                         "CPU thread states: running, runnable, waiting (with reason and line)"},
                                .build = threadStates,
                                .tab = {"Threads", 7, [](const Trace& trace) { return trace.cpuStates.size() > 0; }}};

const Report kernelsByLineReport{
    .info = {"kernels_by_line", "Kernels by Python Line", "Kernel time by the Python line of the launch"},
    .build = kernelsByLine};

const Report idleByLineReport{.info = {"idle_by_line", "GPU Idle Time by Python Line",
                                       "GPU idle time by the lines that launched the work before and after it"},
                              .build = idleByLine};

const Report launchesByLineReport{
    .info = {"launches_by_line", "CUDA Calls by Python Line", "Time in CUDA calls by Python line"},
    .build = launchesByLine};

}  // namespace lanescope
