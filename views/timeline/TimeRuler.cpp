// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimeRuler.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "model/text/formatTable.h"
#include "views/text/shownText.h"
#include "views/theme/texts.h"
#include "views/timeline/paintWarnings.h"
#include "views/timeline/scales.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

constexpr int majorLength = 10;
constexpr int minorLength = 4;
constexpr int labelInset = 5;

QFont smaller(const QFont& font) { return resized(font, 0.92); }

constexpr int inset = 12;

QString summaryOf(const Trace& trace) {
    QStringList parts{QString::fromStdString(formatDuration(trace.range.durationNs()))};
    const size_t gpus = trace.gpus.size();
    const size_t processes = trace.processes.size();
    if (gpus > 0) parts += QStringLiteral("%1 GPU%2").arg(gpus).arg(gpus == 1 ? "" : "s");
    if (processes > 0) parts += QStringLiteral("%1 process%2").arg(processes).arg(processes == 1 ? "" : "es");
    return parts.join(QStringLiteral("  ·  "));
}

/// Paints a line with the mark, the name and the facts of one of two traces.
void paintMarkedLine(QPainter& painter, const TimelineState& state, const QString& otherTitle, const QRect& line,
                     const QFont& bold, const QFont& font) {
    const QFontMetrics boldMetrics(bold);
    const QFontMetrics metrics(font);
    const int baseline = line.top() + (line.height() + boldMetrics.ascent()) / 2 - 1;
    painter.fillRect(QRect(line.left(), line.top() + 4, 4, line.height() - 8), state.options().mark());
    const int left = line.left() + 12;
    const QString facts = QString::fromStdString(formatDuration(state.trace()->range.durationNs()));
    const int factsWidth = metrics.horizontalAdvance(facts);
    const int room = line.right() - left - factsWidth - 8;
    drawText(painter, bold, state.options().theme().text, QPoint(left, baseline),
             distinctName(QString::fromStdString(state.trace()->title), otherTitle, boldMetrics, room));
    drawText(painter, font, state.options().theme().mutedText, QPoint(line.right() - factsWidth, baseline), facts);
}

}  // namespace

TimeRuler::TimeRuler(TimelineState& state, QWidget* parent) : QWidget(parent), state_(state), rangeDrag_(state) {
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::ClickFocus);
    setMouseTracking(true);
    setToolTip(
        tr("Drag to select a range of time; over the tracks, hold Shift and drag.\nEdges can be dragged and snap to "
           "slices; hold Alt to disable.\nWheel: zoom. Shift+wheel: pan. Click: clear the range."));
    const auto repaint = [this] { update(); };
    connect(&state_.options(), &TimelineOptions::changed, this, repaint);
    connect(&state_.range(), &TimelineRange::changed, this, repaint);
    connect(&state_.selection(), &TimelineSelection::rangeChanged, this, repaint);
    connect(&state_.selection(), &TimelineSelection::hoverTimeChanged, this, &TimeRuler::moveHoverTime);
}

void TimeRuler::paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font) {
    const Theme& theme = state.options().theme();
    painter.fillRect(QRect(QPoint(), size), theme.panel);
    painter.fillRect(QRect(0, size.height() - 1, size.width(), 1), theme.separator);
    if (!state.hasTracks()) return;

    const TimeScale scale = state.range().scale(size.width());
    painter.setFont(smaller(font));
    const QFontMetrics metrics(painter.font());
    const TimeTicks ticks = timeTicks(state.range().axis().range(), size.width(), pixelsPerLabel(metrics));
    const int baseline = (size.height() - minorLength + metrics.ascent() - metrics.descent()) / 2;
    int labelsFrom = 0;
    if (ticks.hasAnchor) {
        const QFont bold = strong(painter.font());
        painter.save();
        drawText(painter, bold, theme.text, QPoint(labelInset + 3, baseline), ticks.anchorLabel);
        labelsFrom = QFontMetrics(bold).horizontalAdvance(ticks.anchorLabel) + 24;
        painter.restore();
    }
    const QColor tickColor = Theme::mix(theme.panel, theme.mutedText, 0.55);
    for (const TimeTick& tick : ticks.ticks) {
        const int x = static_cast<int>(std::floor(scale.toX(tick.timeNs + state.range().origin())));
        const int length = tick.isMajor ? majorLength : minorLength;
        painter.fillRect(QRect(x, size.height() - 1 - length, 1, length), tickColor);
        if (!tick.isMajor || x + labelInset < labelsFrom) continue;
        // A truncated number would be a wrong number.
        if (x + labelInset + metrics.horizontalAdvance(tick.label) > size.width()) continue;
        painter.setPen(theme.mutedText);
        painter.drawText(QPoint(x + labelInset, baseline), tick.label);
    }
    paintWarningsOnRuler(painter, state, size);
    paintSelectedRange(painter, state, scale, 0, size.height());
}

void TimeRuler::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, state_, size(), font());
    paintHoverTime(painter);
    paintedPill_ = hoverPill();
}

QString TimeRuler::hoverText() const {
    // Only as many digits as the pointer can resolve.
    int64_t step = 1;
    while (double(step) * 10 <= scale().nsPerPixel()) step *= 10;
    const int64_t sharedNs = *state_.selection().hoverTime() - state_.range().origin();
    return formatTime(sharedNs / step * step);
}

QRect TimeRuler::hoverPill() const {
    if (!state_.hasTracks() || !state_.selection().hoverTime()) return {};
    const int textWidth = QFontMetrics(smaller(font())).horizontalAdvance(hoverText()) + 12;
    const int x = static_cast<int>(std::floor(scale().toX(*state_.selection().hoverTime())));
    const int left = std::clamp(x - textWidth / 2, 0, std::max(0, width() - textWidth));
    return {left, 4, textWidth, height() - 9};
}

void TimeRuler::paintHoverTime(QPainter& painter) const {
    const QRect pill = hoverPill();
    if (pill.isEmpty()) return;
    painter.setFont(smaller(font()));
    painter.fillRect(pill, state_.options().theme().text);
    painter.setPen(state_.options().theme().panel);
    painter.drawText(pill, Qt::AlignCenter, hoverText());
}

void TimeRuler::moveHoverTime() {
    update(paintedPill_);
    paintedPill_ = hoverPill();
    update(paintedPill_);
}

void TimeRuler::wheelEvent(QWheelEvent* event) {
    zoomOrPan(*event, state_, scale());
    event->accept();
}

void TimeRuler::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !state_.hasTracks()) return;
    isPressed_ = true;
    isDragging_ = false;
    pressedX_ = event->pos().x();
    const int64_t timeNs = scale().toTimeNs(event->position().x());
    if (!rangeDrag_.beginAtEdge(timeNs, scale().spanNs(edgeTolerance))) rangeDrag_.begin(timeFor(*event));
}

void TimeRuler::mouseMoveEvent(QMouseEvent* event) {
    const bool isEdge = isAtEdge(state_, scale().toTimeNs(event->position().x()), scale().spanNs(edgeTolerance));
    setCursor(isEdge || isDragging_ ? Qt::SizeHorCursor : Qt::ArrowCursor);
    if (!isPressed_) return;
    isDragging_ = isDragging_ || std::abs(event->pos().x() - pressedX_) > clickTolerance;
    if (isDragging_) rangeDrag_.moveTo(timeFor(*event));
}

int64_t TimeRuler::timeFor(const QMouseEvent& event) const {
    const int64_t timeNs = scale().toTimeNs(event.position().x());
    if (event.modifiers() & Qt::AltModifier) return timeNs;
    return snapped(state_, timeNs, scale().spanNs(edgeTolerance));
}

void TimeRuler::mouseReleaseEvent(QMouseEvent*) {
    if (isPressed_ && !isDragging_) state_.selection().setRange(std::nullopt);
    isPressed_ = isDragging_ = false;
}

TimelineCorner::TimelineCorner(TimelineState& state, QWidget* parent) : QWidget(parent), state_(state) {
    setAttribute(Qt::WA_OpaquePaintEvent);
    const auto repaint = [this] {
        setToolTip(state_.trace() ? QString::fromStdString(state_.trace()->path.string()).toHtmlEscaped() : QString());
        update();
    };
    connect(&state_, &TimelineState::traceChanged, this, repaint);
    connect(&state_.options(), &TimelineOptions::changed, this, repaint);
}

void TimelineCorner::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    companion_ = companion;
    if (companion) {
        connect(companion, &TimelineState::traceChanged, this, [this] { update(); });
        connect(&companion->options(), &TimelineOptions::changed, this, [this] { update(); });
    }
    update();
}

void TimelineCorner::paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                           const TimelineState* companion) {
    const Theme& theme = state.options().theme();
    painter.fillRect(QRect(QPoint(), size), theme.panel);
    painter.fillRect(QRect(0, size.height() - 1, size.width(), 1), theme.separator);
    painter.fillRect(QRect(size.width() - 1, 0, 1, size.height()), theme.separator);
    if (!state.trace()) return;
    const QFont bold = strong(font);
    if (companion && companion->trace()) {
        const int height = size.height() / 2;
        const QString own = QString::fromStdString(state.trace()->title);
        const QString other = QString::fromStdString(companion->trace()->title);
        paintMarkedLine(painter, state, other, {inset, 2, size.width() - 2 * inset, height}, bold, font);
        paintMarkedLine(painter, *companion, own, {inset, height - 2, size.width() - 2 * inset, height}, bold, font);
        return;
    }
    const QFontMetrics boldMetrics(bold);
    const QFontMetrics metrics(font);
    const int room = size.width() - 2 * inset;
    if (size.height() < boldMetrics.height() + metrics.height() + 4) {
        const QString title =
            boldMetrics.elidedText(QString::fromStdString(state.trace()->title), Qt::ElideMiddle, room);
        const int baseline = (size.height() - boldMetrics.height()) / 2 + boldMetrics.ascent();
        drawText(painter, bold, theme.text, QPoint(inset, baseline), title);
        const int used = boldMetrics.horizontalAdvance(title) + 8;
        drawText(painter, font, theme.mutedText, QPoint(inset + used, baseline),
                 metrics.elidedText(summaryOf(*state.trace()), Qt::ElideRight, std::max(0, room - used)));
        return;
    }
    const int top = (size.height() - boldMetrics.height() - metrics.height() - 4) / 2;
    drawText(painter, bold, theme.text, QPoint(inset, top + boldMetrics.ascent()),
             boldMetrics.elidedText(QString::fromStdString(state.trace()->title), Qt::ElideMiddle, room));
    drawText(painter, font, theme.mutedText, QPoint(inset, top + boldMetrics.height() + 4 + metrics.ascent()),
             metrics.elidedText(summaryOf(*state.trace()), Qt::ElideRight, room));
}

void TimelineCorner::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, state_, size(), font(), companion_);
}

}  // namespace lanescope::views
