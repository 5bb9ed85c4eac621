// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <QSize>
#include <QString>
#include <vector>

#include "model/trace/Trace.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

/// The reason of an arrow between two events.
enum class FlowKind : uint8_t {
    Launch,    ///< The call started the work.
    Wait,      ///< Work of another stream had to wait, for an event.
    Backward,  ///< The operator is the backward of the other.
    Rank,      ///< The work of other ranks had to wait for this one to begin.
};

/// An end of an arrow. Heights are pixels from the top of all rows.
struct FlowEnd {
    EventRef event;
    int64_t timeNs = 0;
    double y = 0;
    uint32_t track = noIndex;  ///< The event's track, even if drawn on another row.
    bool isHidden = false;     ///< On no row; `y` is invalid.
};

struct FlowArrow {
    FlowKind kind = FlowKind::Launch;
    FlowEnd from, to;
    EventRef far;  ///< The other one of the two events.
    /// The possible error between the times of both ends if their clocks were synchronized; else 0.
    int64_t errorNs = 0;
    size_t others = 0;  ///< Arrows of this kind that are counted instead of drawn.
};

/// Returns the arrows of an event:
/// - a call to its work;
/// - GPU work from its call, from the work of another stream that it waited for last, unless that ended before the
/// call,
///   and to the first work that waited for it;
/// - an operator and its backward;
/// - the last rank of a collective to the event, at the end of its wait; from the last rank to the one that waited
/// longest. Ends in folded tracks are at the group that contains them. At most some tens: a graph launch may start
/// thousands.
std::vector<FlowArrow> flowArrows(const Trace& trace, const TrackLayout& layout, EventRef event);

/// The arrows of the selected event over the canvas. An arrow with an invisible end points to the
/// edge of the canvas, where a label describes the other end; a click on the label goes there.
/// Caches the arrows between repaints, as hovering repaints often.
class FlowOverlay {
  public:
    explicit FlowOverlay(const TimelineState& state) : state_(state) {}

    /// Clears the cache. Call after any change of trace, selection, layout or view.
    void forget() { isKnown_ = false; }
    void paint(QPainter& painter, QSize size, const QFont& font);
    /// Returns the event of the label under `position`, or invalid.
    EventRef eventAt(QPointF position, QSize size, const QFont& font);
    struct Label {
        QRectF area;
        QString text;
        EventRef event;  ///< Invalid for a label that only counts.
        FlowKind kind = FlowKind::Launch;
        size_t others = 0;  ///< Ends in the same direction without a label.
    };
    const std::vector<Label>& labels(QSize size, const QFont& font);

  private:
    struct Line {
        FlowKind kind;
        QPointF from, to;
        bool hasHead, hasFoot;  ///< True for an end at the event, false for one at the edge.
        /// The directions of both ends, of length 1; along the time between events.
        QPointF leaving{1, 0}, arriving{1, 0};
        double error = 0;  ///< The possible error in pixels, either way.
    };
    static void join(Line& line, const QRectF& label, bool isEffectInSight, double distance);
    void update(QSize size, const QFont& font);
    void addLine(const FlowArrow& arrow, QSize size, const QFont& font);
    void addLabel(Line& line, const FlowArrow& arrow, bool seesFrom, const QFont& font);
    void countOthers(const FlowArrow& arrow, QPointF at, const QFont& font);
    QString labelText(const FlowEnd& there, const FlowEnd& here, double x, double y, QSize size) const;
    QRectF place(QSizeF label, QPointF at, QSize size, QPointF spared) const;

    const TimelineState& state_;
    bool isKnown_ = false;
    QSize size_;
    std::vector<Line> lines_;
    std::vector<Label> labels_;
};

}  // namespace lanescope::views
