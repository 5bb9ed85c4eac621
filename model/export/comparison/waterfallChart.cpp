#include "model/export/comparison/waterfallChart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/export/comparison/ChartAxis.h"
#include "model/export/comparison/htmlText.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

constexpr double chartWidth = 1060, plotLeft = 210, plotRight = 950;
constexpr double rowHeight = 30, barHeight = 18, axisHeight = 26;
constexpr int marks = 6;
/// Of the greatest sum; smaller differences would be slivers on an axis from 0.
constexpr double smallestVisibleShare = 0.2;

/// Of the greatest bar; what is smaller is put together.
constexpr double smallestBarShare = 0.01;

std::vector<Waterfall::Bar> shownBars(const Waterfall& waterfall) {
    int64_t greatest = 0;
    for (const Waterfall::Bar& bar : waterfall.bars)
        greatest = std::max(greatest, std::abs(bar.ns));
    const double least = smallestBarShare * static_cast<double>(greatest);
    std::vector<Waterfall::Bar> shown, small;
    int64_t smallSum = 0;
    for (const Waterfall::Bar& bar : waterfall.bars) {
        if (bar.ns == 0) continue;
        const bool isSmall = static_cast<double>(std::abs(bar.ns)) < least;
        (isSmall ? small : shown).push_back(bar);
        if (isSmall) smallSum += bar.ns;
    }
    if (small.size() == 1)
        shown.push_back(small[0]);
    else if (smallSum != 0)
        shown.push_back({fmt::format("{} other parts", small.size()), smallSum});
    return shown;
}

/// The sums on the way, which the bars lie between.
std::vector<int64_t> runningSums(int64_t startNs, const std::vector<Waterfall::Bar>& bars) {
    std::vector<int64_t> sums{startNs};
    for (const Waterfall::Bar& bar : bars) sums.push_back(sums.back() + bar.ns);
    return sums;
}

ChartAxis axisFor(const std::vector<int64_t>& sums) {
    const auto [least, greatest] = std::minmax_element(sums.begin(), sums.end());
    const auto low = static_cast<double>(*least), high = static_cast<double>(*greatest);
    const double span = high - low;
    const bool isVisible = span == 0 || span >= smallestVisibleShare * high;
    return {isVisible ? std::min(0.0, low) : low - 0.35 * span, high + 0.04 * span, plotLeft,
            plotRight};
}

class WaterfallPainter {
  public:
    explicit WaterfallPainter(const Waterfall& waterfall)
        : waterfall_(waterfall),
          bars_(shownBars(waterfall)),
          sums_(runningSums(waterfall.startNs, bars_)),
          axis_(axisFor(sums_)) {}

    std::string paint() {
        const double bottom = rowHeight * static_cast<double>(bars_.size() + 2);
        begin(bottom);
        paintTotal(waterfall_.startLabel, sums_.front(), "run0");
        for (size_t index = 0; index < bars_.size(); ++index) paintBar(index);
        paintTotal(waterfall_.endLabel, sums_.back(), runColorClass(waterfall_.endColor));
        return svg_ + "</svg>\n";
    }

  private:
    void begin(double bottom) {
        svg_ = fmt::format(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}\">\n"
            "<title id=\"{}\">{}</title>\n",
            chartWidth, bottom + axisHeight, waterfall_.id, waterfall_.id,
            htmlEscaped(waterfall_.title));
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
                            plotLeft - 12, y_ + 20, htmlEscaped(label));
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
                            formatDuration(ns));
        y_ += rowHeight;
    }

    void paintBar(size_t index) {
        const Waterfall::Bar& bar = bars_[index];
        const auto from = static_cast<double>(sums_[index]);
        const auto to = static_cast<double>(sums_[index + 1]);
        const std::string_view kind = bar.ns > 0 ? "lost" : "saved";
        const std::string join = svgNumber(axis_.pixelOf(from));
        svg_ += fmt::format("<line class=\"join\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", join,
                            join, y_ - rowHeight + 6 + barHeight, y_ + 6);
        paintLabel(bar.label, "");
        paintRectangle(from, to, kind);
        svg_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}{}</text>\n", kind,
                            svgNumber(axis_.pixelOf(std::max(from, to)) + 8), y_ + 20,
                            bar.ns > 0 ? "+" : "\u2212", formatDuration(std::abs(bar.ns)));
        y_ += rowHeight;
    }

    const Waterfall& waterfall_;
    std::vector<Waterfall::Bar> bars_;
    std::vector<int64_t> sums_;
    ChartAxis axis_;
    double y_ = 0;
    std::string svg_;
};

}  // namespace

std::string waterfallChart(const Waterfall& waterfall) {
    return WaterfallPainter(waterfall).paint();
}

}  // namespace lanescope
