// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/causality/StepReplay.h"
#include "views/theme/PaintedWidget.h"
#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The work and host code that determined the time of some steps, and their places. Immutable.
struct CriticalPath {
    struct Piece {
        TimeRange range;
        analysis::StepPart part = analysis::StepPart::OtherIdle;
        EventRef event;            ///< Invalid for host code and batches.
        uint32_t stack = noIndex;  ///< Frame of the line of host code, or `noIndex`.
        SliceLocation at;          ///< Without a track if unknown; without a slice for host code.
    };
    /// Locates the pieces of a replay. O(pieces * log n).
    CriticalPath(const Trace& trace, const causality::StepReplay& replay);

    double unexplained = 0;     ///< Share of the steps that the recorded causes do not explain.
    std::vector<Piece> pieces;  ///< By time, without overlaps.
};

/// Paints a line below the visible pieces of the selection's path, from row to row. O(width * log(pieces)).
void paintCriticalPath(QPainter& painter, const TimelineState& state, QSize size);

/// The critical path as a lane: pieces in the colours of a step's parts, and gaps for delays. A click selects the event
/// of a piece, or the time of host code. Hidden without a path. GUI thread.
class CriticalPathLane : public TippedWidget {
    Q_OBJECT
  public:
    explicit CriticalPathLane(TimelineState& state, QWidget* parent = nullptr);

    /// Sets the width left of the time axis, where the title is.
    void setLabelWidth(int width) { labelWidth_ = width; }
    static void paint(QPainter& painter, const TimelineState& state, QSize size, int labelWidth, const QFont& font);

  protected:
    std::optional<QString> toolTipAt(QPoint position) const override;
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

  private:
    TimeScale scale() const;
    const CriticalPath::Piece* pieceAt(double x) const;

    TimelineState& state_;
    int labelWidth_ = 0;
};

}  // namespace lanescope::views
