// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineView.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "views/timeline/FlowOverlay.h"
#include "views/timeline/PairedRows.h"
#include "views/timeline/RangeSelection.h"
#include "views/timeline/SliceMenu.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TrackMenu.h"
#include "views/timeline/accessibleTimeline.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {

namespace {

// Width of the track titles, in pixels and in characters, until the user drags their edge.
constexpr int defaultLabelWidth = 264, labelCharacters = 27;

}  // namespace

TimelinePlaces::TimelinePlaces(const TimelineState& state, const QWidget& canvas, QObject* parent)
    : QObject(parent), state_(state), canvas_(canvas) {
    connect(&state_, &TimelineState::traceChanged, this, &TimelinePlaces::changed);
    connect(&state_.range(), &TimelineRange::changed, this, &TimelinePlaces::changed);
    connect(&state_.tracks(), &TimelineTracks::changed, this, &TimelinePlaces::changed);
    connect(&state_.scroll(), &TrackScroll::scrolled, this, &TimelinePlaces::changed);
}

QRect TimelinePlaces::trackArea(uint32_t track) const {
    if (!state_.hasTracks() || track >= state_.trace()->tracks.size()) return {};
    const LayoutRow* row = state_.tracks().layout().visibleRowOf(track);
    if (!row) return {};
    const QRect area = tracksArea();
    const int top = area.top() + state_.scroll().toScreenY(row->top);
    return QRect(area.left(), top, area.width(), row->height).intersected(area);
}

uint32_t TimelinePlaces::trackAt(int y) const {
    const QRect area = tracksArea();
    const LayoutRow* row = state_.hasTracks() && area.top() <= y && y <= area.bottom()
                               ? state_.tracks().layout().rowAt(state_.scroll().toLayoutY(y - area.top()))
                               : nullptr;
    return row ? row->track : noIndex;
}

void TimelineCommands::setCompanion(TimelineState* companion, PairedRows* rows) {
    companion_ = companion;
    rows_ = rows;
}

TimelineState& TimelineCommands::active() const { return rows_ ? rows_->active() : state_; }

TimelineNavigator TimelineCommands::navigator() const { return TimelineNavigator(active()); }

TimelineState& TimelineCommands::trackState() const {
    const bool isCompanions = companion_ && companion_->tracks().current() != noIndex;
    return isCompanions ? *companion_ : state_;
}

void TimelineCommands::scrollPages(int direction) {
    const int page = std::max(1, state_.scroll().viewportHeight() * 7 / 8);
    state_.scroll().setY(state_.scroll().y() + direction * page);
}

void TimelineCommands::restoreDefaults() {
    state_.tracks().restoreDefault();
    if (companion_) companion_->tracks().arrange([](TrackLayout& layout) { layout.setArrangement({}); });
    state_.range().showDefaultRange();
    scrollToTop();
}

void TimelineCommands::selectNeighbour(int direction, SliceStep step) {
    navigator().selectNeighbour(direction, step, canvas_.width());
}

void TimelineCommands::selectCounterpart() {
    if (rows_) rows_->selectCounterpart();
}

void TimelineCommands::selectTimeOfEvent() {
    const TimelineState& state = active();
    if (!state.trace()) return;
    std::optional<TimeRange> range;
    if (const EventRef event = state.selection().event(); event.isValid())
        range = state.trace()->rangeOf(event);
    else if (state.selection().gapMark())
        range = state.selection().gapMark()->range;
    if (!range) return;
    // Ranges are in the first trace's time.
    range = range->shifted(state_.range().origin() - state.range().origin());
    state_.selection().setRange(state_.selection().range() == range ? std::nullopt : range);
}

void TimelineCommands::clearSelection() {
    state_.selection().setEvent({});
    state_.selection().setGapMark(std::nullopt);
    if (companion_) companion_->selection().setEvent({});
    state_.selection().setRange(std::nullopt);
}

void TimelineCommands::copySelected() { copySelection(active()); }

void TimelineCommands::togglePinnedTrack() { togglePinned(trackState(), trackState().tracks().current()); }

void TimelineCommands::hideTrack() { views::hideTrack(trackState(), trackState().tracks().current()); }

void TimelineCommands::moveTrack(int direction) {
    views::moveTrack(trackState(), trackState().tracks().current(), direction);
}

void TimelineCommands::toggleFold(bool isDeep) {
    views::toggleFold(trackState(), trackState().tracks().current(), isDeep);
}

void TimelineCommands::showAllTracks() {
    views::showAllTracks(state_);
    if (companion_) views::showAllTracks(*companion_);
}

void TimelineCommands::hideEmptyTracks() { views::hideEmptyTracks(state_, companion_); }

void TimelineCommands::undoArrangement() {
    // With two traces, changes of the companion's tracks also changed their counterparts.
    if (!state_.tracks().undo() && companion_) companion_->tracks().undo();
}

void TimelineCommands::setColorMode(ColorMode mode) {
    state_.options().setColorMode(mode);
    if (companion_) companion_->options().setColorMode(mode);
}

void TimelineCommands::setHighlighting(bool isOn) {
    state_.selection().setHighlighting(isOn);
    if (companion_) companion_->selection().setHighlighting(isOn);
}

TimelineView::TimelineView(QWidget* parent)
    : QWidget(parent),
      motion_(new KeyMotion(
          state_, [this] { return canvas_->zoomAnchor(); }, this)),
      commands_(state_, *canvas_) {
    setFocusPolicy(Qt::StrongFocus);
    for (QWidget* part :
         {static_cast<QWidget*>(overview_), static_cast<QWidget*>(ruler_), static_cast<QWidget*>(canvas_)}) {
        part->setFocusProxy(this);
    }
    TimelineTracks& tracks = state_.tracks();
    connect(filter_, &TrackFilterBar::dismissed, this, [this] { setFocus(); });
    connect(labels_, &LabelColumn::rowHeightChosen, &tracks, &TimelineTracks::setRowHeight);
    connect(labels_, &LabelColumn::widthDragged, this, [this](int width) {
        labelWidth_ = width;
        arrange();
    });
    connect(scrollBar_, &QScrollBar::valueChanged, &tracks.scroll(), &TrackScroll::setY);
    connect(&tracks.scroll(), &TrackScroll::scrolled, this, &TimelineView::updateScrollBar);
    connect(&tracks, &TimelineTracks::changed, this, &TimelineView::updateScrollBar);
    connect(&state_.options(), &TimelineOptions::changed, this, &TimelineView::styleScrollBar);
    connect(&state_.selection(), &TimelineSelection::eventChanged, this, &TimelineView::speak);
    connect(&state_.selection(), &TimelineSelection::rangeChanged, this, &TimelineView::speak);
    connect(&state_.selection(), &TimelineSelection::pathChanged, this, [this] {
        updateGeometry();
        arrange();
    });
    describeToReaders();
    setTabOrder(&filter_->edit(), &filter_->hiddenChip());
    setTabOrder(&filter_->hiddenChip(), labels_);
    updateMetrics();
    styleScrollBar();
}

// The parts refer to the state, so they go first.
TimelineView::~TimelineView() {
    clearFocus();  // Otherwise a deleted part would receive the loss of focus.
    for (QWidget* part : findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) delete part;
    delete history_;
    delete emptyTracks_;
    delete places_;
}

void TimelineView::describeToReaders() {
    installTimelineAccessibility();
    setAccessibleName(tr("Timeline"));
    overview_->setAccessibleName(tr("Overview of the whole trace"));
    ruler_->setAccessibleName(tr("Time axis"));
    canvas_->setAccessibleName(tr("Slices"));
    scrollBar_->setAccessibleName(tr("Scroll the tracks"));
    speak();
}

void TimelineView::speak() {
    // Screen readers are notified of a changed description.
    setAccessibleDescription(spokenSelection(commands_.active()));
}

void TimelineView::setCompanion(TimelineView& other, std::vector<compare::TrackPair> pairs) {
    emptyTracks_->setAllowed(false);
    if (companion_ != &other.state_) {
        companion_ = &other.state_;
        corner_->setCompanion(companion_);
        filter_->setCompanion(companion_);
        overview_->setCompanion(companion_);
        labels_->setCompanion(companion_);
        canvas_->setCompanion(companion_);
        connect(&companion_->selection(), &TimelineSelection::eventChanged, this, &TimelineView::speak);
        connect(companion_, &QObject::destroyed, this, [this] {
            companion_ = nullptr;
            delete std::exchange(rows_, nullptr);
            commands_.setCompanion(nullptr, nullptr);
            emptyTracks_->setAllowed(true);
        });
    }
    delete rows_;
    rows_ = new PairedRows(state_, *companion_, std::move(pairs), this);
    commands_.setCompanion(companion_, rows_);
    updateGeometry();
}

void TimelineView::setStrip(QWidget* label, QWidget* strip, int height) {
    delete stripLabel_;
    delete strip_;
    stripLabel_ = label;
    strip_ = strip;
    stripHeight_ = strip ? height : 0;
    for (QWidget* part : {label, strip}) {
        if (!part) continue;
        part->setParent(this);
        part->show();
    }
    updateGeometry();
    arrange();
}

void TimelineView::setStripHeight(int height) {
    if (!strip_ || height == stripHeight_) return;
    stripHeight_ = height;
    for (QWidget* part : {stripLabel_, strip_})
        if (part) part->setVisible(height > 0);
    updateGeometry();
    arrange();
}

void TimelineView::revealEvent(EventRef event) { TimelineNavigator(state_).reveal(event); }

void TimelineView::flashTrack(uint32_t track) {
    TimelineNavigator(state_).scrollToTrack(track);
    labels_->flash(state_, track);
}

/// Room for the parts above the tracks and for a few tracks; those of two runs are paired.
QSize TimelineView::minimumSizeHint() const {
    const int minVisibleRows = rows_ ? 6 : 3;
    const int row = QFontMetrics(font()).height() + 8;
    return {320, areasFor({320, 0}).labels.top() + minVisibleRows * row};
}

TimelineView::Areas TimelineView::areasFor(QSize size) const {
    // The canvas keeps at least half, even if the user dragged the labels farther. Larger fonts
    // need more than labels, strip and ruler would by themselves.
    const QFontMetrics metrics(font());
    const int wanted = labelWidth_.value_or(std::max(defaultLabelWidth, labelCharacters * metrics.averageCharWidth()));
    const int left = std::min(wanted, size.width() / 2);
    const int textHeight = metrics.height();
    // In a low view, one line says what the trace is.
    constexpr int lowView = 400;
    const bool isLow = size.height() < lowView && !companion_;
    const int stripHeight = isLow ? textHeight + 10 : std::max<int>(OverviewStrip::stripHeight, 2 * textHeight + 10);
    const int rulerHeight = std::max<int>(TimeRuler::rulerHeight, textHeight + 11);
    const int header = stripHeight + rulerHeight;
    const int pathHeight = state_.selection().path() ? textHeight + 10 : 0;
    const int top = header + stripHeight_ + pathHeight;
    const int bar = scrollBar_->isVisibleTo(this) ? scrollBar_->sizeHint().width() : 0;
    const int right = size.width() - left - bar;
    const int below = std::max(0, size.height() - top);
    Areas areas;
    areas.corner = QRect(0, 0, left, stripHeight);
    areas.filter = QRect(0, stripHeight, left, rulerHeight);
    areas.overview = QRect(left, 0, right, stripHeight);
    areas.ruler = QRect(left, stripHeight, right, rulerHeight);
    areas.stripLabel = QRect(0, header, left, stripHeight_);
    areas.strip = QRect(left, header, right, stripHeight_);
    areas.path = QRect(0, top - pathHeight, left + right, pathHeight);
    areas.labels = QRect(0, top, left, below);
    areas.canvas = QRect(left, top, right, below);
    areas.scrollBar = QRect(left + right, 0, bar, size.height());
    return areas;
}

void TimelineView::arrange() {
    const Areas areas = areasFor(size());
    corner_->setGeometry(areas.corner);
    filter_->setGeometry(areas.filter);
    overview_->setGeometry(areas.overview);
    ruler_->setGeometry(areas.ruler);
    if (stripLabel_) stripLabel_->setGeometry(areas.stripLabel);
    if (strip_) strip_->setGeometry(areas.strip);
    path_->setLabelWidth(areas.canvas.left());
    path_->setGeometry(areas.path);
    path_->setVisible(!areas.path.isEmpty());
    labels_->setGeometry(areas.labels);
    canvas_->setGeometry(areas.canvas);
    scrollBar_->setGeometry(areas.scrollBar);
    emit places_->changed();
}

void TimelineView::updateScrollBar() {
    const QSignalBlocker blocker(scrollBar_);  // the state has this already
    const TrackScroll& scroll = state_.scroll();
    // Never hidden: two timelines that move together must be equally wide.
    scrollBar_->setEnabled(scroll.maxY() > 0);
    scrollBar_->setRange(0, scroll.maxY());
    scrollBar_->setPageStep(scroll.viewportHeight());
    scrollBar_->setSingleStep(state_.tracks().layout().metrics().laneHeight);
    scrollBar_->setValue(scroll.y());
}

void TimelineView::styleScrollBar() {
    const Theme& theme = state_.options().theme();
    const QColor handle = Theme::mix(theme.panel, theme.mutedText, 0.4);
    scrollBar_->setStyleSheet(
        QStringLiteral("QScrollBar:vertical { background: %1; border: none; width: 12px; }QScrollBar::handle:vertical "
                       "{ background: %2; min-height: 32px; margin: 2px; border-radius: 4px; "
                       "}QScrollBar::handle:vertical:hover { background: %3; }QScrollBar::handle:vertical:disabled { "
                       "background: transparent; }QScrollBar::add-line, QScrollBar::sub-line { height: 0; "
                       "}QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }")
            .arg(theme.panel.name(), handle.name(), theme.mutedText.name()));
}

void TimelineView::renderTo(QPainter* painter, QSize size) {
    const Areas areas = areasFor(size);
    const auto paintIn = [&](const QRect& area, const auto& paint) {
        painter->save();
        painter->setClipRect(area);
        painter->translate(area.topLeft());
        paint(area.size());
        painter->restore();
    };
    painter->fillRect(QRect(QPoint(), size), state_.options().theme().window);
    paintIn(areas.corner.united(areas.filter),
            [&](QSize part) { TimelineCorner::paint(*painter, state_, part, font(), companion_); });
    paintIn(areas.overview, [&](QSize part) { OverviewPainter().paint(*painter, state_, part, companion_); });
    paintIn(areas.ruler, [&](QSize part) { TimeRuler::paint(*painter, state_, part, font()); });
    if (strip_) paintIn(areas.strip, [&](QSize) { strip_->render(painter, {}, {}); });
    paintIn(areas.path,
            [&](QSize part) { CriticalPathLane::paint(*painter, state_, part, areas.canvas.left(), font()); });
    paintIn(areas.labels, [&](QSize part) {
        LabelColumn::paint(*painter, state_, part, font());
        if (companion_) paintLabels(*painter, *companion_, part, font());
    });
    paintIn(areas.canvas, [&](QSize part) {
        TrackPainter tracks(state_);
        tracks.reset(font());
        const double ratio = painter->device()->devicePixelRatioF();
        tracks.paint(*painter, part, ratio);
        if (companion_) {
            TrackPainter others(*companion_);
            others.reset(font());
            others.paintRows(*painter, part, ratio);
        }
        paintCriticalPath(*painter, state_, part);
        paintSelection(*painter, state_, part);
        FlowOverlay(state_).paint(*painter, part, tracks.font());
        if (overlay_ && !overlay_->isHidden()) overlay_->render(painter, {}, {}, QWidget::DrawChildren);
    });
}

bool TimelineView::event(QEvent* event) {
    // Held keys must arrive as key events, although commands of the window use them too.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->modifiers() == Qt::NoModifier && KeyMotion::handles(key->key())) event->accept();
        // In a line edit within the timeline, Enter, Escape and arrows belong to the line edit.
        const bool isPlain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
        if (isPlain && qobject_cast<QLineEdit*>(QApplication::focusWidget())) event->accept();
    }
    return QWidget::event(event);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    if (labels_->pressTrackKey(*event)) return;
    constexpr auto shortcuts = Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier;
    if (!(event->modifiers() & shortcuts)) {
        // The motion has its own timer; key repeats would add to it.
        if (event->isAutoRepeat() && motion_->handles(event->key())) return;
        if (motion_->press(event->key())) return;
    }
    if (!handleTimelineKey(*this, *event)) QWidget::keyPressEvent(event);
}

void TimelineView::keyReleaseEvent(QKeyEvent* event) {
    if (event->isAutoRepeat() || !motion_->release(event->key())) QWidget::keyReleaseEvent(event);
}

void TimelineView::focusInEvent(QFocusEvent* event) {
    const bool isByKeyboard = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    canvas_->setFocusRing(isByKeyboard);
    QWidget::focusInEvent(event);
}

void TimelineView::focusOutEvent(QFocusEvent* event) {
    motion_->stop();
    canvas_->setFocusRing(false);
    QWidget::focusOutEvent(event);
}

void TimelineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) {
        updateMetrics();
        arrange();
    }
    QWidget::changeEvent(event);
}

}  // namespace lanescope::views
