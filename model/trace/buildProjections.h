#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `projections`: for every NVTX range and every stream, the stretch from the first start to
/// the last end of the GPU work whose launching call starts within the range on its thread.
/// Needs `Trace::links`. O((calls + ranges) log calls + ranges * streams used by their thread).
void buildProjections(Trace& trace);

}  // namespace lanescope
