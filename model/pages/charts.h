// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/compare/chartBars.h"
#include "model/text/formatValue.h"

namespace lanescope::report {

/// A straight axis of time on a chart: where a time lies, and where its marks are.
class ChartAxis {
  public:
    /// From `fromNs` to `toNs`, which are widened to an axis that is not empty, on the chart from
    /// `fromPixel` to `toPixel`.
    ChartAxis(double fromNs, double toNs, double fromPixel, double toPixel);

    double pixelOf(double ns) const;
    double fromNs() const { return fromNs_; }
    double toNs() const { return toNs_; }
    /// Round times on the axis, about `count` of them.
    std::vector<double> marks(int count) const;
    /// "62.5 ms": with as many decimals as tell two marks apart.
    std::string label(double ns, int count) const;

  private:
    double stepNs(int count) const;

    double fromNs_, toNs_, fromPixel_, toPixel_;
};

/// Class of the style sheet with the colour of a run: 0 the baseline, then the candidates, of which
/// the seventh looks like the first again.
std::string runColorClass(int run);

/// A number in an attribute of an SVG element: at most two decimals, always finite.
std::string svgNumber(double value);

/// What the mean step of one run is made of.
struct StepComposition {
    std::string label;
    analysis::StepParts parts;
};

/// One bar for each run, all on one axis from 0, split into the parts of the step in the colours of
/// the legend below them, with times in `scale`. An SVG element; texts are escaped.
std::string compositionChart(const std::vector<StepComposition>& runs, const DurationScale& scale);

/// How a run of a chart is called and coloured.
struct StepLabel {
    std::string text;
    int color = 0;  ///< Number of the run: 0 the baseline, 1 the first candidate.
};

/// Steps of several runs over their order, as an SVG element: a dot for each step, a line for the
/// median and a band between the quartiles. Where several steps are put together it is a band from
/// the shortest to the longest, with a line along their medians. Steps far longer than the rest
/// stand at the upper edge, as a triangle with its time. As many labels as runs. Texts are escaped.
std::string stepChart(const compare::StepBars& steps, const std::vector<StepLabel>& labels);

/// How a waterfall is titled.
struct WaterfallTitles {
    std::string id;     ///< Of the picture on its page; letters and digits.
    std::string title;  ///< For those who do not see it.
    std::string startLabel, endLabel;
    int endColor =
        1;  ///< Number of the run whose colour the last bar has; the first has that of run 0.
};

/// The picture as an SVG element. Its axis begins at 0 unless the differences would be too small to
/// see; then the full bars are broken and the axis says where it begins. Texts are escaped.
std::string waterfallChart(const compare::WaterfallBars& waterfall, const WaterfallTitles& titles);

}  // namespace lanescope::report
