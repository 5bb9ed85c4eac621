#include "capture/collector/writeLinkPeaks.h"

#include "model/format/pcieRate.h"

namespace lanescope {

namespace {

constexpr int64_t bitsPerByte = 8;
constexpr int64_t edgesPerClock = 2;
constexpr int64_t hzPerMhz = 1'000'000;
constexpr const char* origin = "nvml";

}  // namespace

void writeLinkPeaks(TraceWriter& trace, const MachineGpu& gpu) {
    if (const int64_t rate = pcieBytesPerSecond(gpu.pcieGeneration, gpu.pcieWidth); rate > 0)
        for (const char* direction : {"tx", "rx"})
            trace.linkPeaks.insert("pcie", gpu.index, nullptr, direction, rate, nullptr,
                                   gpu.pcieGeneration, gpu.pcieWidth, origin);
    if (gpu.nvlinkCount > 0 && gpu.nvlinkBytesPerSecond > 0)
        for (const char* direction : {"tx", "rx"})
            trace.linkPeaks.insert("nvlink", gpu.index, nullptr, direction,
                                   gpu.nvlinkBytesPerSecond * gpu.nvlinkCount, gpu.nvlinkCount,
                                   nullptr, nullptr, origin);
    if (gpu.memoryClockMhz > 0 && gpu.memoryBusBits > 0)
        trace.linkPeaks.insert(
            "dram", gpu.index, nullptr, nullptr,
            gpu.memoryClockMhz * hzPerMhz * edgesPerClock * gpu.memoryBusBits / bitsPerByte,
            nullptr, nullptr, gpu.memoryBusBits, origin);
}

}  // namespace lanescope
