// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analysis/rooflineRows.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns a roofline as the table of the report "roofline", with a row per row. O(rows).
ReportTable rooflineTable(const Trace& trace, const analysis::Roofline& roofline);

}  // namespace lanescope
