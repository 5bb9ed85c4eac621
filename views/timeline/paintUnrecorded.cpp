// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/paintUnrecorded.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace lanescope::views {
namespace {

constexpr double hatchDistance = 8;
constexpr int unknownFill = 14, unknownLine = 60;  // opacity of 255

/// Lines of 45 degrees that go on from one area to the next. Drawn as lines and not by a brush,
/// which pictures in SVG cannot have.
void hatch(QPainter& painter, const QRectF& area, const QColor& color) {
    QVector<QLineF> lines;
    const double first = std::ceil((area.left() + area.top()) / hatchDistance) * hatchDistance;
    for (double sum = first; sum < area.right() + area.bottom(); sum += hatchDistance) {
        const double left = std::max(area.left(), sum - area.bottom());
        const double right = std::min(area.right(), sum - area.top());
        if (right > left) lines.append(QLineF(left, sum - left, right, sum - right));
    }
    painter.setPen(QPen(color, 1));
    painter.drawLines(lines);
}

/// Fills and hatches where `ranges` are, each at least a pixel wide; what touches becomes one.
void paintRanges(QPainter& painter, const std::vector<TimeRange>& ranges, const TimeScale& scale,
                 double top, double height, const QColor& fill, const QColor& line) {
    const double end = scale.left + scale.width;
    auto range = std::partition_point(ranges.begin(), ranges.end(), [&](const TimeRange& each) {
        return each.endNs < scale.range.startNs;
    });
    while (range != ranges.end() && range->startNs <= scale.range.endNs) {
        const double left = std::clamp(scale.toX(range->startNs), scale.left, end);
        double right = left + 1;
        for (; range != ranges.end() && scale.toX(range->startNs) <= right; ++range)
            right = std::max(right, std::min(end, scale.toX(range->endNs)));
        const QRectF area(left, top, right - left, height);
        paintHatched(painter, area, fill, line);
    }
}

QColor translucent(QColor color, int alpha) {
    color.setAlpha(alpha);
    return color;
}

}  // namespace

void paintHatched(QPainter& painter, const QRectF& area, const QColor& fill, const QColor& line) {
    painter.fillRect(area, fill);
    hatch(painter, area, line);
}

void paintUnknown(QPainter& painter, const QRectF& area, const Theme& theme) {
    paintHatched(painter, area, translucent(theme.mutedText, unknownFill),
                 translucent(theme.mutedText, unknownLine));
}

void paintUnrecorded(QPainter& painter, const TimelineState& state, const TimelineState::Band& band,
                     QSize size) {
    const Theme& theme = state.theme();
    const TimeScale scale = state.scale(size.width());
    painter.save();
    for (const LayoutRow& row : band.rows) {
        const Track& track = state.trace()->tracks[row.track];
        const double top = row.top - band.scrollY;
        paintUnrecorded(painter, track, theme, scale, top, row.height - 1);
    }
    painter.restore();
}

void paintUnrecorded(QPainter& painter, const Track& track, const Theme& theme,
                     const TimeScale& scale, double top, double height) {
    paintRanges(painter, track.unrecorded, scale, top, height,
                translucent(theme.mutedText, unknownFill),
                translucent(theme.mutedText, unknownLine));
    paintRanges(painter, track.lossy, scale, top, height, translucent(theme.warning, 30),
                translucent(theme.warning, 130));
}

}  // namespace lanescope::views
