// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/LabelColumn.h"

#include <QMouseEvent>
#include <QTimer>
#include <algorithm>

#include "views/text/shownText.h"
#include "views/theme/texts.h"
#include "views/timeline/TrackMenu.h"
#include "views/timeline/accessibleTimeline.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

constexpr int firstIndent = 8;
constexpr int indentPerDepth = 16;
constexpr int chevronReach = 6;  ///< From its middle to its neighbours.
constexpr int gapBeforeTitle = 8;
constexpr int topInset = 5;
constexpr int rightInset = 12;
constexpr int markWidth = 4;
constexpr int pinSize = 16;

/// Returns the size of the letters, and so of the buttons next to them, relative to the default; at least 1.
double scaleOf(const QFont& font) {
    constexpr double defaultTextHeight = 17;
    return std::max(1.0, QFontMetrics(font).height() / defaultTextHeight);
}

int scaled(int length, const QFont& font) { return qRound(length * scaleOf(font)); }

void paintChevron(QPainter& painter, QPointF center, double scale, bool isFolded, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(center);
    painter.scale(scale, scale);
    painter.setPen(QPen(color, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const double reach = 3.5;
    const double depth = 1.75;
    const QPointF tip = isFolded ? QPointF(depth, 0) : QPointF(0, depth);
    const QPointF side = isFolded ? QPointF(-depth, reach) : QPointF(reach, -depth);
    const QPointF other = isFolded ? QPointF(-depth, -reach) : QPointF(-reach, -depth);
    const QPointF points[] = {other, tip, side};
    painter.drawPolyline(points, 3);
    painter.restore();
}

/// Paints a drawing pin: upright if pinned, slanted if not.
void paintPin(QPainter& painter, const QRect& area, bool isPinned, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(QRectF(area).center());
    painter.scale(area.width() / double{pinSize}, area.width() / double{pinSize});
    if (!isPinned) painter.rotate(35);
    painter.setPen(QPen(color, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(isPinned ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawRect(QRectF(-2, -5.5, 4, 5));
    painter.drawLine(QPointF(-4, -0.5), QPointF(4, -0.5));
    painter.drawLine(QPointF(0, -0.5), QPointF(0, 6));
    painter.restore();
}

/// The height of the part of a row that contains its title.
int titleRowHeight(const QFont& font) { return std::max(28, QFontMetrics(font).height() + 2 * topInset); }

void paintTexts(QPainter& painter, const TimelineState& state, uint32_t track, const QRect& area, const QFont& font) {
    const Theme& theme = state.options().theme();
    const QFont titleFont = state.trace()->tracks[track].depth == 0 ? strong(font) : font;
    const QFontMetrics titleMetrics(titleFont);
    const QFontMetrics plainMetrics(font);
    const QString title = titleMetrics.elidedText(labelTitle(*state.trace(), track), Qt::ElideMiddle, area.width());
    const QString subtitle = labelSubtitle(*state.trace(), state.tracks().layout(), track);
    const bool isStacked = !subtitle.isEmpty() && area.height() >= titleMetrics.height() + plainMetrics.height() + 6;
    const int titleHeight = titleMetrics.height();
    // Titles of high rows are next to their first lane and the chevron.
    const int top = std::min(topInset, (area.height() - titleHeight) / 2);

    drawText(painter, titleFont, theme.text, QPoint(area.left(), area.top() + top + titleMetrics.ascent()), title);
    if (subtitle.isEmpty()) return;
    painter.setFont(font);
    painter.setPen(theme.mutedText);
    if (isStacked) {
        const int baseline = area.top() + top + titleHeight + 2 + plainMetrics.ascent();
        painter.drawText(QPoint(area.left(), baseline),
                         plainMetrics.elidedText(subtitle, Qt::ElideRight, area.width()));
        return;
    }
    const int used = titleMetrics.horizontalAdvance(title) + 8;
    if (area.width() - used < 32) return;
    painter.drawText(QPoint(area.left() + used, area.top() + top + titleMetrics.ascent()),
                     plainMetrics.elidedText(subtitle, Qt::ElideRight, area.width() - used));
}

void paintRow(QPainter& painter, const TimelineState& state, const LayoutRow& row, const QRect& area, const QFont& font,
              const LabelMarks& marks) {
    const Theme& theme = state.options().theme();
    const bool isHovered = marks.hovered == row.track;
    const bool isCurrent = marks.current == row.track;
    if (row.isHeader) painter.fillRect(area, theme.bandAt(state.trace()->tracks[row.track].depth));
    if (marks.flashed == row.track) painter.fillRect(area, Theme::mix(theme.panel, theme.accent, 0.4));
    if (isHovered || marks.dragged == row.track) painter.fillRect(area, theme.hover);
    if (state.options().mark().isValid())
        painter.fillRect(QRect(0, area.top(), markWidth, area.height()), state.options().mark());
    if (state.tracks().isUnmatched(row.track)) painter.setOpacity(0.5);
    const int indent = firstIndent + indentPerDepth * row.depth;
    const QRect title(area.left(), titleTop(row, state.scroll(), font), area.width(),
                      area.bottom() + 1 - titleTop(row, state.scroll(), font));
    if (row.canFold) {
        const double middle = title.top() + std::min(area.height(), titleRowHeight(font)) / 2.0;
        paintChevron(painter, {double(indent + scaled(chevronReach, font)), middle}, scaleOf(font), row.isFolded,
                     theme.mutedText);
    }
    const bool isPinned = state.tracks().layout().isPinned(row.track);
    const bool hasPin = isHovered || isPinned;
    const int left = indent + 2 * scaled(chevronReach, font) + gapBeforeTitle;
    const int right = rightInset + (hasPin ? scaled(pinSize, font) + 2 : 0);
    paintTexts(painter, state, row.track, title.adjusted(left, 0, -right, 0), font);
    if (hasPin) {
        const bool isStrong = isPinned || (isHovered && marks.isOnPin);
        paintPin(painter, pinArea(row, title.top(), area.width(), font), isPinned,
                 isStrong ? theme.accent : theme.mutedText);
    }
    painter.setOpacity(1);
    painter.fillRect(QRect(0, area.bottom() + 1, area.width(), 1), theme.separator);
    if (isCurrent && marks.hasFocus) {
        painter.setPen(QPen(theme.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(area.adjusted(1, 1, -2, 0));
    } else if (isCurrent) {
        painter.fillRect(QRect(area.width() - 4, area.top(), 3, area.height()), theme.accent);
    }
}

constexpr int edgeWidth = 6;
constexpr int labelPixelsPerNotch = 60;

/// Returns the bottom of the rows of `track` and its descendants.
int bottomWithin(const TrackLayout& layout, uint32_t track) {
    const LayoutRow* row = layout.rowOf(track);
    const LayoutRow* const end = layout.rows().data() + layout.rows().size();
    int bottom = row->bottom();
    for (const LayoutRow* next = row + 1; next != end && next->depth > row->depth; ++next) bottom = next->bottom();
    return bottom;
}

}  // namespace

int titleTop(const LayoutRow& row, const TrackScroll& scroll, const QFont& font) {
    const int top = scroll.toScreenY(row.top);
    const int seenTop = row.isPinned ? 0 : scroll.pinnedHeight();
    const int needed = titleRowHeight(font) + QFontMetrics(font).height();
    if (top >= seenTop || row.height < 2 * needed) return top;
    return std::min(seenTop, top + row.height - needed);
}

QRect pinArea(const LayoutRow& row, int top, int width, const QFont& font) {
    const int size = scaled(pinSize, font);
    const int inset = std::max(0, (std::min(row.height, titleRowHeight(font)) - size) / 2);
    return {width - rightInset - size + 2, top + inset, size, size};
}

QString labelTitle(const Trace& trace, uint32_t track) { return toQString(trace.tracks[track].title).simplified(); }

QString labelSubtitle(const Trace& trace, const TrackLayout& layout, uint32_t track) {
    QString text = toQString(trace.tracks[track].subtitle).simplified();
    const uint32_t group = layout.parentOf(track);
    if (!layout.isPinned(track) || group == noIndex) return text;
    const QString of = labelTitle(trace, group);
    return text.isEmpty() ? of : of + QStringLiteral(" · ") + text;
}

void paintLabels(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                 const LabelMarks& marks) {
    if (!state.hasTracks()) return;
    const Theme& theme = state.options().theme();
    painter.save();
    for (const TrackScroll::Band& band : state.scroll().bands(size.height())) {
        painter.setClipRect(QRect(0, band.top, size.width(), band.bottom - band.top));
        for (const LayoutRow& row : band.rows)
            paintRow(painter, state, row, QRect(0, row.top - band.scrollY, size.width(), row.height - 1), font, marks);
    }
    painter.setClipRect(QRect(QPoint(), size));
    if (const int pinned = state.scroll().pinnedHeight(); pinned > 0)
        painter.fillRect(QRect(0, pinned - 2, size.width(), 2), theme.mutedText);
    if (marks.dropY)
        painter.fillRect(QRect(0, state.scroll().toScreenY(*marks.dropY) - 2, size.width(), 3), theme.accent);
    painter.restore();
}

LabelColumn::LabelColumn(TimelineState& state, QWidget* parent) : TippedWidget(parent), state_(state) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Tracks"));
    watch(state_);
}

void LabelColumn::watch(const TimelineState& state) {
    const auto repaint = [this] { update(); };
    connect(&state, &TimelineState::traceChanged, this, [this] {
        endDrag(false);
        hoveredState_ = nullptr;
        hoveredTrack_ = noIndex;
    });
    connect(&state.options(), &TimelineOptions::changed, this, repaint);
    connect(&state.tracks(), &TimelineTracks::changed, this, repaint);
    connect(&state.scroll(), &TrackScroll::scrolled, this, repaint);
    connect(&state.tracks(), &TimelineTracks::currentChanged, this, repaint);
    const auto speak = [this] { setAccessibleDescription(spokenTrack(active())); };
    connect(&state.tracks(), &TimelineTracks::changed, this, speak);
    connect(&state.tracks(), &TimelineTracks::currentChanged, this, speak);
}

void LabelColumn::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    companion_ = companion;
    endDrag(false);
    hoveredState_ = nullptr;
    hoveredTrack_ = noIndex;
    if (companion) {
        watch(*companion);
        connect(companion, &QObject::destroyed, this, [this] {
            gesture_ = Gesture::None;
            hoveredState_ = draggedState_ = nullptr;
        });
        // One current track for both.
        connect(&companion->tracks(), &TimelineTracks::currentChanged, this, [this] {
            if (companion_ && companion_->tracks().current() != noIndex) state_.tracks().setCurrent(noIndex);
        });
        connect(&state_.tracks(), &TimelineTracks::currentChanged, companion, [this] {
            if (companion_ && state_.tracks().current() != noIndex) companion_->tracks().setCurrent(noIndex);
        });
    }
    update();
}

TimelineState& LabelColumn::active() const {
    const bool isCompanions = companion_ && companion_->tracks().current() != noIndex;
    return isCompanions ? *companion_ : state_;
}

void LabelColumn::paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                        const LabelMarks& marks) {
    painter.fillRect(QRect(QPoint(), size), state.options().theme().panel);
    paintLabels(painter, state, size, font, marks);
    painter.fillRect(QRect(size.width() - 1, 0, 1, size.height()), state.options().theme().separator);
}

LabelMarks LabelColumn::marksOf(const TimelineState* state) const {
    LabelMarks marks{.current = state->tracks().current(), .hasFocus = hasFocus()};
    if (state == hoveredState_) marks.hovered = hoveredTrack_;
    if (state == flashedState_) marks.flashed = flashedTrack_;
    marks.isOnPin = isPinHovered_;
    if (state == draggedState_ && gesture_ == Gesture::Move) {
        marks.dragged = draggedTrack_;
        marks.dropY = dropY_;
    }
    return marks;
}

void LabelColumn::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, state_, size(), font(), marksOf(&state_));
    if (companion_) paintLabels(painter, *companion_, size(), font(), marksOf(companion_));
    if (hasFocus() && active().tracks().current() == noIndex)
        paintFocusFrame(painter, rect(), state_.options().theme());
}

void LabelColumn::flash(const TimelineState& state, uint32_t track) {
    constexpr int flashMs = 900;
    flashedState_ = &state;
    flashedTrack_ = track;
    update();
    QTimer::singleShot(flashMs, this, [this] {
        flashedState_ = nullptr;
        flashedTrack_ = noIndex;
        update();
    });
}

bool LabelColumn::isOwnKey(const QKeyEvent& event) const {
    const auto modifiers = event.modifiers() & ~Qt::KeypadModifier;
    if (modifiers != Qt::NoModifier && modifiers != Qt::ShiftModifier) return false;
    switch (event.key()) {
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Space:
        case Qt::Key_Return:
        case Qt::Key_Enter: return true;
        case Qt::Key_Escape: return gesture_ == Gesture::Move;
        default: return false;
    }
}

bool LabelColumn::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // Arrow keys move through the labels here, not through the slices.
        const auto* key = static_cast<QKeyEvent*>(event);
        if (isOwnKey(*key) || (key->modifiers() == Qt::NoModifier && KeyMotion::handles(key->key()))) event->accept();
    }
    return TippedWidget::event(event);
}

std::optional<QString> LabelColumn::toolTipAt(QPoint position) const {
    const Place place = placeUnder(position);
    if (!place.row) return QString();
    const Trace& trace = *place.state->trace();
    const QString subtitle = labelSubtitle(trace, place.state->tracks().layout(), place.row->track);
    // Names come from the trace file; they are text and never markup.
    QString text = labelTitle(trace, place.row->track).toHtmlEscaped();
    if (isOnPin(place, position)) {
        text = place.state->tracks().layout().isPinned(place.row->track) ? tr("Unpin (P)") : tr("Pin to the top (P)");
    } else if (!subtitle.isEmpty()) {
        text += QStringLiteral("<br>") + subtitle.toHtmlEscaped();
    }
    return QStringLiteral("<qt>%1</qt>").arg(text);
}

void LabelColumn::wheelEvent(QWheelEvent* event) {
    event->accept();
    if (event->modifiers() & Qt::ControlModifier) return;
    const int angle = event->angleDelta().y() * labelPixelsPerNotch + wheelRest_;
    const int pixels = event->pixelDelta().isNull() ? angle / 120 : event->pixelDelta().y();
    wheelRest_ = event->pixelDelta().isNull() ? angle % 120 : 0;
    state_.scroll().setY(state_.scroll().y() - pixels);
}

void LabelColumn::mousePressEvent(QMouseEvent* event) {
    const Place place = placeUnder(event->pos());
    state_.scroll().setPointerY(event->pos().y());
    if (place.row) place.state->tracks().setCurrent(place.row->track);
    if (event->button() != Qt::LeftButton) return;
    pressedAt_ = event->pos();
    if (isOnEdge(event->pos())) {
        gesture_ = Gesture::Resize;
    } else if (place.row && isOnPin(place, event->pos())) {
        togglePinned(*place.state, place.row->track);
    } else if (place.row) {
        gesture_ = Gesture::Undecided;
        draggedState_ = place.state;
        draggedTrack_ = place.row->track;
    }
}

void LabelColumn::mouseMoveEvent(QMouseEvent* event) {
    if (gesture_ == Gesture::Resize) {
        emit widthDragged(std::clamp(event->pos().x(), minWidthPx, maxWidthPx));
        return;
    }
    if (gesture_ == Gesture::Undecided && (event->pos() - pressedAt_).manhattanLength() > clickTolerance) {
        gesture_ = Gesture::Move;
        setCursor(Qt::ClosedHandCursor);
    }
    if (gesture_ == Gesture::Move) return dragTo(event->pos());
    setCursor(isOnEdge(event->pos()) ? Qt::SplitHCursor : Qt::ArrowCursor);
    hover(event->pos());
}

void LabelColumn::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (gesture_ == Gesture::Undecided && draggedState_) {
        const bool isDeep = event->modifiers() & Qt::ShiftModifier;
        if (draggedState_->tracks().layout().canFold(draggedTrack_)) toggleFold(*draggedState_, draggedTrack_, isDeep);
    }
    endDrag(gesture_ == Gesture::Move);
    gesture_ = Gesture::None;
}

void LabelColumn::dragTo(QPoint position) {
    if (!draggedState_) return;
    const TrackLayout& layout = draggedState_->tracks().layout();
    const LayoutRow* dragged = layout.rowOf(draggedTrack_);
    Place place = placeUnder(position);
    dropSibling_ = noIndex;
    dropY_.reset();
    if (dragged && place.row) {
        // Over a row of the other trace, its counterpart is the target; within a sibling, the sibling.
        uint32_t target =
            place.state == draggedState_ ? place.row->track : place.state->tracks().counterpartOf(place.row->track);
        while (target != noIndex && !layout.areSiblings(target, draggedTrack_)) target = layout.parentOf(target);
        const LayoutRow* row = target == noIndex ? nullptr : layout.rowOf(target);
        if (row && target != draggedTrack_ && row->isPinned == dragged->isPinned) {
            dropSibling_ = target;
            dropY_ = row->top < dragged->top ? row->top : bottomWithin(layout, target);
        }
    }
    update();
}

void LabelColumn::endDrag(bool isDropped) {
    if (isDropped && draggedState_ && dropSibling_ != noIndex) {
        const uint32_t track = draggedTrack_;
        const uint32_t sibling = dropSibling_;
        draggedState_->tracks().arrange([=](TrackLayout& layout) { layout.moveTo(track, sibling); });
    }
    draggedState_ = nullptr;
    draggedTrack_ = dropSibling_ = noIndex;
    dropY_.reset();
    if (gesture_ == Gesture::Move) setCursor(Qt::ArrowCursor);
    gesture_ = Gesture::None;
    update();
}

void LabelColumn::contextMenuEvent(QContextMenuEvent* event) {
    if (event->reason() == QContextMenuEvent::Keyboard) {
        const LayoutRow* row = active().tracks().layout().rowOf(active().tracks().current());
        const int y = row ? active().scroll().toScreenY(row->top) + row->height / 2 : 0;
        return openMenu(active(), active().tracks().current(), mapToGlobal(QPoint(width() / 2, y)));
    }
    const Place place = placeUnder(event->pos());
    openMenu(place.row ? *place.state : state_, place.row ? place.row->track : noIndex, event->globalPos());
}

void LabelColumn::openMenu(TimelineState& state, uint32_t track, QPoint globalPosition) {
    auto* menu = new TrackMenu(state, track, this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu, &TrackMenu::rowHeightChosen, this, &LabelColumn::rowHeightChosen);
    menu->popup(globalPosition);
}

bool LabelColumn::pressTrackKey(const QKeyEvent& event) {
    TimelineState& state = active();
    const auto modifiers = event.modifiers() & ~Qt::KeypadModifier;
    const int key = event.key();
    if (modifiers == Qt::AltModifier && (key == Qt::Key_Up || key == Qt::Key_Down)) {
        moveTrack(state, state.tracks().current(), key == Qt::Key_Up ? -1 : +1);
    } else if (modifiers == Qt::NoModifier && key == Qt::Key_P) {
        togglePinned(state, state.tracks().current());
    } else if (modifiers == Qt::NoModifier && key == Qt::Key_H) {
        hideTrack(state, state.tracks().current());
    } else {
        return false;
    }
    return true;
}

void LabelColumn::keyPressEvent(QKeyEvent* event) {
    if (pressTrackKey(*event)) return;
    TimelineState& state = active();
    const auto modifiers = event->modifiers() & ~Qt::KeypadModifier;
    const bool isDeep = modifiers == Qt::ShiftModifier;
    if (modifiers != Qt::NoModifier && !isDeep) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Up: return stepCurrentTrack(state, -1);
        case Qt::Key_Down: return stepCurrentTrack(state, +1);
        case Qt::Key_Left: return foldOrLeave(state, isDeep);
        case Qt::Key_Right: return unfoldOrEnter(state, isDeep);
        case Qt::Key_Space:
        case Qt::Key_Return:
        case Qt::Key_Enter: return toggleFold(state, state.tracks().current(), isDeep);
        case Qt::Key_Escape:
            if (gesture_ == Gesture::Move) return endDrag(false);
            [[fallthrough]];
        default: QWidget::keyPressEvent(event);  // on to the timeline
    }
}

void LabelColumn::focusInEvent(QFocusEvent* event) {
    const bool isByKeyboard = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    if (isByKeyboard && active().tracks().current() == noIndex) stepCurrentTrack(state_, +1);
    update();
}

bool LabelColumn::isOnEdge(QPoint position) const { return position.x() >= width() - edgeWidth; }

bool LabelColumn::isOnPin(const Place& place, QPoint position) const {
    return place.row && pinArea(*place.row, titleTop(*place.row, place.state->scroll(), font()), width(), font())
                            .adjusted(-2, -2, 2, 2)
                            .contains(position);
}

LabelColumn::Place LabelColumn::placeUnder(QPoint position) const {
    const int y = state_.scroll().toLayoutY(position.y());
    if (const LayoutRow* row = state_.tracks().layout().rowAt(y)) return {&state_, row};
    if (companion_) return {companion_, companion_->tracks().layout().rowAt(y)};
    return {};
}

void LabelColumn::hover(QPoint position) {
    const bool isInside = rect().contains(position);
    state_.scroll().setPointerY(isInside ? std::optional(position.y()) : std::nullopt);
    const Place place = isInside ? placeUnder(position) : Place{};
    const uint32_t track = place.row ? place.row->track : noIndex;
    const bool isPin = isOnPin(place, position);
    if (track == hoveredTrack_ && place.state == hoveredState_ && isPin == isPinHovered_) return;
    hoveredState_ = place.state;
    hoveredTrack_ = track;
    isPinHovered_ = isPin;
    update();
}

}  // namespace lanescope::views
