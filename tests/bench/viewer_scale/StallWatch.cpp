#include "tests/bench/viewer_scale/StallWatch.h"

#include <algorithm>

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
    sinceTick_.start();
}

void StallWatch::tick() {
    longestNs_ = std::max(longestNs_, sinceTick_.nsecsElapsed());
    sinceTick_.start();
}

double StallWatch::longestMs() const {
    return static_cast<double>(std::max(longestNs_, sinceTick_.nsecsElapsed())) / 1e6;
}

}  // namespace lanescope
