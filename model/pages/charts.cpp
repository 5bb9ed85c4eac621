// SPDX-License-Identifier: Apache-2.0
#include "model/pages/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/analysis/shownNumbers.h"

namespace lanescope::report {

ChartAxis::ChartAxis(double fromNs, double toNs, double fromPixel, double toPixel)
    : fromNs_(fromNs), toNs_(toNs > fromNs ? toNs : fromNs + 1), fromPixel_(fromPixel), toPixel_(toPixel) {}

double ChartAxis::pixelOf(double ns) const {
    return fromPixel_ + (ns - fromNs_) / (toNs_ - fromNs_) * (toPixel_ - fromPixel_);
}

double ChartAxis::stepNs(int count) const {
    const double rough = (toNs_ - fromNs_) / std::max(count, 1);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough) return factor * power;
    return 10 * power;
}

std::vector<double> ChartAxis::marks(int count) const {
    const double step = stepNs(count);
    std::vector<double> result;
    // By multiplication, not by addition: far from zero the step could be lost in rounding.
    const double first = std::ceil(fromNs_ / step - 1e-9);
    for (int index = 0; index <= 4 * count; ++index) {
        const double ns = (first + index) * step;
        if (ns > toNs_ + step * 1e-9) break;
        result.push_back(ns);
    }
    return result;
}

std::string ChartAxis::label(double ns, int count) const {
    const DurationScale scale =
        DurationScale::fitting(static_cast<int64_t>(std::max(std::abs(fromNs_), std::abs(toNs_))));
    const double unit = static_cast<double>(scale.unitNs);
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(stepNs(count) / unit) - 1e-9)), 0, 6);
    return fmt::format("{:.{}f} {}", ns / unit, decimals, scale.unit);
}

using namespace analysis;
using namespace compare;

namespace {

/// Returns the style sheet's class for a run's colour: 0 the baseline, then the candidates; the seventh as the first.
std::string runColorClass(int run) {
    constexpr int candidateColors = 6;
    return fmt::format("run{}", run <= 0 ? 0 : (run - 1) % candidateColors + 1);
}

/// Returns a number for an attribute of an SVG element: at most two decimals, always finite.
std::string svgNumber(double value) {
    if (!std::isfinite(value)) return "0";
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text == "-0" ? "0" : text;
}

constexpr double compositionWidth = 1060, compositionLeft = 210, compositionRight = 950;
constexpr double compositionRowHeight = 32, compositionBarHeight = 20, legendRowHeight = 22, legendColumnWidth = 200;
constexpr size_t legendColumns = 5;
/// A part below this share of every step needs no entry in the legend, since it is invisible.
constexpr double minShownShare = 0.002;

std::vector<StepPart> visibleParts(const std::vector<StepComposition>& runs) {
    std::vector<StepPart> parts;
    for (const StepPart part : allStepParts) {
        const bool isVisible = std::ranges::any_of(runs, [part](const auto& run) {
            return static_cast<double>(run.parts[part]) > minShownShare * static_cast<double>(run.parts.sum());
        });
        if (isVisible) parts.push_back(part);
    }
    return parts;
}

std::string barOf(const StepComposition& run, const ChartAxis& axis, const DurationScale& scale, double y) {
    std::string svg = fmt::format("<text class=\"end strong\" x=\"{}\" y=\"{}\">{}</text>", compositionLeft - 12,
                                  y + 15, markupEscaped(run.label));
    int64_t begin = 0;
    for (const StepPart part : allStepParts) {
        if (run.parts[part] <= 0) continue;
        const double left = axis.pixelOf(static_cast<double>(begin));
        begin += run.parts[part];
        svg += fmt::format(
            "<rect class=\"part {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}, {}: {}</title></rect>",
            identifier(part), svgNumber(left), y, svgNumber(axis.pixelOf(static_cast<double>(begin)) - left),
            compositionBarHeight, markupEscaped(run.label), name(part), scale.text(run.parts[part]));
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
            "<rect class=\"part {}\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\"/><text x=\"{}\" "
            "y=\"{}\">{}</text>\n",
            identifier(parts[index]), x, y, x + 18, y + 10, name(parts[index]));
    }
    return svg;
}

constexpr double chartWidth = 1060, plotLeft = 78, plotRight = 880;
constexpr double plotTop = 18, plotBottom = 286, chartHeight = 326;
constexpr int stepMarks = 6;
constexpr size_t maxNumbers = 16;  ///< Below the axis.
constexpr double labelHeight = 32;

/// Returns an axis from a little under the shortest to a little over the longest step, without outliers.
ChartAxis axisFor(const std::vector<StepBars::Run>& runs) {
    std::vector<int64_t> all;
    for (const StepBars::Run& run : runs) all.insert(all.end(), run.wallNs.begin(), run.wallNs.end());
    if (all.empty()) return {0, 1, plotBottom, plotTop};
    std::ranges::sort(all);
    const auto low = static_cast<double>(all.front());
    double high = static_cast<double>(all.back());
    const auto usual = static_cast<double>(all[(all.size() - 1) * 95 / 100]);
    if (high - low > 4 * (usual - low) && high > 1.5 * usual) high = usual + 0.25 * (usual - low);
    const double margin = std::max(0.08 * (high - low), 0.01 * high);
    return {std::max(0.0, low - margin), high + margin, plotBottom, plotTop};
}

/// Returns the number of steps from one label to the next: 1, 2, 5, 10 ...
size_t roundStep(size_t steps) {
    for (size_t power = 1;; power *= 10)
        for (const size_t factor : {1, 2, 5})
            if (steps / (factor * power) <= maxNumbers) return factor * power;
}

class StepPainter {
  public:
    StepPainter(const StepBars& steps, const std::vector<StepLabel>& labels)
        : runs_(steps.runs),
          labels_(labels),
          axis_(axisFor(steps.runs)),
          isBinned_(steps.stepsPerBar > 1),
          longest_(steps.stepCount) {}

    std::string paint() {
        begin();
        for (size_t run = 0; run < runs_.size(); ++run)
            if (!isBinned_) paintSpread(run);
        for (size_t run = 0; run < runs_.size(); ++run) {
            if (isBinned_)
                paintBins(run);
            else
                paintDots(run);
        }
        paintLabels();
        return svg_ + "</svg>\n";
    }

  private:
    std::string colorOf(size_t run) const { return runColorClass(labels_[run].color); }
    double xOf(size_t index) const {
        const double share = (static_cast<double>(index) + 0.5) / static_cast<double>(std::max<size_t>(longest_, 1));
        return plotLeft + share * (plotRight - plotLeft);
    }
    bool isBeyond(int64_t ns) const { return static_cast<double>(ns) > axis_.toNs(); }

    void begin() {
        svg_ = fmt::format(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"step-times\">\n<title id=\"step-times\">Time of "
            "every step, run by run</title>\n",
            chartWidth, chartHeight);
        for (const double mark : axis_.marks(stepMarks)) {
            const std::string y = svgNumber(axis_.pixelOf(mark));
            svg_ += fmt::format(
                "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/><text class=\"muted end\" x=\"{}\" "
                "y=\"{}\">{}</text>\n",
                plotLeft, plotRight, y, y, plotLeft - 8, svgNumber(axis_.pixelOf(mark) + 4),
                axis_.label(mark, stepMarks));
        }
        svg_ += fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", plotLeft, plotRight,
                            plotBottom, plotBottom);
        const size_t every = roundStep(longest_);
        for (size_t number = every; number <= longest_; number += every)
            svg_ += fmt::format("<text class=\"muted middle\" x=\"{}\" y=\"{}\">{}</text>", svgNumber(xOf(number - 1)),
                                plotBottom + 17, number);
        svg_ += fmt::format("<text class=\"muted middle\" x=\"{}\" y=\"{}\">compared step</text>\n",
                            (plotLeft + plotRight) / 2, plotBottom + 36);
    }

    void paintSpread(size_t index) {
        const StepBars::Run& run = runs_[index];
        if (run.bars.empty()) return;
        const double top = std::max(plotTop, axis_.pixelOf(run.steps.thirdQuartileNs));
        const double bottom = std::max(top, std::min(plotBottom, axis_.pixelOf(run.steps.firstQuartileNs)));
        svg_ += fmt::format(
            "<rect class=\"spread {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/><path class=\"line {}\" d=\"M{} "
            "{}H{}\"/>\n",
            colorOf(index), plotLeft, svgNumber(top), plotRight - plotLeft, svgNumber(bottom - top), colorOf(index),
            plotLeft, svgNumber(pixelWithin(run.steps.medianNs)), plotRight);
    }

    void paintDots(size_t index) {
        const StepBars::Run& run = runs_[index];
        const std::string_view radius = longest_ <= 60 ? "4" : longest_ <= 400 ? "3" : "2";
        for (size_t step = 0; step < run.wallNs.size(); ++step) {
            const int64_t ns = run.wallNs[step];
            const std::string title = fmt::format("<title>{} {}: {}</title>", markupEscaped(labels_[index].text),
                                                  markupEscaped(run.names[step]), formatDuration(ns));
            if (isBeyond(ns)) {
                paintBeyond(index, xOf(step), ns, title);
                continue;
            }
            svg_ += fmt::format("<circle class=\"dot {}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>\n", colorOf(index),
                                svgNumber(xOf(step)), svgNumber(axis_.pixelOf(static_cast<double>(ns))), radius, title);
        }
    }

    void paintBeyond(size_t index, double x, int64_t ns, const std::string& title) {
        const bool isAtEdge = x > plotRight - 70;
        svg_ += fmt::format(
            "<path class=\"dot {}\" d=\"M{} {}l6 10h-12z\">{}</path><text class=\"muted{}\" x=\"{}\" "
            "y=\"{}\">{}</text>\n",
            colorOf(index), svgNumber(x), plotTop - 12, title, isAtEdge ? " end" : "",
            svgNumber(isAtEdge ? x - 9 : x + 9), plotTop - 3, formatDuration(ns));
    }

    /// Paints a band from the shortest to the longest of each bar, and a line along their medians.
    void paintBins(size_t index) {
        std::string top, bottom, middle;
        for (const StepBars::Bar& bar : runs_[index].bars) {
            const std::string x = svgNumber(xOf(bar.first + bar.count / 2));
            const auto point = [&](int64_t ns) {
                return fmt::format("{} {}", x, svgNumber(pixelWithin(static_cast<double>(ns))));
            };
            top += (top.empty() ? "M" : "L") + point(bar.longestNs);
            bottom.insert(0, "L" + point(bar.shortestNs));
            middle += (middle.empty() ? "M" : "L") + point(bar.medianNs);
        }
        svg_ += fmt::format("<path class=\"range {}\" d=\"{}{}z\"/><path class=\"line {}\" d=\"{}\"/>\n",
                            colorOf(index), top, bottom, colorOf(index), middle);
    }

    double pixelWithin(double ns) const { return std::clamp(axis_.pixelOf(ns), plotTop, plotBottom); }

    /// Paints the names of the lines, next to their ends and without overlaps.
    void paintLabels() {
        std::vector<size_t> order;
        for (size_t run = 0; run < runs_.size(); ++run)
            if (!runs_[run].wallNs.empty()) order.push_back(run);
        std::ranges::stable_sort(order, std::ranges::greater(),
                                 [this](size_t each) { return runs_[each].steps.medianNs; });
        double next = plotTop;
        double lowest = plotBottom - static_cast<double>(order.size()) * labelHeight;
        for (const size_t run : order) {
            // High enough for the rest to fit above the bottom.
            const double y = std::max(next, std::min(pixelWithin(runs_[run].steps.medianNs) - 6, lowest));
            next = y + labelHeight;
            lowest += labelHeight;
            svg_ += fmt::format(
                "<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text><text class=\"muted\" x=\"{}\" y=\"{}\">median "
                "{}</text>\n",
                colorOf(run), plotRight + 12, svgNumber(y + 8), markupEscaped(labels_[run].text), plotRight + 12,
                svgNumber(y + 22), timeText(runs_[run].steps.medianNs));
        }
    }

    const std::vector<StepBars::Run>& runs_;
    const std::vector<StepLabel>& labels_;
    ChartAxis axis_;
    bool isBinned_;
    size_t longest_;
    std::string svg_;
};

constexpr double waterfallWidth = 1060, waterfallLeft = 210, waterfallRight = 950;
constexpr double waterfallRowHeight = 30, waterfallBarHeight = 18, axisHeight = 26;
constexpr int waterfallMarks = 6;
/// Share of the maximum sum; smaller differences would be slivers on an axis from 0.
constexpr double minShareForZero = 0.2;

ChartAxis axisFor(const WaterfallBars& waterfall) {
    const auto low = static_cast<double>(waterfall.lowestNs());
    const auto high = static_cast<double>(waterfall.highestNs());
    const double span = high - low;
    const bool isVisible = span == 0 || span >= minShareForZero * high;
    return {isVisible ? std::min(0.0, low) : low - 0.35 * span, high + 0.04 * span, waterfallLeft, waterfallRight};
}

class WaterfallPainter {
  public:
    WaterfallPainter(const WaterfallBars& waterfall, const WaterfallTitles& titles)
        : waterfall_(waterfall), titles_(titles), axis_(axisFor(waterfall)) {}

    std::string paint() {
        const double bottom = waterfallRowHeight * static_cast<double>(waterfall_.bars.size() + 2);
        begin(bottom);
        paintTotal(titles_.startLabel, waterfall_.baselineNs, "run0");
        for (const WaterfallBars::Bar& bar : waterfall_.bars) paintBar(bar);
        paintTotal(titles_.endLabel, waterfall_.candidateNs, runColorClass(titles_.endColor));
        return svg_ + "</svg>\n";
    }

  private:
    void begin(double bottom) {
        svg_ = fmt::format(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}\">\n<title id=\"{}\">{}</title>\n",
            waterfallWidth, bottom + axisHeight, titles_.id, titles_.id, markupEscaped(titles_.title));
        for (const double mark : axis_.marks(waterfallMarks)) {
            const std::string x = svgNumber(axis_.pixelOf(mark));
            svg_ += fmt::format(
                "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"0\" y2=\"{}\"/><text class=\"muted middle\" x=\"{}\" "
                "y=\"{}\">{}</text>\n",
                x, x, bottom, x, bottom + 18, axis_.label(mark, waterfallMarks));
        }
    }

    void paintLabel(std::string_view label, std::string_view kind) {
        svg_ += fmt::format("<text class=\"end {}\" x=\"{}\" y=\"{}\">{}</text>", kind, waterfallLeft - 12, y_ + 20,
                            markupEscaped(label));
    }

    void paintRectangle(double fromNs, double toNs, std::string_view kind) {
        const double left = axis_.pixelOf(std::min(fromNs, toNs));
        const double width = std::max(1.5, axis_.pixelOf(std::max(fromNs, toNs)) - left);
        svg_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/>", kind,
                            svgNumber(left), y_ + 6, svgNumber(width), waterfallBarHeight);
    }

    void paintTotal(std::string_view label, int64_t ns, std::string_view kind) {
        paintLabel(label, "strong");
        paintRectangle(axis_.fromNs(), static_cast<double>(ns), kind);
        // Two slanted breaks show that the bar is longer than drawn.
        if (axis_.fromNs() > 0)
            for (const double x : {waterfallLeft + 14, waterfallLeft + 21})
                svg_ +=
                    fmt::format("<path class=\"break\" d=\"M{} {}l-6 {}\"/>", x + 3, y_ + 4, waterfallBarHeight + 4);
        svg_ += fmt::format("<text class=\"strong\" x=\"{}\" y=\"{}\">{}</text>\n",
                            svgNumber(axis_.pixelOf(static_cast<double>(ns)) + 8), y_ + 20, waterfall_.scale.text(ns));
        y_ += waterfallRowHeight;
    }

    void paintBar(const WaterfallBars::Bar& bar) {
        const auto from = static_cast<double>(bar.fromNs), to = static_cast<double>(bar.toNs);
        const std::string_view kind = bar.lostNs() > 0 ? "lost" : "saved";
        const std::string join = svgNumber(axis_.pixelOf(from));
        svg_ += fmt::format("<line class=\"join\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", join, join,
                            y_ - waterfallRowHeight + 6 + waterfallBarHeight, y_ + 6);
        paintLabel(bar.label, "");
        paintRectangle(from, to, kind);
        svg_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", kind,
                            svgNumber(axis_.pixelOf(std::max(from, to)) + 8), y_ + 20,
                            waterfall_.scale.differenceText(bar.lostNs()));
        y_ += waterfallRowHeight;
    }

    const WaterfallBars& waterfall_;
    const WaterfallTitles& titles_;
    ChartAxis axis_;
    double y_ = 0;
    std::string svg_;
};

}  // namespace

std::string compositionChart(const std::vector<StepComposition>& runs, const DurationScale& scale) {
    int64_t longest = 1;
    for (const StepComposition& run : runs) longest = std::max(longest, run.parts.sum());
    const ChartAxis axis(0, static_cast<double>(longest), compositionLeft, compositionRight);
    const std::vector<StepPart> parts = visibleParts(runs);
    const double legendTop = compositionRowHeight * static_cast<double>(runs.size()) + 6;
    const size_t legendRows = (parts.size() + legendColumns - 1) / legendColumns;
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"composition\">\n<title id=\"composition\">What the "
        "mean step of every run is made of</title>\n",
        compositionWidth, legendTop + legendRowHeight * static_cast<double>(legendRows));
    double y = 0;
    for (const StepComposition& run : runs) {
        svg += barOf(run, axis, scale, y);
        y += compositionRowHeight;
    }
    return svg + legendOf(parts, legendTop) + "</svg>\n";
}

std::string stepChart(const StepBars& steps, const std::vector<StepLabel>& labels) {
    return StepPainter(steps, labels).paint();
}

std::string waterfallChart(const WaterfallBars& waterfall, const WaterfallTitles& titles) {
    return WaterfallPainter(waterfall, titles).paint();
}

}  // namespace lanescope::report
