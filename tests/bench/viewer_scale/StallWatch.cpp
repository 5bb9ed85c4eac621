// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/StallWatch.h"

#include <algorithm>

#include "tests/bench/viewer_scale/Times.h"

namespace lanescope {

namespace {
constexpr int periodMs = 1;
}

StallWatch::StallWatch() {
    timer_.setTimerType(Qt::PreciseTimer);
    QObject::connect(&timer_, &QTimer::timeout, &timer_, [this] { tick(); });
    timer_.start(periodMs);
    restart();
}

void StallWatch::restart() {
    longestNs_ = 0;
    maxStallCpuMs_ = 0;
    begin();
}

void StallWatch::tick() {
    longestNs_ = std::max(longestNs_, sinceTick_.nsecsElapsed());
    maxStallCpuMs_ = std::max(maxStallCpuMs_, threadCpuMs() - cpuAtTickMs_);
    begin();
}

void StallWatch::begin() {
    sinceTick_.start();
    cpuAtTickMs_ = threadCpuMs();
}

double StallWatch::maxStallMs() const {
    return static_cast<double>(std::max(longestNs_, sinceTick_.nsecsElapsed())) / 1e6;
}

double StallWatch::maxStallCpuMs() const { return std::max(maxStallCpuMs_, threadCpuMs() - cpuAtTickMs_); }

}  // namespace lanescope
