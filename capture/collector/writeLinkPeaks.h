#pragma once

#include "capture/collector/TraceWriter.h"
#include "capture/nvml/Machine.h"

namespace lanescope {

/// Bytes a second that `lanes` of a PCIe generation carry in one direction, after encoding and
/// before the headers of packets; 0 if the generation is unknown.
int64_t pcieBytesPerSecond(int generation, int lanes);

/// Writes what the links and the memory of a GPU can carry, as far as the driver told.
void writeLinkPeaks(TraceWriter& trace, const MachineGpu& gpu);

}  // namespace lanescope
