// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `projections`: for every NVTX range but Python functions and every stream, the stretch
/// from the first start to the last end of the GPU work whose launching call starts within the
/// range on its thread. Needs `Trace::links`. O((calls + ranges) log calls + ranges * streams used
/// by their thread). Stopped, it leaves `projections` as they were.
void buildProjections(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
