#include "capture/collector/writeLinkPeaks.h"

#include <cmath>
#include <iterator>

namespace lanescope {

namespace {

/// Of one lane: transfers a second in units of 1e9, and the share that is left of them by the
/// encoding (8b/10b, 128b/130b, and from generation 6 on 242 of 256 bytes of a FLIT).
struct PcieGeneration {
    double gigatransfers, share;
};
constexpr PcieGeneration generations[] = {
    {2.5, 8.0 / 10},   {5, 8.0 / 10},     {8, 128.0 / 130},
    {16, 128.0 / 130}, {32, 128.0 / 130}, {64, 242.0 / 256},
};
constexpr double bitsPerByte = 8;
constexpr int64_t edgesPerClock = 2;
constexpr int64_t hzPerMhz = 1'000'000;
constexpr const char* origin = "nvml";

}  // namespace

int64_t pcieBytesPerSecond(int generation, int lanes) {
    if (generation < 1 || generation > static_cast<int>(std::size(generations)) || lanes <= 0)
        return 0;
    const PcieGeneration& each = generations[generation - 1];
    return std::llround(each.gigatransfers * 1e9 * each.share * lanes / bitsPerByte);
}

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
        trace.linkPeaks.insert("dram", gpu.index, nullptr, nullptr,
                               gpu.memoryClockMhz * hzPerMhz * edgesPerClock * gpu.memoryBusBits /
                                   static_cast<int64_t>(bitsPerByte),
                               nullptr, nullptr, gpu.memoryBusBits, origin);
}

}  // namespace lanescope
