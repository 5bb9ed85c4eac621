// SPDX-License-Identifier: Apache-2.0
#include "model/pages/ComparisonReport.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/shownNumbers.h"
#include "model/compare/comparePrograms.h"

namespace lanescope::report {

std::vector<ReportGroup> reportGroups(const ComparisonReport& report, size_t most) {
    std::vector<ReportGroup> groups;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const compare::WorkerComparison* pair = report.candidates[index].comparison.criticalPair();
        if (!pair) continue;
        auto group = std::ranges::find_if(groups, [&](const ReportGroup& each) {
            return each.baselineWorker == pair->baselineWorker && each.candidates.size() < most;
        });
        if (group == groups.end()) group = groups.insert(groups.end(), {pair->baselineWorker, {}, {}});
        group->candidates.push_back(index);
        group->view.candidates.push_back({candidateColumn(report, index), pair});
    }
    return groups;
}

compare::ComparisonView viewOf(const compare::WorkerComparison& pair) { return {{{"Candidate", &pair}}}; }

std::string candidateMark(const ComparisonReport& report, size_t candidate) {
    return report.candidates.size() == 1 ? std::string() : fmt::format("[{}] ", candidate + 1);
}

std::string candidateColumn(const ComparisonReport& report, size_t candidate) {
    return report.candidates.size() == 1 ? "Candidate" : fmt::format("[{}]", candidate + 1);
}

using namespace analysis;
using namespace compare;

std::vector<ReportCaution> cautionsOf(const ComparisonReport& report) {
    std::vector<ReportCaution> cautions;
    std::vector<size_t> reportedBy;  // number of candidates
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        for (const std::string& sentence : report.candidates[index].comparison.answer.cautions) {
            const auto known =
                std::ranges::find_if(cautions, [&](const auto& one) { return one.sentence == sentence; });
            if (known == cautions.end()) {
                cautions.push_back({index, sentence});
                reportedBy.push_back(1);
            } else {
                ++reportedBy[static_cast<size_t>(known - cautions.begin())];
            }
        }
    }
    for (size_t index = 0; index < cautions.size(); ++index)
        if (reportedBy[index] == report.candidates.size()) cautions[index].candidate.reset();
    return cautions;
}

ComparisonTable outliersOf(const ComparisonReport& report) {
    ComparisonTable all = outlierTable({}, Wording::Narrow);
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const RunComparison& comparison = report.candidates[index].comparison;
        ComparisonTable table = outlierTable(comparison, Wording::Narrow);
        for (size_t row = 0; row < table.rows.size(); ++row) {
            const bool isCandidate = comparison.outliers[row].isCandidate;
            if (!isCandidate && index > 0) continue;
            if (isCandidate && report.candidates.size() > 1) table.rows[row].front() = fmt::format("[{}]", index + 1);
            all.add(std::move(table.rows[row]));
        }
    }
    return all;
}

std::string sourceSentence(const RunSummary& run, int64_t count, size_t maxRangeNameColumns) {
    const std::string pattern = elideMiddle(printable(run.pattern), maxRangeNameColumns);
    const char* steps = count == 1 ? "step" : "steps";
    switch (run.source) {
        case StepSource::NvtxRange:
            if (run.rangesPerStep > 1) return fmt::format("{} of {} \"{}\" each", steps, run.rangesPerStep, pattern);
            return fmt::format("{} \"{}\"", steps, pattern);
        case StepSource::KernelPattern:
            return fmt::format("{} found by the rhythm of {} kernels", steps, count == 1 ? "its" : "their");
        case StepSource::PythonLoop: return fmt::format("{} of the loop at {}", steps, pattern);
        case StepSource::WholeRun: return run.isEmpty() ? "nothing ran" : "the whole run as one step";
        case StepSource::Chosen: break;
    }
    return "one chosen interval";
}

std::string stepsSentence(const RunSummary& run, uint32_t worker, const StepDistribution& steps,
                          size_t maxRangeNameColumns) {
    const std::string label = worker < run.workers.size() ? run.workers[worker].label() : std::string();
    const std::string median = timeText(steps.medianNs);
    if (run.source == StepSource::WholeRun || run.source == StepSource::Chosen)
        return fmt::format("{}, {}: {}", sourceSentence(run, steps.count, maxRangeNameColumns), label, median);
    return fmt::format("{} {}, {}: median {}", formatCount(steps.count),
                       sourceSentence(run, steps.count, maxRangeNameColumns), label, median);
}

std::string placeSentence(const ComparisonView& view) {
    const std::string& baseline = view.first().baselineLabel;
    std::vector<std::string> others;
    for (const ComparisonView::Candidate& candidate : view.candidates) {
        const std::string& label = candidate.pair->candidateLabel;
        if (label != baseline && std::ranges::find(others, label) == others.end()) others.push_back(label);
    }
    return others.empty() ? baseline : fmt::format("{} against {}", baseline, fmt::join(others, ", "));
}

std::string gpusSentence(const SummaryFacts& facts) {
    return gpusText(facts) + (facts.isNvlinkPresent ? ", connected by NVLink" : "");
}

}  // namespace lanescope::report
