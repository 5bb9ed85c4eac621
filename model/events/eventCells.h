// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/trace/Trace.h"
#include "model/values/ReportTable.h"

namespace lanescope {

/// The columns of a table of events, in order.
enum class EventColumn : uint8_t {
    Start,
    Duration,
    Kind,
    Name,
    Line,  ///< The thread or stream.
    Gpu,
    Bytes,
    Rate,
    Correlation,
};
inline constexpr size_t eventColumnCount = 9;

const std::vector<ReportColumn>& eventColumns();

/// One event as the cells of these columns; what an event has not is empty. O(1).
std::vector<Cell> eventCells(const Trace& trace, EventRef event);
/// One of them.
Cell eventCell(const Trace& trace, EventRef event, EventColumn column);

}  // namespace lanescope
