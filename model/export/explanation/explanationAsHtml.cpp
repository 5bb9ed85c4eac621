// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/export/comparison/HtmlTable.h"
#include "model/export/comparison/compositionChart.h"
#include "model/export/comparison/htmlPage.h"
#include "model/export/explanation/ExplanationReport.h"
#include "model/export/explanation/explanationTable.h"
#include "model/values/markupText.h"

namespace lanescope::report {

using namespace compare;

namespace {

constexpr size_t mostBars = 16;
constexpr size_t mostAbreast = 8;

std::string answerHtml(const ExplanationReport& report) {
    std::string html = "<div class=\"answer same\">\n";
    if (!report.explanation.doubts.empty()) {
        html += "<div class=\"cautions\"><strong>Before you trust the numbers</strong>\n<ul>\n";
        for (const std::string& doubt : report.explanation.doubts)
            html += fmt::format("<li>{}</li>\n", markupEscaped(doubt));
        html += "</ul></div>\n";
    }
    html +=
        fmt::format("<p class=\"sentence\">{}</p>\n", markupEscaped(report.explanation.sentence));
    if (!report.explanation.steps.empty())
        html += fmt::format("<p class=\"note\">{}</p>\n", markupEscaped(report.explanation.steps));
    return html + "</div>\n";
}

std::string findingsHtml(const ExplanationReport& report) {
    std::string html = "<section>\n<h2>What to change first</h2>\n";
    if (report.explanation.findings.empty()) html += "<p>No rule found anything to change.</p>\n";
    for (const explain::Finding& finding : report.explanation.findings) {
        html +=
            fmt::format("<h3>{}</h3>\n<p>{}</p>\n<p class=\"note\">{}</p>\n",
                        markupEscaped(headingOf(report, finding)), markupEscaped(finding.sentence),
                        markupEscaped(factsOf(finding.rule).advice));
        if (!finding.sql.empty())
            html += fmt::format(
                "<details><summary>A query that shows it</summary>\n<p><code>{}</code></p>\n"
                "</details>\n",
                markupEscaped(finding.sql));
    }
    return html + "</section>\n";
}

std::string partsHtml(const ExplanationReport& report) {
    if (report.explanation.workers.empty()) return {};
    const DurationScale scale = scaleOf(report);
    std::vector<StepComposition> bars;
    for (const auto* each : workersShown(report, mostBars))
        bars.push_back({report.run.workers[each->worker].label(), each->parts});
    const auto workers = workersShown(report, mostAbreast);
    std::vector<HtmlTable::Column> columns{{std::string(partsTitleOf(report))}};
    for (const auto* each : workers)
        columns.push_back(
            {report.run.workers[each->worker].label(), std::string(scale.unit), true});
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
    for (const auto* each : workers)
        table.number(scale.number(each->meanNs), static_cast<double>(each->meanNs));
    const std::string title = fmt::format("Where the time of {} {} goes",
                                          report.run.source == StepSource::WholeRun ? "the" : "a",
                                          report.explanation.what);
    return "<section>\n<h2>" + title + "</h2>\n" + compositionChart(bars, scale) +
           std::move(table).html() + "</section>\n";
}

}  // namespace

std::string explanationAsHtml(const ExplanationReport& report) {
    const std::string title = markupEscaped(report.run.facts.title);
    return htmlPage(title, title, answerHtml(report) + findingsHtml(report) + partsHtml(report));
}

}  // namespace lanescope::report
