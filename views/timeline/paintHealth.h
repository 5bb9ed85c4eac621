// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QRectF>
#include <QSize>

#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope::views {

/// Marks where processes ended that did not end by themselves, on the rows of the process.
void paintEnds(QPainter& painter, const TimelineState& state, const TimelineState::Band& band,
               QSize size);
/// Marks the same moments, and what was lost, on the ruler.
void paintHealthOnRuler(QPainter& painter, const TimelineState& state, QSize size);
/// The end that stands within some pixels of `x` on a row of this track, or null.
const HealthPlace* endAt(const TimelineState& state, uint32_t track, double x, double width);

}  // namespace lanescope::views

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
