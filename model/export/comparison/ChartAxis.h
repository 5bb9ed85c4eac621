// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/values/DurationScale.h"

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

}  // namespace lanescope::report
