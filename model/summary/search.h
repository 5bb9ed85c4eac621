#pragma once

#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Events on the timeline whose name contains `text` (case ignored), by start. Names are tested once
/// each, not once per event. Empty text finds nothing. O(strings + events); any thread.
std::vector<EventRef> findEvents(const Trace& trace, std::string_view text);

}  // namespace lanescope
