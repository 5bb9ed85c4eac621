// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/TimelineMarks.h"

#include <QApplication>
#include <QCursor>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "model/text/formatValue.h"
#include "views/text/shownText.h"
#include "views/theme/Theme.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

constexpr int swatchSize = 18;
const char* const colorNames[] = {
    QT_TRANSLATE_NOOP("MarkEditor", "Orange"), QT_TRANSLATE_NOOP("MarkEditor", "Sky blue"),
    QT_TRANSLATE_NOOP("MarkEditor", "Green"),  QT_TRANSLATE_NOOP("MarkEditor", "Vermilion"),
    QT_TRANSLATE_NOOP("MarkEditor", "Pink"),   QT_TRANSLATE_NOOP("MarkEditor", "Blue")};

constexpr int faintAlpha = 120;

constexpr int pennantWidth = 11;
constexpr int maxFlagWidth = 220;
constexpr int textInset = 6;

QString tipOf(const Mark& mark) {
    QString text = mark.text.empty() ? MarkStrip::tr("(no text)") : toQString(printable(mark.text));
    text += '\n' + toQString(formatTimestamp(mark.range.startNs));
    if (!mark.range.isEmpty())
        text += MarkStrip::tr(", %1 long").arg(toQString(formatDuration(mark.range.durationNs())));
    if (!mark.track.empty()) text += '\n' + toQString(printable(trackText(mark)));
    return text;
}

/// The x where the names of the tracks begin.
constexpr int labelIndent = 12;

}  // namespace

MarkEditor::MarkEditor(QWidget* parent) : QFrame(parent), text_(new QLineEdit(this)) {
    setObjectName("markEditor");
    setAutoFillBackground(true);
    text_->setPlaceholderText(tr("Text of the mark. Enter keeps the mark."));
    text_->setAccessibleName(tr("Text of the mark"));
    text_->setMinimumWidth(260);
    text_->installEventFilter(this);
    auto* layout = rowIn(this, {6, 5, 6, 5}, 4);
    layout->addWidget(text_);
    for (size_t index = 0; index < std::size(markColors); ++index) {
        auto* swatch = new QToolButton(this);
        swatch->setCheckable(true);
        swatch->setAutoExclusive(true);
        swatch->setFixedSize(swatchSize, swatchSize);
        swatch->setFocusPolicy(Qt::TabFocus);
        swatch->setToolTip(tr("%1 (Alt+%2)").arg(tr(colorNames[index])).arg(index + 1));
        swatch->setAccessibleName(tr(colorNames[index]));
        swatch->setShortcut(QKeySequence(Qt::ALT | Qt::Key(int(Qt::Key_1) + int(index))));
        swatch->installEventFilter(this);
        connect(swatch, &QToolButton::clicked, this, [this, index] {
            pick(markColors[index]);
            text_->setFocus();
        });
        colors_.push_back(swatch);
        layout->addWidget(swatch);
    }
    hide();
}

MarkEditor::~MarkEditor() { isOpen_ = false; }

void MarkEditor::setTheme(const Theme& theme) {
    QString style = QStringLiteral("#markEditor { background: %1; border: 1px solid %2; border-radius: 4px; }")
                        .arg(theme.card.name(), theme.accent.name());
    setStyleSheet(style);
    for (size_t index = 0; index < colors_.size(); ++index) {
        colors_[index]->setStyleSheet(
            QStringLiteral("QToolButton { background: #%1; border: 2px solid %2; border-radius: 3px; } "
                           "QToolButton:checked, QToolButton:focus { border-color: %3; }")
                .arg(markColors[index], 6, 16, QLatin1Char('0'))
                .arg(theme.card.name(), theme.text.name()));
    }
}

void MarkEditor::edit(const Mark& mark, bool isNew) {
    if (isOpen_) finish(true);
    mark_ = mark;
    isNew_ = isNew;
    isOpen_ = true;
    text_->setText(toQString(mark.text));
    text_->selectAll();
    pick(mark.color);
    adjustSize();
    show();
    raise();
    text_->setFocus();
}

void MarkEditor::pick(uint32_t color) {
    mark_.color = color;
    for (size_t index = 0; index < colors_.size(); ++index) colors_[index]->setChecked(markColors[index] == color);
}

void MarkEditor::finish(bool isKept) {
    if (!std::exchange(isOpen_, false)) return;
    hide();
    if (!isKept) {
        emit rejected(mark_, isNew_);
        return;
    }
    mark_.text = text_->text().trimmed().toStdString();
    emit accepted(mark_, isNew_);
}

bool MarkEditor::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (isEnter || key->key() == Qt::Key_Escape) {
            event->accept();
            if (event->type() == QEvent::KeyPress) finish(isEnter);
            return true;
        }
    }
    if (event->type() == QEvent::FocusOut) {
        // Focus on a colour button, a menu or another program does not end the editing.
        const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
        if (reason == Qt::PopupFocusReason || reason == Qt::ActiveWindowFocusReason)
            return QFrame::eventFilter(watched, event);
        const QWidget* now = QApplication::focusWidget();
        if (!now || !isAncestorOf(now)) finish(true);
    }
    return QFrame::eventFilter(watched, event);
}

MarkLines::MarkLines(MarkStore& store, TimelineView& timeline)
    : QWidget(&timeline), store_(store), timeline_(timeline) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    setFocusPolicy(Qt::NoFocus);
    timeline_.setOverlay(this);
    const auto repaint = [this] { update(); };
    connect(&store_, &MarkStore::changed, this, &MarkLines::follow);
    connect(&store_, &MarkStore::selectionChanged, this, repaint);
    connect(&timeline_.places(), &TimelinePlaces::changed, this, &MarkLines::follow);
    follow();
}

void MarkLines::follow() {
    // Without marks the widget must not slow down painting.
    setVisible(!store_.marks().empty());
    setGeometry(timeline_.places().tracksArea());
    raise();
    update();
}

void MarkLines::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    painter.setClipRect(event->rect());
    for (const Mark& mark : store_.marks()) paintMark(painter, mark);
}

void MarkLines::paintMark(QPainter& painter, const Mark& mark) const {
    const double from = timeline_.places().xOf(mark.range.startNs) - x();
    const double to = timeline_.places().xOf(mark.range.endNs) - x();
    if (to < -2 || from > width() + 2) return;
    const QColor color = QColor::fromRgb(mark.color);
    const int width = mark.id == store_.selected() ? 2 : 1;
    // Clipped to the widget first: zoomed in, the other end may exceed a painter's range.
    const int left = static_cast<int>(std::floor(std::max(from, -4.0)));
    const int right = static_cast<int>(std::floor(std::min<double>(to, this->width() + 4)));
    const auto paintIn = [&](const QRect& area, int lineAlpha) {
        const QColor line = translucent(color, lineAlpha);
        painter.fillRect(QRect(left, area.top(), width, area.height()), line);
        if (right > left + 2) painter.fillRect(QRect(right, area.top(), width, area.height()), line);
    };
    paintIn(rect(), mark.track.empty() ? 190 : faintAlpha);
    if (mark.track.empty() || !timeline_.trace()) return;
    const uint32_t track = trackOfPath(*timeline_.trace(), mark.track);
    if (track == noIndex) return;
    const QRect row = timeline_.places().trackArea(track).translated(-pos());
    if (!row.isEmpty()) paintIn(row.intersected(rect()), 255);
}

MarkStrip::MarkStrip(MarkStore& store, TimelineView& timeline) : store_(store), timeline_(timeline) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusProxy(&timeline);
    setAccessibleName(tr("Marks"));
    const auto repaint = [this] { update(); };
    connect(&store_, &MarkStore::changed, this, repaint);
    connect(&store_, &MarkStore::selectionChanged, this, repaint);
    connect(&timeline_.places(), &TimelinePlaces::changed, this, repaint);
}

double MarkStrip::toX(int64_t timeNs) const { return timeline_.places().xOf(timeNs) - x(); }

std::vector<MarkStrip::Flag> MarkStrip::flags() const {
    std::vector<Flag> found;
    for (const Mark& mark : store_.marks()) {
        const bool isDragged = isDragging_ && mark.id == pressed_;
        const TimeRange range = isDragged ? mark.range.shifted(draggedNs_) : mark.range;
        const double from = toX(range.startNs), to = toX(range.endNs);
        if (to < 0 || from > width()) continue;
        // A range that starts outside the visible part keeps its flag at the edge.
        const int left = static_cast<int>(std::floor(std::max(from, 0.0)));
        found.push_back({&mark, QRect(left, 2, 0, height() - 6), range});
    }
    // A fixed order of flags at the same place.
    std::ranges::stable_sort(found, {}, [](const Flag& flag) { return flag.area.left(); });
    for (size_t index = 0; index < found.size(); ++index) {
        // Each flag ends where the next begins, so that all can be read and dragged.
        const int left = found[index].area.left();
        int room = std::max(pennantWidth, width() - 2 - left);
        if (index + 1 < found.size()) room = std::min(room, found[index + 1].area.left() - left - 1);
        found[index].area.setWidth(widthOf(*found[index].mark, room));
    }
    return found;
}

/// Measures only texts that have room: some hundred for any number of marks.
int MarkStrip::widthOf(const Mark& mark, int room) const {
    constexpr int minTextRoom = 3;
    if (room <= pennantWidth || mark.text.empty()) return std::max(minTextRoom, std::min(room, pennantWidth));
    const int textWidth = QFontMetrics(font()).horizontalAdvance(toQString(mark.text));
    return std::min(room, std::clamp(textWidth + 2 * textInset, pennantWidth, maxFlagWidth));
}

QRect MarkStrip::flagOf(const std::string& id) const {
    for (const Flag& flag : flags())
        if (flag.mark->id == id) return flag.area;
    return {};
}

const Mark* MarkStrip::markAt(QPoint position) const {
    const Mark* found = nullptr;
    for (const Flag& flag : flags())
        if (flag.area.adjusted(-1, -2, 1, 4).contains(position)) found = flag.mark;
    return found;
}

void MarkStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = timeline_.state().options().theme();
    painter.fillRect(rect(), theme.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.separator);
    painter.setRenderHint(QPainter::Antialiasing);
    const std::vector<Flag> all = flags();
    for (size_t index = 0; index < all.size(); ++index) {
        paintRange(painter, all[index]);
        // Many flags at one place are drawn as one.
        const bool isCovered = index + 1 < all.size() && all[index + 1].area.left() == all[index].area.left();
        const std::string& id = all[index].mark->id;
        if (!isCovered || id == store_.selected() || id == hovered_) paintFlag(painter, all[index]);
    }
}

void MarkStrip::paintRange(QPainter& painter, const Flag& flag) const {
    if (flag.range.isEmpty()) return;
    const double from = std::max(0.0, toX(flag.range.startNs));
    const double to = std::min<double>(width(), toX(flag.range.endNs));
    painter.fillRect(QRectF(from, height() - 5, std::max(1.0, to - from), 4), QColor::fromRgb(flag.mark->color));
}

void MarkStrip::paintFlag(QPainter& painter, const Flag& flag) const {
    const Theme& theme = timeline_.state().options().theme();
    const QColor color = QColor::fromRgb(flag.mark->color);
    const bool isSelected = flag.mark->id == store_.selected();
    const bool isHovered = flag.mark->id == hovered_;
    painter.fillRect(QRect(flag.area.left(), 2, 2, height() - 3), color);
    QPainterPath shape;
    const QRectF area = flag.area;
    // A pennant without text has a notch to distinguish it from a slice.
    if (area.width() <= pennantWidth) {
        shape.addPolygon(QPolygonF(
            {area.topLeft(), {area.right(), area.top() + 4.5}, {area.left(), area.top() + 9}, area.topLeft()}));
    } else {
        shape.addRoundedRect(area, 3, 3);
    }
    painter.fillPath(shape, isHovered ? Theme::mix(color, theme.text, 0.12) : color);
    if (isSelected) painter.strokePath(shape, QPen(theme.text, 1.5));
    if (area.width() <= pennantWidth) return;
    painter.setPen(theme.textOn(color));
    const QRectF room = area.adjusted(textInset, 0, -textInset + 2, 0);
    painter.drawText(
        room, Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetrics(font()).elidedText(toQString(printable(flag.mark->text)), Qt::ElideRight, int(room.width())));
}

void MarkStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const Mark* mark = markAt(event->pos());
    pressed_ = mark ? mark->id : std::string();
    pressedX_ = event->pos().x();
    isDragging_ = false;
    draggedNs_ = 0;
    store_.select(pressed_);
    timeline_.setFocus(Qt::MouseFocusReason);
}

void MarkStrip::mouseMoveEvent(QMouseEvent* event) {
    if (!pressed_.empty() && (event->buttons() & Qt::LeftButton)) {
        isDragging_ = isDragging_ || std::abs(event->pos().x() - pressedX_) > clickTolerance;
        draggedNs_ = timeline_.places().timeAt(event->pos().x()) - timeline_.places().timeAt(pressedX_);
        return update();
    }
    const Mark* mark = markAt(event->pos());
    const std::string now = mark ? mark->id : std::string();
    if (now != hovered_) {
        hovered_ = now;
        setCursor(mark ? Qt::PointingHandCursor : Qt::ArrowCursor);
        update();
    }
}

void MarkStrip::mouseReleaseEvent(QMouseEvent*) {
    const Mark* mark = store_.find(std::exchange(pressed_, {}));
    if (!mark || !std::exchange(isDragging_, false)) return;
    Mark moved = *mark;
    moved.range = moved.range.shifted(draggedNs_);
    store_.change(moved);
    update();
}

void MarkStrip::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const Mark* mark = markAt(event->pos()))
        emit editRequested(mark->id);
    else
        emit newMarkRequested(timeline_.places().timeAt(x() + event->position().x()));
}

void MarkStrip::leaveEvent(QEvent*) {
    hovered_.clear();
    update();
}

std::optional<QString> MarkStrip::toolTipAt(QPoint position) const {
    const Mark* mark = markAt(position);
    return mark ? plainToolTip(tipOf(*mark)) : tr("Double click sets a mark here; M marks what is selected.");
}

TimelineMarks::TimelineMarks(MarkStore& store, TimelineView& timeline, QObject* parent)
    : QObject(parent),
      store_(store),
      timeline_(timeline),
      label_(new QLabel(tr("Marks"))),
      strip_(new MarkStrip(store, timeline)),
      lines_(new MarkLines(store, timeline)),
      editor_(new MarkEditor(&timeline)) {
    label_->setIndent(labelIndent);
    label_->setAutoFillBackground(true);
    timeline_.setStrip(label_, strip_, MarkStrip::stripHeight);
    setTheme(timeline_.state().options().theme());
    connect(&store_, &MarkStore::changed, this, &TimelineMarks::updateStrip);
    connect(strip_, &MarkStrip::editRequested, this, [this](const std::string& id) {
        store_.select(id);
        editMark();
    });
    connect(strip_, &MarkStrip::newMarkRequested, this, [this](qint64 timeNs) {
        Mark mark = newMark({timeNs, timeNs});
        mark.color = lastColor_;
        begin(mark, true);
    });
    connect(editor_, &MarkEditor::accepted, this, [this](const Mark& mark, bool isNew) {
        isWriting_ = false;
        lastColor_ = mark.color;
        isNew ? store_.add(mark) : store_.change(mark);
        store_.select(mark.id);
        updateStrip();
        timeline_.setFocus();
    });
    connect(editor_, &MarkEditor::rejected, this, [this] {
        isWriting_ = false;
        updateStrip();
        timeline_.setFocus();
    });
    connect(&timeline_.places(), &TimelinePlaces::changed, this, &TimelineMarks::placeEditor);
    updateStrip();
}

void TimelineMarks::setTheme(const Theme& theme) {
    QPalette colors = label_->palette();
    colors.setColor(QPalette::Window, theme.panel);
    colors.setColor(QPalette::WindowText, theme.mutedText);
    label_->setPalette(colors);
    editor_->setTheme(theme);
    strip_->update();
    lines_->update();
}

Mark TimelineMarks::markHere() const {
    Mark mark = newMark({});
    mark.color = lastColor_;
    const EventRef event = timeline_.state().selection().event();
    const auto setTrack = [&](uint32_t track) {
        if (track != noIndex) mark.track = trackPath(*timeline_.trace(), track);
    };
    if (const auto range = timeline_.state().selection().range()) {
        mark.range = *range;
    } else if (event.isValid()) {
        mark.range = timeline_.trace()->rangeOf(event);
        setTrack(timeline_.state().lanes().trackOf(event));
    } else {
        const QPoint pointer = timeline_.mapFromGlobal(QCursor::pos());
        const QRect tracks = timeline_.places().tracksArea();
        const bool isInside = timeline_.underMouse() && tracks.contains(pointer);
        const QPoint place = isInside ? pointer : QPoint(tracks.center().x(), -1);
        mark.range.startNs = mark.range.endNs = timeline_.places().timeAt(place.x());
        setTrack(timeline_.places().trackAt(place.y()));
    }
    return mark;
}

void TimelineMarks::addMark() {
    if (timeline_.trace()) begin(markHere(), true);
}

void TimelineMarks::editMark() {
    if (const Mark* mark = store_.find(store_.selected())) begin(*mark, false);
}

void TimelineMarks::begin(const Mark& mark, bool isNew) {
    isWriting_ = true;
    updateStrip();
    editor_->setTheme(timeline_.state().options().theme());
    editor_->edit(mark, isNew);
    placeEditor();
}

void TimelineMarks::placeEditor() {
    if (!isWriting_ || !editor_) return;
    const QRect tracks = timeline_.places().tracksArea();
    const double x = std::clamp(timeline_.places().xOf(editor_->mark().range.startNs), double(tracks.left()),
                                double(tracks.right()));
    const int left =
        std::clamp(int(x), tracks.left() + 4, std::max(tracks.left() + 4, tracks.right() - editor_->width() - 4));
    editor_->move(left, tracks.top() + 4);
    editor_->raise();
}

void TimelineMarks::step(bool isForward) {
    const Mark* selected = store_.find(store_.selected());
    const TimeRange visible = timeline_.state().range().visible();
    const int64_t from = selected ? selected->range.startNs : visible.startNs + visible.durationNs() / 2;
    if (const Mark* mark = store_.next(from, isForward)) show(mark->id);
}

void TimelineMarks::show(const std::string& id) {
    const Mark* mark = store_.find(id);
    if (!mark) return;
    store_.select(id);
    const TimeRange range = mark->range.shifted(-timeline_.state().range().origin());
    VisibleRange& visible = timeline_.state().range().axis();
    const int64_t shownNs = visible.range().durationNs();
    if (range.durationNs() / 9 > shownNs / 10) {
        const int64_t margin = range.durationNs() / 8;
        visible.setRange({range.startNs - margin, range.endNs + margin});
    } else if (range.startNs < visible.range().startNs || range.endNs > visible.range().endNs) {
        const int64_t middle = range.startNs + range.durationNs() / 2;
        visible.setRange({middle - shownNs / 2, middle - shownNs / 2 + shownNs});
    }
    const uint32_t track = timeline_.trace() ? trackOfPath(*timeline_.trace(), mark->track) : noIndex;
    if (track != noIndex && timeline_.places().trackArea(track).isEmpty())
        TimelineNavigator(timeline_.state()).scrollToTrack(track);
}

void TimelineMarks::updateStrip() {
    const bool isNeeded = !store_.marks().empty() || isWriting_;
    timeline_.setStripHeight(isNeeded ? MarkStrip::stripHeight : 0);
}

}  // namespace lanescope::views
