// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/nvprof/NvprofContext.h"

namespace lanescope {

// Each gives the builder what some tables of an nvprof file hold, and counts it. Linear in the
// rows.

void readNvprofDevices(NvprofContext& context);
void readNvprofCalls(NvprofContext& context);
/// Kernels, copies and memsets.
void readNvprofWork(NvprofContext& context);
void readNvprofWaits(NvprofContext& context);
/// Ranges and marks of NVTX.
void readNvprofMarkers(NvprofContext& context);
void readNvprofOverhead(NvprofContext& context);

}  // namespace lanescope
