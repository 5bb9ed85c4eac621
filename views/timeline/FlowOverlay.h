// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSize>
#include <QString>
#include <vector>

#include "model/trace/Trace.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

/// Why an arrow leads from one event to another.
enum class FlowKind : uint8_t {
    Launch,    ///< The call started the work.
    Wait,      ///< The work of another stream had to wait, for an event.
    Backward,  ///< The operator is the backward of the other.
    Rank,      ///< The work of other ranks had to wait for this one to begin.
};

/// Where an arrow begins or ends. Heights are pixels from the top of all rows.
struct FlowEnd {
    EventRef event;
    int64_t timeNs = 0;
    double y = 0;
    uint32_t track = noIndex;  ///< Of the event, even if another row stands for it.
    bool isHidden = false;     ///< Stands on no row; `y` means nothing.
};

struct FlowArrow {
    FlowKind kind = FlowKind::Launch;
    FlowEnd from, to;
    EventRef far;  ///< Whichever of the two is not the event one asked for.
    /// By how much the times of its ends may be wrong against each other, where they are of clocks
    /// that were brought together.
    int64_t errorNs = 0;
};

/// The arrows of a call to its work, those of a piece of GPU work from its call and to and from the
/// work of other streams that had to wait, those between an operator and its backward, and those
/// from the rank that came last to a collective to others, at the moment when their waiting ended.
/// Ends in folded tracks stand at the group that hides them. At most some tens: a graph launch may
/// start thousands.
std::vector<FlowArrow> flowArrows(const Trace& trace, const TrackLayout& layout, EventRef event);

}  // namespace lanescope::views

class QPainter;

namespace lanescope::views {

/// The arrows of the selected event over the canvas. One whose other end cannot be seen points to
/// the edge of the canvas, where a label says what lies there; a click on it goes there. Keeps the
/// arrows from one repaint to the next, as hovering repaints often.
class FlowOverlay {
  public:
    explicit FlowOverlay(const TimelineState& state) : state_(state) {}

    /// To be called when anything changed: the trace, the selection, the layout, the view.
    void forget() { isKnown_ = false; }
    void paint(QPainter& painter, QSize size, const QFont& font);
    /// The event that the label under `position` speaks of, or invalid.
    EventRef eventAt(QPointF position, QSize size, const QFont& font);
    struct Label {
        QRectF area;
        QString text;
        EventRef event;
    };
    const std::vector<Label>& labels(QSize size, const QFont& font);

  private:
    struct Line {
        FlowKind kind;
        QPointF from, to;
        bool hasHead, hasFoot;  ///< Whether it ends at the event or at the edge.
        /// Which way it leaves and arrives, of length 1; along the time between events.
        QPointF leaving{1, 0}, arriving{1, 0};
        double error = 0;  ///< By how many pixels it may be wrong, either way.
    };
    static void join(Line& line, const QRectF& label, bool isEffectInSight, double apart);
    void update(QSize size, const QFont& font);
    void addLine(const FlowArrow& arrow, QSize size, const QFont& font);
    QString labelText(const FlowEnd& there, const FlowEnd& here, double x, double y,
                      QSize size) const;
    QRectF place(QSizeF label, QPointF at, QSize size, QPointF spared) const;

    const TimelineState& state_;
    bool isKnown_ = false;
    QSize size_;
    std::vector<Line> lines_;
    std::vector<Label> labels_;
    size_t unlabelled_ = 0;
};

}  // namespace lanescope::views
