// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/stepChart.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/compare/shownNumbers.h"
#include "model/export/comparison/ChartAxis.h"
#include "model/values/formatValue.h"
#include "model/values/markupText.h"

namespace lanescope::report {

using namespace compare;

namespace {

constexpr double chartWidth = 1060, plotLeft = 78, plotRight = 880;
constexpr double plotTop = 18, plotBottom = 286, chartHeight = 326;
constexpr int marks = 6;
constexpr size_t mostNumbers = 16;  ///< Below the axis.
constexpr double labelHeight = 32;

/// From a little under the shortest to a little over the longest; without steps that would press
/// all others together.
ChartAxis axisFor(const std::vector<StepBars::Run>& runs) {
    std::vector<int64_t> all;
    for (const StepBars::Run& run : runs)
        all.insert(all.end(), run.wallNs.begin(), run.wallNs.end());
    if (all.empty()) return {0, 1, plotBottom, plotTop};
    std::sort(all.begin(), all.end());
    const auto low = static_cast<double>(all.front());
    double high = static_cast<double>(all.back());
    const auto usual = static_cast<double>(all[(all.size() - 1) * 95 / 100]);
    if (high - low > 4 * (usual - low) && high > 1.5 * usual) high = usual + 0.25 * (usual - low);
    const double margin = std::max(0.08 * (high - low), 0.01 * high);
    return {std::max(0.0, low - margin), high + margin, plotBottom, plotTop};
}

/// 1, 2, 5, 10 ...: how many steps from one number below the axis to the next.
size_t roundStep(size_t steps) {
    for (size_t power = 1;; power *= 10)
        for (const size_t factor : {1, 2, 5})
            if (steps / (factor * power) <= mostNumbers) return factor * power;
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
        const double share =
            (static_cast<double>(index) + 0.5) / static_cast<double>(std::max<size_t>(longest_, 1));
        return plotLeft + share * (plotRight - plotLeft);
    }
    bool isBeyond(int64_t ns) const { return static_cast<double>(ns) > axis_.toNs(); }

    void begin() {
        svg_ = fmt::format(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"step-times\">\n"
            "<title id=\"step-times\">Time of every step, run by run</title>\n",
            chartWidth, chartHeight);
        for (const double mark : axis_.marks(marks)) {
            const std::string y = svgNumber(axis_.pixelOf(mark));
            svg_ += fmt::format(
                "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>"
                "<text class=\"muted end\" x=\"{}\" y=\"{}\">{}</text>\n",
                plotLeft, plotRight, y, y, plotLeft - 8, svgNumber(axis_.pixelOf(mark) + 4),
                axis_.label(mark, marks));
        }
        svg_ += fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n",
                            plotLeft, plotRight, plotBottom, plotBottom);
        const size_t every = roundStep(longest_);
        for (size_t number = every; number <= longest_; number += every)
            svg_ += fmt::format("<text class=\"muted middle\" x=\"{}\" y=\"{}\">{}</text>",
                                svgNumber(xOf(number - 1)), plotBottom + 17, number);
        svg_ += fmt::format("<text class=\"muted middle\" x=\"{}\" y=\"{}\">compared step</text>\n",
                            (plotLeft + plotRight) / 2, plotBottom + 36);
    }

    void paintSpread(size_t index) {
        const StepBars::Run& run = runs_[index];
        if (run.bars.empty()) return;
        const double top = std::max(plotTop, axis_.pixelOf(run.steps.thirdQuartileNs));
        const double bottom =
            std::max(top, std::min(plotBottom, axis_.pixelOf(run.steps.firstQuartileNs)));
        svg_ += fmt::format(
            "<rect class=\"spread {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>"
            "<path class=\"line {}\" d=\"M{} {}H{}\"/>\n",
            colorOf(index), plotLeft, svgNumber(top), plotRight - plotLeft, svgNumber(bottom - top),
            colorOf(index), plotLeft, svgNumber(pixelWithin(run.steps.medianNs)), plotRight);
    }

    void paintDots(size_t index) {
        const StepBars::Run& run = runs_[index];
        const std::string_view radius = longest_ <= 60 ? "4" : longest_ <= 400 ? "3" : "2";
        for (size_t step = 0; step < run.wallNs.size(); ++step) {
            const int64_t ns = run.wallNs[step];
            const std::string title =
                fmt::format("<title>{} {}: {}</title>", markupEscaped(labels_[index].text),
                            markupEscaped(run.names[step]), formatDuration(ns));
            if (isBeyond(ns)) {
                paintBeyond(index, xOf(step), ns, title);
                continue;
            }
            svg_ +=
                fmt::format("<circle class=\"dot {}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>\n",
                            colorOf(index), svgNumber(xOf(step)),
                            svgNumber(axis_.pixelOf(static_cast<double>(ns))), radius, title);
        }
    }

    void paintBeyond(size_t index, double x, int64_t ns, const std::string& title) {
        const bool isAtEdge = x > plotRight - 70;
        svg_ += fmt::format(
            "<path class=\"dot {}\" d=\"M{} {}l6 10h-12z\">{}</path>"
            "<text class=\"muted{}\" x=\"{}\" y=\"{}\">{}</text>\n",
            colorOf(index), svgNumber(x), plotTop - 12, title, isAtEdge ? " end" : "",
            svgNumber(isAtEdge ? x - 9 : x + 9), plotTop - 3, formatDuration(ns));
    }

    /// A band from the shortest to the longest of each bar, and a line along their medians.
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
        svg_ += fmt::format(
            "<path class=\"range {}\" d=\"{}{}z\"/><path class=\"line {}\" d=\"{}\"/>\n",
            colorOf(index), top, bottom, colorOf(index), middle);
    }

    double pixelWithin(double ns) const {
        return std::clamp(axis_.pixelOf(ns), plotTop, plotBottom);
    }

    /// What the lines are, beside their ends and apart from each other.
    void paintLabels() {
        std::vector<size_t> order;
        for (size_t run = 0; run < runs_.size(); ++run)
            if (!runs_[run].wallNs.empty()) order.push_back(run);
        std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
            return runs_[a].steps.medianNs > runs_[b].steps.medianNs;
        });
        double next = plotTop;
        double lowest = plotBottom - static_cast<double>(order.size()) * labelHeight;
        for (const size_t run : order) {
            // No lower than where the rest still fits above the bottom.
            const double y =
                std::max(next, std::min(pixelWithin(runs_[run].steps.medianNs) - 6, lowest));
            next = y + labelHeight;
            lowest += labelHeight;
            svg_ += fmt::format(
                "<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>"
                "<text class=\"muted\" x=\"{}\" y=\"{}\">median {}</text>\n",
                colorOf(run), plotRight + 12, svgNumber(y + 8), markupEscaped(labels_[run].text),
                plotRight + 12, svgNumber(y + 22), timeText(runs_[run].steps.medianNs));
        }
    }

    const std::vector<StepBars::Run>& runs_;
    const std::vector<StepLabel>& labels_;
    ChartAxis axis_;
    bool isBinned_;
    size_t longest_;
    std::string svg_;
};

}  // namespace

std::string stepChart(const StepBars& steps, const std::vector<StepLabel>& labels) {
    return StepPainter(steps, labels).paint();
}

}  // namespace lanescope::report
