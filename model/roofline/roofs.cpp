// SPDX-License-Identifier: Apache-2.0
#include "model/roofline/roofs.h"

#include <algorithm>

#include "model/bandwidth/tensorUse.h"

namespace lanescope {

namespace {

/// Returns the best measured rate; 0 without one.
template <class IsWanted>
double bestMeasured(const Trace& trace, int64_t gpu, IsWanted isWanted) {
    int64_t best = 0;
    for (const Roof& roof : trace.interconnect.roofs)
        if (roof.gpu == gpu && isWanted(roof)) best = std::max(best, roof.perSecond);
    return static_cast<double>(best);
}

}  // namespace

RoofRate computeRoof(const Trace& trace, uint32_t gpu, std::string_view precision) {
    const Gpu& about = trace.gpus[gpu];
    const double measured = bestMeasured(
        trace, about.id, [&](const Roof& roof) { return roof.kind == RoofKind::Gemm && roof.operation == precision; });
    if (measured > 0) return {measured, true};
    return {datasheetFlopsPerSecond(about.name, about.computeMajor, about.computeMinor, about.smCount, precision),
            false};
}

RoofRate memoryRoof(const Trace& trace, uint32_t gpu) {
    const Gpu& about = trace.gpus[gpu];
    const double measured = bestMeasured(trace, about.id, [](const Roof& roof) { return roof.kind == RoofKind::Dram; });
    if (measured > 0) return {measured, true};
    const auto reported = static_cast<double>(about.memoryBandwidthBytesPerSecond);
    return {reported > 0 ? reported : datasheetBytesPerSecond(about.name, about.computeMajor), false};
}

RoofTime roofTime(const OperatorWork& work, double flops, RoofRate compute, RoofRate memory) {
    RoofTime time;
    const bool needsCompute = work.isModelWork();
    if (memory.perSecond <= 0 || (needsCompute && compute.perSecond <= 0)) return time;
    const double memoryNs = work.bytes / memory.perSecond * 1e9;
    const double computeNs = needsCompute ? flops / compute.perSecond * 1e9 : 0;
    time.ns = std::max(memoryNs, computeNs);
    time.isMemoryBound = memoryNs > computeNs;
    time.isMeasured = time.isMemoryBound ? memory.isMeasured : compute.isMeasured;
    return time;
}

}  // namespace lanescope
