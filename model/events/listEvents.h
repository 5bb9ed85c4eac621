// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/events/EventWindow.h"
#include "model/events/eventCells.h"

namespace lanescope {

/// Which events of a range to list, and how.
struct EventRequest {
    TimeRange range;
    EventKinds kinds = EventKinds::recorded();
    /// Only events whose name, thread or stream holds all of them; no matter the case. Terms on
    /// Python stacks (`splitTerms`) are about what led to an event.
    std::string words{};
    EventColumn sortedBy = EventColumn::Start;
    bool isDescending = false;
    int64_t mostScanned = 1'000'000;  ///< Later events of the range are not looked at.
    bool operator==(const EventRequest&) const = default;
};

struct EventList {
    std::vector<EventRef> events;
    int64_t inRange = 0;  ///< Events of these kinds in the range.
    int64_t scanned = 0;  ///< How many of them were looked at.
};

/// Lists and sorts. Nothing if `isCancelled` says so on the way. O(k log k) in what is scanned.
std::optional<EventList> listEvents(const Trace& trace, const EventRequest& request,
                                    const std::function<bool()>& isCancelled = {});

}  // namespace lanescope
