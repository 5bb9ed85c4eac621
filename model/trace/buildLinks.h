#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `callLinks` and `workLinks` from the tables. O(n log n).
void buildLinks(Trace& trace);

}  // namespace lanescope
