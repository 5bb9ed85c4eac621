// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/RangeSelection.h"

#include <algorithm>
#include <cstdlib>

#include "model/text/formatTable.h"
#include "views/theme/texts.h"

namespace lanescope::views {
namespace {

/// The nearest edge to a time so far.
struct NearestEdge {
    int64_t timeNs;
    int64_t bestNs = 0;
    int64_t distanceNs;

    void consider(int64_t edgeNs) {
        const int64_t awayNs = std::abs(edgeNs - timeNs);
        if (awayNs > distanceNs || (isFound && awayNs == distanceNs)) return;
        bestNs = edgeNs;
        distanceNs = awayNs;
        isFound = true;
    }
    void consider(const TimelineState& state, LanePosition lane) {
        const uint32_t count = state.lanes().sliceCount(lane);
        if (count == 0 || state.lanes().counterAt(lane)) return;
        // Slices are sorted and disjoint, so the edge belongs to the nearest one or a neighbour.
        const uint32_t middle = state.lanes().nearestSlice(lane, timeNs);
        for (uint32_t slice = middle > 0 ? middle - 1 : 0; slice < count && slice <= middle + 1; ++slice) {
            const TimeRange range = state.lanes().sliceRange(lane, slice);
            consider(range.startNs);
            consider(range.endNs);
        }
    }
    bool isFound = false;
};

void paintDuration(QPainter& painter, const TimelineState& state, const TimeScale& scale) {
    const TimeRange range = *state.selection().range();
    const double left = std::max(scale.left, scale.toX(range.startNs));
    const double right = std::min(scale.left + scale.width, scale.toX(range.endNs));
    if (right <= left) return;
    const QString text = QString::fromStdString(formatDuration(range.durationNs()));
    const QFont font = strong(painter.font());
    const QFontMetricsF metrics(font);
    QRectF pill(0, 8, metrics.horizontalAdvance(text) + 20, metrics.height() + 6);
    pill.moveLeft(std::clamp((left + right - pill.width()) / 2, 4.0, std::max(4.0, scale.width - pill.width() - 4)));

    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(font);
    painter.setPen(Qt::NoPen);
    painter.setBrush(state.options().theme().accent);
    painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2);
    painter.setPen(state.options().theme().accentText);
    painter.drawText(pill, Qt::AlignCenter, text);
    painter.restore();
}

}  // namespace

bool RangeDrag::beginAtEdge(int64_t timeNs, int64_t toleranceNs) {
    if (!isAtEdge(state_, timeNs, toleranceNs)) return false;
    const TimeRange range = *state_.selection().range();
    const bool isStart = std::abs(range.startNs - timeNs) < std::abs(range.endNs - timeNs);
    anchorNs_ = isStart ? range.endNs : range.startNs;
    return true;
}

void RangeDrag::moveTo(int64_t timeNs) {
    const TimeRange range{std::min(anchorNs_, timeNs), std::max(anchorNs_, timeNs)};
    state_.selection().setRange(range.intersected(state_.range().limits()));
}

bool isAtEdge(const TimelineState& state, int64_t timeNs, int64_t toleranceNs) {
    const auto range = state.selection().range();
    return range && std::min(std::abs(range->startNs - timeNs), std::abs(range->endNs - timeNs)) <= toleranceNs;
}

int64_t snapped(const TimelineState& state, int64_t timeNs, int64_t toleranceNs, std::optional<LanePosition> lane) {
    if (!state.hasTracks()) return timeNs;
    NearestEdge nearest{timeNs, 0, toleranceNs};
    if (lane) nearest.consider(state, *lane);
    if (nearest.isFound) return nearest.bestNs;
    for (const TrackScroll::Band& band : state.scroll().bands(state.scroll().viewportHeight()))
        for (const LayoutRow& row : band.rows)
            TrackLayout::forEachLane(row, [&](LanePosition each, const LaneArea&) { nearest.consider(state, each); });
    return nearest.isFound ? nearest.bestNs : timeNs;
}

void paintSelectedEvent(QPainter& painter, const TimelineState& state, QSize size) {
    if (!state.hasTracks() || !state.selection().event().isValid()) return;
    const SliceLocation at = state.trace()->locate(state.selection().event());
    if (!at.isValid()) return;
    const auto rectangle = sliceRectangle(state, {at.track, at.lane}, at.slice, size.width());
    if (!rectangle) return;
    // Two outlines: the inner one keeps the mark visible on a slice of the accent's own colour.
    painter.save();
    painter.setBrush(Qt::NoBrush);
    QPen pen(state.options().theme().text, 2);
    pen.setJoinStyle(Qt::MiterJoin);
    painter.setPen(pen);
    painter.drawRect(*rectangle);
    painter.setPen(QPen(state.options().theme().canvas, 1));
    if (rectangle->width() > 8) painter.drawRect(rectangle->adjusted(1.5, 1.5, -1.5, -1.5));
    painter.restore();
}

std::optional<QRectF> sliceRectangle(const TimelineState& state, LanePosition position, uint32_t slice, double width) {
    const auto area = state.tracks().layout().areaOf(position);
    if (!area) return std::nullopt;
    const TimeRange range = state.lanes().sliceRange(position, slice);
    const TimeScale scale = state.range().scale(width);
    if (range.endNs < scale.range.startNs || range.startNs > scale.range.endNs) return std::nullopt;
    const double left = std::max(-4.0, scale.toX(range.startNs));
    const double right = std::min(width + 4.0, std::max(left + 2, scale.toX(range.endNs)));
    if (area->top < state.scroll().pinnedHeight()) return QRectF(left, area->top, right - left, area->height - 1);
    const double bottom = area->top - state.scroll().y() + area->height - 1;
    // The part scrolled under the pinned rows is invisible.
    const double top = std::max(area->top - state.scroll().y(), state.scroll().pinnedHeight());
    if (bottom <= top) return std::nullopt;
    return QRectF(left, top, right - left, bottom - top);
}

void paintSelectedRange(QPainter& painter, const TimelineState& state, const TimeScale& scale, double top,
                        double bottom) {
    if (!state.selection().range()) return;
    const TimeRange range = *state.selection().range();
    const double end = scale.left + scale.width;
    const double left = std::clamp(scale.toX(range.startNs), scale.left - 2, end + 2);
    const double right = std::clamp(scale.toX(range.endNs), scale.left - 2, end + 2);
    if (right < scale.left || left > end) return;
    painter.fillRect(QRectF(left, top, std::max(1.0, right - left), bottom - top), state.options().theme().selection);
    painter.fillRect(QRectF(left, top, 1, bottom - top), state.options().theme().accent);
    painter.fillRect(QRectF(right, top, 1, bottom - top), state.options().theme().accent);
}

void paintSelection(QPainter& painter, const TimelineState& state, QSize size) {
    if (!state.hasTracks()) return;
    const TimeScale scale = state.range().scale(size.width());
    paintSelectedRange(painter, state, scale, 0, size.height());
    paintSelectedEvent(painter, state, size);
    if (state.selection().range()) paintDuration(painter, state, scale);
}

}  // namespace lanescope::views
