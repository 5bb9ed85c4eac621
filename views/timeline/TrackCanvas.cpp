// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackCanvas.h"

#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "views/theme/texts.h"
#include "views/timeline/CriticalPath.h"
#include "views/timeline/SliceMenu.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/paintWarnings.h"
#include "views/timeline/scales.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

constexpr int restMs = 220;         // until the pointer rests
constexpr double aimTolerance = 2;  // a pixel distance that still counts as on a slice

/// The menu key has no position: it applies to the selection.
std::optional<TimelinePlace> selectedPlace(const TimelineState& state) {
    const EventRef event = state.selection().event();
    if (!event.isValid()) return std::nullopt;
    const SliceLocation at = state.trace()->locate(event);
    const TimeRange range = state.trace()->rangeOf(event);
    return TimelinePlace{at.isValid() ? at.track : noIndex, range.startNs, event, range, false};
}

}  // namespace

TrackCanvas::TrackCanvas(TimelineState& state, QWidget* parent)
    : QWidget(parent), state_(state), painter_(state), rangeDrag_(state), flows_(state) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::ClickFocus);
    rest_.setSingleShot(true);
    rest_.setInterval(restMs);
    connect(&rest_, &QTimer::timeout, this, &TrackCanvas::highlightUnderPointer);
    watch(state_);
    resetPainter();
}

void TrackCanvas::watch(const TimelineState& state) {
    const auto repaint = [this] { update(); };
    connect(&state, &TimelineState::traceChanged, this, &TrackCanvas::resetPainter);
    connect(&state.options(), &TimelineOptions::changed, this, &TrackCanvas::resetPainter);
    connect(&state, &TimelineState::gpuPartsChanged, this, &TrackCanvas::invalidate);
    connect(&state.range(), &TimelineRange::changed, this, &TrackCanvas::invalidate);
    connect(&state.tracks(), &TimelineTracks::changed, this, &TrackCanvas::invalidate);
    connect(&state.scroll(), &TrackScroll::scrolled, this, &TrackCanvas::invalidate);
    connect(&state.selection(), &TimelineSelection::hitsChanged, this, &TrackCanvas::invalidate);
    connect(&state.selection(), &TimelineSelection::eventChanged, this, [this] {
        forgetFlows();
        update();
    });
    connect(&state.selection(), &TimelineSelection::highlightChanged, this, [this] {
        isBaseStale_ = true;
        update();
    });
    connect(&state.selection(), &TimelineSelection::rangeChanged, this, repaint);
    connect(&state.selection(), &TimelineSelection::pathChanged, this, repaint);
    connect(&state.selection(), &TimelineSelection::gapMarkChanged, this, [this] {
        refreshHover();
        update();
    });
}

void TrackCanvas::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    companion_ = companion;
    companionPainter_.reset();
    companionFlows_.reset();
    if (companion) {
        companionPainter_.emplace(*companion);
        companionFlows_.emplace(*companion);
        companion->scroll().setViewportHeight(height());
        watch(*companion);
        connect(companion, &QObject::destroyed, this, [this] {
            hovered_.reset();
            companionPainter_.reset();
            companionFlows_.reset();
        });
    }
    resetPainter();
}

void TrackCanvas::setBaselineOverlayVisible(bool isVisible) {
    isBaselineOverlayVisible_ = isVisible;
    resetPainter();
}

void TrackCanvas::setFocusRing(bool isVisible) {
    if (isVisible == hasFocusRing_) return;
    hasFocusRing_ = isVisible;
    update();
}

void TrackCanvas::invalidate() {
    isBaseStale_ = true;
    forgetFlows();
    // They belong to the previous trace.
    hovered_.reset();
    hoveredGap_ = {};
    card_.hide();
    if (pointer_) state_.selection().setHoverTime(scale().toTimeNs(pointer_->x()));
    update();
}

void TrackCanvas::resetPainter() {
    painter_.reset(font());
    if (companionPainter_) {
        companionPainter_->reset(font());
        companionPainter_->setBaselineOverlay(isBaselineOverlayVisible_ ? &state_ : nullptr);
    }
    invalidate();
}

void TrackCanvas::renderBase() {
    const double ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(size()) * ratio).toSize();
    if (base_.size() != pixels) base_ = QImage(pixels, QImage::Format_RGB32);
    base_.setDevicePixelRatio(ratio);
    QPainter painter(&base_);
    painter_.paint(painter, size(), ratio);
    if (companionPainter_ && companion_) companionPainter_->paintRows(painter, size(), ratio);
    if (!state_.hasTracks() && !companion_) {
        drawText(painter, font(), state_.options().theme().mutedText, rect().adjusted(24, 24, -24, -24),
                 Qt::AlignCenter | Qt::TextWordWrap, emptySentence(state_.trace().get()));
    }
    isBaseStale_ = false;
}

void TrackCanvas::paintEvent(QPaintEvent* event) {
    if (isBaseStale_) renderBase();
    QPainter painter(this);
    painter.setClipRect(event->rect());
    painter.drawImage(0, 0, base_);
    if (hovered_) {
        const auto slice = sliceRectangle(*hovered_->state, hovered_->lane, hovered_->index, width());
        if (slice) painter.fillRect(*slice, state_.options().theme().hover);
    }
    if (!hoveredGap_.isEmpty()) painter.fillRect(hoveredGap_, state_.options().theme().hover);
    paintGapMark(painter);
    paintCriticalPath(painter, state_, size());
    paintSelection(painter, state_, size());
    flows_.paint(painter, size(), painter_.font());
    if (companion_ && companionFlows_) {
        paintSelectedEvent(painter, *companion_, size());
        companionFlows_->paint(painter, size(), painter_.font());
    }
    if (pointer_ && state_.hasTracks()) {
        painter.fillRect(hoverLine(), translucent(state_.options().theme().mutedText, 150));
    }
    card_.paint(painter, font(), state_.options().theme());
    if (hasFocusRing_) paintFocusFrame(painter, rect(), state_.options().theme());
}

void TrackCanvas::resizeEvent(QResizeEvent*) {
    state_.scroll().setViewportHeight(height());
    if (companion_) companion_->scroll().setViewportHeight(height());
    invalidate();
}

void TrackCanvas::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) resetPainter();
    QWidget::changeEvent(event);
}

void TrackCanvas::wheelEvent(QWheelEvent* event) {
    zoomOrPan(*event, state_, scale(), true);
    event->accept();
}

void TrackCanvas::mousePressEvent(QMouseEvent* event) {
    const bool isLeft = event->button() == Qt::LeftButton;
    if (!state_.hasTracks() || (!isLeft && event->button() != Qt::MiddleButton)) return;
    state_.selection().setHoverTime(scale().toTimeNs(event->pos().x()));
    pressedAt_ = event->pos();
    pressedRange_ = state_.range().visible();
    pressedScrollY_ = state_.scroll().y();
    gesture_ = Gesture::Undecided;
    if (isLeft && (event->modifiers() & Qt::ShiftModifier)) {
        gesture_ = Gesture::Mark;
        rangeDrag_.begin(timeFor(event->pos(), event->modifiers()));
    } else if (isLeft &&
               rangeDrag_.beginAtEdge(scale().toTimeNs(event->position().x()), scale().spanNs(edgeTolerance))) {
        gesture_ = Gesture::Mark;
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
        rangeDrag_.moveTo(timeFor(event->pos(), event->modifiers()));
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
    slice->state->range().zoomTo(slice->state->lanes().sliceRange(slice->lane, slice->index));
}

void TrackCanvas::panTo(QPoint position) {
    const QPoint moved = position - pressedAt_;
    const TimeScale pressedScale{pressedRange_, double(width()), 0};
    state_.range().setVisible(pressedRange_.shifted(-pressedScale.spanNs(moved.x())));
    state_.scroll().setY(pressedScrollY_ - moved.y());
}

void TrackCanvas::click(QPoint position) {
    if (followLabel(position)) return;
    const auto slice = sliceUnder(position);
    if (slice) return slice->state->selection().setEvent(slice->state->lanes().sliceEvent(slice->lane, slice->index));
    state_.selection().setEvent({});
    state_.selection().setGapMark(std::nullopt);
    if (companion_) companion_->selection().setEvent({});
    activateEmptyPlace(position);
}

std::optional<TrackCanvas::Slice> TrackCanvas::sliceUnder(QPoint position) const {
    const auto own = sliceUnder(state_, position);
    return own || !companion_ ? own : sliceUnder(*companion_, position);
}

std::optional<TrackCanvas::Slice> TrackCanvas::sliceUnder(TimelineState& state, QPoint position) const {
    if (!state.hasTracks()) return std::nullopt;
    const auto lane = state.tracks().layout().laneAt(state.scroll().toLayoutY(position.y()));
    if (!lane) return std::nullopt;
    const TimeScale axis = state.range().scale(width());
    const auto index = state.lanes().sliceAt(*lane, axis.toTimeNs(position.x() + 0.5),
                                             std::max<int64_t>(1, axis.spanNs(aimTolerance)));
    if (!index) return std::nullopt;
    return Slice{&state, *lane, *index};
}

void TrackCanvas::hoverAt(QPoint position) {
    if (!rect().contains(position)) return clearHover();
    // Repaints only the old and new hover area: on a remote display every pixel counts.
    const QRect before = hoverRectangle_.united(card_.rectangle());
    update(hoverLine());
    pointer_ = position;
    state_.scroll().setPointerY(position.y());
    update(hoverLine());
    state_.selection().setHoverTime(scale().toTimeNs(position.x()));

    const bool isOverLabel = gesture_ != Gesture::Pan && isOnLabel(position);
    const bool isEdge = gesture_ == Gesture::Mark || (!isOverLabel && isOnEdge(position));
    if (gesture_ != Gesture::Pan)
        setCursor(isOverLabel ? Qt::PointingHandCursor : isEdge ? Qt::SizeHorCursor : Qt::ArrowCursor);
    hovered_ = gesture_ == Gesture::Pan || isOverLabel ? std::nullopt : sliceUnder(position);
    rest_.start();
    hoverRectangle_ = {};
    hoveredGap_ = {};
    card_.hide();
    if (hovered_) {
        const auto slice = sliceRectangle(*hovered_->state, hovered_->lane, hovered_->index, width());
        if (slice) hoverRectangle_ = slice->toAlignedRect().adjusted(-1, -1, 1, 1);
        if (gesture_ == Gesture::None) showTip(position);
    } else if (gesture_ == Gesture::None) {
        showUnrecorded(position);
        if (!card_.isVisible()) showEmptyPlace(position);
    }
    update(before);
    update(hoverRectangle_.united(card_.rectangle()));
}

void TrackCanvas::showTip(QPoint position) {
    const double x = position.x() * devicePixelRatioF();
    const TimelineState& state = *hovered_->state;
    TrackPainter& tracks = companionPainter_ && &state == companion_ ? *companionPainter_ : painter_;
    HoverText text;
    QRgb color = 0;
    if (const CounterSeries* counter = state.lanes().counterAt(hovered_->lane)) {
        const auto& columns = tracks.geometry().columns(state.lanes().counterIndexAt(hovered_->lane));
        const auto column = static_cast<size_t>(std::max(0.0, x));
        const bool isDrawn = !isBaseStale_ && column < columns.size();
        text =
            counterText(*counter, hovered_->index, isDrawn ? columns[column] : CounterColumn(), state.range().origin());
        color = tracks.colors().fillOf(SliceCategory::Counter);
    } else {
        const PixelSlice* drawn =
            isBaseStale_ ? nullptr : tracks.geometry().rectangleAt(hovered_->lane, static_cast<float>(x));
        text = hoverText(*state.trace(), hovered_->lane, hovered_->index, drawn, state.range().origin());
        const Lane& lane = state.lanes().laneAt(hovered_->lane);
        color = tracks.colors().fillOf(lane, hovered_->index);
        if (const QString meaning = tracks.colors().meaningOf(lane, hovered_->index); !meaning.isEmpty())
            text.detail += QChar('\n') + meaning;
    }
    card_.setContent(text.title, text.detail, QColor::fromRgb(color));
    card_.place(position, rect(), font(), laneUnder(position));
}

QRect TrackCanvas::laneUnder(QPoint position) const {
    const int y = state_.scroll().toLayoutY(position.y());
    const TrackLayout* layout = state_.hasTracks() ? &state_.tracks().layout() : nullptr;
    const LayoutRow* row = layout ? layout->rowAt(y) : nullptr;
    if (!row && companion_ && companion_->hasTracks()) {
        layout = &companion_->tracks().layout();
        row = layout->rowAt(y);
    }
    if (!row) return {position, QSize(1, 1)};
    const auto lane = layout->laneAt(y);
    const auto area = lane && (row->laneCount > 1 || row->preview != noIndex) ? layout->areaOf(*lane) : std::nullopt;
    const int top = area ? area->top : row->top;
    return {0, position.y() - (y - top), width(), area ? area->height : row->height};
}

void TrackCanvas::showUnrecorded(QPoint position) {
    for (const TimelineState* state : {&state_, companion_.data()}) {
        if (!state || !state->hasTracks()) continue;
        const LayoutRow* row = state->tracks().layout().rowAt(state->scroll().toLayoutY(position.y()));
        if (!row) continue;
        if (const WarningPlace* end = endAt(*state, row->track, position.x(), width())) {
            card_.setContent(QString::fromStdString(end->sentence),
                             formatTime(end->range.startNs - state->range().origin()), state->options().theme().error);
            card_.place(position, rect(), font(), laneUnder(position));
            return;
        }
        const TimeScale axis = state->range().scale(width());
        const auto text = unrecordedText(state->trace()->tracks[row->track], axis.toTimeNs(position.x() + 0.5),
                                         axis.spanNs(aimTolerance), state->range().origin());
        if (!text) continue;
        card_.setContent(text->title, text->detail, state->options().theme().mutedText);
        card_.place(position, rect(), font(), laneUnder(position));
        return;
    }
}

void TrackCanvas::forgetFlows() {
    flows_.forget();
    if (companionFlows_) companionFlows_->forget();
}

bool TrackCanvas::isOnLabel(QPoint position) {
    return flows_.eventAt(position, size(), painter_.font()).isValid() ||
           (companionFlows_ && companionFlows_->eventAt(position, size(), painter_.font()).isValid());
}

bool TrackCanvas::followLabel(QPoint position) {
    const auto follow = [&](TimelineState* state, FlowOverlay& flows) {
        const EventRef event = flows.eventAt(position, size(), painter_.font());
        if (event.isValid()) TimelineNavigator(*state).reveal(event);
        return event.isValid();
    };
    return follow(&state_, flows_) || (companion_ && companionFlows_ && follow(companion_, *companionFlows_));
}

void TrackCanvas::highlightUnderPointer() {
    for (TimelineState* state : {&state_, companion_.data()}) {
        if (!state) continue;
        const bool isHere = hovered_ && hovered_->state == state;
        state->selection().setHoveredName(isHere ? state->lanes().nameAt(hovered_->lane, hovered_->index) : 0);
    }
}

void TrackCanvas::clearHover() {
    update(hoverLine());
    update(hoverRectangle_.united(card_.rectangle()));
    pointer_.reset();
    state_.scroll().setPointerY(std::nullopt);
    hovered_.reset();
    hoveredGap_ = {};
    rest_.start();
    card_.hide();
    state_.selection().setHoverTime(std::nullopt);
}

QRect TrackCanvas::placeOn(const LayoutRow& row, TimeRange range) const {
    const TimeScale axis = scale();
    const double left = std::clamp(axis.toX(range.startNs), -2.0, width() + 2.0);
    const double right = std::clamp(axis.toX(range.endNs), -2.0, width() + 2.0);
    const int pinned = row.top < state_.scroll().pinnedHeight() ? 0 : state_.scroll().pinnedHeight();
    const QRect place(static_cast<int>(left), state_.scroll().toScreenY(row.top),
                      std::max(1, static_cast<int>(right - left)), row.height - 1);
    // The part scrolled under the pinned rows is invisible.
    return place.intersected(QRect(0, pinned, width(), height() - pinned));
}

void TrackCanvas::showEmptyPlace(QPoint position) {
    if (!state_.hasTracks()) return;
    const LayoutRow* row = state_.tracks().layout().rowAt(state_.scroll().toLayoutY(position.y()));
    if (!row) return;
    const int64_t timeNs = scale().toTimeNs(position.x() + 0.5);
    const auto place = state_.emptyPlaces() ? state_.emptyPlaces()(row->track, timeNs) : std::nullopt;
    if (!place) {
        const auto text = emptyText(state_, *row, timeNs);
        if (!text) return;
        card_.setContent(text->title, text->detail, state_.options().theme().mutedText);
        card_.place(position, rect(), font(), laneUnder(position));
        return;
    }
    if (!place->range.isEmpty()) hoveredGap_ = placeOn(*row, place->range);
    hoverRectangle_ = hoveredGap_;
    card_.setContent(place->title, place->detail, place->color);
    card_.place(position, rect(), font(), laneUnder(position));
}

void TrackCanvas::activateEmptyPlace(QPoint position) {
    if (!state_.emptyPlaces() || !state_.hasTracks()) return;
    const LayoutRow* row = state_.tracks().layout().rowAt(state_.scroll().toLayoutY(position.y()));
    if (!row) return;
    const int64_t timeNs = scale().toTimeNs(position.x() + 0.5);
    if (state_.emptyPlaces()(row->track, timeNs)) emit state_.emptyPlaceActivated(row->track, timeNs);
}

void TrackCanvas::paintGapMark(QPainter& painter) const {
    if (!state_.selection().gapMark() || !state_.hasTracks()) return;
    const GapMark& mark = *state_.selection().gapMark();
    if (!mark.range.overlaps(state_.range().visible())) return;
    const QColor fill = translucent(mark.color, 110);
    for (const TrackScroll::Band& band : state_.scroll().bands(height())) {
        for (const LayoutRow& row : band.rows) {
            if (std::find(mark.tracks.begin(), mark.tracks.end(), row.track) == mark.tracks.end()) continue;
            const QRect place = placeOn(row, mark.range);
            if (place.isEmpty()) continue;
            painter.fillRect(place, fill);
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(state_.options().theme().text, 2));
            painter.drawRect(place.adjusted(1, 1, -1, -1));
        }
    }
}

void TrackCanvas::contextMenuEvent(QContextMenuEvent* event) {
    if (!state_.hasTracks()) return;
    const bool isKey = event->reason() == QContextMenuEvent::Keyboard;
    TimelineState* state = &state_;
    std::optional<TimelinePlace> place = isKey ? selectedPlace(state_) : std::nullopt;
    const auto slice = isKey ? std::nullopt : sliceUnder(event->pos());
    if (slice) {
        state = slice->state;
        place = TimelinePlace{slice->lane.track, scale().toTimeNs(event->pos().x() + 0.5),
                              state->lanes().sliceEvent(slice->lane, slice->index),
                              state->lanes().sliceRange(slice->lane, slice->index), false};
        // Selected so that its place is visible while the menu covers other things.
        if (place->event.isValid()) state->selection().setEvent(place->event);
    } else if (const LayoutRow* row = state_.tracks().layout().rowAt(state_.scroll().toLayoutY(event->pos().y()));
               row && !place) {
        place = TimelinePlace{row->track, scale().toTimeNs(event->pos().x() + 0.5), {}, {}, false};
        if (const auto empty = state_.emptyPlaces() ? state_.emptyPlaces()(row->track, place->timeNs) : std::nullopt) {
            place->range = empty->range;
            place->isIdle = true;
        }
    }
    if (!place) return;
    auto* menu = new SliceMenu(*state, *place, this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->popup(isKey ? mapToGlobal(rect().center()) : event->globalPos());
}

int64_t TrackCanvas::timeFor(QPoint position, Qt::KeyboardModifiers modifiers) const {
    const int64_t timeNs = scale().toTimeNs(position.x());
    if (modifiers & Qt::AltModifier) return timeNs;
    return snapped(state_, timeNs, scale().spanNs(edgeTolerance),
                   state_.tracks().layout().laneAt(state_.scroll().toLayoutY(position.y())));
}

bool TrackCanvas::isOnEdge(QPoint position) const {
    return isAtEdge(state_, scale().toTimeNs(position.x()), scale().spanNs(edgeTolerance));
}

}  // namespace lanescope::views
