// SPDX-License-Identifier: Apache-2.0
#include "model/merge/TraceExcerpt.h"

#include <algorithm>
#include <limits>
#include <set>

#include "model/analysis/StepSelection.h"
#include "model/format/factNames.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

constexpr size_t maxRanks = 4096;
constexpr TimeRange allTime{-maxTimestampNs, maxTimestampNs};

std::string numbersText(const std::vector<int>& numbers) {
    std::string text;
    for (size_t first = 0; first < numbers.size();) {
        size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += text.empty() ? "" : ", ";
        text += first == last ? fmt::format("{}", numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[last]);
        first = last + 1;
    }
    return text;
}

/// Returns the chosen processes: by trace, a flag for each of its processes.
Result<std::vector<std::vector<bool>>> chosenProcesses(std::span<const TracePtr> traces, const TraceExcerpt& cut) {
    std::vector<std::vector<bool>> chosen;
    std::set<int> there;
    for (const TracePtr& trace : traces) {
        std::vector<bool>& ofTrace = chosen.emplace_back();
        for (const Process& process : trace->processes) {
            const std::optional<int> rank = rankOf(*trace, process);
            if (rank) there.insert(*rank);
            ofTrace.push_back(cut.ranks.empty() || (rank && std::ranges::binary_search(cut.ranks, *rank)));
        }
    }
    std::vector<int> missing;
    for (const int rank : cut.ranks)
        if (!there.contains(rank)) missing.push_back(rank);
    if (missing.empty()) return chosen;
    if (there.empty())
        return fail("--ranks: no trace has a rank, so rank {} cannot be chosen. Remove --ranks.", numbersText(missing));
    return fail("--ranks: no trace of rank {}. Available ranks: {}.", numbersText(missing),
                numbersText({there.begin(), there.end()}));
}

/// Finds start and end of the steps on the CPU and on the GPU, by the clock of the trace, for each
/// chosen process that has any of them.
void findSpans(const Trace& trace, const std::vector<bool>& chosen, StepRange steps, const ClockMap& clock,
               TimeRange& whole, int64_t& most) {
    StepSelection selection;
    selection.keepsWarmUp = true;
    const Result<RunSteps> found = findSteps(trace, selection);
    if (!found) return;
    for (const WorkerSteps& worker : found->workers) {
        if (worker.process >= chosen.size() || !chosen[worker.process]) continue;
        most = std::max(most, worker.foundCount);
        const auto isAsked = [steps](const StepSpan& step) {
            return step.number >= steps.first && step.number <= steps.last;
        };
        if (!std::ranges::any_of(worker.steps, isAsked)) continue;
        for (const StepSpan& step : worker.steps) {
            if (!isAsked(step) && step.number != steps.last + 1) continue;
            for (const TimeRange each : {step.range, step.onCpu, step.launches})
                if (!each.isEmpty()) whole = whole.united(clock.at(each));
        }
    }
}

/// Returns the kept time, by the clock of the whole.
Result<TimeRange> windowOf(std::span<const TracePtr> traces, std::span<const PartPlacement> placements,
                           const std::vector<std::vector<bool>>& chosen, const TraceExcerpt& cut) {
    if (!cut.steps) return allTime;
    TimeRange whole{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    int64_t most = 0;
    for (size_t part = 0; part < traces.size(); ++part)
        if (std::ranges::find(chosen[part], true) != chosen[part].end())
            findSpans(*traces[part], chosen[part], *cut.steps, placements[part].clock, whole, most);
    if (!whole.isEmpty()) return whole;
    return fail("--steps {}-{}: no rank has these steps. The longest has {} steps, counted from 0.", cut.steps->first,
                cut.steps->last, most);
}

}  // namespace

Result<std::vector<int>> parseRanks(std::string_view text) {
    constexpr int64_t greatest = 1 << 24;
    const auto refused = [text] {
        return fail("\"{}\" is not a list of ranks; use for example 0,17,517 or 0-7.", printable(text));
    };
    std::set<int> ranks;
    for (size_t from = 0; from <= text.size();) {
        const size_t comma = std::min(text.find(',', from), text.size());
        const std::optional<StepRange> span = parseStepRange(text.substr(from, comma - from));
        if (!span || span->last > greatest) return refused();
        if (span->last - span->first >= static_cast<int64_t>(maxRanks))
            return fail("--ranks: at most {} ranks per trace.", maxRanks);
        for (int64_t rank = span->first; rank <= span->last; ++rank) ranks.insert(static_cast<int>(rank));
        if (ranks.size() > maxRanks) return fail("--ranks: at most {} ranks per trace.", maxRanks);
        from = comma + 1;
    }
    return std::vector<int>(ranks.begin(), ranks.end());
}

std::string describe(const TraceExcerpt& cut) {
    std::string text;
    if (!cut.ranks.empty()) text = fmt::format("rank{} {}", cut.ranks.size() > 1 ? "s" : "", numbersText(cut.ranks));
    if (!cut.steps) return text;
    if (!text.empty()) text += ", ";
    return text + (cut.steps->first == cut.steps->last ? fmt::format("step {}", cut.steps->first)
                                                       : fmt::format("steps {}-{}", cut.steps->first, cut.steps->last));
}

std::optional<int> rankOf(const Trace& trace, const Process& process) {
    if (process.rank || trace.processes.size() != 1) return process.rank;
    return rankInName(trace.title);
}

Result<std::vector<bool>> excerptParts(std::span<const TracePtr> traces, std::span<const PartPlacement> placements,
                                       const TraceExcerpt& cut, TraceBuilder& builder) {
    const auto chosen = chosenProcesses(traces, cut);
    if (!chosen) return fail(chosen.error());
    const Result<TimeRange> window = windowOf(traces, placements, *chosen, cut);
    if (!window) return fail(window.error());
    std::vector<bool> isTaken(traces.size());
    for (size_t part = 0; part < traces.size(); ++part)
        for (size_t index = 0; index < traces[part]->processes.size(); ++index) {
            if (!(*chosen)[part][index]) continue;
            const uint32_t process = builder.process(placements[part].globalPids[index]);
            if (process == noIndex) continue;  // adding the trace reports that there are too many
            builder.processes()[process].windows = {*window};
            isTaken[part] = true;
        }
    return isTaken;
}

}  // namespace lanescope
