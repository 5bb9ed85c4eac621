// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/CriticalPath.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <optional>

#include "model/analysis/GpuWork.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/stacks.h"
#include "views/text/shownText.h"
#include "views/theme/texts.h"
#include "views/timeline/TimelineNavigator.h"

namespace lanescope::views {
namespace {

using analysis::StepPart;
using causality::NodeKind;
using causality::PathPiece;

constexpr double minNamedPx = 40, textInset = 4;
constexpr double minJoinedPx = 2;  ///< Narrower pieces alternate between rows faster than lines can show.
constexpr double lineWidth = 3, joinWidth = 1.5;
constexpr double aimPx = 2;

/// Calls `visit(piece, left, right)` for one piece per pixel column at most.
template <class Visit>
void forEachVisible(const std::vector<PathPiece>& pieces, const TimeScale& scale, const Visit& visit) {
    const auto after = [&](auto from, int64_t timeNs) {
        return std::partition_point(from, pieces.end(), [=](const auto& each) { return each.range.endNs <= timeNs; });
    };
    for (auto at = after(pieces.begin(), scale.range.startNs);
         at != pieces.end() && at->range.startNs < scale.range.endNs;) {
        const double left = std::max(scale.toX(at->range.startNs), scale.left);
        const double right = std::min(std::max(scale.toX(at->range.endNs), left + 1), scale.left + scale.width);
        visit(*at, left, right);
        at = after(at + 1, scale.toTimeNs(right));
    }
}

/// Returns the part of a step to which a piece belongs, as its colour and name.
StepPart partOf(const PathPiece& piece) {
    switch (piece.group.kind) {
        case NodeKind::Kernel:
        case NodeKind::Graph: return StepPart::Compute;
        case NodeKind::Copy: return analysis::partOf(static_cast<MemcpyKind>(piece.group.name));
        case NodeKind::Memset: return StepPart::Memset;
        case NodeKind::Collective:
        case NodeKind::Entered: return StepPart::ExposedCommunication;
        case NodeKind::Arrival: return StepPart::DataLoading;
        default: break;
    }
    return piece.group.isLoading   ? StepPart::DataLoading
           : piece.group.isUnknown ? StepPart::OtherIdle
                                   : StepPart::LaunchBound;
}

QString textOf(const Trace& trace, const PathPiece& piece) {
    if (piece.event.isValid()) return QString::fromStdString(trace.nameOf(piece.event));
    const StepPart part = partOf(piece);
    QString text = part == StepPart::DataLoading ? QStringLiteral("Data loading")
                   : part == StepPart::OtherIdle ? QStringLiteral("Waiting for an unknown reason")
                                                 : QStringLiteral("Host code");
    if (piece.group.stack != noIndex)
        text += QStringLiteral(" at ") + QString::fromStdString(placeText(trace, piece.group.stack));
    return text;
}

/// Returns the height at which a piece ends its row on the screen; nullopt if it is on no visible row.
std::optional<double> bottomOf(const TimelineState& state, const PathPiece& piece) {
    const Trace& trace = *state.trace();
    const TrackLayout& layout = state.tracks().layout();
    SliceLocation at;
    if (piece.event.isValid()) {
        at = trace.locate(piece.event);
    } else if (piece.thread != noIndex) {
        const auto track = std::ranges::find_if(trace.tracks, [&](const Track& each) {
            return each.kind == TrackKind::Thread && each.subject == piece.thread;
        });
        if (track != trace.tracks.end()) at.track = static_cast<uint32_t>(track - trace.tracks.begin());
    }
    if (at.track == noIndex) return std::nullopt;
    int bottom = 0;
    if (const auto area = at.isValid() ? layout.areaOf({at.track, at.lane}) : std::nullopt) {
        bottom = area->top + area->height;
    } else {
        const LayoutRow* row = layout.visibleRowOf(at.track);
        if (!row) return std::nullopt;
        bottom = row->top + row->height;
    }
    const int pinned = state.scroll().pinnedHeight(), y = state.scroll().toScreenY(bottom);
    if (bottom > pinned && y <= pinned) return std::nullopt;
    return y;
}

}  // namespace

void paintCriticalPath(QPainter& painter, const TimelineState& state, QSize size) {
    const auto& path = state.selection().path();
    if (!path || !state.hasTracks()) return;
    QColor halo = state.options().theme().canvas;
    halo.setAlpha(190);
    struct Line {
        double left, right, y;
        std::optional<double> from;  ///< Height from which the path comes.
    };
    std::vector<Line> lines;
    forEachVisible(path->pieces, state.range().scale(size.width()),
                   [&](const PathPiece& piece, double left, double right) {
                       const auto bottom = bottomOf(state, piece);
                       if (!bottom) return;
                       Line line{left, right, *bottom - lineWidth / 2 - 1, std::nullopt};
                       const Line* before = lines.empty() ? nullptr : &lines.back();
                       if (before && std::min(before->right - before->left, right - left) >= minJoinedPx)
                           line.from = before->y;
                       lines.push_back(line);
                   });
    painter.save();
    for (const auto& [color, extra] : {std::pair(halo, 2.0), std::pair(state.options().theme().slower, 0.0)})
        for (const Line& line : lines) {
            painter.fillRect(
                QRectF(line.left, line.y - (lineWidth + extra) / 2, line.right - line.left, lineWidth + extra), color);
            if (line.from)
                painter.fillRect(QRectF(QPointF(line.left - (joinWidth + extra) / 2, *line.from),
                                        QPointF(line.left + (joinWidth + extra) / 2, line.y))
                                     .normalized(),
                                 color);
        }
    painter.restore();
}

CriticalPathLane::CriticalPathLane(TimelineState& state, QWidget* parent) : QWidget(parent), state_(state) {
    const auto repaint = [this] { update(); };
    connect(&state_.range(), &TimelineRange::changed, this, repaint);
    connect(&state_.options(), &TimelineOptions::changed, this, repaint);
    connect(&state_.selection(), &TimelineSelection::pathChanged, this, repaint);
    setAccessibleName(tr("Critical path"));
    hide();
}

void CriticalPathLane::paint(QPainter& painter, const TimelineState& state, QSize size, int labelWidth,
                             const QFont& font) {
    const Theme& theme = state.options().theme();
    painter.fillRect(QRect(0, 0, labelWidth, size.height()), theme.panel);
    painter.fillRect(QRect(labelWidth, 0, size.width() - labelWidth, size.height()), theme.canvas);
    painter.fillRect(QRect(0, size.height() - 1, size.width(), 1), theme.separator);
    drawText(painter, font, theme.text, QRectF(8, 0, labelWidth - 12, size.height()), Qt::AlignVCenter,
             tr("Critical path"));
    const auto& path = state.selection().path();
    if (!path || !state.trace()) return;
    const TimeScale scale{state.range().visible(), double(size.width() - labelWidth), double(labelWidth)};
    const QFontMetricsF metrics(font);
    forEachVisible(path->pieces, scale, [&](const PathPiece& piece, double left, double right) {
        const QColor fill = theme.colorOf(partOf(piece));
        const QRectF area(left, 2, right - left, size.height() - 5);
        painter.fillRect(area, fill);
        if (area.width() < minNamedPx) return;
        const QRectF inner = area.adjusted(textInset, 0, -textInset, 0);
        drawText(painter, font, theme.textOn(fill), inner, Qt::AlignVCenter,
                 metrics.elidedText(textOf(*state.trace(), piece), Qt::ElideRight, inner.width()));
    });
}

void CriticalPathLane::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, state_, size(), labelWidth_, font());
}

const PathPiece* CriticalPathLane::pieceAt(double x) const {
    const auto& path = state_.selection().path();
    if (!path || x < labelWidth_) return nullptr;
    const TimeScale scale{state_.range().visible(), double(width() - labelWidth_), double(labelWidth_)};
    const PathPiece* found = nullptr;
    forEachVisible(path->pieces, scale, [&](const PathPiece& piece, double left, double right) {
        if (left - aimPx <= x && x < right + aimPx && (!found || left <= x)) found = &piece;
    });
    return found;
}

bool CriticalPathLane::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto& path = state_.selection().path();
    if (!path) return true;
    QString text = path->title;
    if (const PathPiece* piece = pieceAt(help->pos().x()))
        text = QStringLiteral("%1, %2\n%3")
                   .arg(textOf(*state_.trace(), *piece), shortDuration(piece->range.durationNs()), text);
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

void CriticalPathLane::mouseReleaseEvent(QMouseEvent* event) {
    const PathPiece* piece = event->button() == Qt::LeftButton ? pieceAt(event->position().x()) : nullptr;
    if (!piece) return;
    state_.selection().setEvent(piece->event);
    state_.selection().setRange(piece->event.isValid() ? std::nullopt : std::optional(piece->range));
    if (const uint32_t track = state_.lanes().trackOf(piece->event); track != noIndex)
        TimelineNavigator(state_).scrollToTrack(track);
}

}  // namespace lanescope::views
