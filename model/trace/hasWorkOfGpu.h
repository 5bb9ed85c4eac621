// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Whether a GPU did anything: kernels, copies or memsets. O(1).
inline bool hasWorkOfGpu(const Trace& trace) {
    return trace.kernels.size() > 0 || trace.memcpys.size() > 0 || trace.memsets.size() > 0;
}

}  // namespace lanescope
