// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/compare/ComparisonView.h"
#include "model/text/formatValue.h"

namespace lanescope::report {

/// A linear axis of time on a chart, with its marks.
class ChartAxis {
  public:
    /// From `fromNs` to `toNs`, widened to a non-empty axis, on the chart from `fromPixel` to `toPixel`.
    ChartAxis(double fromNs, double toNs, double fromPixel, double toPixel);

    double pixelOf(double ns) const;
    double fromNs() const { return fromNs_; }
    double toNs() const { return toNs_; }
    /// Returns about `count` round times on the axis.
    std::vector<double> marks(int count) const;
    /// Returns "62.5 ms", with enough decimals to distinguish two marks.
    std::string label(double ns, int count) const;

  private:
    double stepNs(int count) const;

    double fromNs_, toNs_, fromPixel_, toPixel_;
};

/// Composition of the mean step of one run.
struct StepComposition {
    std::string label;
    analysis::StepParts parts;
};

/// Returns one bar per run, all on one axis from 0, split into the parts of the step in the colours
/// of the legend below them, with times in `scale`. An SVG element; texts are escaped.
std::string compositionChart(const std::vector<StepComposition>& runs, const DurationScale& scale);

/// Name and colour of a run in a chart.
struct StepLabel {
    std::string text;
    int color = 0;  ///< Number of the run: 0 the baseline, 1 the first candidate.
};

/// Returns the steps of several runs in order, as an SVG element: a dot for each step, a line for the median and a band
/// between the quartiles. Grouped steps are a band from shortest to longest, with a line along their medians. Far
/// longer steps are triangles at the upper edge, with their time. As many labels as runs. Texts are escaped.
std::string stepChart(const compare::StepBars& steps, const std::vector<StepLabel>& labels);

struct WaterfallTitles {
    std::string id;     ///< Id of the picture on its page; letters and digits.
    std::string title;  ///< Text alternative.
    std::string startLabel, endLabel;
    int endColor = 1;  ///< Number of the run for the colour of the last bar; the first has that of run 0.
};

/// Returns the picture as an SVG element. Its axis begins at 0 unless the differences would be too
/// small to see; then the full bars are broken and the axis shows its start. Texts are escaped.
std::string waterfallChart(const compare::WaterfallBars& waterfall, const WaterfallTitles& titles);

}  // namespace lanescope::report
