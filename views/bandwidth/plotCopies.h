// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QString>
#include <set>
#include <vector>

#include "model/bandwidth/linkPeaks.h"
#include "views/bandwidth/BandwidthAnswer.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// A point of a chart of copies, or a piece of a bar: all copies of one group in one place.
struct CopyMark {
    double x = 0, low = 0, high = 0;  ///< In axis units; points have `low == high`.
    double width = 0;                 ///< Width of a bar or of a long copy.
    CopyPoint largest;
    int64_t count = 0;
    int64_t bytes = 0;
};

/// Returns the marks of the requested chart, from left to right. O(cells log cells).
std::vector<CopyMark> copyMarks(const BandwidthAnswer& answer);

/// Removes the marks of some groups; bars of the others are stacked again.
void removeGroups(std::vector<CopyMark>& marks, const BandwidthAnswer& answer, const std::set<CopyGroup>& hidden);

/// Returns the groups that `CopyPoint::group` of the marks indexes.
const std::vector<CopyGroup>& groupsOf(const BandwidthAnswer& answer);

/// Describes the copies of a mark in one sentence.
QString markText(const BandwidthAnswer& answer, const CopyMark& mark);

}  // namespace lanescope::views

class QCPAxis;
class QCustomPlot;

namespace lanescope::views {

/// Adds dashed, named lines at the peak rates of the links of a trace. Peaks with overlapping names
/// share a name. `rates` is the axis of GB/s with its range set; the lines cross it.
void addPeakLines(QCustomPlot& plot, QCPAxis& rates, const std::vector<CopyPeak>& peaks, const Theme& theme,
                  const QFont& font);

/// Sets up the axis of GB/s from below `minValue` to above `maxValue` and the peaks.
void setUpRateAxis(QCPAxis& axis, double minValue, double maxValue, bool isLogarithmic,
                   const std::vector<CopyPeak>& peaks);

}  // namespace lanescope::views

class QCustomPlot;

namespace lanescope::views {

/// The size of points in pixels.
inline constexpr double copyPointSize = 7;

/// Adds axes, marks, legend and peaks of a chart of copies to a styled, empty plot. Requires marks of the answer,
/// without the groups in `hidden`, which are faint in the legend. Returns the groups in the order of the legend.
std::vector<CopyGroup> plotCopies(QCustomPlot& plot, const BandwidthAnswer& answer, const std::vector<CopyMark>& marks,
                                  const std::set<CopyGroup>& hidden, const Theme& theme, const QFont& font);

}  // namespace lanescope::views
