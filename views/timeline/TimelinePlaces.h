// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QRect>

#include "views/timeline/TimelineState.h"

class QWidget;

namespace lanescope::views {

/// The places of times and tracks on the screen, for widgets that cover a timeline. In its
/// coordinates and in trace time. GUI thread.
class TimelinePlaces : public QObject {
    Q_OBJECT

  public:
    /// Both outlive this. `canvas` is the widget of the slices.
    TimelinePlaces(const TimelineState& state, const QWidget& canvas, QObject* parent);

    QRect tracksArea() const;
    /// Returns the visible part of the row of a track; that of its group while folded.
    QRect trackArea(uint32_t track) const;
    /// Between the left and the right edge of the tracks, or outside.
    double xOf(int64_t timeNs) const;
    int64_t timeAt(double x) const;
    /// Returns the track at this height of the tracks, or `noIndex`.
    uint32_t trackAt(int y) const;

  signals:
    /// Emitted on a change of range, size, folding or scroll position.
    void changed();

  private:
    const TimelineState& state_;
    const QWidget& canvas_;
};

}  // namespace lanescope::views
