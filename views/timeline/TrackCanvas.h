// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "views/timeline/FlowOverlay.h"
#include "views/timeline/HoverTip.h"
#include "views/timeline/RangeSelection.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackPainter.h"

namespace lanescope::views {

/// The slices and their pointer interaction. The slices are painted into an image that is kept
/// until the view changes; hovering only copies changed parts from it.
class TrackCanvas : public QWidget {
    Q_OBJECT
  public:
    explicit TrackCanvas(TimelineState& state, QWidget* parent = nullptr);

    /// Paints the rows of a second trace in the spaces between its own, and handles their input too; null for none.
    void setCompanion(TimelineState* companion);
    /// Outlines the events of the tracks above in the companion's lanes.
    void setBaselineOverlayVisible(bool isVisible);
    bool isBaselineOverlayVisible() const { return isBaselineOverlayVisible_; }

    /// Frames the canvas to show the keyboard focus.
    void setFocusRing(bool isVisible);

    /// Returns the time under the pointer, else the middle of the view: the centre of keyboard zooming.
    int64_t zoomAnchor() const { return scale().toTimeNs(pointer_ ? pointer_->x() : width() / 2.0); }
    /// Updates the description of the item under the pointer.
    void refreshHover() {
        if (pointer_) hoverAt(*pointer_);
    }
    const HoverTip& hoverTip() const { return card_; }
    /// Returns the labels of arrows with invisible ends.
    const std::vector<FlowOverlay::Label>& flowLabels() { return flows_.labels(size(), painter_.font()); }
    QSize sizeHint() const override { return {900, 480}; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override { clearHover(); }
    void contextMenuEvent(QContextMenuEvent* event) override;

  private:
    struct Slice {
        TimelineState* state = nullptr;
        LanePosition lane;
        uint32_t index = 0;
        bool operator==(const Slice&) const = default;
    };
    enum class Gesture { None, Undecided, Pan, Mark };

    void watch(const TimelineState& state);
    void invalidate();
    void resetPainter();
    void renderBase();
    std::optional<Slice> sliceUnder(TimelineState& state, QPoint position) const;
    TimeScale scale() const { return state_.range().scale(width()); }
    std::optional<Slice> sliceUnder(QPoint position) const;
    void hoverAt(QPoint position);
    void clearHover();
    void showTip(QPoint position);
    /// Returns the time at `position`, snapped to a nearby edge of a slice. Alt in `modifiers` disables snapping.
    int64_t timeFor(QPoint position, Qt::KeyboardModifiers modifiers) const;
    bool isOnEdge(QPoint position) const;
    /// Shows why nothing is under the pointer, if known.
    void showUnrecorded(QPoint position);
    /// Shows the explanation of the empty place under the pointer (`EmptyPlaces`).
    void showEmptyPlace(QPoint position);
    /// Returns the visible part of `range` on the row of a track; empty for none.
    QRect placeOn(const LayoutRow& row, TimeRange range) const;
    void paintGapMark(QPainter& painter) const;
    void activateEmptyPlace(QPoint position);
    /// Returns the place of the lane, or else of the row, at a position.
    QRect laneUnder(QPoint position) const;
    /// Follows the label of an arrow at `position`; returns false if there is none.
    bool followLabel(QPoint position);
    bool isOnLabel(QPoint position);
    void forgetFlows();
    void highlightUnderPointer();
    void panTo(QPoint position);
    void click(QPoint position);
    QRect hoverLine() const { return pointer_ ? QRect(pointer_->x(), 0, 1, height()) : QRect(); }

    TimelineState& state_;
    TrackPainter painter_;
    QPointer<TimelineState> companion_;
    std::optional<TrackPainter> companionPainter_;
    bool isBaselineOverlayVisible_ = false;
    bool hasFocusRing_ = false;
    QImage base_;
    bool isBaseStale_ = true;
    RangeDrag rangeDrag_;
    Gesture gesture_ = Gesture::None;
    QPoint pressedAt_;
    TimeRange pressedRange_;
    int pressedScrollY_ = 0;
    std::optional<QPoint> pointer_;
    std::optional<Slice> hovered_;
    QRect hoverRectangle_;
    QRect hoveredGap_;
    HoverTip card_;
    FlowOverlay flows_;
    std::optional<FlowOverlay> companionFlows_;
    QTimer rest_;  // runs while the pointer has not yet rested on a slice
};

}  // namespace lanescope::views
