// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QString>
#include <vector>

#include "model/bandwidth/linkPeaks.h"
#include "views/bandwidth/BandwidthAnswer.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// A point of a chart of copies, or a piece of a bar: all copies of one group in one place.
struct CopyMark {
    double x = 0, low = 0, high = 0;  ///< In the units of the axes; points have `low == high`.
    double width = 0;                 ///< Of a bar, and of a copy that takes long.
    CopyPoint largest;
    int64_t count = 0;
    int64_t bytes = 0;
};

/// The marks of the chart that was asked for, from left to right. O(cells log cells).
std::vector<CopyMark> copyMarks(const BandwidthAnswer& answer);

/// The groups in which `CopyPoint::group` of the marks counts.
const std::vector<CopyGroup>& groupsOf(const BandwidthAnswer& answer);

/// What stands in the place of a mark, in one sentence.
QString markText(const BandwidthAnswer& answer, const CopyMark& mark);

}  // namespace lanescope::views

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

class QCustomPlot;

namespace lanescope::views {

/// How large points are, in pixels.
inline constexpr double copyPointSize = 7;

/// Axes, marks, legend and peaks of a chart of copies into a plot that is styled and empty. There
/// must be marks, and they must be those of the answer.
void plotCopies(QCustomPlot& plot, const BandwidthAnswer& answer,
                const std::vector<CopyMark>& marks, const Theme& theme, const QFont& font);

}  // namespace lanescope::views
