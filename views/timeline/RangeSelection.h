// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <QSize>
#include <optional>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Pixels beside an edge that still count as on it.
constexpr int edgeTolerance = 5;

/// Marks a range of time while the mouse is dragged along an axis. Where an edge of a slice is
/// near, the range ends there.
class RangeDrag {
  public:
    explicit RangeDrag(TimelineState& state) : state_(state) {}
    /// Begins a range at `timeNs`.
    void begin(int64_t timeNs) { anchorNs_ = timeNs; }
    /// Takes hold of the edge of the selected range that is at most `toleranceNs` away; false if
    /// there is none.
    bool beginAtEdge(int64_t timeNs, int64_t toleranceNs);
    void moveTo(int64_t timeNs);

  private:
    TimelineState& state_;
    int64_t anchorNs_ = 0;
};

/// Whether an edge of the selected range is at most `toleranceNs` away.
bool isAtEdge(const TimelineState& state, int64_t timeNs, int64_t toleranceNs);

/// The nearest edge of a slice that is at most `toleranceNs` away: of `lane` if that is given and
/// has one so near, else of all lanes on the screen; `timeNs` where there is none.
/// O(lanes on the screen * log n).
int64_t snapped(const TimelineState& state, int64_t timeNs, int64_t toleranceNs,
                std::optional<LanePosition> lane = {});

}  // namespace lanescope::views

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
