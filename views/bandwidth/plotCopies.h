// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <vector>

#include "views/bandwidth/CopyMark.h"
#include "views/theme/Theme.h"

class QCustomPlot;

namespace lanescope::views {

/// How large points are, in pixels.
inline constexpr double copyPointSize = 7;

/// Axes, marks, legend and peaks of a chart of copies into a plot that is styled and empty. There
/// must be marks, and they must be those of the answer.
void plotCopies(QCustomPlot& plot, const BandwidthAnswer& answer,
                const std::vector<CopyMark>& marks, const Theme& theme, const QFont& font);

}  // namespace lanescope::views
