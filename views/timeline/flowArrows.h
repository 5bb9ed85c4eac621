// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "model/trace/Trace.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

/// Why an arrow leads from one event to another.
enum class FlowKind : uint8_t {
    Launch,    ///< The call started the work.
    Wait,      ///< The work of another stream had to wait, for an event.
    Backward,  ///< The operator is the backward of the other.
    Rank,      ///< The work of other ranks had to wait for this one to begin.
};

/// Where an arrow begins or ends. Heights are pixels from the top of all rows.
struct FlowEnd {
    EventRef event;
    int64_t timeNs = 0;
    double y = 0;
    uint32_t track = noIndex;  ///< Of the event, even if another row stands for it.
    bool isHidden = false;     ///< Stands on no row; `y` means nothing.
};

struct FlowArrow {
    FlowKind kind = FlowKind::Launch;
    FlowEnd from, to;
    EventRef far;  ///< Whichever of the two is not the event one asked for.
    /// By how much the times of its ends may be wrong against each other, where they are of clocks
    /// that were brought together.
    int64_t errorNs = 0;
};

/// The arrows of a call to its work, those of a piece of GPU work from its call and to and from the
/// work of other streams that had to wait, those between an operator and its backward, and those
/// from the rank that came last to a collective to others, at the moment when their waiting ended.
/// Ends in folded tracks stand at the group that hides them. At most some tens: a graph launch may
/// start thousands.
std::vector<FlowArrow> flowArrows(const Trace& trace, const TrackLayout& layout, EventRef event);

}  // namespace lanescope::views
