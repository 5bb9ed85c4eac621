#pragma once

#include <QSize>

#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope {

/// Hatches the visible rows where nothing was recorded that could stand there, and where something
/// was lost, at the state's scroll position in a canvas of `size`.
void paintUnrecorded(QPainter& painter, const TimelineState& state, QSize size);

}  // namespace lanescope
