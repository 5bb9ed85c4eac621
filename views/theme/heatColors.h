// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QRect>

#include "views/theme/Theme.h"

class QPainter;

namespace lanescope::views {

/// The colour of a cell of a map of ranks and steps: from faint, which is never as nothing, to
/// `strong`; `share` in [0, 1].
QColor heatColor(const Theme& theme, const QColor& strong, double share);

/// What the colours of a map mean, as a bar from `low` by `middle`, if that is valid, to `high`.
void paintHeatBar(QPainter& painter, const QRect& bar, const QColor& low, const QColor& middle,
                  const QColor& high);

}  // namespace lanescope::views
