#include "views/timeline/TrackPainter.h"

#include <algorithm>
#include <cmath>

#include "views/timeline/paintCounter.h"
#include "views/timeline/paintUnrecorded.h"
#include "views/timeline/timeTicks.h"

namespace lanescope {
namespace {

constexpr double leastLabelWidth = 30;
constexpr double leastEdgeWidth = 5;
constexpr double leastLabelHeight = 14;
constexpr double labelInset = 4;
// Sparse runs must still be seen, so coverage fades from here to full; few shades make long fills.
constexpr double faintest = 0.35;
constexpr int shadeCount = 12;

bool isGpuTrack(TrackKind kind) {
    return kind == TrackKind::Gpu || kind == TrackKind::Stream ||
           kind == TrackKind::StreamProjection;
}

QRgb shaded(QRgb background, QRgb color, float coverage) {
    const int shade = std::clamp(static_cast<int>(std::ceil(coverage * shadeCount)), 1, shadeCount);
    const int share = static_cast<int>(256 * (faintest + (1 - faintest) * shade / shadeCount));
    const auto channel = [&](int under, int over) { return under + (over - under) * share / 256; };
    return qRgb(channel(qRed(background), qRed(color)), channel(qGreen(background), qGreen(color)),
                channel(qBlue(background), qBlue(color)));
}

}  // namespace

void TrackPainter::reset(const QFont& font) {
    // A little smaller than the track titles: slices are many and titles lead.
    font_ = font;
    if (font_.pointSizeF() > 0) font_.setPointSizeF(font_.pointSizeF() * 0.92);
    geometry_.setTrace(state_.trace());
    colors_.reset(state_.trace(), state_.theme());
    labels_.reset(state_.trace() ? &state_.trace()->strings : nullptr, font_);
    const QFontMetricsF metrics(font_);
    baseline_ = (metrics.ascent() - metrics.descent()) / 2;
}

void TrackPainter::setGhost(const TimelineState* other) {
    ghost_ = other;
    ghostGeometry_.setTrace(other ? other->trace() : nullptr);
}

void TrackPainter::paint(QPainter& painter, QSize size, double devicePixelRatio) {
    painter.fillRect(QRectF(QPointF(), QSizeF(size)), state_.theme().canvas);
    paintRows(painter, size, devicePixelRatio);
}

void TrackPainter::paintRows(QPainter& painter, QSize size, double devicePixelRatio) {
    ratio_ = devicePixelRatio;
    const Theme& theme = state_.theme();
    if (!state_.hasTracks()) return;
    const int pixelWidth = static_cast<int>(std::lround(size.width() * ratio_));
    if (ghost_) ghostGeometry_.setView(ghost_->visible(), pixelWidth);
    geometry_.setView(state_.visible(), pixelWidth);
    painter.setFont(font_);

    for (const TimelineState::Band& band : state_.bands(size.height())) {
        if (band.bottom <= band.top) continue;
        painter.save();
        painter.setClipRect(QRect(0, band.top, size.width(), band.bottom - band.top),
                            Qt::IntersectClip);
        paintBand(painter, band, size);
        painter.restore();
    }
    const int pinned = state_.pinnedHeight();
    if (pinned > 0) painter.fillRect(QRect(0, pinned - 2, size.width(), 2), theme.mutedText);
}

void TrackPainter::paintBand(QPainter& painter, const TimelineState::Band& band, QSize size) {
    const Theme& theme = state_.theme();
    const auto bandOf = [&](const LayoutRow& row) {
        return theme.bandAt(state_.trace()->tracks[row.track].depth);
    };
    for (const LayoutRow& row : band.rows) {
        if (!row.isHeader) continue;
        painter.fillRect(QRectF(0, row.top - band.scrollY, size.width(), row.height), bandOf(row));
    }
    for (const LayoutRow& row : band.rows)
        paintGrid(painter, size, row.top - band.scrollY, row.bottom() - band.scrollY);
    paintUnrecorded(painter, state_, band, size);
    for (const LayoutRow& row : band.rows) {
        const QRgb background = (row.isHeader ? bandOf(row) : theme.canvas).rgb();
        for (int lane = 0; lane < row.laneCount; ++lane) {
            const double top = TrackLayout::laneTop(row, lane) - band.scrollY;
            if (top + row.laneHeight <= band.top || top >= band.bottom) continue;
            // The pixel between two lanes, or between two squeezed ones the half of one.
            const double gap = row.laneHeight >= 8 ? 1 : 0.5;
            const LanePosition position{row.track, static_cast<uint32_t>(lane)};
            const QRectF area(0, top, size.width(), row.laneHeight - gap);
            paintLane(painter, position, area, background);
            if (ghost_ && !row.isHeader) paintGhost(painter, position, area);
        }
        if (state_.isUnmatched(row.track)) {
            QColor veil = theme.canvas;
            veil.setAlphaF(0.6F);
            painter.fillRect(QRectF(0, row.top - band.scrollY, size.width(), row.height), veil);
        }
        painter.fillRect(QRectF(0, row.bottom() - band.scrollY - 1, size.width(), 1),
                         theme.separator);
    }
}

void TrackPainter::paintGrid(QPainter& painter, QSize size, int top, int bottom) const {
    const TimeScale scale = state_.scale(size.width());
    const TimeRange shown = state_.visibleRange()->range();
    for (const TimeTick& tick : timeTicks(shown, size.width()).ticks) {
        if (!tick.isMajor) continue;
        const double x = std::floor(scale.toX(tick.timeNs + state_.timeOrigin()));
        painter.fillRect(QRectF(x, top, 1, bottom - top), state_.theme().grid);
    }
}

void TrackPainter::paintLane(QPainter& painter, LanePosition position, const QRectF& area,
                             QRgb background) {
    if (const CounterSeries* counter = state_.counterAt(position)) {
        paintCounter(painter, *counter,
                     geometry_.columns(state_.trace()->tracks[position.track].subject), area,
                     ratio_, state_.theme());
        return;
    }
    const Lane& lane = state_.laneAt(position);
    const std::vector<PixelSlice>& slices = geometry_.rectangles(position);
    if (slices.empty()) return;
    if (lane.category.front() == SliceCategory::Busy) {
        const bool isGpu = isGpuTrack(state_.trace()->tracks[position.track].kind);
        paintActivity(painter, slices, area,
                      (isGpu ? state_.theme().busyGpu : state_.theme().busyCpu).rgb());
        return;
    }

    // Neighbours of one shade become one fill.
    double pendingLeft = 0, pendingRight = 0;
    QRgb pendingColor = 0;
    const auto flush = [&] {
        if (pendingRight > pendingLeft) {
            painter.fillRect(
                QRectF(pendingLeft, area.top(), pendingRight - pendingLeft, area.height()),
                QColor::fromRgb(pendingColor));
        }
        pendingRight = pendingLeft;
    };
    for (const PixelSlice& slice : slices) {
        const double left = slice.left / ratio_;
        const double right = slice.right / ratio_;
        const bool isSingle = slice.sliceCount == 1;
        if (isSingle && right - left >= leastEdgeWidth) {
            flush();
            const QRgb fill = colors_.fillOf(lane, slice.firstSlice);
            const QRectF rectangle(left, area.top(), right - left, area.height());
            painter.fillRect(rectangle, QColor::fromRgb(fill));
            // None at the window's edge: there the slice goes on.
            if (left > 0) {
                painter.fillRect(QRectF(left, area.top(), 1, area.height()),
                                 QColor::fromRgb(colors_.edgeOf(fill)));
            }
            if (right - left >= leastLabelWidth && area.height() >= leastLabelHeight) {
                paintLabel(painter, lane.name[slice.firstSlice], rectangle, fill);
            }
            continue;
        }
        const QRgb full =
            isSingle ? colors_.fillOf(lane, slice.firstSlice) : colors_.fillOf(slice.category);
        const QRgb color = shaded(background, full, slice.coverage);
        if (color != pendingColor || left - pendingRight > 0.01 || pendingRight <= pendingLeft) {
            flush();
            pendingLeft = left;
            pendingColor = color;
        }
        pendingRight = right;
    }
    flush();
    if (!state_.hits().isEmpty()) paintHits(painter, lane, area);
}

void TrackPainter::paintGhost(QPainter& painter, LanePosition lane, const QRectF& area) {
    const uint32_t track = state_.counterpartOf(lane.track);
    if (!ghost_->hasTracks() || track >= ghost_->trace()->tracks.size()) return;
    if (lane.lane >= ghost_->trace()->tracks[track].lanes.size()) return;
    QColor ink = state_.theme().text;
    for (const PixelSlice& slice : ghostGeometry_.rectangles({track, lane.lane})) {
        const QRectF shape(slice.left / ratio_, area.top(), (slice.right - slice.left) / ratio_,
                           area.height());
        if (slice.sliceCount == 1 && shape.width() >= leastEdgeWidth) {
            ink.setAlphaF(0.75F);
            painter.fillRect(QRectF(shape.left(), shape.top(), shape.width(), 1), ink);
            painter.fillRect(QRectF(shape.left(), shape.bottom() - 1, shape.width(), 1), ink);
            painter.fillRect(QRectF(shape.left(), shape.top(), 1, shape.height()), ink);
            painter.fillRect(QRectF(shape.right() - 1, shape.top(), 1, shape.height()), ink);
            continue;
        }
        // Many small ones: a bar at the foot of the lane, so that the slices over it stay readable.
        ink.setAlphaF(0.25F + 0.5F * slice.coverage);
        const double height = std::min(3.0, area.height() / 3);
        painter.fillRect(QRectF(shape.left(), shape.bottom() - height, shape.width(), height), ink);
    }
}

void TrackPainter::paintActivity(QPainter& painter, const std::vector<PixelSlice>& slices,
                                 const QRectF& area, QRgb color) const {
    const QColor fill = QColor::fromRgb(color);
    for (const PixelSlice& slice : slices) {
        const double height = std::max(1.0, std::round(area.height() * double(slice.coverage)));
        const double left = slice.left / ratio_;
        painter.fillRect(QRectF(left, area.bottom() - height, slice.right / ratio_ - left, height),
                         fill);
    }
}

void TrackPainter::paintHits(QPainter& painter, const Lane& lane, const QRectF& area) const {
    const TimeScale scale = state_.scale(area.width());
    const std::vector<uint32_t>& hits = state_.hits().slicesOf(lane);
    auto hit = std::partition_point(hits.begin(), hits.end(), [&](uint32_t slice) {
        return lane.endNs[slice] < scale.range.startNs;
    });
    const double bar = std::max(1.0, std::min(3.0, area.height() / 4));
    double paintedTo = 0;
    while (hit != hits.end() && lane.startNs[*hit] < scale.range.endNs) {
        const double left = std::max({0.0, paintedTo, scale.toX(lane.startNs[*hit])});
        const double right =
            std::min(area.width(), std::max(left + 1, scale.toX(lane.endNs[*hit])));
        painter.fillRect(QRectF(left, area.bottom() - bar, right - left, bar),
                         state_.theme().searchHit);
        paintedTo = right;
        // Hits behind what is painted already would change nothing.
        const int64_t paintedToNs = scale.toTimeNs(paintedTo);
        hit = std::partition_point(
            hit + 1, hits.end(), [&](uint32_t slice) { return lane.endNs[slice] <= paintedToNs; });
    }
}

void TrackPainter::paintLabel(QPainter& painter, StringIndex name, const QRectF& slice, QRgb fill) {
    const QString& label = labels_.fitted(name, slice.width() - 2 * labelInset);
    if (label.isEmpty()) return;
    painter.setPen(QColor::fromRgb(colors_.textOn(fill)));
    painter.drawText(QPointF(slice.left() + labelInset, slice.center().y() + baseline_), label);
}

}  // namespace lanescope
