// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/paintWarnings.h"

#include <algorithm>
#include <cmath>

namespace lanescope::views {
namespace {

constexpr double reach = 4;  // a pixel distance that still counts as on a mark
constexpr double flagSize = 7;

/// Returns the process whose end is drawn on the rows of the track; `noIndex` for tracks that outlive a process.
uint32_t processOf(const Trace& trace, const Track& track) {
    switch (track.kind) {
        case TrackKind::Stream:
        case TrackKind::StreamProjection: return trace.streams[track.subject].process;
        case TrackKind::Process:
        case TrackKind::ProcessEvents: return track.subject;
        case TrackKind::Thread:
        case TrackKind::ThreadNvtx:
        case TrackKind::ThreadApi:
        case TrackKind::ThreadStates:
        case TrackKind::ThreadStacks: return trace.threads[track.subject].process;
        case TrackKind::Gpu:
        case TrackKind::GpuEvents:
        case TrackKind::Counter:
        case TrackKind::CounterStates:
        case TrackKind::CounterGroup: return noIndex;
    }
    return noIndex;
}

constexpr double hatchDistance = 8;
constexpr int unknownFill = 14, unknownLine = 60;  // opacity of 255

/// Fills `area` and draws 45-degree lines that continue from one area to the next. Lines instead of a brush, which
/// SVG pictures do not support.
void paintHatched(QPainter& painter, const QRectF& area, const QColor& fill, const QColor& line) {
    painter.fillRect(area, fill);
    QVector<QLineF> lines;
    const double first = std::ceil((area.left() + area.top()) / hatchDistance) * hatchDistance;
    for (double sum = first; sum < area.right() + area.bottom(); sum += hatchDistance) {
        const double left = std::max(area.left(), sum - area.bottom());
        const double right = std::min(area.right(), sum - area.top());
        if (right > left) lines.append(QLineF(left, sum - left, right, sum - right));
    }
    painter.setPen(QPen(line, 1));
    painter.drawLines(lines);
}

/// Fills and hatches `ranges`, each at least a pixel wide; touching ones become one.
void paintRanges(QPainter& painter, const std::vector<TimeRange>& ranges, const TimeScale& scale, double top,
                 double height, const QColor& fill, const QColor& line) {
    const double end = scale.left + scale.width;
    auto range = std::partition_point(ranges.begin(), ranges.end(),
                                      [&](const TimeRange& each) { return each.endNs < scale.range.startNs; });
    while (range != ranges.end() && range->startNs <= scale.range.endNs) {
        const double left = std::clamp(scale.toX(range->startNs), scale.left, end);
        double right = left + 1;
        for (; range != ranges.end() && scale.toX(range->startNs) <= right; ++range)
            right = std::max(right, std::min(end, scale.toX(range->endNs)));
        const QRectF area(left, top, right - left, height);
        paintHatched(painter, area, fill, line);
    }
}

}  // namespace

void paintEnds(QPainter& painter, const TimelineState& state, const TrackScroll::Band& band, QSize size) {
    const TimeScale scale = state.range().scale(size.width());
    for (const WarningPlace& place : state.healthPlaces()) {
        const double x = std::floor(scale.toX(place.range.startNs));
        if (!place.isEnd || x < -flagSize || x > size.width()) continue;
        for (const LayoutRow& row : band.rows) {
            const Track& track = state.trace()->tracks[row.track];
            if (processOf(*state.trace(), track) != place.process) continue;
            const double top = row.top - band.scrollY;
            painter.fillRect(QRectF(x, top, 2, row.height - 1), state.options().theme().error);
            if (track.kind != TrackKind::Process) continue;
            // A cross where the process ends, on its own row only.
            painter.save();
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(state.options().theme().error, 2));
            const QPointF at(x + 1 + flagSize, top + row.height / 2.0);
            const double half = flagSize / 2;
            painter.drawLine(at + QPointF(-half, -half), at + QPointF(half, half));
            painter.drawLine(at + QPointF(-half, half), at + QPointF(half, -half));
            painter.restore();
        }
    }
}

void paintWarningsOnRuler(QPainter& painter, const TimelineState& state, QSize size) {
    const TimeScale scale = state.range().scale(size.width());
    painter.save();
    painter.setPen(Qt::NoPen);
    for (const WarningPlace& place : state.healthPlaces()) {
        const double left = scale.toX(place.range.startNs);
        const double right = std::max(left + 2, scale.toX(place.range.endNs));
        if (right < -flagSize || left > size.width() + flagSize) continue;
        const double bottom = size.height() - 1;
        if (!place.isEnd) {
            painter.fillRect(QRectF(left, bottom - 3, right - left, 3), state.options().theme().warning);
            continue;
        }
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(state.options().theme().error);
        painter.drawPolygon(QPolygonF{
            {left + 1, bottom}, {left + 1 - flagSize, bottom - flagSize}, {left + 1 + flagSize, bottom - flagSize}});
    }
    painter.restore();
}

const WarningPlace* endAt(const TimelineState& state, uint32_t track, double x, double width) {
    const uint32_t process = processOf(*state.trace(), state.trace()->tracks[track]);
    const TimeScale scale = state.range().scale(width);
    for (const WarningPlace& place : state.healthPlaces()) {
        const double at = scale.toX(place.range.startNs);
        if (place.isEnd && place.process == process && x >= at - reach && x <= at + reach + flagSize) return &place;
    }
    return nullptr;
}

void paintUnknown(QPainter& painter, const QRectF& area, const Theme& theme) {
    paintHatched(painter, area, translucent(theme.mutedText, unknownFill), translucent(theme.mutedText, unknownLine));
}

void paintUnrecorded(QPainter& painter, const TimelineState& state, const TrackScroll::Band& band, QSize size) {
    const Theme& theme = state.options().theme();
    const TimeScale scale = state.range().scale(size.width());
    painter.save();
    for (const LayoutRow& row : band.rows) {
        const Track& track = state.trace()->tracks[row.track];
        const double top = row.top - band.scrollY;
        paintUnrecorded(painter, track, theme, scale, top, row.height - 1);
    }
    painter.restore();
}

void paintUnrecorded(QPainter& painter, const Track& track, const Theme& theme, const TimeScale& scale, double top,
                     double height) {
    paintRanges(painter, track.unrecorded, scale, top, height, translucent(theme.mutedText, unknownFill),
                translucent(theme.mutedText, unknownLine));
    paintRanges(painter, track.lossy, scale, top, height, translucent(theme.warning, 30),
                translucent(theme.warning, 130));
}

}  // namespace lanescope::views
