#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "model/export/comparison/HtmlTable.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/export/comparison/htmlTables.h"
#include "model/export/comparison/htmlText.h"
#include "model/values/formatValue.h"
#include "model/values/kernelName.h"

namespace lanescope {

namespace {

using Columns = std::vector<HtmlTable::Column>;

std::string_view headingOfUnmatched(bool isOfBaseline) {
    return isOfBaseline ? "Only in the baseline" : "Only in a candidate";
}

}  // namespace

std::string unmatchedHtml(const ComparisonReport& report, const CandidateGroup& group) {
    std::string html;
    for (const bool isOfBaseline : {true, false}) {
        const std::vector<ContributorRow> rows = unmatchedRows(report, group, isOfBaseline);
        if (rows.empty()) continue;
        HtmlTable table({{"Time a step", {}, true}, {"Count a step", {}, true}, {"What"}, {"Name"}},
                        "");
        for (const ContributorRow& row : rows) {
            const auto share =
                std::find_if(row.candidates.begin(), row.candidates.end(), std::identity());
            const ContributorShare& shown = isOfBaseline ? *row.baseline : (*share)->candidate;
            table.beginRow();
            table.number(formatDuration(shown.totalNs), static_cast<double>(shown.totalNs));
            table.number(withThousands(fmt::format("{:.4g}", shown.count)), shown.count);
            table.text(name(row.kind));
            table.name(withoutParameters(row.name), row.path);
        }
        html += fmt::format(
            "<details><summary>{} ({})</summary>\n{}</details>\n", headingOfUnmatched(isOfBaseline),
            formatCount(static_cast<int64_t>(rows.size())), std::move(table).html());
    }
    return html;
}

std::string outliersHtml(const ComparisonReport& report) {
    const std::vector<ReportOutlier> outliers = outliersOf(report);
    if (outliers.empty()) return {};
    HtmlTable table({{"Run"},
                     {"Worker"},
                     {"Step"},
                     {"Time", {}, true},
                     {"Over the median", {}, true},
                     {"Where it went"}},
                    "");
    for (const ReportOutlier& outlier : outliers) {
        const OutlierStep& step = outlier.outlier->step;
        table.beginRow();
        table.text(!outlier.candidate ? "Baseline" : candidateColumn(report, *outlier.candidate));
        table.text(outlier.outlier->worker);
        table.text(step.name.empty() ? fmt::format("step {}", step.number) : step.name);
        table.number(formatDuration(step.wallNs), static_cast<double>(step.wallNs));
        table.number("+" + formatDuration(step.excessNs), static_cast<double>(step.excessNs));
        table.text(outlierReason(step));
    }
    return std::move(table).html();
}

std::string workersHtml(const ComparisonReport& report) {
    HtmlTable table({{"Worker"},
                     {"Run"},
                     {"Baseline median", {}, true},
                     {"Candidate median", {}, true},
                     {"Change", "%", true},
                     {"p", {}, true},
                     {"Finding"}},
                    "");
    bool isNeeded = false;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const RunComparison& comparison = report.candidates[index].comparison;
        isNeeded = isNeeded || comparison.workers.size() > 1;
        for (const WorkerComparison& pair : comparison.workers) {
            table.beginRow();
            table.text(pair.candidateLabel);
            table.text(candidateColumn(report, index));
            table.number(formatDuration(static_cast<int64_t>(pair.baseline.medianNs)),
                         pair.baseline.medianNs);
            table.number(formatDuration(static_cast<int64_t>(pair.candidate.medianNs)),
                         pair.candidate.medianNs);
            table.number(fmt::format("{:+.1f}", pair.claim.percent), pair.claim.percent);
            table.number(pValueText(pair.claim.pValue), pair.claim.pValue);
            table.text(name(pair.claim.outcome));
        }
    }
    return isNeeded ? std::move(table).html() : std::string();
}

std::string factsHtml(const ComparisonReport& report) {
    Columns columns{{""}, {"Baseline"}};
    for (size_t index = 0; index < report.candidates.size(); ++index)
        columns.push_back({candidateColumn(report, index)});
    HtmlTable table(columns, "", false);
    const auto addRow = [&](std::string_view title, auto textOf) {
        std::vector<std::string> texts{textOf(report.baseline)};
        for (const ComparedCandidate& candidate : report.candidates)
            texts.push_back(textOf(candidate.summary));
        if (std::all_of(texts.begin(), texts.end(), [](const auto& text) { return text.empty(); }))
            return;
        table.beginRow();
        table.text(title);
        for (const std::string& text : texts) table.name(text);
    };
    addRow("File", [](const RunSummary& run) { return run.facts.title; });
    addRow("Steps", [](const RunSummary& run) { return sourceSentence(run); });
    addRow("GPUs", [](const RunSummary& run) { return gpusSentence(run.facts); });
    addRow("Processes", [](const RunSummary& run) { return formatCount(run.facts.worldSize); });
    addRow("Command", [](const RunSummary& run) { return run.facts.commandLine; });
    addRow("Driver", [](const RunSummary& run) { return run.facts.driver; });
    addRow("CUDA", [](const RunSummary& run) { return run.facts.cuda; });
    addRow("Recorded by", [](const RunSummary& run) { return run.facts.producer; });
    return std::move(table).html();
}

}  // namespace lanescope
