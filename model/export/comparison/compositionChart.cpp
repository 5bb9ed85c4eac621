// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/compositionChart.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/export/comparison/ChartAxis.h"
#include "model/values/markupText.h"

namespace lanescope::report {

using namespace compare;

namespace {

constexpr double chartWidth = 1060, plotLeft = 210, plotRight = 950;
constexpr double rowHeight = 32, barHeight = 20, legendRowHeight = 22, legendColumnWidth = 200;
constexpr size_t legendColumns = 5;
/// A part that is nowhere this share of its step needs no entry in the legend: nobody sees it.
constexpr double smallestVisibleShare = 0.002;

std::vector<StepPart> visibleParts(const std::vector<StepComposition>& runs) {
    std::vector<StepPart> parts;
    for (size_t index = 0; index < stepPartCount; ++index) {
        const auto part = static_cast<StepPart>(index);
        const bool isVisible = std::any_of(runs.begin(), runs.end(), [part](const auto& run) {
            return static_cast<double>(run.parts[part]) >
                   smallestVisibleShare * static_cast<double>(run.parts.sum());
        });
        if (isVisible) parts.push_back(part);
    }
    return parts;
}

std::string barOf(const StepComposition& run, const ChartAxis& axis, const DurationScale& scale,
                  double y) {
    std::string svg = fmt::format("<text class=\"end strong\" x=\"{}\" y=\"{}\">{}</text>",
                                  plotLeft - 12, y + 15, markupEscaped(run.label));
    int64_t begin = 0;
    for (size_t index = 0; index < stepPartCount; ++index) {
        const auto part = static_cast<StepPart>(index);
        if (run.parts[part] <= 0) continue;
        const double left = axis.pixelOf(static_cast<double>(begin));
        begin += run.parts[part];
        svg += fmt::format(
            "<rect class=\"part {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">"
            "<title>{}, {}: {}</title></rect>",
            identifier(part), svgNumber(left), y,
            svgNumber(axis.pixelOf(static_cast<double>(begin)) - left), barHeight,
            markupEscaped(run.label), name(part), scale.text(run.parts[part]));
    }
    return svg + fmt::format("<text class=\"strong\" x=\"{}\" y=\"{}\">{}</text>\n",
                             svgNumber(axis.pixelOf(static_cast<double>(begin)) + 8), y + 15,
                             scale.text(run.parts.sum()));
}

std::string legendOf(const std::vector<StepPart>& parts, double top) {
    std::string svg;
    for (size_t index = 0; index < parts.size(); ++index) {
        const double x = 40 + legendColumnWidth * static_cast<double>(index % legendColumns);
        const double y = top + legendRowHeight * static_cast<double>(index / legendColumns);
        svg += fmt::format(
            "<rect class=\"part {}\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\"/>"
            "<text x=\"{}\" y=\"{}\">{}</text>\n",
            identifier(parts[index]), x, y, x + 18, y + 10, name(parts[index]));
    }
    return svg;
}

}  // namespace

std::string compositionChart(const std::vector<StepComposition>& runs, const DurationScale& scale) {
    int64_t longest = 1;
    for (const StepComposition& run : runs) longest = std::max(longest, run.parts.sum());
    const ChartAxis axis(0, static_cast<double>(longest), plotLeft, plotRight);
    const std::vector<StepPart> parts = visibleParts(runs);
    const double legendTop = rowHeight * static_cast<double>(runs.size()) + 6;
    const size_t legendRows = (parts.size() + legendColumns - 1) / legendColumns;
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"composition\">\n"
        "<title id=\"composition\">What the mean step of every run is made of</title>\n",
        chartWidth, legendTop + legendRowHeight * static_cast<double>(legendRows));
    double y = 0;
    for (const StepComposition& run : runs) {
        svg += barOf(run, axis, scale, y);
        y += rowHeight;
    }
    return svg + legendOf(parts, legendTop) + "</svg>\n";
}

}  // namespace lanescope::report
