#include "model/export/comparison/textTables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/export/comparison/DurationScale.h"
#include "model/export/comparison/TextGrid.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/values/formatValue.h"
#include "model/values/kernelName.h"

namespace lanescope {

namespace {

using Side = TextGrid::Side;

constexpr size_t widestRange = 24;

/// A grid whose second line holds the units: heading and unit of a column are added together.
struct GridBuilder {
    std::vector<Side> sides;
    std::vector<std::string> headings, units;

    void column(Side side, std::string heading, std::string_view unit = {}) {
        sides.push_back(side);
        headings.push_back(std::move(heading));
        units.emplace_back(unit);
    }
    TextGrid begin() {
        TextGrid grid(sides);
        grid.add(headings);
        grid.add(units);
        grid.addRule();
        return grid;
    }
};

bool isSingle(const ComparisonReport& report) {
    return report.candidates.size() == 1;
}

std::string lossHeading(const ComparisonReport& report, size_t candidate) {
    return candidateMark(report, candidate) + (isSingle(report) ? "Lost" : "lost");
}

/// Columns of a list: what was lost, what it took, and where it is.
GridBuilder listColumns(const ComparisonReport& report, const CandidateGroup& group,
                        const DurationScale& scale, bool isDetailed, bool hasRate, bool hasRange,
                        std::string_view heading) {
    GridBuilder builder;
    for (size_t column = 0; column < group.candidates.size(); ++column)
        builder.column(Side::Right, lossHeading(report, group.candidates[column]), scale.unit);
    builder.column(Side::Right, "Baseline", scale.unit);
    if (isDetailed) builder.column(Side::Right, "Candidate", scale.unit);
    if (isDetailed && hasRate) {
        builder.column(Side::Right, "Baseline", "GB/s");
        builder.column(Side::Right, "Candidate", "GB/s");
    }
    if (hasRange) builder.column(Side::Left, "Range");
    builder.column(Side::Left, std::string(heading));
    return builder;
}

std::string rowTitle(const ContributorRow& row, ContributorList list) {
    std::string title = printable(withoutParameters(row.name));
    if (!row.formerName.empty())
        title += " (was " + printable(withoutParameters(row.formerName)) + ")";
    if (row.isOnlyBaseline) title = "(gone) " + title;
    if (row.isOnlyCandidate) title = "(new) " + title;
    return list == ContributorList::Idle ? fmt::format("{}: {}", name(row.part), title) : title;
}

const ContributorDifference* firstShareOf(const ContributorRow& row) {
    return *std::find_if(row.candidates.begin(), row.candidates.end(),
                         [](const auto* difference) { return difference != nullptr; });
}

}  // namespace

std::string partsText(const ComparisonReport& report, const CandidateGroup& group) {
    int64_t greatest = pairOf(report, group.candidates.front()).baseline.meanNs;
    for (const size_t candidate : group.candidates)
        greatest = std::max(greatest, pairOf(report, candidate).candidate.meanNs);
    const DurationScale scale = DurationScale::fitting(greatest);
    GridBuilder builder;
    builder.column(Side::Left, "Mean step");
    builder.column(Side::Right, "Baseline", scale.unit);
    for (size_t column = 0; column < group.candidates.size(); ++column) {
        builder.column(Side::Right, candidateColumn(report, group.candidates[column]), scale.unit);
        builder.column(Side::Right, lossHeading(report, group.candidates[column]), scale.unit);
        if (isSingle(report)) builder.column(Side::Right, "", "%");
    }
    TextGrid grid = builder.begin();
    PartRow sum;
    sum.candidateNs.resize(group.candidates.size());
    const auto add = [&](std::string_view title, const PartRow& row) {
        std::vector<std::string> cells{std::string(title), scale.number(row.baselineNs)};
        for (const int64_t ns : row.candidateNs) {
            cells.push_back(scale.number(ns));
            cells.push_back(scale.difference(ns - row.baselineNs));
            if (isSingle(report)) cells.push_back(percentDifference(row.baselineNs, ns));
        }
        grid.add(std::move(cells));
    };
    for (const PartRow& row : partRows(report, group, scale.quantumNs())) {
        add(name(row.part), row);
        sum.baselineNs += row.baselineNs;
        for (size_t column = 0; column < row.candidateNs.size(); ++column)
            sum.candidateNs[column] += row.candidateNs[column];
    }
    grid.addRule();
    add("step", sum);
    return fmt::format("\nWhere the time of a step goes ({})\n\n", placeSentence(report, group)) +
           grid.text();
}

std::string contributorsText(const ComparisonReport& report, const CandidateGroup& group,
                             ContributorList list) {
    const std::vector<ContributorRow> rows = contributorRows(report, group, list, report.top);
    if (rows.empty()) return {};
    int64_t greatest = 0;
    bool hasRange = false;
    for (const ContributorRow& row : rows) {
        if (row.baseline) greatest = std::max(greatest, row.baseline->exposedNs);
        greatest = std::max(greatest, std::abs(row.greatestLossNs));
        hasRange = hasRange || !row.path.empty();
    }
    const DurationScale scale = DurationScale::fitting(greatest);
    GridBuilder builder =
        listColumns(report, group, scale, isSingle(report), hasBandwidth(list), hasRange, "Name");
    TextGrid grid = builder.begin();
    for (const ContributorRow& row : rows) {
        std::vector<std::string> cells;
        for (const ContributorDifference* difference : row.candidates)
            cells.push_back(difference ? scale.difference(difference->lostNs()) : "-");
        cells.push_back(row.baseline ? scale.number(row.baseline->exposedNs) : "-");
        if (isSingle(report)) {
            const ContributorShare* share =
                row.isOnlyBaseline ? nullptr : &row.candidates[0]->candidate;
            cells.push_back(share ? scale.number(share->exposedNs) : "-");
            if (hasBandwidth(list)) {
                cells.push_back(rateText(row.baseline));
                cells.push_back(rateText(share));
            }
        }
        if (hasRange) cells.push_back(cutTo(printable(row.path), widestRange));
        cells.push_back(rowTitle(row, list));
        grid.add(std::move(cells));
    }
    return fmt::format("\n{}: time of a step that nothing else hides\n\n", titleOf(list)) +
           grid.text();
}

std::string rangesText(const ComparisonReport& report, const CandidateGroup& group) {
    const std::vector<RangeRow> rows = rangeRows(report, group, report.top);
    if (rows.empty()) return {};
    int64_t greatest = 0;
    for (const RangeRow& row : rows)
        greatest = std::max({greatest, row.baselineNs, std::abs(row.greatestLossNs)});
    const DurationScale scale = DurationScale::fitting(greatest);
    GridBuilder builder =
        listColumns(report, group, scale, isSingle(report), false, false, "Range");
    TextGrid grid = builder.begin();
    for (const RangeRow& row : rows) {
        std::vector<std::string> cells;
        for (const int64_t ns : row.candidateNs)
            cells.push_back(scale.difference(ns - row.baselineNs));
        cells.push_back(scale.number(row.baselineNs));
        if (isSingle(report)) cells.push_back(scale.number(row.candidateNs[0]));
        cells.push_back(printable(row.path));
        grid.add(std::move(cells));
    }
    return "\nNVTX ranges: time of a step that belongs to them\n\n" + grid.text();
}

std::string unmatchedText(const ComparisonReport& report, const CandidateGroup& group,
                          bool isOfBaseline) {
    const std::vector<ContributorRow> rows = unmatchedRows(report, group, isOfBaseline);
    if (rows.empty()) return {};
    std::string text =
        isOfBaseline
            ? "\nOnly in the baseline\n\n"
            : fmt::format("\nOnly in {}\n\n", isSingle(report) ? "the candidate" : "candidates");
    const size_t shown = report.top == 0 ? rows.size() : std::min(rows.size(), report.top);
    TextGrid grid({Side::Right, Side::Left, Side::Left});
    for (size_t index = 0; index < shown; ++index) {
        const ContributorRow& row = rows[index];
        const ContributorShare& share = isOfBaseline ? *row.baseline : firstShareOf(row)->candidate;
        grid.add({formatDuration(share.totalNs), std::string(name(row.kind)),
                  printable(withoutParameters(row.name))});
    }
    text += grid.text();
    if (rows.size() > shown) text += fmt::format("... and {} more.\n", rows.size() - shown);
    return text;
}

std::string outliersText(const ComparisonReport& report) {
    TextGrid grid({Side::Left, Side::Left, Side::Left, Side::Right, Side::Right, Side::Left});
    bool isEmpty = true;
    for (const ReportOutlier& outlier : outliersOf(report)) {
        if (isEmpty) {
            grid.add({"Run", "Worker", "Step", "Time", "Over median", "Where it went"});
            grid.addRule();
        }
        isEmpty = false;
        const OutlierStep& step = outlier.outlier->step;
        grid.add({outlier.candidate
                      ? isSingle(report) ? "candidate" : fmt::format("[{}]", *outlier.candidate + 1)
                      : "baseline",
                  printable(outlier.outlier->worker), fmt::format("{}", step.number),
                  formatDuration(step.wallNs), "+" + formatDuration(step.excessNs),
                  outlierReason(step)});
    }
    return isEmpty ? std::string() : "\nSteps that stand out\n\n" + grid.text();
}

std::string workersText(const ComparisonReport& report) {
    std::string text;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const RunComparison& comparison = report.candidates[index].comparison;
        if (comparison.workers.size() < 2) continue;
        TextGrid grid({Side::Left, Side::Right, Side::Right, Side::Right, Side::Left});
        grid.add({"Worker", "Baseline", "Candidate", "%", "Finding"});
        grid.addRule();
        for (const WorkerComparison& pair : comparison.workers)
            grid.add({printable(pair.candidateLabel),
                      formatDuration(static_cast<int64_t>(pair.baseline.medianNs)),
                      formatDuration(static_cast<int64_t>(pair.candidate.medianNs)),
                      percentDifference(static_cast<int64_t>(pair.baseline.medianNs),
                                        static_cast<int64_t>(pair.candidate.medianNs)),
                      std::string(name(pair.claim.outcome))});
        text += fmt::format("\n{}Median step of every worker\n\n", candidateMark(report, index)) +
                grid.text();
    }
    return text;
}

}  // namespace lanescope
