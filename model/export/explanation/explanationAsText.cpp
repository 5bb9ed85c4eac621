// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/compare/shownNumbers.h"
#include "model/export/comparison/TextGrid.h"
#include "model/export/explanation/ExplanationReport.h"
#include "model/export/explanation/explanationTable.h"
#include "model/values/formatValue.h"

namespace lanescope::report {

using namespace compare;

namespace {

constexpr size_t mostAbreast = 6;

using Workers = std::vector<const explain::WorkerParts*>;

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
    return grid;
}

/// Of as many workers as a line has room for, one at least.
std::string partsText(const ExplanationReport& report) {
    Workers workers = workersShown(report, mostAbreast);
    if (workers.empty()) return {};
    TextGrid grid = partsGrid(report, workers);
    while (workers.size() > 1 && !grid.fits(report.lineWidth)) {
        workers.pop_back();
        grid = partsGrid(report, workers);
    }
    const size_t all = report.explanation.workers.size();
    const std::string more =
        all > workers.size()
            ? fmt::format("\n{} of {} workers; -f json has all of them.\n", workers.size(), all)
            : std::string();
    return "\n" + grid.text(report.lineWidth) + more;
}

/// `wrapped` with three spaces before every line.
std::string indented(const std::string& sentence, size_t width) {
    constexpr size_t indent = 3;
    return std::string(indent, ' ') + wrapped(sentence, indent, width - std::min(width, indent));
}

std::string findingsText(const ExplanationReport& report) {
    if (report.run.isEmpty()) return {};
    if (report.explanation.findings.empty())
        return "\nNo rule found anything to change (\"lanescope explain --rules\" lists them).\n";
    std::string text = "\nWhat to change first\n";
    int number = 0;
    for (const explain::Finding& finding : report.explanation.findings) {
        text += fmt::format("\n{}. {}\n", ++number, headingOf(report, finding));
        text += indented(printable(finding.sentence), report.lineWidth);
        text += indented("Try: " + std::string(factsOf(finding.rule).advice), report.lineWidth);
        if (finding.atNs)
            text += fmt::format("   Look at {} s.\n",
                                fmt::format("{:.6f}", static_cast<double>(*finding.atNs) / 1e9));
    }
    return text;
}

}  // namespace

std::string explanationAsText(const ExplanationReport& report) {
    std::string text;
    for (const std::string& doubt : report.explanation.doubts)
        text += wrapped("Caution: " + printable(doubt), 9, report.lineWidth);
    if (!text.empty()) text += "\n";
    text += wrapped(printable(report.explanation.sentence), 0, report.lineWidth);
    text += partsText(report) + findingsText(report);
    if (!report.explanation.steps.empty())
        text += "\n" + wrapped(printable(report.explanation.steps), 0, report.lineWidth);
    return text;
}

}  // namespace lanescope::report
