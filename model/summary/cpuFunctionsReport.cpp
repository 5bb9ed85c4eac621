// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/summary/reportList.h"
#include "model/trace/programName.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// A function, native or of Python, whatever its line.
using Function = std::pair<StringIndex, StringIndex>;  ///< Its name and its file.

struct Count {
    int64_t self = 0;   ///< Samples that it was the innermost of.
    int64_t total = 0;  ///< Samples that it was in; once each, however deep it calls itself.
};

/// Of a process, or of a thread.
struct OfOne {
    int64_t samples = 0;
    std::map<Function, Count> functions;
};

enum class By : uint8_t { Process, Thread };

/// How many samples of each process or thread have each stack.
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
    return thread.name.empty() ? fmt::format("{}", thread.tid)
                               : fmt::format("{} ({})", thread.tid, thread.name);
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
    ReportTable table;
    table.columns = {{"Self", Unit::Percent},
                     {"Total", Unit::Percent},
                     {"Self Samples", Unit::Count},
                     {"Total Samples", Unit::Count},
                     {"Process", Unit::Text}};
    if (by == By::Thread) table.columns.push_back({"Thread", Unit::Text});
    table.columns.push_back({"Function", Unit::Text});
    table.columns.push_back({"File", Unit::Text});
    std::vector<std::tuple<uint32_t, Function, Count>> rows;
    for (const auto& [index, one] : all)
        for (const auto& [function, count] : one.functions)
            rows.emplace_back(index, function, count);
    std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
        const Count &x = std::get<Count>(a), &y = std::get<Count>(b);
        return x.self != y.self ? x.self > y.self : x.total > y.total;
    });
    for (const auto& [index, function, count] : rows) {
        const auto samples = static_cast<double>(all[index].samples);
        const Process& process =
            trace.processes[by == By::Thread ? trace.threads[index].process : index];
        std::vector<Cell>& row = table.rows.emplace_back();
        row = {100 * static_cast<double>(count.self) / samples,
               100 * static_cast<double>(count.total) / samples, count.self, count.total,
               fmt::format("{} ({})", process.pid, programName(process))};
        if (by == By::Thread) row.push_back(called(trace.threads[index]));
        row.push_back(std::string(trace.strings.at(function.first)));
        row.push_back(std::string(trace.strings.at(function.second)));
    }
    return table;
}

}  // namespace

const Report cpuFunctionsReport{
    .info = {.name = "cpu_functions",
             .title = "CPU Functions",
             .description = "Which functions, native and of Python, threads were in while they had "
                            "a core, by samples",
             .isDefault = false},
    .build = [](const ReportQuery& query) { return cpuFunctionsBy(query, By::Process); }};

const Report cpuFunctionsByThreadReport{
    .info = {.name = "cpu_functions_by_thread",
             .title = "CPU Functions by Thread",
             .description = "The same, of each thread alone",
             .isDefault = false},
    .build = [](const ReportQuery& query) { return cpuFunctionsBy(query, By::Thread); }};

}  // namespace lanescope
