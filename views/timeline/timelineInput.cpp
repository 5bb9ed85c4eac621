// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/timelineInput.h"

#include <QTimerEvent>
#include <algorithm>
#include <cmath>

#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::views {
namespace {

// One notch of a wheel is 120 units and zooms by a fifth.
constexpr double zoomPerUnit = 1.0015;
constexpr double screensPerUnit = 0.1 / 120;
constexpr int pixelsPerNotch = 60;

constexpr int frameMs = 15;
constexpr double firstStepSeconds = 0.09;  // the effect of a single tap
constexpr double maxStepSeconds = 0.1;
constexpr double zoomPerSecond = 9;
constexpr double screensPerSecond = 1.1;

struct Motion {
    int zoom = 0;
    int pan = 0;
};

Motion motionOf(int key) {
    switch (key) {
        case Qt::Key_W: return {1, 0};
        case Qt::Key_S: return {-1, 0};
        case Qt::Key_A: return {0, -1};
        case Qt::Key_D: return {0, 1};
        default: return {};
    }
}

bool handleWithControl(TimelineView& view, int key) {
    switch (key) {
        case Qt::Key_Home: view.commands().scrollToTop(); return true;
        case Qt::Key_End: view.commands().scrollToBottom(); return true;
        default: return false;
    }
}

bool moveSelection(TimelineView& view, int key) {
    switch (key) {
        case Qt::Key_Left: view.commands().selectNeighbour(-1, SliceStep::Visible); return true;
        case Qt::Key_Right: view.commands().selectNeighbour(1, SliceStep::Visible); return true;
        case Qt::Key_Comma: view.commands().selectNeighbour(-1, SliceStep::Single); return true;
        case Qt::Key_Period: view.commands().selectNeighbour(1, SliceStep::Single); return true;
        case Qt::Key_Home: view.commands().navigator().selectEndOfLane(-1); return true;
        case Qt::Key_End: view.commands().navigator().selectEndOfLane(1); return true;
        case Qt::Key_Up: view.commands().navigator().selectAdjacentLane(-1); return true;
        case Qt::Key_Down: view.commands().navigator().selectAdjacentLane(1); return true;
        case Qt::Key_B: view.commands().selectCounterpart(); return true;
        default: return false;
    }
}

}  // namespace

void zoomOrPan(const QWheelEvent& event, TimelineState& state, const TimeScale& scale, bool scrollsTracks) {
    const QPoint angle = event.angleDelta();
    const bool isPan = (event.modifiers() & Qt::ShiftModifier) || std::abs(angle.x()) > std::abs(angle.y());
    const bool isScroll =
        scrollsTracks && state.options().isWheelScrolling() && !(event.modifiers() & Qt::ControlModifier);
    if (!isPan && isScroll) {
        const QPoint pixels = event.pixelDelta();
        const int moved = pixels.y() != 0 ? pixels.y() : angle.y() * pixelsPerNotch / 120;
        return state.scroll().setY(state.scroll().y() - moved);
    }
    if (!isPan) {
        state.range().zoomAt(scale.toTimeNs(event.position().x()), std::pow(zoomPerUnit, angle.y()));
        return;
    }
    const int units = angle.x() != 0 ? angle.x() : angle.y();
    const QPoint pixels = event.pixelDelta();
    const double share = pixels.x() != 0 && scale.width > 0 ? pixels.x() / scale.width : units * screensPerUnit;
    state.range().axis().pan(-std::llround(share * double(state.range().visible().durationNs())));
}

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
    // A slow frame must not cause a jump.
    move(std::min(maxStepSeconds, double(sinceLastMove_.restart()) / 1000));
}

void KeyMotion::move(double seconds) {
    if (zoomDirection_ != 0) state_.range().zoomAt(anchor_(), std::pow(zoomPerSecond, seconds * zoomDirection_));
    if (panDirection_ != 0) {
        const double visibleNs = double(state_.range().visible().durationNs());
        const int64_t byNs = std::llround(visibleNs * screensPerSecond * seconds);
        state_.range().axis().pan(panDirection_ * std::max<int64_t>(1, byNs));
    }
}

bool handleTimelineKey(TimelineView& view, const QKeyEvent& event) {
    constexpr auto others = Qt::AltModifier | Qt::MetaModifier;
    if (event.modifiers() & others) return false;
    if (event.modifiers() & Qt::ControlModifier) return handleWithControl(view, event.key());
    if (moveSelection(view, event.key())) return true;
    const bool isShifted = event.modifiers() & Qt::ShiftModifier;
    switch (event.key()) {
        case Qt::Key_F: view.commands().navigator().zoomToSelection(); return true;
        case Qt::Key_0: view.commands().fit(); return true;
        case Qt::Key_Z:
        case Qt::Key_Backspace: isShifted ? view.history().forward() : view.history().back(); return true;
        case Qt::Key_Return:
        case Qt::Key_Enter: view.commands().navigator().zoomToEvent(); return true;
        case Qt::Key_G: view.commands().navigator().followFlow(isShifted ? -1 : 1); return true;
        case Qt::Key_E: view.commands().navigator().followFlow(1); return true;
        case Qt::Key_Q: view.commands().navigator().followFlow(-1); return true;
        case Qt::Key_Escape: view.commands().clearSelection(); return true;
        case Qt::Key_PageUp: view.commands().scrollPages(-1); return true;
        case Qt::Key_PageDown: view.commands().scrollPages(1); return true;
        default: return false;
    }
}

}  // namespace lanescope::views
