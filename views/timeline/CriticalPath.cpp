// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/CriticalPath.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "model/analysis/GpuWork.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/stacks.h"
#include "views/text/shownText.h"
#include "views/theme/texts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

using analysis::StepPart;
using causality::NodeKind;
using Piece = CriticalPath::Piece;

constexpr double minNamedPx = 40, textInset = 4;
constexpr double minConnectedPx = 2;  ///< Narrower pieces alternate between rows faster than lines can show.
constexpr double lineWidth = 3, connectorWidth = 1.5, haloWidth = 2;
constexpr double aimPx = 2;

StepPart partOf(const Trace& trace, const causality::NodeGroup& group) {
    switch (group.kind) {
        case NodeKind::Kernel:
            if (trace.launchConfigs.isCollective(group.name)) return StepPart::ExposedCommunication;
            return StepPart::Compute;
        case NodeKind::Graph: return StepPart::Compute;
        case NodeKind::Copy: return analysis::partOf(static_cast<MemcpyKind>(group.name));
        case NodeKind::Memset: return StepPart::Memset;
        case NodeKind::Collective:
        case NodeKind::Entered: return StepPart::ExposedCommunication;
        case NodeKind::Arrival: return StepPart::DataLoading;
        case NodeKind::Call:
        case NodeKind::Return:
            if (apiCategory(trace.strings.at(group.name)) == SliceCategory::ApiSync) return StepPart::Synchronization;
            break;
        case NodeKind::Host: break;
    }
    return group.isLoading ? StepPart::DataLoading : group.isUnknown ? StepPart::OtherIdle : StepPart::LaunchBound;
}

/// Calls `visit(piece, left, right)` for one piece per pixel column at most.
template <class Visit>
void forEachVisible(const std::vector<Piece>& pieces, const TimeScale& scale, const Visit& visit) {
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

QString textOf(const Trace& trace, const Piece& piece) {
    if (piece.event.isValid()) return toQString(trace.nameOf(piece.event));
    QString text = piece.part == StepPart::DataLoading ? QStringLiteral("Data loading")
                   : piece.part == StepPart::OtherIdle ? QStringLiteral("Waiting for an unknown reason")
                                                       : QStringLiteral("Host code");
    if (piece.stack != noIndex) text += QStringLiteral(" at ") + toQString(placeText(trace, piece.stack));
    return text;
}

QString titleOf(const CriticalPath& path) {
    return path.unexplained <= causality::StepReplay::maxUnexplained
               ? QStringLiteral("Critical path")
               : QStringLiteral("Critical path, %1 % unexplained").arg(100 * path.unexplained, 0, 'f', 0);
}

/// Returns the height at which a piece ends its row on the screen; nullopt if it is on no visible row.
std::optional<int> bottomOf(const TimelineState& state, const Piece& piece) {
    if (piece.at.track == noIndex) return std::nullopt;
    const TrackLayout& layout = state.tracks().layout();
    const auto area = piece.at.isValid() ? layout.areaOf({piece.at.track, piece.at.lane}) : std::nullopt;
    const LayoutRow* row = area ? nullptr : layout.visibleRowOf(piece.at.track);
    if (!area && !row) return std::nullopt;
    const int top = area ? area->top : row->top, y = state.scroll().toScreenY(top);
    // Scrolled under the pinned rows.
    const int pinned = state.scroll().pinnedHeight(), bottom = y + (area ? area->height : row->height);
    if (top >= pinned && bottom <= pinned + lineWidth) return std::nullopt;
    return bottom;
}

}  // namespace

CriticalPath::CriticalPath(const Trace& trace, const causality::StepReplay& replay)
    : unexplained(replay.unexplained()) {
    std::vector<uint32_t> trackOfThread(trace.threads.size(), noIndex);
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (trace.tracks[track].kind == TrackKind::Thread) trackOfThread[trace.tracks[track].subject] = track;
    for (const causality::PathPiece& each : replay.pathPieces()) {
        Piece piece{each.range, partOf(trace, each.group), each.event, each.group.stack, {}};
        if (each.event.isValid())
            piece.at = trace.locate(each.event);
        else if (each.thread != noIndex)
            piece.at.track = trackOfThread[each.thread];
        pieces.push_back(piece);
    }
}

void paintCriticalPath(QPainter& painter, const TimelineState& state, QSize size) {
    const auto& path = state.selection().path();
    if (!path || !state.hasTracks()) return;
    const QColor halo = translucent(state.options().theme().canvas, 190);
    std::vector<QRectF> lines;
    const Piece* before = nullptr;
    forEachVisible(path->pieces, state.range().scale(size.width()), [&](const Piece& piece, double left, double right) {
        const auto bottom = bottomOf(state, piece);
        if (!bottom) return;
        const QRectF line(left, *bottom - lineWidth - 1, right - left, lineWidth);
        const bool isConnected =
            before && before + 1 == &piece && std::min(lines.back().width(), line.width()) >= minConnectedPx;
        const double from = isConnected ? lines.back().center().y() : 0;
        if (isConnected)
            lines.push_back(
                QRectF(QPointF(left - connectorWidth / 2, from), QPointF(left + connectorWidth / 2, line.center().y()))
                    .normalized());
        lines.push_back(line);
        before = &piece;
    });
    constexpr double edge = haloWidth / 2;
    for (const QRectF& line : lines) painter.fillRect(line.adjusted(-edge, -edge, edge, edge), halo);
    for (const QRectF& line : lines) painter.fillRect(line, state.options().theme().slower);
}

CriticalPathLane::CriticalPathLane(TimelineState& state, QWidget* parent) : TippedWidget(parent), state_(state) {
    const auto repaint = [this] { update(); };
    connect(&state_.range(), &TimelineRange::changed, this, repaint);
    connect(&state_.options(), &TimelineOptions::changed, this, repaint);
    connect(&state_.selection(), &TimelineSelection::pathChanged, this, [this] {
        if (const auto& path = state_.selection().path()) setAccessibleName(titleOf(*path));
        update();
    });
    hide();
}

void CriticalPathLane::paint(QPainter& painter, const TimelineState& state, QSize size, int labelWidth,
                             const QFont& font) {
    const Theme& theme = state.options().theme();
    painter.fillRect(QRect(0, 0, labelWidth, size.height()), theme.panel);
    painter.fillRect(QRect(labelWidth, 0, size.width() - labelWidth, size.height()), theme.canvas);
    painter.fillRect(QRect(0, size.height() - 1, size.width(), 1), theme.separator);
    const auto& path = state.selection().path();
    if (!path || !state.trace()) return;
    drawText(painter, font, theme.text, QRectF(8, 0, labelWidth - 12, size.height()), Qt::AlignVCenter, titleOf(*path));
    const TimeScale scale{state.range().visible(), double(size.width() - labelWidth), double(labelWidth)};
    const QFontMetricsF metrics(font);
    forEachVisible(path->pieces, scale, [&](const Piece& piece, double left, double right) {
        const QColor fill = theme.colorOf(piece.part);
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

TimeScale CriticalPathLane::scale() const {
    return {state_.range().visible(), double(width() - labelWidth_), double(labelWidth_)};
}

const Piece* CriticalPathLane::pieceAt(double x) const {
    const auto& path = state_.selection().path();
    if (!path || x < labelWidth_) return nullptr;
    const Piece* found = nullptr;
    forEachVisible(path->pieces, scale(), [&](const Piece& piece, double left, double right) {
        if (left - aimPx <= x && x < right + aimPx && (!found || left <= x)) found = &piece;
    });
    return found;
}

std::optional<QString> CriticalPathLane::toolTipAt(QPoint position) const {
    const Piece* piece = pieceAt(position.x());
    if (!piece) return QString();
    return plainToolTip(
        QStringLiteral("%1\n%2").arg(textOf(*state_.trace(), *piece), shortDuration(piece->range.durationNs())));
}

void CriticalPathLane::mouseReleaseEvent(QMouseEvent* event) {
    const bool isClick = event->button() == Qt::LeftButton && rect().contains(event->pos());
    const Piece* piece = isClick ? pieceAt(event->position().x()) : nullptr;
    if (!piece) return;
    state_.selection().setEvent(piece->event);
    if (!piece->event.isValid()) state_.selection().setRange(piece->range);
    const auto bottom = bottomOf(state_, *piece);
    if (piece->at.track != noIndex && (!bottom || *bottom < 0 || *bottom > state_.scroll().viewportHeight()))
        TimelineNavigator(state_).scrollToTrack(piece->at.track);
}

void CriticalPathLane::wheelEvent(QWheelEvent* event) {
    zoomOrPan(*event, state_, scale());
    event->accept();
}

}  // namespace lanescope::views
