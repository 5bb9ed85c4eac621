// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/OverviewStrip.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "model/lod/reduceToPixels.h"
#include "model/remote/RemoteTrace.h"
#include "views/timeline/RangeSelection.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/paintWarnings.h"
#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

// Adds the covered share of each pixel column.
void addCoverage(const Lane& lane, TimeRange range, std::vector<float>& columns) {
    for (const PixelSlice& slice : reduceToPixels(lane, range, static_cast<int>(columns.size()))) {
        const auto last = std::min(columns.size(), static_cast<size_t>(std::ceil(slice.right)));
        for (auto column = static_cast<size_t>(slice.left); column < last; ++column) {
            const float from = std::max(slice.left, float(column));
            const float to = std::min(slice.right, float(column + 1));
            columns[column] += std::max(0.0f, to - from) * slice.coverage;
        }
    }
}

std::vector<float> meanActivity(const Trace& trace, TimeRange range, int pixelWidth,
                                std::initializer_list<TrackKind> kindsByPreference) {
    std::vector<float> mean(static_cast<size_t>(std::max(0, pixelWidth)), 0.0f);
    for (const TrackKind kind : kindsByPreference) {
        int trackCount = 0;
        if (const auto remote = remoteOf(trace)) {
            std::vector<std::pair<uint32_t, uint32_t>> lanes;
            for (uint32_t track = 0; track < trace.tracks.size(); ++track)
                for (uint32_t lane = 0; trace.tracks[track].kind == kind && lane < trace.tracks[track].lanes.size();
                     ++lane)
                    lanes.emplace_back(track, lane);
            remote->expect(range, pixelWidth, lanes, {});
        }
        for (const Track& track : trace.tracks) {
            if (track.kind != kind || track.lanes.empty()) continue;
            // Lanes of one track overlap; their sum is limited to 1.
            std::vector<float> columns(mean.size(), 0.0f);
            for (const Lane& lane : track.lanes) addCoverage(lane, range, columns);
            for (size_t i = 0; i < mean.size(); ++i) mean[i] += std::min(1.0f, columns[i]);
            ++trackCount;
        }
        if (trackCount == 0) continue;
        for (float& column : mean) column /= static_cast<float>(trackCount);
        break;
    }
    return mean;
}

/// Uses the summary lanes of GPUs and processes if present, else all streams and threads. O(pixels
/// * lanes), independent of the number of events.
OverviewActivity overviewActivity(const Trace& trace, TimeRange range, int pixelWidth) {
    return {meanActivity(trace, range, pixelWidth, {TrackKind::Gpu, TrackKind::Stream}),
            meanActivity(trace, range, pixelWidth, {TrackKind::Process, TrackKind::ThreadApi, TrackKind::Thread})};
}

constexpr int topInset = 5;
constexpr int chartGap = 3;
constexpr int bottomInset = 4;
constexpr int lowStrip = 36;  // in a lower one every pixel counts
constexpr double minWindowPx = 3;

void paintChart(QPainter& painter, const std::vector<float>& columns, int bottom, int height, const QColor& color) {
    OpaqueFill fill(painter);
    for (size_t x = 0; x < columns.size(); ++x) {
        if (columns[x] <= 0) continue;
        const int filled = std::max(1, static_cast<int>(std::lround(double(columns[x]) * height)));
        fill.fill(QRect(static_cast<int>(x), bottom - filled, 1, filled), color.rgb());
    }
}

/// Paints the unrecorded and lost times of all tracks of a kind, each in a share of the height.
void paintGaps(QPainter& painter, const TimelineState& state, TrackKind kind, double top, double height, double width) {
    const auto& tracks = state.trace()->tracks;
    const auto isMeant = [&](const Track& track) {
        return track.kind == kind && !(track.unrecorded->empty() && track.lossy->empty());
    };
    const auto count = std::count_if(tracks.begin(), tracks.end(), isMeant);
    if (count == 0) return;
    const TimeScale scale{state.range().limits(), width, 0};
    const double share = std::max(1.0, height / double(count));
    double at = top;
    painter.save();
    for (const Track& track : tracks) {
        if (!isMeant(track) || at + share > top + height + 0.5) continue;
        paintUnrecorded(painter, track, state.options().theme(), scale, at, share);
        at += share;
    }
    painter.restore();
}

constexpr double gripWidth = 5;

}  // namespace

void OverviewPainter::update(const TimelineState& state, int width, const TimelineState* companion) {
    const TimeRange range = state.range().limits();
    const TimeRange companionRange = companion ? companion->range().limits() : TimeRange{};
    if (width == width_ && range == range_ && companionRange == companionRange_) return;
    width_ = width;
    range_ = range;
    companionRange_ = companionRange;
    activity_ = overviewActivity(*state.trace(), range, width);
    if (companion) companionActivity_ = overviewActivity(*companion->trace(), companionRange, width);
}

void OverviewPainter::paint(QPainter& painter, const TimelineState& state, QSize size, const TimelineState* companion) {
    paintCharts(painter, state, size, companion);
    paintMarks(painter, state, size);
}

void OverviewPainter::paintCharts(QPainter& painter, const TimelineState& state, QSize size,
                                  const TimelineState* companion) {
    const Theme& theme = state.options().theme();
    const int bottom = size.height() - 1;
    painter.fillRect(QRect(QPoint(), size), theme.canvas);
    painter.fillRect(QRect(0, bottom, size.width(), 1), theme.separator);
    if (!state.hasTracks()) return;
    if (companion && !companion->hasTracks()) companion = nullptr;
    update(state, size.width(), companion);
    const bool isLow = size.height() < lowStrip;
    const int lowerBottom = bottom - (isLow ? 1 : bottomInset);
    const int upperTop = isLow ? 3 : topInset;
    const int cpuHeight = isLow ? 5 : 9;
    if (companion) {
        const int height = (lowerBottom - upperTop - chartGap) / 2;
        const QColor own = state.options().mark().isValid() ? state.options().mark() : theme.busyGpu;
        const QColor other = companion->options().mark().isValid() ? companion->options().mark() : theme.busyGpu;
        paintChart(painter, activity_.gpu, upperTop + height, height, own);
        paintChart(painter, companionActivity_.gpu, lowerBottom, height, other);
    } else {
        const int gpuBottom = lowerBottom - cpuHeight - (isLow ? 1 : chartGap);
        paintGaps(painter, state, TrackKind::Gpu, upperTop, gpuBottom - upperTop, size.width());
        paintGaps(painter, state, TrackKind::Process, lowerBottom - cpuHeight, cpuHeight, size.width());
        paintChart(painter, activity_.gpu, gpuBottom, gpuBottom - upperTop, theme.busyGpu);
        paintChart(painter, activity_.cpu, lowerBottom, cpuHeight, theme.busyCpu);
    }
}

void OverviewPainter::paintMarks(QPainter& painter, const TimelineState& state, QSize size) {
    if (!state.hasTracks()) return;
    const Theme& theme = state.options().theme();
    const int bottom = size.height() - 1;
    const TimeScale scale{state.range().limits(), double(size.width()), 0};
    paintSelectedRange(painter, state, scale, 0, bottom);
    int markedTo = -1;
    static const std::vector<int64_t> noPlaces;
    for (const int64_t placeNs : state.selection().hits() ? state.selection().hits()->places() : noPlaces) {
        const int x = static_cast<int>(scale.toX(placeNs));
        if (x != markedTo) painter.fillRect(QRect(x, 0, 1, topInset - 1), theme.searchHit);
        markedTo = x;
    }

    if (state.range().axis().isFitted()) return;
    const double left = scale.toX(state.range().visible().startNs);
    const double right = std::max(left + minWindowPx, scale.toX(state.range().visible().endNs));
    const QColor veil = translucent(theme.window, theme.isDark ? 130 : 165);
    painter.fillRect(QRectF(0, 0, left, bottom), veil);
    painter.fillRect(QRectF(right, 0, size.width() - right, bottom), veil);
    painter.fillRect(QRectF(left, 0, right - left, 2), theme.accent);
    painter.fillRect(QRectF(left, bottom - 1, right - left, 1), theme.accent);
    painter.fillRect(QRectF(left - 1, 0, 2, bottom), theme.accent);
    painter.fillRect(QRectF(right - 1, 0, 2, bottom), theme.accent);
}

OverviewStrip::OverviewStrip(TimelineState& state, QWidget* parent) : QWidget(parent), state_(state) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::ClickFocus);
    setToolTip(
        tr("The whole trace: GPU activity above, CPU activity below.\nDrag the window or its edges; double-click to "
           "see everything."));
    const auto repaint = [this] { update(); };
    connect(&state_, &TimelineState::traceChanged, this, [this] {
        painter_.forget();
        forgetCharts();
    });
    connect(&state_.options(), &TimelineOptions::changed, this, &OverviewStrip::forgetCharts);
    connect(&state_.range(), &TimelineRange::changed, this, repaint);
    connect(&state_.selection(), &TimelineSelection::rangeChanged, this, repaint);
    connect(&state_.selection(), &TimelineSelection::hitsChanged, this, repaint);
}

void OverviewStrip::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    companion_ = companion;
    painter_.forget();
    setToolTip(companion ? tr("The GPUs of both runs: baseline above, candidate below.\nDrag the window or its edges; "
                              "double-click to see everything.")
                         : tr("The whole trace: GPU activity above, CPU activity below.\nDrag the window or its edges; "
                              "double-click to see everything."));
    if (companion) {
        connect(companion, &TimelineState::traceChanged, this, [this] {
            painter_.forget();
            forgetCharts();
        });
        connect(&companion->options(), &TimelineOptions::changed, this, &OverviewStrip::forgetCharts);
        connect(&companion->range(), &TimelineRange::changed, this, [this] { update(); });
    }
    forgetCharts();
}

void OverviewStrip::forgetCharts() {
    charts_ = {};
    update();
}

void OverviewStrip::updateCharts() {
    const double ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(size()) * ratio).toSize();
    const TimeRange companionRange = companion_ ? companion_->range().limits() : TimeRange();
    if (charts_.size() == pixels && charts_.devicePixelRatio() == ratio && chartsRange_ == state_.range().limits() &&
        companionRange_ == companionRange)
        return;
    charts_ = QImage(pixels, QImage::Format_RGB32);
    charts_.setDevicePixelRatio(ratio);
    chartsRange_ = state_.range().limits();
    companionRange_ = companionRange;
    QPainter painter(&charts_);
    painter_.paintCharts(painter, state_, size(), companion_);
}

void OverviewStrip::paintEvent(QPaintEvent*) {
    updateCharts();
    QPainter painter(this);
    painter.drawImage(0, 0, charts_);
    OverviewPainter::paintMarks(painter, state_, size());
}

void OverviewStrip::wheelEvent(QWheelEvent* event) {
    zoomOrPan(*event, state_, scale());
    event->accept();
}

OverviewStrip::Grip OverviewStrip::gripAt(double x) const {
    if (state_.range().axis().isFitted()) return Grip::None;
    const double left = scale().toX(state_.range().visible().startNs);
    const double right = scale().toX(state_.range().visible().endNs);
    // A window too narrow for grips can still be dragged as a whole.
    if (right - left > 4 * gripWidth) {
        if (std::abs(x - left) <= gripWidth) return Grip::Start;
        if (std::abs(x - right) <= gripWidth) return Grip::End;
    }
    return x >= left - gripWidth && x <= right + gripWidth ? Grip::Window : Grip::None;
}

void OverviewStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !state_.hasTracks()) return;
    const double x = event->position().x();
    grip_ = gripAt(x);
    if (grip_ == Grip::None && !state_.range().axis().isFitted()) {
        const TimeRange visible = state_.range().visible();
        state_.range().setVisible(visible.shifted(scale().toTimeNs(x) - visible.startNs - visible.durationNs() / 2));
        grip_ = Grip::Window;
    }
    pressedX_ = x;
    pressedRange_ = state_.range().visible();
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) return dragTo(event->position().x());
    const Grip grip = gripAt(event->position().x());
    const bool isEdge = grip == Grip::Start || grip == Grip::End;
    setCursor(isEdge ? Qt::SizeHorCursor : grip == Grip::Window ? Qt::OpenHandCursor : Qt::ArrowCursor);
}

void OverviewStrip::dragTo(double x) {
    const int64_t byNs = scale().spanNs(x - pressedX_);
    TimeRange range = pressedRange_;
    switch (grip_) {
        case Grip::None: return;
        case Grip::Window: range = range.shifted(byNs); break;
        case Grip::Start:
            range.startNs = std::min(range.startNs + byNs, range.endNs - VisibleRange::minVisibleNs);
            break;
        case Grip::End: range.endNs = std::max(range.endNs + byNs, range.startNs + VisibleRange::minVisibleNs); break;
    }
    if (grip_ != Grip::Window) range = range.intersected(state_.range().limits());
    state_.range().setVisible(range);
}

}  // namespace lanescope::views
