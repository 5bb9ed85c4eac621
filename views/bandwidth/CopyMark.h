// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <vector>

#include "views/bandwidth/BandwidthAnswer.h"

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
