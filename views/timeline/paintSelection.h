// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <QSize>
#include <optional>

#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope::views {

/// Where a slice stands in a canvas of `width` pixels at the state's scroll position, at least 2
/// pixels wide; nothing if its track is hidden or it lies outside the visible range.
std::optional<QRectF> sliceRectangle(const TimelineState& state, LanePosition lane, uint32_t slice,
                                     double width);

/// The selected range with its measured duration, and the outline of the selected event.
void paintSelection(QPainter& painter, const TimelineState& state, QSize size);

/// Only the outline of the selected event.
void paintSelectedEvent(QPainter& painter, const TimelineState& state, QSize size);

/// The selected range alone: fill and edges, from `top` to `bottom`. For ruler and overview too.
void paintSelectedRange(QPainter& painter, const TimelineState& state, const TimeScale& scale,
                        double top, double bottom);

}  // namespace lanescope::views
