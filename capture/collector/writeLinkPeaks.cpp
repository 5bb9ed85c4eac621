// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/writeLinkPeaks.h"

#include "model/format/pcieRate.h"
#include "model/format/tables/Links.h"

namespace lanescope::capture {

namespace {

constexpr int64_t bitsPerByte = 8;
constexpr int64_t edgesPerClock = 2;
constexpr int64_t hzPerMhz = 1'000'000;
constexpr const char* origin = "nvml";

}  // namespace

void writeLinkPeaks(TraceWriter& trace, const MachineGpu& gpu) {
    constexpr const auto& t = tables::linkPeaks;
    if (const int64_t rate = pcieBytesPerSecond(gpu.pcieGeneration, gpu.pcieWidth); rate > 0)
        for (const char* direction : {"tx", "rx"})
            trace.add(t, t.kind = "pcie", t.gpuId = gpu.index, t.direction = direction,
                      t.bytesPerSecond = rate, t.generation = gpu.pcieGeneration,
                      t.width = gpu.pcieWidth, t.origin = origin);
    if (gpu.nvlinkCount > 0 && gpu.nvlinkBytesPerSecond > 0)
        for (const char* direction : {"tx", "rx"})
            trace.add(t, t.kind = "nvlink", t.gpuId = gpu.index, t.direction = direction,
                      t.bytesPerSecond = gpu.nvlinkBytesPerSecond * gpu.nvlinkCount,
                      t.links = gpu.nvlinkCount, t.origin = origin);
    if (gpu.memoryClockMhz > 0 && gpu.memoryBusBits > 0)
        trace.add(t, t.kind = "dram", t.gpuId = gpu.index,
                  t.bytesPerSecond = gpu.memoryClockMhz * hzPerMhz * edgesPerClock *
                                     gpu.memoryBusBits / bitsPerByte,
                  t.width = gpu.memoryBusBits, t.origin = origin);
}

}  // namespace lanescope::capture
