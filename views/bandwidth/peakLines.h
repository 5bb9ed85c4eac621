// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <vector>

#include "model/bandwidth/linkPeaks.h"
#include "views/theme/Theme.h"

class QCPAxis;
class QCustomPlot;

namespace lanescope::views {

/// Dashed lines across a chart at the rates that the links of a trace can reach, with names. Peaks
/// whose names would lie upon each other share a name. `rates` is the axis of GB/s, whose range is
/// set already; the lines stand across it.
void addPeakLines(QCustomPlot& plot, QCPAxis& rates, const std::vector<CopyPeak>& peaks,
                  const Theme& theme, const QFont& font);

/// The axis of GB/s from below `least` to above `most` and the peaks.
void setUpRateAxis(QCPAxis& axis, double least, double most, bool isLogarithmic,
                   const std::vector<CopyPeak>& peaks);

}  // namespace lanescope::views
