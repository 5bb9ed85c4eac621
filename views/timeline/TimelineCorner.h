// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Left of the overview and the ruler: which trace this is.
class TimelineCorner : public QWidget {
    Q_OBJECT

  public:
    explicit TimelineCorner(TimelineState& state, QWidget* parent = nullptr);

    /// Names a second trace as well, each with its mark; null for none.
    void setCompanion(TimelineState* companion);

    /// Paints the corner into `size` logical pixels at (0, 0).
    static void paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                      const TimelineState* companion = nullptr);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    TimelineState& state_;
    QPointer<TimelineState> companion_;
};

}  // namespace lanescope::views
