// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/KeyMotion.h"

#include <QTimerEvent>
#include <algorithm>
#include <cmath>

namespace lanescope::views {
namespace {

constexpr int frameMs = 15;
constexpr double firstStepSeconds = 0.09;  // what a single tap is worth
constexpr double longestStepSeconds = 0.1;
constexpr double zoomPerSecond = 9;
constexpr double screensPerSecond = 1.1;

struct Motion {
    int zoom = 0;
    int pan = 0;
};

Motion motionOf(int key) {
    switch (key) {
        case Qt::Key_W:
            return {1, 0};
        case Qt::Key_S:
            return {-1, 0};
        case Qt::Key_A:
            return {0, -1};
        case Qt::Key_D:
            return {0, 1};
        default:
            return {};
    }
}

}  // namespace

KeyMotion::KeyMotion(TimelineState& state, std::function<int64_t()> anchor, QObject* parent)
    : QObject(parent), state_(state), anchor_(std::move(anchor)) {}

bool KeyMotion::handles(int key) {
    const Motion motion = motionOf(key);
    return motion.zoom != 0 || motion.pan != 0;
}

bool KeyMotion::press(int key) {
    if (!handles(key)) return false;
    const Motion motion = motionOf(key);
    if (motion.zoom != 0) zoomDirection_ = motion.zoom;
    if (motion.pan != 0) panDirection_ = motion.pan;
    move(firstStepSeconds);
    sinceLastMove_.start();
    timer_.start(frameMs, Qt::PreciseTimer, this);
    return true;
}

bool KeyMotion::release(int key) {
    if (!handles(key)) return false;
    const Motion motion = motionOf(key);
    if (motion.zoom == zoomDirection_) zoomDirection_ = 0;
    if (motion.pan == panDirection_) panDirection_ = 0;
    if (zoomDirection_ == 0 && panDirection_ == 0) timer_.stop();
    return true;
}

void KeyMotion::stop() {
    zoomDirection_ = panDirection_ = 0;
    timer_.stop();
}

void KeyMotion::timerEvent(QTimerEvent* event) {
    if (event->timerId() != timer_.timerId()) return QObject::timerEvent(event);
    // A frame that took long must not turn into a jump.
    move(std::min(longestStepSeconds, double(sinceLastMove_.restart()) / 1000));
}

void KeyMotion::move(double seconds) {
    if (zoomDirection_ != 0)
        state_.zoomAt(anchor_(), std::pow(zoomPerSecond, seconds * zoomDirection_));
    if (panDirection_ != 0) {
        const double visibleNs = double(state_.visible().durationNs());
        const int64_t byNs = std::llround(visibleNs * screensPerSecond * seconds);
        state_.visibleRange()->pan(panDirection_ * std::max<int64_t>(1, byNs));
    }
}

}  // namespace lanescope::views
