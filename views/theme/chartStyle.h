// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>

#include "views/theme/Theme.h"

class QCustomPlot;

namespace lanescope::views {

/// Axes, grid and background of a chart in the colours of the theme, with text in `font`.
void styleChart(QCustomPlot& plot, const Theme& theme, const QFont& font);

/// Shows whether the keyboard speaks to the chart.
void showFocus(QCustomPlot& plot, const Theme& theme, bool hasFocus);

/// Writes `sentence` in the middle of a chart that has nothing to show, and takes the axes away
/// until it is styled again.
void sayEmpty(QCustomPlot& plot, const Theme& theme, const QFont& font, const QString& sentence);

/// The unit in which a chart writes times up to `greatestNs`.
struct ChartUnit {
    double nsPerUnit = 1;
    const char* name = "ns";
};
ChartUnit chartUnit(double greatestNs);

}  // namespace lanescope::views
