// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "model/analysis/shownNumbers.h"
#include "model/compare/ComparisonTable.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/charts.h"
#include "model/pages/htmlPage.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"

namespace lanescope::report {

// The tables of the HTML report, each as a piece of the page; empty if there are no rows.

using namespace analysis;
using namespace compare;

namespace {

/// Losses, and numbers of another unit, begin a group.
bool beginsGroup(const ComparisonTable& table, size_t column) {
    if (column == 0 || table.columns[column - 1].form == Form::Text) return false;
    const bool isLoss = table.isLoss(column) || table.columns[column].form == Form::Change;
    const bool wasLoss = table.isLoss(column - 1) || table.columns[column - 1].form == Form::Change;
    return !isLoss && (wasLoss || table.unitOf(column) != table.unitOf(column - 1));
}

/// Returns the maximum loss in the table, without sums.
double maxLossOf(const ComparisonTable& table, size_t rowCount) {
    double greatest = 0;
    for (size_t row = 0; row < rowCount; ++row)
        for (size_t column = 0; column < table.columns.size(); ++column)
            if (const auto loss = numberIn(table.rows[row][column]);
                table.isLoss(column) && loss && std::isfinite(*loss))
                greatest = std::max(greatest, std::abs(*loss));
    return greatest;
}

std::string countChange(const ComparisonRow& row) {
    if (row.candidates.size() != 1 || !row.baseline.share || !row.candidates[0].share) return {};
    const std::string before = countText(row.baseline.share->count);
    const std::string after = countText(row.candidates[0].share->count);
    return before == after ? fmt::format("{} per step", after) : fmt::format("{} per step, was {}", after, before);
}

/// Adds a name, with its place, count and former name under it.
void addName(const ComparisonRow& row, HtmlTable& table) {
    std::string below;
    const auto add = [&below](const std::string& text) {
        if (!text.empty()) below += (below.empty() ? "" : " \u00b7 ") + text;
    };
    add(row.path);
    add(countChange(row));
    if (!row.formerName.empty()) add(fmt::format("was {}", withoutParameters(row.formerName)));
    std::vector<std::string_view> tags;
    if (isIdle(*row.part)) tags.push_back(name(*row.part));
    if (row.match == MatchKind::OnlyBaseline) tags.push_back("gone");
    if (row.match == MatchKind::OnlyCandidate) tags.push_back("new");
    if (!row.formerName.empty()) tags.push_back("renamed");
    table.name(withoutParameters(row.name), below, tags);
}

/// Returns a table as HTML; `rows` are those of contributors. Losses are coloured from a fiftieth of the maximum on.
std::string tableHtml(const ComparisonTable& shown, const std::vector<ComparisonRow>& rows = {}, bool hasSum = false) {
    std::vector<HtmlTable::Column> columns;
    for (size_t column = 0; column < shown.columns.size(); ++column)
        columns.push_back({shown.columns[column].name, std::string(shown.unitOf(column)),
                           shown.columns[column].form != Form::Text, beginsGroup(shown, column)});
    HtmlTable table(columns, "", !hasSum);
    const double greatest = maxLossOf(shown, shown.rows.size() - (hasSum ? 1 : 0));
    const double least = std::max(static_cast<double>(shown.scale.quantumNs()), greatest / 50);
    for (size_t row = 0; row < shown.rows.size(); ++row) {
        if (hasSum && row + 1 == shown.rows.size()) table.beginFoot();
        table.beginRow();
        for (size_t column = 0; column < shown.columns.size(); ++column) {
            const std::optional<Field> field = shown.columns[column].field;
            const std::string text = shown.number(row, column);
            const double value = numberIn(shown.rows[row][column]).value_or(std::nan(""));
            const bool isColored = shown.isLoss(column) && std::abs(value) >= least;
            if (field == Field::Name && !rows.empty())
                addName(rows[row], table);
            else if (shown.columns[column].form == Form::Text)
                field == Field::Range || field == Field::Name ? table.name(text) : table.text(text);
            else if (text.empty())
                table.nothing();
            else
                table.number(text, value, !isColored ? "" : value > 0 ? "lost" : "saved");
        }
    }
    return std::move(table).html();
}

/// Returns "Candidate", or its number and title if there are several: "[2] b.sqlite". Escaped.
std::string candidateHeading(const ComparisonReport& report, size_t candidate) {
    if (report.candidates.size() == 1) return "Candidate";
    return markupEscaped(fmt::format("[{}] {}", candidate + 1, report.candidates[candidate].summary.facts.title));
}

/// Returns the parts of a step, every column with its sum.
std::string partsTableHtml(const ReportGroup& group) {
    std::vector<ComparisonRow> rows = partRows(group.view);
    rows.push_back(stepRow(group.view));
    ComparisonTable table =
        tableOf(group.view, rows, {{Field::Part}, {Field::Baseline}, {Field::Candidate, Field::Lost, Field::Change}},
                Wording::Narrow);
    table.columns.front().name = "Part of the mean step";
    return tableHtml(table, {}, true);
}

/// Returns the contributors of one group of parts, with its heading.
std::string contributorsHtml(const ComparisonReport& report, const ReportGroup& group, PartGroup parts) {
    std::vector<ComparisonRow> rows = contributorRows(group.view, parts);
    keepLargestChanges(rows, report.top, hasBandwidth(parts));
    if (rows.empty()) return {};
    Layout layout{{Field::Lost}, {Field::Baseline}, {Field::Candidate}};
    if (hasBandwidth(parts)) {
        layout.push_back({Field::BaselineRate});
        layout.push_back({Field::CandidateRate});
    }
    layout.push_back({Field::Name});
    return fmt::format("<h3>{}</h3>\n", markupEscaped(name(parts))) +
           tableHtml(tableOf(group.view, rows, layout, Wording::Narrow), rows);
}

std::string rangesHtml(const ComparisonReport& report, const ReportGroup& group) {
    std::vector<ComparisonRow> rows = rangeRows(group.view, false);
    keepLargestChanges(rows, report.top);
    if (rows.empty()) return {};
    return "<h3>NVTX ranges</h3>\n" +
           tableHtml(tableOf(group.view, rows, {{Field::Lost}, {Field::Baseline}, {Field::Candidate}, {Field::Range}},
                             Wording::Narrow));
}

std::string pathHtml(const ComparisonReport& report, const ReportGroup& group) {
    const ComparisonTable table = pathChangeTable(group.view.first(), report.top);
    if (report.candidates.size() > 1 || table.rows.empty()) return {};
    return "<h3>Critical path</h3>\n" + tableHtml(table);
}

/// Returns contributors that only one side has, both lists.
std::string unmatchedHtml(const ReportGroup& group) {
    std::string html;
    for (const bool isOfBaseline : {true, false}) {
        const std::vector<ComparisonRow> rows = unmatchedRows(group.view, isOfBaseline);
        if (rows.empty()) continue;
        const Layout layout{{Field::OnlyTotal}, {Field::OnlyCount}, {Field::Kind}, {Field::Name}};
        html += fmt::format("<details><summary>{} ({})</summary>\n{}</details>\n",
                            isOfBaseline ? "Only in the baseline" : "Only in a candidate",
                            formatCount(static_cast<int64_t>(rows.size())),
                            tableHtml(tableOf(group.view, rows, layout, Wording::Narrow), rows));
    }
    return html;
}

std::string outliersHtml(const ComparisonReport& report) {
    const ComparisonTable table = outliersOf(report);
    return table.rows.empty() ? std::string() : tableHtml(table);
}

/// Returns the quantities judged in addition to the step; empty for two runs.
std::string judgedHtml(const ComparisonReport& report) {
    std::string html;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const WorkerComparison* pair = report.candidates[index].comparison.criticalPair();
        if (!pair || pair->quantities.empty()) continue;
        if (report.candidates.size() > 1) html += fmt::format("<h3>{}</h3>\n", candidateHeading(report, index));
        html += tableHtml(judgedTable(*pair));
    }
    return html;
}

/// Returns every worker of every candidate; only if there are several.
std::string workersHtml(const ComparisonReport& report) {
    std::string html;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const RunComparison& comparison = report.candidates[index].comparison;
        if (comparison.workers.size() < 2) continue;
        if (report.candidates.size() > 1) html += fmt::format("<h3>{}</h3>\n", candidateHeading(report, index));
        html += tableHtml(workerTable(comparison));
    }
    return html;
}

/// Returns facts of the runs: files, GPUs, versions, commands.
std::string factsHtml(const ComparisonReport& report) {
    std::vector<HtmlTable::Column> columns{{""}, {"Baseline"}};
    for (size_t index = 0; index < report.candidates.size(); ++index)
        columns.push_back({candidateColumn(report, index)});
    HtmlTable table(columns, "", false);
    const auto addRow = [&](std::string_view title, auto textOf) {
        std::vector<std::string> texts{textOf(report.baseline)};
        for (const ComparedCandidate& candidate : report.candidates) texts.push_back(textOf(candidate.summary));
        if (std::ranges::all_of(texts, [](const auto& text) { return text.empty(); })) return;
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

/// Returns the style sheet's class of an outcome.
std::string_view classOf(Outcome outcome) {
    switch (outcome) {
        case Outcome::Slower:
        case Outcome::Longer: return "slower";
        case Outcome::Faster:
        case Outcome::Shorter: return "faster";
        case Outcome::WithinNoise:
        case Outcome::Alike: return "same";
        case Outcome::Nothing:
        case Outcome::TooFewSteps:
        case Outcome::PartsChanged: break;
    }
    return "uncertain";
}

std::string badgeText(const RunComparison& comparison) {
    const Outcome outcome = comparison.answer.outcome;
    const WorkerComparison* pair = comparison.criticalPair();
    if (pair && classOf(outcome) != "same" && classOf(outcome) != "uncertain")
        return fmt::format("{} % {}", percentText(std::abs(pair->claim.percent)), name(outcome));
    return outcome == Outcome::Nothing ? "nothing to compare" : std::string(name(outcome));
}

std::string figure(std::string_view label, std::string_view value) {
    return fmt::format("<li><b>{}</b><span>{}</span></li>\n", markupEscaped(value), markupEscaped(label));
}

/// Returns the numbers behind a claim.
std::string claimFigures(const WorkerComparison& pair) {
    const Claim& claim = pair.claim;
    std::string html = "<ul class=\"figures\">\n";
    html += figure("baseline, median step", timeText(pair.baseline.medianNs));
    html += figure("candidate, median step", timeText(pair.candidate.medianNs));
    html += figure("difference", timeDifferenceText(claim.differenceNs));
    if (claim.outcome != Outcome::TooFewSteps) {
        const bool isOfRuns = claim.unit == ClaimUnit::Runs;
        html += figure(isOfRuns ? "95 % confidence interval of runs" : "95 % confidence interval of these runs' steps",
                       fmt::format("{} to {}", timeDifferenceText(claim.lowNs), timeDifferenceText(claim.highNs)));
        html += figure(isOfRuns ? "t test of runs" : "Mann-Whitney U test of steps",
                       pValueEquation(isOfRuns ? claim.adjustedPValue : claim.pValue));
        if (isOfRuns)
            html += figure("runs, baseline and candidate",
                           fmt::format("{} and {}", claim.baselineRuns, claim.candidateRuns));
    }
    if (pair.baselineMfu && pair.candidateMfu)
        html += figure("MFU, baseline and candidate", fmt::format("{} and {} %", percentText(100 * *pair.baselineMfu),
                                                                  percentText(100 * *pair.candidateMfu)));
    html += figure("steps, baseline and candidate",
                   fmt::format("{} and {}", formatCount(pair.baseline.count), formatCount(pair.candidate.count)));
    return html + "</ul>\n";
}

class HtmlReport {
  public:
    explicit HtmlReport(const ComparisonReport& report)
        : report_(report), groups_(reportGroups(report, candidatesAbreast)) {}

    std::string html(const std::string& timelines) {
        std::string candidates;
        for (const ComparedCandidate& candidate : report_.candidates)
            candidates += (candidates.empty() ? "" : ", ") + titleOf(candidate.summary);
        const std::string baseline = titleOf(report_.baseline);
        addContent(timelines);
        return htmlPage(fmt::format("{} against {}", candidates, baseline),
                        fmt::format("{} <span class=\"against\">against {}</span>", candidates, baseline), html_,
                        timelines.empty() ? PageKind::Report : PageKind::ReportWithTimelines);
    }

  private:
    static constexpr size_t candidatesAbreast = 4;

    bool isSingle() const { return report_.candidates.size() == 1; }
    std::string titleOf(const RunSummary& run) const { return markupEscaped(run.facts.title); }

    void addContent(const std::string& timelines) {
        for (size_t index = 0; index < report_.candidates.size(); ++index) addAnswer(index);
        addSection("Timelines",
                   "The whole runs coarsely, some steps with every event. They move together. A click makes the wheel "
                   "zoom; ? lists the keys.",
                   timelines);
        addConditions();
        addParts();
        addSteps();
        addContributors();
        addSection(
            "What is certain",
            "Median of each run, with the run as the unit; 95 % confidence, p of all that is judged together (Holm).",
            judgedHtml(report_));
        addSection("Steps that stand out", "Much longer than the other steps of their run, and what they spent it on.",
                   outliersHtml(report_));
        addSection("Every worker", "The median step of each process on its GPU.", workersHtml(report_));
        addSection("The runs", "", factsHtml(report_));
    }

    void addSection(std::string_view title, std::string_view note, const std::string& content) {
        if (content.empty()) return;
        html_ += fmt::format("<section>\n<h2>{}</h2>\n", markupEscaped(title));
        if (!note.empty()) html_ += fmt::format("<p class=\"note\">{}</p>\n", markupEscaped(note));
        html_ += content + "</section>\n";
    }

    void addAnswer(size_t index) {
        const RunComparison& comparison = report_.candidates[index].comparison;
        const std::string_view kind = classOf(comparison.answer.outcome);
        html_ += fmt::format("<div class=\"answer {}\">\n<span class=\"badge {}\">{}</span>", kind, kind,
                             markupEscaped(badgeText(comparison)));
        if (!isSingle()) html_ += fmt::format(" <code>{}</code>", candidateHeading(report_, index));
        html_ += fmt::format("\n<p class=\"sentence\">{}</p>\n", markupEscaped(comparison.answer.sentence));
        html_ += cautionsHtml(comparison.answer.cautions);
        if (const WorkerComparison* pair = comparison.criticalPair()) html_ += claimFigures(*pair);
        html_ += detailsHtml(comparison.answer.details);
        html_ += "</div>\n";
    }

    static std::string cautionsHtml(const std::vector<std::string>& cautions) {
        if (cautions.empty()) return {};
        std::string html = "<div class=\"cautions\"><strong>Before you trust the numbers</strong>\n<ul>\n";
        for (const std::string& caution : cautions) html += fmt::format("<li>{}</li>\n", markupEscaped(caution));
        return html + "</ul></div>\n";
    }

    /// Folded if there are several candidates, whose answers should fit on one screen.
    std::string detailsHtml(const std::vector<std::string>& details) const {
        if (details.empty()) return {};
        std::string html = "<ul class=\"details\">\n";
        for (const std::string& detail : details) html += fmt::format("<li>{}</li>\n", markupEscaped(detail));
        html += "</ul>\n";
        return isSingle() ? html : "<details><summary>More</summary>\n" + html + "</details>\n";
    }

    void addConditions() {
        std::string rows;
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            for (const compare::ConditionOutcome& condition : report_.candidates[index].conditions) {
                const std::string_view kind = condition.state == compare::ConditionState::Met      ? "met"
                                              : condition.state == compare::ConditionState::NotMet ? "fine"
                                                                                                   : "open";
                std::string findings;
                for (const compare::TestOutcome& test : condition.tests)
                    findings += (findings.empty() ? "" : "; ") + test.finding;
                rows += fmt::format(
                    "<tr><td class=\"{}\">{}</td><td class=\"name\"><code>{}</code></td><td>{}{}</td></tr>\n", kind,
                    markupEscaped(name(condition.state)), markupEscaped(condition.text),
                    isSingle() ? "" : fmt::format("[{}] ", index + 1), markupEscaped(findings));
            }
        }
        if (rows.empty()) return;
        addSection("Conditions", "The comparison fails if one of them is met.",
                   "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">State</th><th "
                   "scope=\"col\">Condition</th><th scope=\"col\">Finding</th></tr></thead><tbody>\n" +
                       rows + "</tbody></table></div>\n");
    }

    std::string runLabel(size_t index) const { return isSingle() ? "candidate" : fmt::format("[{}]", index + 1); }

    std::string compositionOf(const ReportGroup& group) const {
        std::vector<StepComposition> runs{{"baseline", {}}};
        for (const size_t index : group.candidates) runs.push_back({runLabel(index), {}});
        for (const ComparisonRow& row : partRows(group.view)) {
            runs[0].parts[*row.part] = *row.baseline.ns;
            for (size_t column = 0; column < row.candidates.size(); ++column)
                runs[column + 1].parts[*row.part] = *row.candidates[column].ns;
        }
        return "<figure>\n" + compositionChart(runs, group.view.scale()) + "</figure>\n";
    }

    std::string waterfallOf(size_t index, const WorkerComparison& pair) const {
        WaterfallTitles titles;
        titles.id = fmt::format("waterfall-{}", index);
        titles.title = fmt::format("From the baseline's mean step of {} to the candidate's of {}, part by part",
                                   pair.scale.text(pair.baseline.meanNs), pair.scale.text(pair.candidate.meanNs));
        titles.startLabel = "baseline";
        titles.endLabel = runLabel(index);
        titles.endColor = static_cast<int>(index) + 1;
        std::string caption;
        if (!isSingle()) caption = fmt::format("<figcaption>{}</figcaption>\n", candidateHeading(report_, index));
        return fmt::format("<figure>\n{}{}</figure>\n", caption, waterfallChart(waterfallBars(pair), titles));
    }

    void addParts() {
        std::string content;
        for (const ReportGroup& group : groups_) {
            content += compositionOf(group);
            for (size_t column = 0; column < group.candidates.size(); ++column)
                content += waterfallOf(group.candidates[column], *group.view.candidates[column].pair);
            content += partsTableHtml(group);
        }
        addSection("Where the time of a step goes",
                   groups_.empty()
                       ? ""
                       : "Mean step of " + placeSentence(groups_.front().view) +
                             ". Each nanosecond counts once: compute takes precedence over every other part.",
                   content);
    }

    static StepBarsOf stepsOf(const RunSummary& run, uint32_t worker, const StepDistribution& steps) {
        return {worker < run.workers.size() ? &run.workers[worker] : nullptr, steps};
    }

    void addSteps() {
        std::string content;
        for (const ReportGroup& group : groups_) {
            std::vector<StepBarsOf> runs{stepsOf(report_.baseline, group.baselineWorker, group.view.first().baseline)};
            std::vector<StepLabel> labels{{"baseline", 0}};
            for (size_t column = 0; column < group.candidates.size(); ++column) {
                const size_t index = group.candidates[column];
                const WorkerComparison& pair = *group.view.candidates[column].pair;
                runs.push_back(stepsOf(report_.candidates[index].summary, pair.candidateWorker, pair.candidate));
                labels.push_back({runLabel(index), static_cast<int>(index) + 1});
            }
            content += "<figure>\n" + stepChart(stepBars(runs), labels) + "</figure>\n";
        }
        addSection("Step by step",
                   "A dot is a step, a line the median, a band the middle half of the steps. Of more than a thousand "
                   "steps, the band is from the shortest to the longest nearby. The axis does not begin at 0.",
                   content);
    }

    void addContributors() {
        std::string content;
        for (const ReportGroup& group : groups_) {
            for (size_t parts = 0; parts < partGroupCount; ++parts)
                content += contributorsHtml(report_, group, static_cast<PartGroup>(parts));
            content += rangesHtml(report_, group) + pathHtml(report_, group);
            content += unmatchedHtml(group);
        }
        addSection("What lost the time", "Exposed time of a mean step, greatest loss first.", content);
    }

    const ComparisonReport& report_;
    std::vector<ReportGroup> groups_;
    std::string html_;
};

}  // namespace

std::string comparisonAsHtml(const ComparisonReport& report, const std::string& timelines) {
    return HtmlReport(report).html(timelines);
}

}  // namespace lanescope::report
