// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSize>
#include <QString>
#include <vector>

#include "views/timeline/TimelineState.h"
#include "views/timeline/flowArrows.h"

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
