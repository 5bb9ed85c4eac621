#pragma once

#include <QSize>

#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope {

/// Hatches the rows of `band` where nothing was recorded that could stand there, and where
/// something was lost, in a canvas of `size`.
void paintUnrecorded(QPainter& painter, const TimelineState& state, const TimelineState::Band& band,
                     QSize size);

}  // namespace lanescope
