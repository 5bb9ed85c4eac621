// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QRectF>
#include <QSize>

#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope::views {

/// Hatches the rows of `band` where nothing was recorded that could stand there, and where
/// something was lost, in a canvas of `size`.
void paintUnrecorded(QPainter& painter, const TimelineState& state, const TimelineState::Band& band,
                     QSize size);

/// Hatches the stretches of one track between two heights, over a time axis of any kind.
void paintUnrecorded(QPainter& painter, const Track& track, const Theme& theme,
                     const TimeScale& scale, double top, double height);

/// Fills `area` with `fill` and lines of 45 degrees, which go on from one area to the next.
void paintHatched(QPainter& painter, const QRectF& area, const QColor& fill, const QColor& line);

/// The same in the colours of what was not recorded.
void paintUnknown(QPainter& painter, const QRectF& area, const Theme& theme);

}  // namespace lanescope::views
