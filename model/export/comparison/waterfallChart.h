// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/WaterfallBars.h"

namespace lanescope::report {

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
