// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QRectF>
#include <QSize>
#include <optional>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// A distance in pixels that still counts as on an edge.
constexpr int edgeTolerance = 5;

/// Selects a time range while the mouse is dragged along an axis. The range snaps to the edges of slices.
class RangeDrag {
  public:
    explicit RangeDrag(TimelineState& state) : state_(state) {}
    /// Begins a range at `timeNs`.
    void begin(int64_t timeNs) { anchorNs_ = timeNs; }
    /// Begins to drag the edge of the selected range that is at most `toleranceNs` away; returns
    /// false if there is none.
    bool beginAtEdge(int64_t timeNs, int64_t toleranceNs);
    void moveTo(int64_t timeNs);

  private:
    TimelineState& state_;
    int64_t anchorNs_ = 0;
};

/// Returns true if an edge of the selected range is at most `toleranceNs` away.
bool isAtEdge(const TimelineState& state, int64_t timeNs, int64_t toleranceNs);

/// Returns the nearest edge of a slice at most `toleranceNs` away: of `lane` if given and near,
/// else of all visible lanes; `timeNs` if there is none. O(visible lanes * log n).
int64_t snapped(const TimelineState& state, int64_t timeNs, int64_t toleranceNs, std::optional<LanePosition> lane = {});

/// Returns the rectangle of a slice in a canvas of `width` pixels at the state's scroll position,
/// at least 2 pixels wide; nullopt if its track is hidden or it is outside the visible range.
std::optional<QRectF> sliceRectangle(const TimelineState& state, LanePosition lane, uint32_t slice, double width);

/// Paints the selected range with its duration, and the outline of the selected event.
void paintSelection(QPainter& painter, const TimelineState& state, QSize size);

/// Paints only the outline of the selected event.
void paintSelectedEvent(QPainter& painter, const TimelineState& state, QSize size);

/// Paints only the selected range: fill and edges, from `top` to `bottom`. For ruler and overview too.
void paintSelectedRange(QPainter& painter, const TimelineState& state, const TimeScale& scale, double top,
                        double bottom);

}  // namespace lanescope::views
