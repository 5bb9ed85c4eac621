// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineCorner.h"

#include <QPainter>

#include "model/values/formatTable.h"

namespace lanescope::views {
namespace {

constexpr int inset = 12;

QString summaryOf(const Trace& trace) {
    QStringList parts{QString::fromStdString(formatDuration(trace.range.durationNs()))};
    const size_t gpus = trace.gpus.size();
    const size_t processes = trace.processes.size();
    if (gpus > 0) parts += QStringLiteral("%1 GPU%2").arg(gpus).arg(gpus == 1 ? "" : "s");
    if (processes > 0)
        parts += QStringLiteral("%1 process%2").arg(processes).arg(processes == 1 ? "" : "es");
    return parts.join(QStringLiteral("  ·  "));
}

/// A line with the mark, the name and the facts of one of two traces.
void paintMarkedLine(QPainter& painter, const TimelineState& state, const QRect& line,
                     const QFont& bold, const QFont& font) {
    const QFontMetrics boldMetrics(bold);
    const QFontMetrics metrics(font);
    const int baseline = line.top() + (line.height() + boldMetrics.ascent()) / 2 - 1;
    painter.fillRect(QRect(line.left(), line.top() + 4, 4, line.height() - 8), state.mark());
    const int left = line.left() + 12;
    const QString facts = QString::fromStdString(formatDuration(state.trace()->range.durationNs()));
    const int factsWidth = metrics.horizontalAdvance(facts);
    const int room = line.right() - left - factsWidth - 8;
    painter.setFont(bold);
    painter.setPen(state.theme().text);
    painter.drawText(QPoint(left, baseline),
                     boldMetrics.elidedText(QString::fromStdString(state.trace()->title),
                                            Qt::ElideMiddle, room));
    painter.setFont(font);
    painter.setPen(state.theme().mutedText);
    painter.drawText(QPoint(line.right() - factsWidth, baseline), facts);
}

}  // namespace

TimelineCorner::TimelineCorner(TimelineState& state, QWidget* parent)
    : QWidget(parent), state_(state) {
    setAttribute(Qt::WA_OpaquePaintEvent);
    const auto repaint = [this] {
        setToolTip(state_.trace()
                       ? QString::fromStdString(state_.trace()->path.string()).toHtmlEscaped()
                       : QString());
        update();
    };
    connect(&state_, &TimelineState::traceChanged, this, repaint);
    connect(&state_, &TimelineState::themeChanged, this, repaint);
}

void TimelineCorner::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    if (companion_) disconnect(companion_, nullptr, this, nullptr);
    companion_ = companion;
    if (companion) {
        connect(companion, &TimelineState::traceChanged, this, [this] { update(); });
        connect(companion, &TimelineState::themeChanged, this, [this] { update(); });
    }
    update();
}

void TimelineCorner::paint(QPainter& painter, const TimelineState& state, QSize size,
                           const QFont& font, const TimelineState* companion) {
    const Theme& theme = state.theme();
    painter.fillRect(QRect(QPoint(), size), theme.panel);
    painter.fillRect(QRect(0, size.height() - 1, size.width(), 1), theme.separator);
    painter.fillRect(QRect(size.width() - 1, 0, 1, size.height()), theme.separator);
    if (!state.trace()) return;
    QFont bold = font;
    bold.setWeight(QFont::DemiBold);
    if (companion && companion->trace()) {
        const int height = size.height() / 2;
        paintMarkedLine(painter, state, {inset, 2, size.width() - 2 * inset, height}, bold, font);
        paintMarkedLine(painter, *companion, {inset, height - 2, size.width() - 2 * inset, height},
                        bold, font);
        return;
    }
    const QFontMetrics boldMetrics(bold);
    const QFontMetrics metrics(font);
    const int room = size.width() - 2 * inset;
    const int top = (size.height() - boldMetrics.height() - metrics.height() - 4) / 2;
    painter.setFont(bold);
    painter.setPen(theme.text);
    painter.drawText(QPoint(inset, top + boldMetrics.ascent()),
                     boldMetrics.elidedText(QString::fromStdString(state.trace()->title),
                                            Qt::ElideMiddle, room));
    painter.setFont(font);
    painter.setPen(theme.mutedText);
    painter.drawText(QPoint(inset, top + boldMetrics.height() + 4 + metrics.ascent()),
                     metrics.elidedText(summaryOf(*state.trace()), Qt::ElideRight, room));
}

void TimelineCorner::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, state_, size(), font(), companion_);
}

}  // namespace lanescope::views
