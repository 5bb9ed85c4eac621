// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QRectF>
#include <QSize>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Marks abnormal ends of processes on their rows.
void paintEnds(QPainter& painter, const TimelineState& state, const TrackScroll::Band& band, QSize size);
/// Marks the same times, and losses, on the ruler.
void paintWarningsOnRuler(QPainter& painter, const TimelineState& state, QSize size);
/// Returns the end within some pixels of `x` on a row of this track, or null.
const WarningPlace* endAt(const TimelineState& state, uint32_t track, double x, double width);

/// Hatches unrecorded and lost times on the rows of `band`, in a canvas of `size`.
void paintUnrecorded(QPainter& painter, const TimelineState& state, const TrackScroll::Band& band, QSize size);

/// Hatches the unrecorded times of one track between two heights, over any time axis.
void paintUnrecorded(QPainter& painter, const Track& track, const Theme& theme, const TimeScale& scale, double top,
                     double height);

/// Fills and hatches `area` in the colours of unrecorded times.
void paintUnknown(QPainter& painter, const QRectF& area, const Theme& theme);

}  // namespace lanescope::views
