// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/timelineInput.h"

#include <QWheelEvent>
#include <cmath>

namespace lanescope::views {
namespace {

// One notch of a wheel is 120 units and zooms by a fifth.
constexpr double zoomPerUnit = 1.0015;
constexpr double screensPerUnit = 0.1 / 120;
constexpr int pixelsPerNotch = 60;

}  // namespace

void zoomOrPan(const QWheelEvent& event, TimelineState& state, const TimeScale& scale,
               bool scrollsTracks) {
    const QPoint angle = event.angleDelta();
    const bool isPan =
        (event.modifiers() & Qt::ShiftModifier) || std::abs(angle.x()) > std::abs(angle.y());
    const bool isScroll =
        scrollsTracks && state.isWheelScrolling() && !(event.modifiers() & Qt::ControlModifier);
    if (!isPan && isScroll) {
        const QPoint pixels = event.pixelDelta();
        const int moved = pixels.y() != 0 ? pixels.y() : angle.y() * pixelsPerNotch / 120;
        return state.setScrollY(state.scrollY() - moved);
    }
    if (!isPan) {
        state.zoomAt(scale.toTimeNs(event.position().x()), std::pow(zoomPerUnit, angle.y()));
        return;
    }
    const int units = angle.x() != 0 ? angle.x() : angle.y();
    const QPoint pixels = event.pixelDelta();
    const double share =
        pixels.x() != 0 && scale.width > 0 ? pixels.x() / scale.width : units * screensPerUnit;
    state.visibleRange()->pan(-std::llround(share * double(state.visible().durationNs())));
}

}  // namespace lanescope::views
