// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/timelineKeys.h"

#include <QKeyEvent>

#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::views {
namespace {

bool handleWithControl(TimelineView& view, int key) {
    switch (key) {
        case Qt::Key_Home:
            view.scrollToTop();
            return true;
        case Qt::Key_End:
            view.scrollToBottom();
            return true;
        default:
            return false;
    }
}

bool moveSelection(TimelineView& view, int key) {
    switch (key) {
        case Qt::Key_Left:
            view.selectNeighbour(-1, SliceStep::Visible);
            return true;
        case Qt::Key_Right:
            view.selectNeighbour(1, SliceStep::Visible);
            return true;
        case Qt::Key_Comma:
            view.selectNeighbour(-1, SliceStep::Single);
            return true;
        case Qt::Key_Period:
            view.selectNeighbour(1, SliceStep::Single);
            return true;
        case Qt::Key_Home:
            view.selectEndOfLane(-1);
            return true;
        case Qt::Key_End:
            view.selectEndOfLane(1);
            return true;
        case Qt::Key_Up:
            view.selectAdjacentLane(-1);
            return true;
        case Qt::Key_Down:
            view.selectAdjacentLane(1);
            return true;
        case Qt::Key_B:
            view.selectCounterpart();
            return true;
        default:
            return false;
    }
}

}  // namespace

bool handleTimelineKey(TimelineView& view, const QKeyEvent& event) {
    constexpr auto others = Qt::AltModifier | Qt::MetaModifier;
    if (event.modifiers() & others) return false;
    if (event.modifiers() & Qt::ControlModifier) return handleWithControl(view, event.key());
    if (moveSelection(view, event.key())) return true;
    const bool isShifted = event.modifiers() & Qt::ShiftModifier;
    switch (event.key()) {
        case Qt::Key_F:
            view.zoomToSelection();
            return true;
        case Qt::Key_0:
            view.fit();
            return true;
        case Qt::Key_Z:
        case Qt::Key_Backspace:
            isShifted ? view.goForward() : view.goBack();
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            view.zoomToEvent();
            return true;
        case Qt::Key_G:
            view.followFlow(isShifted ? -1 : 1);
            return true;
        case Qt::Key_E:
            view.followFlow(1);
            return true;
        case Qt::Key_Q:
            view.followFlow(-1);
            return true;
        case Qt::Key_Escape:
            view.clearSelection();
            return true;
        case Qt::Key_PageUp:
            view.scrollPages(-1);
            return true;
        case Qt::Key_PageDown:
            view.scrollPages(1);
            return true;
        default:
            return false;
    }
}

}  // namespace lanescope::views
