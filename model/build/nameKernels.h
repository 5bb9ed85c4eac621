// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Gives kernels the short names that people know (`knownKernelName`) where they have one. O(launch
/// configurations) and the length of their names. No other thread may read the names meanwhile.
void nameKernels(Trace& trace);

}  // namespace lanescope
