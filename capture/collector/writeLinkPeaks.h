// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/collector/TraceWriter.h"
#include "capture/machine/Machine.h"

namespace lanescope::capture {

/// Writes what the links and the memory of a GPU can carry, as far as the driver told.
void writeLinkPeaks(TraceWriter& trace, const MachineGpu& gpu);

}  // namespace lanescope::capture
