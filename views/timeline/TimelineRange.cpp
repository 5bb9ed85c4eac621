// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineRange.h"

#include <algorithm>

namespace lanescope::views {
namespace {

/// The share of the view of a range that is zoomed to.
constexpr double zoomedShare = 0.8;

}  // namespace

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

VisibleRange& TimelineRange::axis() const { return sharedAxis_ ? *sharedAxis_ : const_cast<VisibleRange&>(ownAxis_); }

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

void TimelineRange::showDefaultRange() { default_ ? zoomTo(*default_) : axis().fit(); }

void TimelineRange::publishExtent() { axis().setExtent(this, extent_.shifted(-originNs_)); }

TimeRange withMargins(TimeRange range, double share) {
    const double durationNs = std::max<double>(1, double(range.durationNs())) / share;
    const auto startNs = range.startNs + range.durationNs() / 2 - static_cast<int64_t>(durationNs / 2);
    return {startNs, startNs + static_cast<int64_t>(durationNs)};
}

}  // namespace lanescope::views
