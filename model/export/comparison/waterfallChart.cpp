// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/waterfallChart.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/export/comparison/ChartAxis.h"
#include "model/values/markupText.h"

namespace lanescope::report {

using namespace compare;

namespace {

constexpr double chartWidth = 1060, plotLeft = 210, plotRight = 950;
constexpr double rowHeight = 30, barHeight = 18, axisHeight = 26;
constexpr int marks = 6;
/// Of the greatest sum; smaller differences would be slivers on an axis from 0.
constexpr double smallestVisibleShare = 0.2;

ChartAxis axisFor(const WaterfallBars& waterfall) {
    const auto low = static_cast<double>(waterfall.lowestNs());
    const auto high = static_cast<double>(waterfall.highestNs());
    const double span = high - low;
    const bool isVisible = span == 0 || span >= smallestVisibleShare * high;
    return {isVisible ? std::min(0.0, low) : low - 0.35 * span, high + 0.04 * span, plotLeft,
            plotRight};
}

class WaterfallPainter {
  public:
    WaterfallPainter(const WaterfallBars& waterfall, const WaterfallTitles& titles)
        : waterfall_(waterfall), titles_(titles), axis_(axisFor(waterfall)) {}

    std::string paint() {
        const double bottom = rowHeight * static_cast<double>(waterfall_.bars.size() + 2);
        begin(bottom);
        paintTotal(titles_.startLabel, waterfall_.baselineNs, "run0");
        for (const WaterfallBars::Bar& bar : waterfall_.bars) paintBar(bar);
        paintTotal(titles_.endLabel, waterfall_.candidateNs, runColorClass(titles_.endColor));
        return svg_ + "</svg>\n";
    }

  private:
    void begin(double bottom) {
        svg_ = fmt::format(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}\">\n"
            "<title id=\"{}\">{}</title>\n",
            chartWidth, bottom + axisHeight, titles_.id, titles_.id, markupEscaped(titles_.title));
        for (const double mark : axis_.marks(marks)) {
            const std::string x = svgNumber(axis_.pixelOf(mark));
            svg_ += fmt::format(
                "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"0\" y2=\"{}\"/>"
                "<text class=\"muted middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                x, x, bottom, x, bottom + 18, axis_.label(mark, marks));
        }
    }

    void paintLabel(std::string_view label, std::string_view kind) {
        svg_ += fmt::format("<text class=\"end {}\" x=\"{}\" y=\"{}\">{}</text>", kind,
                            plotLeft - 12, y_ + 20, markupEscaped(label));
    }

    void paintRectangle(double fromNs, double toNs, std::string_view kind) {
        const double left = axis_.pixelOf(std::min(fromNs, toNs));
        const double width = std::max(1.5, axis_.pixelOf(std::max(fromNs, toNs)) - left);
        svg_ += fmt::format(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/>", kind,
            svgNumber(left), y_ + 6, svgNumber(width), barHeight);
    }

    void paintTotal(std::string_view label, int64_t ns, std::string_view kind) {
        paintLabel(label, "strong");
        paintRectangle(axis_.fromNs(), static_cast<double>(ns), kind);
        // Two slanted cuts say that the bar is longer than it looks.
        if (axis_.fromNs() > 0)
            for (const double x : {plotLeft + 14, plotLeft + 21})
                svg_ += fmt::format("<path class=\"break\" d=\"M{} {}l-6 {}\"/>", x + 3, y_ + 4,
                                    barHeight + 4);
        svg_ += fmt::format("<text class=\"strong\" x=\"{}\" y=\"{}\">{}</text>\n",
                            svgNumber(axis_.pixelOf(static_cast<double>(ns)) + 8), y_ + 20,
                            waterfall_.scale.text(ns));
        y_ += rowHeight;
    }

    void paintBar(const WaterfallBars::Bar& bar) {
        const auto from = static_cast<double>(bar.fromNs), to = static_cast<double>(bar.toNs);
        const std::string_view kind = bar.lostNs() > 0 ? "lost" : "saved";
        const std::string join = svgNumber(axis_.pixelOf(from));
        svg_ += fmt::format("<line class=\"join\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", join,
                            join, y_ - rowHeight + 6 + barHeight, y_ + 6);
        paintLabel(bar.label, "");
        paintRectangle(from, to, kind);
        svg_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", kind,
                            svgNumber(axis_.pixelOf(std::max(from, to)) + 8), y_ + 20,
                            waterfall_.scale.differenceText(bar.lostNs()));
        y_ += rowHeight;
    }

    const WaterfallBars& waterfall_;
    const WaterfallTitles& titles_;
    ChartAxis axis_;
    double y_ = 0;
    std::string svg_;
};

}  // namespace

std::string waterfallChart(const WaterfallBars& waterfall, const WaterfallTitles& titles) {
    return WaterfallPainter(waterfall, titles).paint();
}

}  // namespace lanescope::report
