// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>

#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope::views {

/// Marks where processes ended that did not end by themselves, on the rows of the process.
void paintEnds(QPainter& painter, const TimelineState& state, const TimelineState::Band& band,
               QSize size);
/// Marks the same moments, and what was lost, on the ruler.
void paintHealthOnRuler(QPainter& painter, const TimelineState& state, QSize size);
/// The end that stands within some pixels of `x` on a row of this track, or null.
const HealthPlace* endAt(const TimelineState& state, uint32_t track, double x, double width);

}  // namespace lanescope::views
