#include "model/compare/RunComparison.h"

namespace lanescope {

namespace {

Cell rate(double gigabytesPerSecond) {
    return gigabytesPerSecond > 0 ? Cell(gigabytesPerSecond) : Cell();
}

/// Cells of one side of a contributor; empty where that side does not have it.
void addShare(const ContributorShare& share, bool isPresent, std::vector<Cell>& row) {
    row.push_back(isPresent ? Cell(share.count) : Cell());
    row.push_back(isPresent ? Cell(share.exposedNs) : Cell());
    row.push_back(isPresent ? Cell(share.totalNs) : Cell());
}

std::string textOf(std::string_view text) {
    return std::string(text);
}

void addSteps(const RunSummary& run, std::string_view side, ReportTable& table) {
    for (const WorkerSummary& worker : run.workers) {
        for (const StepSummary& step : worker.steps) {
            std::vector<Cell> row{textOf(side), worker.label(), step.number, step.name,
                                  step.wallNs};
            for (const int64_t ns : step.parts.ns) row.emplace_back(ns);
            table.rows.push_back(std::move(row));
        }
    }
}

}  // namespace

ReportTable partsTable(const WorkerComparison& pair) {
    ReportTable table;
    table.name = "compare_parts";
    table.title = "Where the time of a step goes";
    table.columns = {{"Part", Unit::Text},
                     {"Baseline", Unit::Nanoseconds},
                     {"Candidate", Unit::Nanoseconds},
                     {"Lost", Unit::Nanoseconds},
                     {"Share of Difference", Unit::Percent}};
    const auto addRow = [&](std::string_view part, int64_t baselineNs, int64_t candidateNs) {
        const int64_t lostNs = candidateNs - baselineNs;
        table.rows.push_back({textOf(part), baselineNs, candidateNs, lostNs,
                              pair.lostNs() == 0 ? Cell()
                                                 : Cell(100.0 * static_cast<double>(lostNs) /
                                                        static_cast<double>(pair.lostNs()))});
    };
    for (const PartDifference& part : pair.parts)
        addRow(name(part.part), part.baselineNs, part.candidateNs);
    addRow("mean step", pair.baseline.meanNs, pair.candidate.meanNs);
    return table;
}

ReportTable contributorsTable(const WorkerComparison& pair) {
    ReportTable table;
    table.name = "compare_contributors";
    table.title = "What the parts are made of, per step";
    table.columns = {{"Part", Unit::Text},
                     {"Kind", Unit::Text},
                     {"Name", Unit::Text},
                     {"Range", Unit::Text},
                     {"Baseline Count", Unit::Count},
                     {"Baseline Time", Unit::Nanoseconds},
                     {"Baseline With Hidden", Unit::Nanoseconds},
                     {"Candidate Count", Unit::Count},
                     {"Candidate Time", Unit::Nanoseconds},
                     {"Candidate With Hidden", Unit::Nanoseconds},
                     {"Lost", Unit::Nanoseconds},
                     {"Baseline Bandwidth", Unit::GigabytesPerSecond},
                     {"Candidate Bandwidth", Unit::GigabytesPerSecond},
                     {"Match", Unit::Text},
                     {"Baseline Name", Unit::Text}};
    for (const ContributorDifference& each : pair.contributors) {
        std::vector<Cell> row{textOf(name(each.part)), textOf(name(each.kind)), each.name(),
                              each.path};
        addShare(each.baseline, each.match != MatchKind::OnlyCandidate, row);
        addShare(each.candidate, each.match != MatchKind::OnlyBaseline, row);
        row.emplace_back(each.lostNs());
        row.push_back(rate(each.baseline.gigabytesPerSecond));
        row.push_back(rate(each.candidate.gigabytesPerSecond));
        row.emplace_back(textOf(name(each.match)));
        row.push_back(each.match == MatchKind::SamePosition ? Cell(each.baseline.name) : Cell());
        table.rows.push_back(std::move(row));
    }
    return table;
}

ReportTable outliersTable(const RunComparison& comparison) {
    ReportTable table;
    table.name = "compare_outliers";
    table.title = "Steps that stand out";
    table.columns = {{"Run", Unit::Text},         {"Worker", Unit::Text},
                     {"Step", Unit::Identifier},  {"Name", Unit::Text},
                     {"Time", Unit::Nanoseconds}, {"Excess", Unit::Nanoseconds},
                     {"Part", Unit::Text},        {"Part Excess", Unit::Nanoseconds},
                     {"Contributor", Unit::Text}, {"Range", Unit::Text}};
    for (const RunOutlier& outlier : comparison.outliers)
        table.rows.push_back({textOf(outlier.isCandidate ? "candidate" : "baseline"),
                              outlier.worker, outlier.step.number, outlier.step.name,
                              outlier.step.wallNs, outlier.step.excessNs,
                              textOf(name(outlier.step.part)), outlier.step.partExcessNs,
                              outlier.step.contributor, outlier.step.path});
    return table;
}

ReportTable workersTable(const RunComparison& comparison) {
    ReportTable table;
    table.name = "compare_workers";
    table.title = "Every pair of processes";
    table.columns = {{"Baseline", Unit::Text},         {"Candidate", Unit::Text},
                     {"Baseline Steps", Unit::Count},  {"Baseline Median", Unit::Nanoseconds},
                     {"Candidate Steps", Unit::Count}, {"Candidate Median", Unit::Nanoseconds},
                     {"Change", Unit::Percent},        {"p", Unit::Text},
                     {"Outcome", Unit::Text}};
    for (const WorkerComparison& pair : comparison.workers)
        table.rows.push_back({pair.baselineLabel, pair.candidateLabel, pair.baseline.count,
                              pair.baseline.medianNs, pair.candidate.count, pair.candidate.medianNs,
                              pair.claim.percent, fmt::format("{:.3g}", pair.claim.pValue),
                              textOf(name(pair.claim.outcome))});
    return table;
}

ReportTable stepsTable(BaselineRun baseline, CandidateRun candidate) {
    ReportTable table;
    table.name = "compare_steps";
    table.title = "Every step and its parts";
    table.columns = {{"Side", Unit::Text},
                     {"Worker", Unit::Text},
                     {"Step", Unit::Identifier},
                     {"Name", Unit::Text},
                     {"Wall", Unit::Nanoseconds}};
    for (size_t index = 0; index < stepPartCount; ++index)
        table.columns.push_back({textOf(name(static_cast<StepPart>(index))), Unit::Nanoseconds});
    addSteps(baseline.summary, "baseline", table);
    addSteps(candidate.summary, "candidate", table);
    return table;
}

}  // namespace lanescope
