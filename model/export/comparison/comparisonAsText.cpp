#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/export/comparison/ComparisonReport.h"
#include "model/export/comparison/TextGrid.h"
#include "model/export/comparison/TimeScale.h"
#include "model/export/comparison/comparisonRows.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/export/formatValue.h"
#include "model/export/kernelName.h"

namespace lanescope {

namespace {

using Side = TextGrid::Side;

/// So many candidates fit beside each other.
constexpr size_t candidatesAbreast = 3;
constexpr size_t widestRange = 24;
constexpr size_t widestSteps = 64;

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

class TextReport {
  public:
    explicit TextReport(const ComparisonReport& report)
        : report_(report), isSingle_(report.candidates.size() == 1) {}

    std::string text() {
        addAnswers();
        addCautions();
        addConditions();
        addRuns();
        if (isSingle_) addDetails();  // of several candidates they would bury the rest
        for (const CandidateGroup& group : candidateGroups(report_, candidatesAbreast)) {
            addParts(group);
            for (size_t list = 0; list < contributorListCount; ++list)
                addContributors(group, static_cast<ContributorList>(list));
            addRanges(group);
            addUnmatched(group, true);
            addUnmatched(group, false);
        }
        addOutliers();
        addWorkers();
        return std::move(text_);
    }

  private:
    /// "[2] ", or nothing where there is only one.
    std::string mark(size_t candidate) const {
        return isSingle_ ? std::string() : fmt::format("[{}] ", candidate + 1);
    }
    std::string columnHeading(const CandidateGroup& group, size_t column) const {
        return isSingle_ ? "Candidate" : fmt::format("[{}]", group.candidates[column] + 1);
    }
    std::string differenceHeading(const CandidateGroup& group, size_t column) const {
        return isSingle_ ? "Lost" : fmt::format("[{}] lost", group.candidates[column] + 1);
    }

    void addAnswers() {
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            const Answer& answer = report_.candidates[index].comparison.answer;
            const std::string before = mark(index);
            text_ += wrapped(before + printable(answer.sentence), before.size());
        }
    }

    void addDetails() {
        const std::vector<std::string>& details =
            report_.candidates.front().comparison.answer.details;
        if (!details.empty()) text_ += "\n";
        for (const std::string& detail : details) text_ += wrapped(printable(detail), 4);
    }

    void addCautions() {
        const std::vector<ReportCaution> cautions = cautionsOf(report_);
        if (!cautions.empty()) text_ += "\n";
        for (const ReportCaution& caution : cautions) {
            const std::string before = "Caution: " + markOf(caution);
            text_ += wrapped(before + printable(caution.sentence), 9);
        }
    }

    static std::string markOf(const ReportCaution& caution) {
        return caution.candidate ? fmt::format("[{}] ", *caution.candidate + 1) : std::string();
    }

    void addConditions() {
        bool isFirst = true;
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            for (const ConditionOutcome& condition : report_.candidates[index].conditions) {
                if (isFirst) text_ += "\nConditions\n";
                isFirst = false;
                text_ += wrapped("  " + mark(index) + condition.sentence, 4);
            }
        }
    }

    void addRuns() {
        TextGrid grid({Side::Left, Side::Left, Side::Left});
        const std::vector<CandidateGroup> groups = candidateGroups(report_, report_.candidates.size());
        if (groups.empty()) {
            grid.add({"Baseline", sourceSentence(report_.baseline), printable(report_.baseline.facts.title)});
        }
        for (const CandidateGroup& group : groups)
            grid.add({"Baseline",
                      cutTo(stepsSentence(report_.baseline, group.baselineWorker,
                                          pairOf(report_, group.candidates.front()).baseline),
                            widestSteps),
                      printable(report_.baseline.facts.title)});
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            const ComparedCandidate& candidate = report_.candidates[index];
            const WorkerComparison* pair = candidate.comparison.criticalPair();
            grid.add({isSingle_ ? "Candidate" : fmt::format("[{}]", index + 1),
                      cutTo(pair ? stepsSentence(candidate.summary, pair->candidateWorker,
                                                 pair->candidate)
                                 : sourceSentence(candidate.summary),
                            widestSteps),
                      printable(candidate.summary.facts.title)});
        }
        text_ += "\n" + grid.text();
        if (!report_.selection.empty())
            text_ += fmt::format("Compared: {}.\n", printable(report_.selection));
    }

    void addParts(const CandidateGroup& group) {
        int64_t greatest = pairOf(report_, group.candidates.front()).baseline.meanNs;
        for (const size_t candidate : group.candidates)
            greatest = std::max(greatest, pairOf(report_, candidate).candidate.meanNs);
        const TimeScale scale = TimeScale::fitting(greatest);
        GridBuilder builder;
        builder.column(Side::Left, "Mean step");
        builder.column(Side::Right, "Baseline", scale.unit);
        for (size_t column = 0; column < group.candidates.size(); ++column) {
            builder.column(Side::Right, columnHeading(group, column), scale.unit);
            builder.column(Side::Right, differenceHeading(group, column), scale.unit);
            if (isSingle_) builder.column(Side::Right, "", "%");
        }
        TextGrid grid = builder.begin();
        PartRow sum;
        sum.candidateNs.resize(group.candidates.size());
        const auto add = [&](std::string_view title, const PartRow& row) {
            std::vector<std::string> cells{std::string(title), scale.number(row.baselineNs)};
            for (const int64_t ns : row.candidateNs) {
                cells.push_back(scale.number(ns));
                cells.push_back(scale.difference(ns - row.baselineNs));
                if (isSingle_) cells.push_back(percentDifference(row.baselineNs, ns));
            }
            grid.add(std::move(cells));
        };
        for (const PartRow& row : partRows(report_, group, scale.quantumNs())) {
            add(name(row.part), row);
            sum.baselineNs += row.baselineNs;
            for (size_t column = 0; column < row.candidateNs.size(); ++column)
                sum.candidateNs[column] += row.candidateNs[column];
        }
        grid.addRule();
        add("step", sum);
        text_ += fmt::format("\nWhere the time of a step goes ({})\n\n", placeSentence(report_, group));
        text_ += grid.text();
    }

    /// Columns of a list: what was lost, what it took, and where it is.
    GridBuilder listColumns(const CandidateGroup& group, const TimeScale& scale, bool isDetailed,
                            bool hasRate, bool hasRange, std::string_view heading) const {
        GridBuilder builder;
        for (size_t column = 0; column < group.candidates.size(); ++column)
            builder.column(Side::Right, differenceHeading(group, column), scale.unit);
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

    static std::string titleOf(const ContributorRow& row, ContributorList list) {
        std::string title = printable(withoutParameters(row.name));
        if (!row.formerName.empty())
            title += " (was " + printable(withoutParameters(row.formerName)) + ")";
        if (row.isOnlyBaseline) title = "(gone) " + title;
        if (row.isOnlyCandidate) title = "(new) " + title;
        return list == ContributorList::Idle ? fmt::format("{}: {}", name(row.part), title) : title;
    }

    void addContributors(const CandidateGroup& group, ContributorList list) {
        const std::vector<ContributorRow> rows =
            contributorRows(report_, group, list, report_.top);
        if (rows.empty()) return;
        int64_t greatest = 0;
        bool hasRange = false;
        for (const ContributorRow& row : rows) {
            if (row.baseline) greatest = std::max(greatest, row.baseline->exposedNs);
            greatest = std::max(greatest, std::abs(row.greatestLossNs));
            hasRange = hasRange || !row.path.empty();
        }
        const TimeScale scale = TimeScale::fitting(greatest);
        GridBuilder builder =
            listColumns(group, scale, isSingle_, hasBandwidth(list), hasRange, "Name");
        TextGrid grid = builder.begin();
        for (const ContributorRow& row : rows) {
            std::vector<std::string> cells;
            for (const ContributorDifference* difference : row.candidates)
                cells.push_back(difference ? scale.difference(difference->lostNs()) : "-");
            cells.push_back(row.baseline ? scale.number(row.baseline->exposedNs) : "-");
            if (isSingle_) {
                const ContributorShare* share =
                    row.isOnlyBaseline ? nullptr : &row.candidates[0]->candidate;
                cells.push_back(share ? scale.number(share->exposedNs) : "-");
                if (hasBandwidth(list)) {
                    cells.push_back(rateText(row.baseline));
                    cells.push_back(rateText(share));
                }
            }
            if (hasRange) cells.push_back(cutTo(printable(row.path), widestRange));
            cells.push_back(titleOf(row, list));
            grid.add(std::move(cells));
        }
        text_ += fmt::format("\n{}: time of a step that nothing else hides\n\n",
                             lanescope::titleOf(list));
        text_ += grid.text();
    }

    void addRanges(const CandidateGroup& group) {
        const std::vector<RangeRow> rows = rangeRows(report_, group, report_.top);
        if (rows.empty()) return;
        int64_t greatest = 0;
        for (const RangeRow& row : rows)
            greatest = std::max({greatest, row.baselineNs, std::abs(row.greatestLossNs)});
        const TimeScale scale = TimeScale::fitting(greatest);
        GridBuilder builder = listColumns(group, scale, isSingle_, false, false, "Range");
        TextGrid grid = builder.begin();
        for (const RangeRow& row : rows) {
            std::vector<std::string> cells;
            for (const int64_t ns : row.candidateNs)
                cells.push_back(scale.difference(ns - row.baselineNs));
            cells.push_back(scale.number(row.baselineNs));
            if (isSingle_) cells.push_back(scale.number(row.candidateNs[0]));
            cells.push_back(printable(row.path));
            grid.add(std::move(cells));
        }
        text_ += "\nNVTX ranges: time of a step that belongs to them\n\n" + grid.text();
    }

    void addUnmatched(const CandidateGroup& group, bool isOfBaseline) {
        const std::vector<ContributorRow> rows = unmatchedRows(report_, group, isOfBaseline);
        if (rows.empty()) return;
        text_ += isOfBaseline ? "\nOnly in the baseline\n\n"
                              : fmt::format("\nOnly in {}\n\n",
                                            isSingle_ ? "the candidate" : "candidates");
        const size_t shown = report_.top == 0 ? rows.size() : std::min(rows.size(), report_.top);
        TextGrid grid({Side::Right, Side::Left, Side::Left});
        for (size_t index = 0; index < shown; ++index) {
            const ContributorRow& row = rows[index];
            const ContributorShare& share =
                isOfBaseline ? *row.baseline : firstShareOf(row)->candidate;
            grid.add({formatDuration(share.totalNs), std::string(name(row.kind)),
                      printable(withoutParameters(row.name))});
        }
        text_ += grid.text();
        if (rows.size() > shown) text_ += fmt::format("... and {} more.\n", rows.size() - shown);
    }

    static const ContributorDifference* firstShareOf(const ContributorRow& row) {
        return *std::find_if(row.candidates.begin(), row.candidates.end(),
                             [](const auto* difference) { return difference != nullptr; });
    }

    void addOutliers() {
        TextGrid grid({Side::Left, Side::Left, Side::Left, Side::Right, Side::Right, Side::Left});
        bool isEmpty = true;
        for (const ReportOutlier& outlier : outliersOf(report_)) {
            if (isEmpty) {
                grid.add({"Run", "Worker", "Step", "Time", "Over median", "Where it went"});
                grid.addRule();
            }
            isEmpty = false;
            const OutlierStep& step = outlier.outlier->step;
            grid.add({outlier.candidate ? isSingle_ ? "candidate" : fmt::format("[{}]", *outlier.candidate + 1)
                                        : "baseline",
                      outlier.outlier->worker, fmt::format("{}", step.number),
                      formatDuration(step.wallNs), "+" + formatDuration(step.excessNs),
                      outlierReason(step)});
        }
        if (!isEmpty) text_ += "\nSteps that stand out\n\n" + grid.text();
    }

    void addWorkers() {
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            const RunComparison& comparison = report_.candidates[index].comparison;
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
            text_ += fmt::format("\n{}Median step of every worker\n\n", mark(index)) + grid.text();
        }
    }

    const ComparisonReport& report_;
    bool isSingle_;
    std::string text_;
};

}  // namespace

std::string comparisonAsText(const ComparisonReport& report) {
    return TextReport(report).text();
}

}  // namespace lanescope
