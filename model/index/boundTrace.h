// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Makes a trace from an index safe, whatever the file contains. Checks small parts, and bounds the values of every
/// mapped column. A corrupt index then refers to another row, but never outside of its table. Returns false if the
/// small parts are inconsistent. `rows` must live as long as the trace. O(tracks).
bool boundTrace(Trace& trace, RowCounts& rows);

}  // namespace lanescope
