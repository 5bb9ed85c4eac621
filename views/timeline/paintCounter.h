// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <vector>

#include "model/trace/CounterSeries.h"
#include "views/theme/Theme.h"
#include "views/timeline/OpaqueFill.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

/// The direction in which a graph grows.
enum class CounterGrowth { Up, Down };

/// Paints a counter as a filled step graph into `area`, over `scale`, whose maximum (and minimum, unless 0) is written
/// at the left. `columns` are its values per device pixel of `shown`; `devicePixelRatio` of them make one logical
/// pixel. Unknown values are a hatched area; a sample that is a mean over a long time is a pale hatched band with a
/// label. Rectangles are filled by `opaque`, which belongs to `painter`.
void paintCounter(QPainter& painter, OpaqueFill& opaque, const CounterSeries& counter, const CounterScale& scale,
                  const std::vector<CounterColumn>& columns, TimeRange shown, const QRectF& area, CounterGrowth growth,
                  double devicePixelRatio, const Theme& theme);

/// Returns the y of a value within `area`: the bottom for the minimum of the counter, just below
/// the other side for the maximum.
double counterY(const CounterScale& scale, double value, const QRectF& area, CounterGrowth growth = CounterGrowth::Up);

}  // namespace lanescope::views
