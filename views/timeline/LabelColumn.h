#pragma once

#include <QWidget>

#include "views/timeline/TimelineState.h"

namespace lanescope {

/// Titles of the tracks, left of the canvas and scrolled with it. A click folds or unfolds; the
/// wheel scrolls; the right edge can be dragged.
class LabelColumn : public QWidget {
    Q_OBJECT

  public:
    static constexpr int narrowest = 96;
    static constexpr int widest = 640;

    explicit LabelColumn(TimelineState& state, QWidget* parent = nullptr);

    /// Also the labels of a second trace, in the spaces between its own; null for none.
    void setCompanion(TimelineState* companion);

    /// Paints the labels into `size` logical pixels at (0, 0); `hovered` is lit up.
    static void paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                      const LayoutRow* hovered = nullptr);
    /// The rows alone, over what is there already.
    static void paintRows(QPainter& painter, const TimelineState& state, QSize size,
                          const QFont& font, const LayoutRow* hovered = nullptr);

  signals:
    void widthDragged(int width);

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    bool isOnEdge(QPoint position) const;
    /// A row and the timeline it belongs to; no row where there is none.
    struct Place {
        TimelineState* state = nullptr;
        const LayoutRow* row = nullptr;
    };
    Place placeUnder(QPoint position) const;
    void watch(const TimelineState& state);
    void setHoveredTrack(const TimelineState* state, int64_t track);
    const LayoutRow* hoveredRow(const TimelineState* state) const;

    TimelineState& state_;
    QPointer<TimelineState> companion_;
    const TimelineState* hoveredState_ = nullptr;
    int64_t hoveredTrack_ = -1;
    bool isResizing_ = false;
    int wheelRest_ = 0;  // angle not yet turned into whole pixels
};

}  // namespace lanescope
