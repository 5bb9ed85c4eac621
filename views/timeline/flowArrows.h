#pragma once

#include <vector>

#include "model/trace/Trace.h"
#include "views/timeline/TimeScale.h"
#include "views/timeline/TrackLayout.h"

class QPainter;

namespace lanescope {

struct Theme;

/// From an API call to the GPU work it started. Heights are pixels from the top of all rows.
struct FlowArrow {
    int64_t fromNs = 0;
    int64_t toNs = 0;
    double fromY = 0;
    double toY = 0;
};

/// The arrows of a call, or the one of a piece of GPU work. Ends in folded tracks stand at the
/// group that hides them. At most some tens: a graph launch may start thousands.
std::vector<FlowArrow> flowArrows(const Trace& trace, const TrackLayout& layout, EventRef event);

void paintFlowArrows(QPainter& painter, const std::vector<FlowArrow>& arrows,
                     const TimeScale& scale, int scrollY, const Theme& theme);

}  // namespace lanescope
