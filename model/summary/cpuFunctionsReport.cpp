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

struct OfProcess {
    int64_t samples = 0;
    std::map<Function, Count> functions;
};

/// How many samples of each process have each stack.
std::map<std::pair<uint32_t, uint32_t>, int64_t> samplesByStack(const ReportQuery& query) {
    const CpuStateTable& states = query.trace.cpuStates;
    std::map<std::pair<uint32_t, uint32_t>, int64_t> samples;
    for (uint32_t row = 0; row < states.size(); ++row) {
        if (states.source[row] != StateSource::Samples || states.stack[row] == noIndex) continue;
        if (query.range && !query.range->contains(states.startNs[row])) continue;
        ++samples[{query.trace.threads[states.thread[row]].process, states.stack[row]}];
    }
    return samples;
}

ReportTable cpuFunctions(const ReportQuery& query) {
    const Trace& trace = query.trace;
    std::map<uint32_t, OfProcess> processes;
    for (const auto& [whose, samples] : samplesByStack(query)) {
        OfProcess& process = processes[whose.first];
        process.samples += samples;
        std::set<Function> seen;
        for (const uint32_t frame : framesOf(trace, whose.second)) {
            const Function function{trace.stacks.function[frame], trace.stacks.file[frame]};
            Count& count = process.functions[function];
            if (seen.empty()) count.self += samples;
            if (seen.insert(function).second) count.total += samples;
        }
    }
    ReportTable table;
    table.columns = {{"Self", Unit::Percent},       {"Total", Unit::Percent},
                     {"Self Samples", Unit::Count}, {"Total Samples", Unit::Count},
                     {"Process", Unit::Text},       {"Function", Unit::Text},
                     {"File", Unit::Text}};
    std::vector<std::tuple<uint32_t, Function, Count>> rows;
    for (const auto& [index, process] : processes)
        for (const auto& [function, count] : process.functions)
            rows.emplace_back(index, function, count);
    std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
        const Count &x = std::get<Count>(a), &y = std::get<Count>(b);
        return x.self != y.self ? x.self > y.self : x.total > y.total;
    });
    for (const auto& [index, function, count] : rows) {
        const auto all = static_cast<double>(processes[index].samples);
        table.rows.push_back({100 * static_cast<double>(count.self) / all,
                              100 * static_cast<double>(count.total) / all, count.self, count.total,
                              fmt::format("{} ({})", trace.processes[index].pid,
                                          programName(trace.processes[index])),
                              std::string(trace.strings.at(function.first)),
                              std::string(trace.strings.at(function.second))});
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
    .build = cpuFunctions};

}  // namespace lanescope
