// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineState.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lanescope::views {

namespace {

// The margin on each side of the trace when everything is visible, so that the first and the last
// slice are not at the window's edge.
constexpr double marginShare = 0.01;
// Some 36 years either way. A corrupt trace can contain any time; sums and differences of these still fit.
constexpr int64_t maxTimeNs = int64_t{1} << 60;

/// The share of the view of a range that is zoomed to.
constexpr double zoomedShare = 0.8;

}  // namespace

void VisibleRange::setRange(TimeRange range) {
    const TimeRange next = clamped(range);
    if (next == range_) return;
    range_ = next;
    emit changed(range_);
}

void VisibleRange::zoomAt(int64_t timeNs, double factor) {
    if (!(factor > 0) || !std::isfinite(factor)) return;
    const double before = static_cast<double>(range_.durationNs());
    const double after =
        std::clamp(before / factor, static_cast<double>(minVisibleNs), static_cast<double>(limits_.durationNs()));
    const double share = std::clamp(static_cast<double>(timeNs - range_.startNs) / before, 0.0, 1.0);
    const int64_t durationNs = std::llround(after);
    const int64_t startNs = range_.startNs + std::llround(share * (before - after));
    setRange({startNs, startNs + durationNs});
}

void VisibleRange::pan(int64_t byNs) {
    const int64_t atMost = limits_.endNs - range_.endNs;
    const int64_t atLeast = limits_.startNs - range_.startNs;
    setRange(range_.shifted(std::clamp(byNs, atLeast, atMost)));
}

void VisibleRange::setExtent(const QObject* owner, TimeRange extent) {
    extent = extent.intersected({-maxTimeNs, maxTimeNs});
    const auto known =
        std::find_if(extents_.begin(), extents_.end(), [&](const Extent& each) { return each.owner == owner; });
    if (extent.isEmpty()) {
        if (known == extents_.end()) return;
        extents_.erase(known);
        disconnect(owner, &QObject::destroyed, this, nullptr);
    } else if (known != extents_.end()) {
        if (known->range == extent) return;
        known->range = extent;
    } else {
        extents_.push_back({owner, extent});
        connect(owner, &QObject::destroyed, this, [this, owner] { setExtent(owner, {}); });
    }
    updateLimits();
}

void VisibleRange::updateLimits() {
    const bool wasFitted = isFitted();
    TimeRange limits{0, minVisibleNs};
    if (!extents_.empty()) {
        limits = extents_.front().range;
        for (const Extent& extent : extents_) limits = limits.united(extent.range);
        const auto marginNs =
            std::max<int64_t>(minVisibleNs, std::llround(static_cast<double>(limits.durationNs()) * marginShare));
        limits = {limits.startNs - marginNs, limits.endNs + marginNs};
    }
    if (limits == limits_) return;
    limits_ = limits;
    emit limitsChanged(limits_);
    setRange(wasFitted ? limits_ : range_);
}

TimeRange VisibleRange::clamped(TimeRange range) const {
    const int64_t durationNs = std::clamp(range.durationNs(), minVisibleNs, limits_.durationNs());
    // Keeps the centre when a range shorter than the minimum grows.
    const int64_t grownBy = durationNs - std::min(durationNs, range.durationNs());
    const int64_t startNs = std::clamp(range.startNs - (range.isEmpty() ? durationNs : grownBy) / 2, limits_.startNs,
                                       limits_.endNs - durationNs);
    return {startNs, startNs + durationNs};
}

TimelineRange::TimelineRange(QObject* parent) : QObject(parent) { setAxis(nullptr); }

TimelineRange::~TimelineRange() {
    // The axis receives the withdrawal when this object can no longer receive its signals.
    disconnect(&axis(), nullptr, this, nullptr);
}

void TimelineRange::setAxis(VisibleRange* range) {
    VisibleRange& before = axis();
    before.setExtent(this, {});
    disconnect(&before, nullptr, this, nullptr);
    sharedAxis_ = range;
    VisibleRange* const now = &axis();
    connect(now, &VisibleRange::changed, this, &TimelineRange::changed);
    connect(now, &VisibleRange::limitsChanged, this, &TimelineRange::changed);
    if (range) connect(range, &QObject::destroyed, this, [this] { setAxis(nullptr); });
    publishExtent();
    emit changed();
}

void TimelineRange::setOrigin(int64_t traceTimeNs) {
    if (traceTimeNs == originNs_) return;
    originNs_ = traceTimeNs;
    publishExtent();
    emit changed();
}

void TimelineRange::setExtent(TimeRange range) {
    extent_ = range;
    publishExtent();
}

void TimelineRange::zoomTo(TimeRange range) {
    const TimeRange open = withMargins(range, zoomedShare);
    const double durationNs = static_cast<double>(open.durationNs()) / (1 - coveredLeft_ - coveredRight_);
    const int64_t startNs = open.startNs - static_cast<int64_t>(durationNs * coveredLeft_);
    setVisible({startNs, startNs + static_cast<int64_t>(durationNs)});
}

void TimelineRange::setCovered(double leftShare, double rightShare) {
    constexpr double maxShare = 0.75;  // the rest stays usable
    coveredLeft_ = std::clamp(leftShare, 0.0, maxShare);
    coveredRight_ = std::clamp(rightShare, 0.0, maxShare - coveredLeft_);
}

TimeRange withMargins(TimeRange range, double share) {
    const double durationNs = std::max<double>(1, double(range.durationNs())) / share;
    const auto startNs = range.startNs + range.durationNs() / 2 - static_cast<int64_t>(durationNs / 2);
    return {startNs, startNs + static_cast<int64_t>(durationNs)};
}

void TimelineSelection::clear() {
    setEvent({});
    setRange(std::nullopt);
    setHoverTime(std::nullopt);
    setHits(nullptr);
    setPath(nullptr);
    setGapMark(std::nullopt);
    setHoveredName(0);
}

void TimelineSelection::setPath(std::shared_ptr<const CriticalPath> path) {
    if (path == path_) return;
    path_ = std::move(path);
    emit pathChanged();
}

void TimelineSelection::setEvent(EventRef event) {
    if (event == event_) return;
    event_ = event;
    const SliceLocation at = lanes_.trace() && event.isValid() ? lanes_.trace()->locate(event) : SliceLocation();
    if (at.isValid()) tracks_.setCurrent(at.track);
    changeHighlight([&] { selectedName_ = at.isValid() ? lanes_.nameAt({at.track, at.lane}, at.slice) : 0; });
    if (event.isValid()) setGapMark(std::nullopt);
    emit eventChanged(event);
}

void TimelineSelection::setRange(std::optional<TimeRange> range) {
    if (range && range->isEmpty()) range.reset();
    if (range == range_) return;
    range_ = range;
    emit rangeChanged(range);
}

void TimelineSelection::setGapMark(std::optional<GapMark> mark) {
    if (!mark && !gapMark_) return;
    gapMark_ = std::move(mark);
    emit gapMarkChanged();
}

void TimelineSelection::setHits(SearchHitsPtr hits) {
    if (hits && hits->isEmpty()) hits.reset();
    if (hits == hits_) return;
    hits_ = std::move(hits);
    emit hitsChanged();
}

void TimelineSelection::setHoverTime(std::optional<int64_t> timeNs) {
    if (timeNs == hoverTimeNs_) return;
    hoverTimeNs_ = timeNs;
    emit hoverTimeChanged();
}

StringIndex TimelineSelection::highlightedName() const {
    if (!isHighlighting_) return 0;
    return hoveredName_ != 0 ? hoveredName_ : selectedName_;
}

void TimelineSelection::setHoveredName(StringIndex name) {
    changeHighlight([&] { hoveredName_ = name; });
}

void TimelineSelection::setHighlighting(bool isOn) {
    changeHighlight([&] { isHighlighting_ = isOn; });
}

template <class Change>
void TimelineSelection::changeHighlight(const Change& change) {
    const StringIndex before = highlightedName();
    change();
    if (highlightedName() != before) emit highlightChanged();
}

void TimelineOptions::setTheme(const Theme& theme) {
    theme_ = theme;
    emit changed();
}

void TimelineOptions::setColorMode(ColorMode mode) {
    if (mode == colorMode_) return;
    colorMode_ = mode;
    emit changed();
}

void TimelineOptions::setMark(const QColor& color) {
    mark_ = color;
    emit changed();
}

void TimelineState::setTrace(TracePtr trace) {
    selection_.clear();
    range_.setDefaultRange(std::nullopt);
    lanes_.setTrace(std::move(trace));
    const TracePtr& now = this->trace();
    healthPlaces_ = now ? lanescope::healthPlaces(*now) : std::vector<WarningPlace>();
    tracks_.setTracks(now ? std::span<const Track>(now->tracks) : std::span<const Track>());
    setOther(nullptr);
    emit traceChanged();
    range_.setExtent({});  // a place in the old trace means nothing in this one
    range_.setExtent(now ? now->timelineRange() : TimeRange{});
    tracks_.arrange([](TrackLayout&) {});
}

void TimelineState::setGpuParts(GpuParts parts) {
    gpuParts_ = std::move(parts);
    emit gpuPartsChanged();
}

CounterScale TimelineState::counterScale(LanePosition position) const {
    std::vector<ScaledCounter> counters;
    const auto add = [&counters](const TimelineState& state, uint32_t track) {
        const TimeRange whole = state.trace()->timelineRange();
        for (const uint32_t lane : {0u, 1u}) {
            const CounterSeries* series = state.lanes().counterAt({track, lane});
            if (series && (counters.empty() || counters.front().series->unit == series->unit))
                counters.push_back({series, state.range().visible().intersected(whole), whole});
        }
    };
    add(*this, position.track);
    const uint32_t other = tracks_.counterpartOf(position.track);
    if (other_ && other_->hasTracks() && other < other_->trace()->tracks.size()) add(*other_, other);
    return scaleOf(counters);
}

}  // namespace lanescope::views
