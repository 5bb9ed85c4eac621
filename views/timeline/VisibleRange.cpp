// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/VisibleRange.h"

#include <algorithm>
#include <cmath>

namespace lanescope::views {
namespace {

// The margin on each side of the trace when everything is visible, so that the first and the last
// slice are not at the window's edge.
constexpr double marginShare = 0.01;
// Some 36 years either way. A corrupt trace can contain any time; sums and differences of these still fit.
constexpr int64_t maxTimeNs = int64_t{1} << 60;

}  // namespace

VisibleRange::VisibleRange(QObject* parent) : QObject(parent) {}

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

void VisibleRange::fit() { setRange(limits_); }

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

}  // namespace lanescope::views
