// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/values/ReportTable.h"

namespace lanescope::views {

/// What to search a trace for to find the events that `row` of a report sums up: the name without
/// the NVTX domain before it, "memcpy HtoD" for a kind of memcpy. Empty if the row names nothing.
QString searchText(const ReportTable& table, int row);

}  // namespace lanescope::views
