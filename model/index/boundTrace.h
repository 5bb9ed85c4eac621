// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Makes a trace that was read from an index safe to use, whatever the file holds: small parts are
/// checked, and every mapped column is told which values it may have, so that what a damaged file
/// holds reads as another row, never as one outside of its table. False if the small parts do not
/// fit together. `rows` must live as long as the trace. O(tracks).
bool boundTrace(Trace& trace, RowCounts& rows);

}  // namespace lanescope
