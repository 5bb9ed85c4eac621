// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <vector>

#include "model/trace/CounterSeries.h"
#include "views/theme/Theme.h"
#include "views/timeline/OpaqueFill.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

/// Which way a graph grows.
enum class CounterGrowth { Up, Down };

/// Paints a counter as a filled step graph into `area`, over `scale`, whose greatest value (and
/// least, unless it is 0) is written at the left. `columns` are what it was in each device pixel of
/// `shown`; `devicePixelRatio` of them make one logical pixel. Where its value is not known, the
/// area is hatched; where one reading is a mean over long, it is a pale hatched band that says so.
/// Rectangles go through `opaque`, which belongs to `painter`.
void paintCounter(QPainter& painter, OpaqueFill& opaque, const CounterSeries& counter,
                  const CounterScale& scale, const std::vector<CounterColumn>& columns,
                  TimeRange shown, const QRectF& area, CounterGrowth growth,
                  double devicePixelRatio, const Theme& theme);

/// Where a value stands within `area`: at its foot for the least, just short of the other side for
/// the greatest value of the counter.
double counterY(const CounterScale& scale, double value, const QRectF& area,
                CounterGrowth growth = CounterGrowth::Up);

}  // namespace lanescope::views
