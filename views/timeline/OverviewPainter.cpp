// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/OverviewPainter.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/timeline/OpaqueFill.h"
#include "views/timeline/paintSelection.h"
#include "views/timeline/paintUnrecorded.h"

namespace lanescope::views {
namespace {

constexpr int topInset = 5;
constexpr int cpuHeight = 9;
constexpr int chartGap = 3;
constexpr int bottomInset = 4;
constexpr double narrowestWindow = 3;

void paintChart(QPainter& painter, const std::vector<float>& columns, int bottom, int height,
                const QColor& color) {
    OpaqueFill fill(painter);
    for (size_t x = 0; x < columns.size(); ++x) {
        if (columns[x] <= 0) continue;
        const int filled = std::max(1, static_cast<int>(std::lround(double(columns[x]) * height)));
        fill.fill(QRect(static_cast<int>(x), bottom - filled, 1, filled), color.rgb());
    }
}

/// What was not recorded or lost, of all tracks of a kind, each in a share of the height.
void paintGaps(QPainter& painter, const TimelineState& state, TrackKind kind, double top,
               double height, double width) {
    const auto& tracks = state.trace()->tracks;
    const auto isMeant = [&](const Track& track) {
        return track.kind == kind && !(track.unrecorded->empty() && track.lossy->empty());
    };
    const auto count = std::count_if(tracks.begin(), tracks.end(), isMeant);
    if (count == 0) return;
    const TimeScale scale{state.limits(), width, 0};
    const double share = std::max(1.0, height / double(count));
    double at = top;
    painter.save();
    for (const Track& track : tracks) {
        if (!isMeant(track) || at + share > top + height + 0.5) continue;
        paintUnrecorded(painter, track, state.theme(), scale, at, share);
        at += share;
    }
    painter.restore();
}

}  // namespace

void OverviewPainter::update(const TimelineState& state, int width,
                             const TimelineState* companion) {
    const TimeRange range = state.limits();
    const TimeRange companionRange = companion ? companion->limits() : TimeRange{};
    if (width == width_ && range == range_ && companionRange == companionRange_) return;
    width_ = width;
    range_ = range;
    companionRange_ = companionRange;
    activity_ = overviewActivity(*state.trace(), range, width);
    if (companion)
        companionActivity_ = overviewActivity(*companion->trace(), companionRange, width);
}

void OverviewPainter::paint(QPainter& painter, const TimelineState& state, QSize size,
                            const TimelineState* companion) {
    paintCharts(painter, state, size, companion);
    paintMarks(painter, state, size);
}

void OverviewPainter::paintCharts(QPainter& painter, const TimelineState& state, QSize size,
                                  const TimelineState* companion) {
    const Theme& theme = state.theme();
    const int bottom = size.height() - 1;
    painter.fillRect(QRect(QPoint(), size), theme.canvas);
    painter.fillRect(QRect(0, bottom, size.width(), 1), theme.separator);
    if (!state.hasTracks()) return;
    if (companion && !companion->hasTracks()) companion = nullptr;
    update(state, size.width(), companion);
    const int lowerBottom = bottom - bottomInset;
    if (companion) {
        const int height = (lowerBottom - topInset - chartGap) / 2;
        const QColor own = state.mark().isValid() ? state.mark() : theme.busyGpu;
        const QColor other = companion->mark().isValid() ? companion->mark() : theme.busyGpu;
        paintChart(painter, activity_.gpu, topInset + height, height, own);
        paintChart(painter, companionActivity_.gpu, lowerBottom, height, other);
    } else {
        const int gpuBottom = lowerBottom - cpuHeight - chartGap;
        paintGaps(painter, state, TrackKind::Gpu, topInset, gpuBottom - topInset, size.width());
        paintGaps(painter, state, TrackKind::Process, lowerBottom - cpuHeight, cpuHeight,
                  size.width());
        paintChart(painter, activity_.gpu, gpuBottom, gpuBottom - topInset, theme.busyGpu);
        paintChart(painter, activity_.cpu, lowerBottom, cpuHeight, theme.busyCpu);
    }
}

void OverviewPainter::paintMarks(QPainter& painter, const TimelineState& state, QSize size) {
    if (!state.hasTracks()) return;
    const Theme& theme = state.theme();
    const int bottom = size.height() - 1;
    const TimeScale scale{state.limits(), double(size.width()), 0};
    paintSelectedRange(painter, state, scale, 0, bottom);
    int markedTo = -1;
    static const std::vector<int64_t> noPlaces;
    for (const int64_t placeNs : state.hits() ? state.hits()->places() : noPlaces) {
        const int x = static_cast<int>(scale.toX(placeNs));
        if (x != markedTo) painter.fillRect(QRect(x, 0, 1, topInset - 1), theme.searchHit);
        markedTo = x;
    }

    if (state.visibleRange()->isFitted()) return;
    const double left = scale.toX(state.visible().startNs);
    const double right = std::max(left + narrowestWindow, scale.toX(state.visible().endNs));
    QColor veil = theme.window;
    veil.setAlpha(theme.isDark ? 130 : 165);
    painter.fillRect(QRectF(0, 0, left, bottom), veil);
    painter.fillRect(QRectF(right, 0, size.width() - right, bottom), veil);
    painter.fillRect(QRectF(left, 0, right - left, 2), theme.accent);
    painter.fillRect(QRectF(left, bottom - 1, right - left, 1), theme.accent);
    painter.fillRect(QRectF(left - 1, 0, 2, bottom), theme.accent);
    painter.fillRect(QRectF(right - 1, 0, 2, bottom), theme.accent);
}

}  // namespace lanescope::views
