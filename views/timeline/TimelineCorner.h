#pragma once

#include <QWidget>

#include "views/timeline/TimelineState.h"

namespace lanescope {

/// Left of the overview and the ruler: which trace this is.
class TimelineCorner : public QWidget {
    Q_OBJECT

  public:
    explicit TimelineCorner(TimelineState& state, QWidget* parent = nullptr);

    /// Paints the corner into `size` logical pixels at (0, 0).
    static void paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    TimelineState& state_;
};

}  // namespace lanescope
