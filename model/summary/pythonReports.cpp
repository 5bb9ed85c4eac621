// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/summary/GroupedValues.h"
#include "model/summary/reportList.h"
#include "model/summary/summaryTable.h"
#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

constexpr std::string_view noLine = "(no Python line)";

/// How a line is written where there are many.
class Lines {
  public:
    explicit Lines(const Trace& trace) : trace_(trace), places_(ownPlaces(trace)) {}

    /// The place of a stack; `noIndex` for none.
    uint32_t placeOf(uint32_t stack) const {
        return stack < places_.size() ? places_[stack] : noIndex;
    }
    std::string text(uint32_t place) const {
        return place == noIndex ? std::string(noLine) : placeText(trace_, place);
    }
    std::string function(uint32_t place) const {
        return place == noIndex ? std::string()
                                : std::string(trace_.strings.at(trace_.stacks.function[place]));
    }
    std::string file(uint32_t place) const {
        return place == noIndex ? std::string()
                                : std::string(trace_.strings.at(trace_.stacks.file[place]));
    }

  private:
    const Trace& trace_;
    std::vector<uint32_t> places_;
};

/// How a line belongs to what is grouped by it, as a number.
uint32_t relationOf(bool isLent, bool isCaptured) {
    return (isLent ? 1u : 0u) | (isCaptured ? 2u : 0u);
}
/// Whether a line was found on the thread itself, or is where the thread works for another; and
/// whether that was when a CUDA graph was captured.
std::string_view relationText(uint32_t place, uint32_t relation) {
    constexpr std::array<std::string_view, 4> texts{"at", "called from", "captured at",
                                                    "captured from"};
    return place == noIndex ? "" : texts[relation & 3];
}

/// A summary by line, of values that were grouped by place and `relationOf`.
ReportTable byLine(const Trace& trace, const Lines& lines, GroupedValues& values,
                   std::string_view countColumn) {
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : values.groups()) {
        const uint32_t place = GroupedValues::high(group.key);
        const uint32_t relation = GroupedValues::low(group.key);
        rows.push_back({group,
                        {std::string(relationText(place, relation)), lines.text(place),
                         lines.function(place), lines.file(place)},
                        {}});
    }
    ReportTable table = summaryTable(
        {.countColumn = countColumn, .labelColumns = {"How", "Line", "Function", "File"}},
        std::move(rows));
    if (trace.stacks.size() == 0) {
        table.rows.clear();
        table.searches.clear();
    }
    return table;
}

ReportTable kernelsByLine(const ReportQuery& query) {
    const Lines lines(query.trace);
    GroupedValues durations;
    forEachLaunchedWork(query.trace, [&](const LaunchedWork& work) {
        if (work.work.kind() != EventKind::Kernel) return;
        durations.addTime(
            GroupedValues::pairKey(lines.placeOf(work.place.stack),
                                   relationOf(work.place.isLent, work.place.isCaptured)),
            query, work.times.startNs, work.times.endNs);
    });
    return byLine(query.trace, lines, durations, "Instances");
}

ReportTable launchesByLine(const ReportQuery& query) {
    const ApiTable& calls = query.trace.apiCalls;
    const Lines lines(query.trace);
    GroupedValues durations;
    for (uint32_t row = 0; row < calls.size(); ++row)
        durations.addTime(GroupedValues::pairKey(lines.placeOf(calls.stack[row]),
                                                 relationOf(calls.isStackLent[row] != 0, false)),
                          query, calls.startNs[row], calls.endNs[row]);
    return byLine(query.trace, lines, durations, "Num Calls");
}

/// Work of a GPU on its way into the order of starts.
struct Piece {
    int64_t startNs, endNs;
    uint32_t place;
    bool operator<(const Piece& other) const {
        return std::tie(startNs, endNs, place) < std::tie(other.startNs, other.endNs, other.place);
    }
};

ReportTable idleByLine(const ReportQuery& query) {
    const Trace& trace = query.trace;
    const Lines lines(trace);
    std::vector<std::vector<Piece>> ofGpu(trace.gpus.size());
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        if (work.gpu < ofGpu.size())
            ofGpu[work.gpu].push_back(
                {work.times.startNs, work.times.endNs, lines.placeOf(work.place.stack)});
    });
    GroupedValues gaps;
    for (std::vector<Piece>& pieces : ofGpu) {
        std::sort(pieces.begin(), pieces.end());
        int64_t busyUntilNs = pieces.empty() ? 0 : pieces.front().endNs;
        uint32_t last = pieces.empty() ? noIndex : pieces.front().place;
        for (const Piece& piece : pieces) {
            TimeRange gap{busyUntilNs, piece.startNs};
            if (query.range) gap = gap.intersected(*query.range);
            if (gap.durationNs() > 0)
                gaps.add(GroupedValues::pairKey(last, piece.place), gap.durationNs());
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
            {group,
             {lines.text(after), lines.text(before), lines.function(after), lines.function(before)},
             {}});
    }
    return summaryTable(
        {.totalColumn = "Idle Time",
         .countColumn = "Gaps",
         .labelColumns = {"After Line", "Before Line", "After Function", "Before Function"}},
        std::move(rows));
}

}  // namespace

const Report kernelsByLineReport{
    .info = {.name = "kernels_by_line",
             .title = "Kernels by Python Line",
             .description = "Time of kernels by the line of Python that launched them",
             .isDefault = false},
    .build = kernelsByLine};

const Report idleByLineReport{
    .info = {.name = "idle_by_line",
             .title = "GPU Idle Time by Python Line",
             .description =
                 "Time in which a GPU had nothing to do, by the lines that launched what "
                 "came before and after",
             .isDefault = false},
    .build = idleByLine};

const Report launchesByLineReport{
    .info = {.name = "launches_by_line",
             .title = "CUDA Calls by Python Line",
             .description = "Time inside CUDA calls by the line of Python that made them",
             .isDefault = false},
    .build = launchesByLine};

}  // namespace lanescope
