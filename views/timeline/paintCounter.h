#pragma once

#include <QRectF>
#include <vector>

#include "model/trace/CounterSeries.h"
#include "views/theme/Theme.h"

class QPainter;

namespace lanescope {

/// Paints a counter as a filled step graph into `area`, over its scale from 0 (or its least value,
/// if that is below) to its greatest, with the greatest value written at the left. `columns` are
/// what it was in each device pixel; `devicePixelRatio` of them make one logical pixel.
void paintCounter(QPainter& painter, const CounterSeries& counter,
                  const std::vector<CounterColumn>& columns, const QRectF& area,
                  double devicePixelRatio, const Theme& theme);

/// Where a value stands within `area`: its bottom for the least, just below its top for the
/// greatest value of the counter.
double counterY(const CounterSeries& counter, double value, const QRectF& area);

}  // namespace lanescope
