#include "views/timeline/TrackCanvas.h"

#include <QMouseEvent>
#include <QPainter>
#include <cmath>

#include "views/timeline/canvasTexts.h"
#include "views/timeline/paintSelection.h"
#include "views/timeline/timelineInput.h"

namespace lanescope {
namespace {

constexpr double aimTolerance = 2;  // pixels beside a slice that still count as on it

}  // namespace

TrackCanvas::TrackCanvas(TimelineState& state, QWidget* parent)
    : QWidget(parent), state_(state), painter_(state), rangeDrag_(state) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::ClickFocus);
    const auto repaint = [this] { update(); };
    connect(&state_, &TimelineState::traceChanged, this, &TrackCanvas::resetPainter);
    connect(&state_, &TimelineState::themeChanged, this, &TrackCanvas::resetPainter);
    connect(&state_, &TimelineState::viewChanged, this, &TrackCanvas::invalidate);
    connect(&state_, &TimelineState::layoutChanged, this, &TrackCanvas::invalidate);
    connect(&state_, &TimelineState::scrolled, this, &TrackCanvas::invalidate);
    connect(&state_, &TimelineState::hitsChanged, this, &TrackCanvas::invalidate);
    connect(&state_, &TimelineState::selectedEventChanged, this, repaint);
    connect(&state_, &TimelineState::selectedRangeChanged, this, repaint);
    resetPainter();
}

int64_t TrackCanvas::zoomAnchor() const {
    return scale().toTimeNs(pointer_ ? pointer_->x() : width() / 2.0);
}

void TrackCanvas::invalidate() {
    isBaseStale_ = true;
    // Both point at what was there before.
    hovered_.reset();
    card_.hide();
    if (pointer_) state_.setHoverTime(scale().toTimeNs(pointer_->x()));
    update();
}

void TrackCanvas::resetPainter() {
    painter_.reset(font());
    invalidate();
}

void TrackCanvas::renderBase() {
    const double ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(size()) * ratio).toSize();
    if (base_.size() != pixels) base_ = QImage(pixels, QImage::Format_RGB32);
    base_.setDevicePixelRatio(ratio);
    QPainter painter(&base_);
    painter_.paint(painter, size(), ratio);
    if (!state_.hasTracks()) {
        painter.setFont(font());
        painter.setPen(state_.theme().mutedText);
        painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                         emptySentence(state_.trace().get()));
    }
    isBaseStale_ = false;
}

void TrackCanvas::paintEvent(QPaintEvent* event) {
    if (isBaseStale_) renderBase();
    QPainter painter(this);
    painter.setClipRect(event->rect());
    painter.drawImage(0, 0, base_);
    if (hovered_) {
        if (const auto slice = sliceRectangle(state_, hovered_->lane, hovered_->index, width())) {
            painter.fillRect(*slice, state_.theme().hover);
        }
    }
    paintSelection(painter, state_, size());
    if (pointer_ && state_.hasTracks()) {
        QColor line = state_.theme().mutedText;
        line.setAlpha(150);
        painter.fillRect(hoverLine(), line);
    }
    card_.paint(painter, font(), state_.theme());
}

void TrackCanvas::resizeEvent(QResizeEvent*) {
    state_.setViewportHeight(height());
    invalidate();
}

void TrackCanvas::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) resetPainter();
    QWidget::changeEvent(event);
}

void TrackCanvas::wheelEvent(QWheelEvent* event) {
    zoomOrPan(*event, state_, scale());
    event->accept();
}

void TrackCanvas::mousePressEvent(QMouseEvent* event) {
    const bool isLeft = event->button() == Qt::LeftButton;
    if (!state_.hasTracks() || (!isLeft && event->button() != Qt::MiddleButton)) return;
    pressedAt_ = event->pos();
    pressedRange_ = state_.visible();
    pressedScrollY_ = state_.scrollY();
    gesture_ = Gesture::Undecided;
    if (isLeft && (event->modifiers() & Qt::ShiftModifier)) {
        gesture_ = Gesture::Mark;
        rangeDrag_.begin(scale().toTimeNs(event->position().x()));
    }
}

void TrackCanvas::mouseMoveEvent(QMouseEvent* event) {
    const QPoint moved = event->pos() - pressedAt_;
    if (gesture_ == Gesture::Undecided && moved.manhattanLength() > clickTolerance) {
        gesture_ = Gesture::Pan;
        setCursor(Qt::ClosedHandCursor);
    }
    if (gesture_ == Gesture::Pan) {
        panTo(event->pos());
    } else if (gesture_ == Gesture::Mark) {
        rangeDrag_.moveTo(scale().toTimeNs(event->position().x()));
    }
    hoverAt(event->pos());
}

void TrackCanvas::mouseReleaseEvent(QMouseEvent* event) {
    if (gesture_ == Gesture::Undecided && event->button() == Qt::LeftButton) click(event->pos());
    if (gesture_ == Gesture::Pan) unsetCursor();
    gesture_ = Gesture::None;
    hoverAt(event->pos());
}

void TrackCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const auto slice = sliceUnder(event->pos());
    if (!slice) return;
    const Lane& lane = state_.laneAt(slice->lane);
    const int64_t durationNs =
        std::max<int64_t>(1, lane.endNs[slice->index] - lane.startNs[slice->index]);
    const int64_t marginNs = durationNs / 8;
    state_.setVisible({lane.startNs[slice->index] - marginNs, lane.endNs[slice->index] + marginNs});
}

void TrackCanvas::leaveEvent(QEvent*) {
    clearHover();
}

void TrackCanvas::panTo(QPoint position) {
    const QPoint moved = position - pressedAt_;
    const TimeScale pressedScale{pressedRange_, double(width()), 0};
    state_.setVisible(pressedRange_.shifted(-pressedScale.spanNs(moved.x())));
    state_.setScrollY(pressedScrollY_ - moved.y());
}

void TrackCanvas::click(QPoint position) {
    const auto slice = sliceUnder(position);
    state_.setSelectedEvent(slice ? state_.laneAt(slice->lane).event[slice->index] : EventRef());
}

std::optional<TrackCanvas::Slice> TrackCanvas::sliceUnder(QPoint position) const {
    if (!state_.hasTracks()) return std::nullopt;
    const auto lane = state_.layout().laneAt(position.y() + state_.scrollY());
    if (!lane) return std::nullopt;
    const TimeScale axis = scale();
    const Lane& slices = state_.laneAt(*lane);
    const uint32_t index = sliceAt(slices, axis.toTimeNs(position.x() + 0.5),
                                   std::max<int64_t>(1, axis.spanNs(aimTolerance)));
    if (index >= slices.size()) return std::nullopt;
    return Slice{*lane, index};
}

QRect TrackCanvas::hoverLine() const {
    return pointer_ ? QRect(pointer_->x(), 0, 1, height()) : QRect();
}

void TrackCanvas::hoverAt(QPoint position) {
    if (!rect().contains(position)) return clearHover();
    // Only what the hover drew and draws is repainted: on a remote display every pixel counts.
    const QRect before = hoverRectangle_.united(card_.rectangle());
    update(hoverLine());
    pointer_ = position;
    update(hoverLine());
    state_.setHoverTime(scale().toTimeNs(position.x()));

    hovered_ = gesture_ == Gesture::Pan ? std::nullopt : sliceUnder(position);
    hoverRectangle_ = {};
    card_.hide();
    if (hovered_) {
        const auto slice = sliceRectangle(state_, hovered_->lane, hovered_->index, width());
        if (slice) hoverRectangle_ = slice->toAlignedRect().adjusted(-1, -1, 1, 1);
        if (gesture_ == Gesture::None) showCard(position);
    }
    update(before);
    update(hoverRectangle_.united(card_.rectangle()));
}

void TrackCanvas::showCard(QPoint position) {
    const auto x = static_cast<float>(position.x() * devicePixelRatioF());
    const PixelSlice* drawn =
        isBaseStale_ ? nullptr : painter_.geometry().rectangleAt(hovered_->lane, x);
    const CardText text =
        hoverText(*state_.trace(), hovered_->lane, hovered_->index, drawn, state_.timeOrigin());
    card_.setContent(text.title, text.detail,
                     painter_.colors().fillOf(state_.laneAt(hovered_->lane), hovered_->index));
    card_.place(position, rect(), font());
}

void TrackCanvas::clearHover() {
    update(hoverLine());
    update(hoverRectangle_.united(card_.rectangle()));
    pointer_.reset();
    hovered_.reset();
    card_.hide();
    state_.setHoverTime(std::nullopt);
}

}  // namespace lanescope
