// SPDX-License-Identifier: Apache-2.0
#include "model/pages/ExplanationReport.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/shownNumbers.h"
#include "model/pages/TextGrid.h"
#include "model/pages/charts.h"
#include "model/pages/htmlPage.h"

namespace lanescope::report {

using namespace analysis;
using namespace compare;

std::vector<const explain::WorkerParts*> workersShown(const ExplanationReport& report, size_t most) {
    const auto& all = report.explanation.workers;
    std::vector<const explain::WorkerParts*> shown;
    for (const explain::WorkerParts& each : all)
        if (shown.size() < most) shown.push_back(&each);
    const uint32_t critical = report.run.criticalWorker();
    const auto found = std::ranges::find_if(all, [&](const auto& each) { return each.worker == critical; });
    if (found != all.end() && std::ranges::find(shown, &*found) == shown.end()) shown.back() = &*found;
    return shown;
}

std::vector<StepPart> partsShown(const std::vector<const explain::WorkerParts*>& workers) {
    std::vector<StepPart> parts;
    for (const StepPart part : allStepParts) {
        if (std::ranges::any_of(workers, [part](const auto* each) { return each->parts[part] != 0; }))
            parts.push_back(part);
    }
    return parts;
}

DurationScale scaleOf(const ExplanationReport& report) {
    int64_t longestNs = 0;
    for (const explain::WorkerParts& each : report.explanation.workers) longestNs = std::max(longestNs, each.meanNs);
    return DurationScale::ofStep(longestNs);
}

std::string_view partsTitleOf(const ExplanationReport& report) {
    if (report.run.source == StepSource::WholeRun) return "Run";
    return report.run.kind == StepKind::Request ? "Mean request" : "Mean step";
}

int64_t meanNsOf(const ExplanationReport& report, const explain::Finding& finding) {
    for (const explain::WorkerParts& each : report.explanation.workers)
        if (each.worker == finding.worker) return each.meanNs;
    return 0;
}

std::string headingOf(const ExplanationReport& report, const explain::Finding& finding) {
    if (finding.rule->isBetweenSteps)
        return fmt::format("{}, costs {} in all", finding.rule->id,
                           timeText(static_cast<double>(report.run.workers[finding.worker].pauses.idleNs)));
    if (finding.saving)
        return fmt::format("{}, saves {} ± {} of {} per {} (forecast by the recording)", finding.rule->id,
                           scaleOf(report).text(finding.saving->ns), scaleOf(report).text(finding.saving->marginNs),
                           scaleOf(report).text(meanNsOf(report, finding)), report.explanation.what);
    return fmt::format("{}, costs {} {} {}", finding.rule->id, scaleOf(report).text(finding.maxGainNs),
                       report.run.source == StepSource::WholeRun ? "of the" : "per", report.explanation.what);
}

namespace {

constexpr size_t maxWorkersInText = 6;

using Workers = std::vector<const explain::WorkerParts*>;

/// Returns the MFU of each worker after a heading; empty if all are unknown.
std::vector<std::string> usesOf(const ExplanationReport& report, const Workers& workers) {
    std::vector<std::string> cells{"MFU"};
    bool isAny = false;
    for (const auto* each : workers) {
        cells.push_back(explain::useText(report.run.workers[each->worker].use));
        isAny = isAny || !cells.back().empty();
    }
    if (!isAny) cells.clear();
    return cells;
}

TextGrid partsGrid(const ExplanationReport& report, const Workers& workers) {
    const DurationScale scale = scaleOf(report);
    std::vector<TextGrid::Side> sides(workers.size() + 1, TextGrid::Side::Right);
    sides.front() = TextGrid::Side::Left;
    TextGrid grid(sides);
    std::vector<std::string> headings{fmt::format("{} ({})", partsTitleOf(report), scale.unit)};
    for (const auto* each : workers) headings.push_back(report.run.workers[each->worker].label());
    grid.add(headings);
    grid.addRule();
    for (const StepPart part : partsShown(workers)) {
        std::vector<std::string> cells{std::string(name(part))};
        for (const auto* each : workers) cells.push_back(scale.number(each->parts[part]));
        grid.add(cells);
    }
    grid.addRule();
    std::vector<std::string> sums{report.explanation.what};
    for (const auto* each : workers) sums.push_back(scale.number(each->meanNs));
    grid.add(sums);
    if (const std::vector<std::string> uses = usesOf(report, workers); !uses.empty()) grid.add(uses);
    return grid;
}

/// Shows as many workers as fit into a line, at least one.
std::string partsText(const ExplanationReport& report) {
    Workers workers = workersShown(report, maxWorkersInText);
    if (workers.empty()) return {};
    TextGrid grid = partsGrid(report, workers);
    while (workers.size() > 1 && !grid.fits(report.lineWidth)) {
        workers.pop_back();
        grid = partsGrid(report, workers);
    }
    const size_t all = report.explanation.workers.size();
    const std::string more = all > workers.size()
                                 ? fmt::format("\n{} of {} workers; -f json has all of them.\n", workers.size(), all)
                                 : std::string();
    constexpr auto legend =
        "Exposed: no kernel runs meanwhile. Idle, waiting for launches or data: the GPU has no work.";
    return "\n" + grid.text(report.lineWidth) + wrapped(legend, 0, report.lineWidth) + more;
}

/// Returns `wrapped` with three spaces before every line.
std::string indented(const std::string& sentence, size_t width) {
    constexpr size_t indent = 3;
    return std::string(indent, ' ') + wrapped(sentence, indent, width - std::min(width, indent));
}

std::string findingsText(const ExplanationReport& report) {
    if (report.run.isEmpty()) return {};
    if (report.explanation.findings.empty())
        return "\nNo rule reached its limit (\"lanescope explain --rules\" lists them).\n";
    std::string text = "\nWhat to change first\n";
    int number = 0;
    for (const explain::Finding& finding : report.explanation.findings) {
        text += fmt::format("\n{}. {}\n", ++number, headingOf(report, finding));
        text += indented(printable(finding.sentence), report.lineWidth);
        if (!finding.code.empty()) text += indented("Code: " + printable(finding.code), report.lineWidth);
        text += indented("Try: " + printable(finding.advice), report.lineWidth);
        if (finding.atNs)
            text += fmt::format("   Example at {} s of the trace.\n",
                                fmt::format("{:.6f}", static_cast<double>(*finding.atNs) / 1e9));
    }
    return text;
}

constexpr size_t maxBars = 16;
constexpr size_t maxWorkersInHtml = 8;

std::string answerHtml(const ExplanationReport& report) {
    std::string html = "<div class=\"answer same\">\n";
    if (!report.explanation.caveats.empty()) {
        html += "<div class=\"cautions\"><strong>Before you trust the numbers</strong>\n<ul>\n";
        for (const std::string& doubt : report.explanation.caveats)
            html += fmt::format("<li>{}</li>\n", markupEscaped(doubt));
        html += "</ul></div>\n";
    }
    html += fmt::format("<p class=\"sentence\">{}</p>\n", markupEscaped(report.explanation.sentence));
    if (!report.explanation.compute.empty())
        html += fmt::format("<p>{}</p>\n", markupEscaped(report.explanation.compute));
    if (!report.explanation.steps.empty())
        html += fmt::format("<p class=\"note\">{}</p>\n", markupEscaped(report.explanation.steps));
    return html + "</div>\n";
}

std::string findingsHtml(const ExplanationReport& report) {
    std::string html = "<section>\n<h2>What to change first</h2>\n";
    if (report.explanation.findings.empty()) html += "<p>No rule found anything to change.</p>\n";
    for (const explain::Finding& finding : report.explanation.findings) {
        html += fmt::format("<h3>{}</h3>\n<p>{}</p>\n", markupEscaped(headingOf(report, finding)),
                            markupEscaped(finding.sentence));
        if (!finding.code.empty()) html += fmt::format("<p><code>{}</code></p>\n", markupEscaped(finding.code));
        html += fmt::format("<p class=\"note\">{}</p>\n", markupEscaped(finding.advice));
        if (!finding.sql.empty())
            html +=
                fmt::format("<details><summary>A query that shows it</summary>\n<p><code>{}</code></p>\n</details>\n",
                            markupEscaped(finding.sql));
    }
    return html + "</section>\n";
}

std::string partsHtml(const ExplanationReport& report) {
    if (report.explanation.workers.empty()) return {};
    const DurationScale scale = scaleOf(report);
    std::vector<StepComposition> bars;
    for (const auto* each : workersShown(report, maxBars))
        bars.push_back({report.run.workers[each->worker].label(), each->parts});
    const auto workers = workersShown(report, maxWorkersInHtml);
    std::vector<HtmlTable::Column> columns{{std::string(partsTitleOf(report))}};
    for (const auto* each : workers)
        columns.push_back({report.run.workers[each->worker].label(), std::string(scale.unit), true});
    HtmlTable table(columns, "");
    for (const StepPart part : partsShown(workers)) {
        table.beginRow();
        table.text(name(part));
        for (const auto* each : workers)
            table.number(scale.number(each->parts[part]), static_cast<double>(each->parts[part]));
    }
    table.beginFoot();
    table.beginRow();
    table.text(report.explanation.what);
    for (const auto* each : workers) table.number(scale.number(each->meanNs), static_cast<double>(each->meanNs));
    if (const std::vector<std::string> uses = usesOf(report, workers); !uses.empty()) {
        table.beginRow();
        for (const std::string& each : uses) table.text(each);
    }
    const std::string title =
        fmt::format("Where the time of {} {} goes", report.run.source == StepSource::WholeRun ? "the" : "a",
                    report.explanation.what);
    return "<section>\n<h2>" + title + "</h2>\n" + compositionChart(bars, scale) + std::move(table).html() +
           "</section>\n";
}

}  // namespace

std::string explanationAsText(const ExplanationReport& report) {
    std::string text;
    for (const std::string& doubt : report.explanation.caveats)
        text += wrapped("Caution: " + printable(doubt), 9, report.lineWidth);
    if (!text.empty()) text += "\n";
    text += wrapped(printable(report.explanation.sentence), 0, report.lineWidth);
    if (!report.explanation.compute.empty())
        text += wrapped(printable(report.explanation.compute), 0, report.lineWidth);
    text += partsText(report) + findingsText(report);
    if (!report.explanation.steps.empty())
        text += "\n" + wrapped(printable(report.explanation.steps), 0, report.lineWidth);
    return text;
}

std::string explanationAsHtml(const ExplanationReport& report) {
    const std::string title = markupEscaped(report.run.facts.title);
    return htmlPage(title, title, answerHtml(report) + findingsHtml(report) + partsHtml(report));
}

}  // namespace lanescope::report
