#pragma once

#include <string_view>
#include <vector>

#include "model/values/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The columns of a table of events, in order.
enum class EventColumn : uint8_t {
    Start,
    Duration,
    Kind,
    Name,
    Place,
    Gpu,
    Bytes,
    Rate,
    Correlation,
};
inline constexpr size_t eventColumnCount = 9;

const std::vector<ReportColumn>& eventColumns();

/// "Kernel", "Memcpy", "CUDA API call".
std::string_view nameOfKind(EventKind kind);

/// One event as the cells of these columns; what an event has not is empty. O(1).
std::vector<Cell> eventCells(const Trace& trace, EventRef event);
/// One of them.
Cell eventCell(const Trace& trace, EventRef event, EventColumn column);

}  // namespace lanescope
