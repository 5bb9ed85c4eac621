// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/tensorUse.h"

#include <algorithm>
#include <string_view>

#include "model/bandwidth/computePeaks.h"
#include "model/bandwidth/counterIntegral.h"

namespace lanescope {

namespace {

const CounterSeries* counterOf(const Trace& trace, uint32_t gpu, std::string_view key) {
    const auto found = std::ranges::find_if(trace.counters, [&](const CounterSeries& each) {
        return each.gpu == gpu && each.key == key && each.hasValue();
    });
    return found == trace.counters.end() ? nullptr : &*found;
}

/// Returns the best measured rate of products that tensor cores compute at their usual precision; 0 if none.
double measuredRoof(const Trace& trace, int64_t gpu) {
    for (const std::string_view precision : {"bf16", "fp16"}) {
        int64_t best = 0;
        for (const Roof& roof : trace.interconnect.roofs)
            if (roof.gpu == gpu && roof.kind == RoofKind::Gemm && roof.operation == precision)
                best = std::max(best, roof.perSecond);
        if (best > 0) return static_cast<double>(best);
    }
    return 0;
}

}  // namespace

std::optional<TensorUse> tensorUseOf(const Trace& trace, uint32_t gpu, TimeRange range) {
    const CounterSeries* const tensor = counterOf(trace, gpu, "tensor.activity");
    const CounterSeries* const clock = counterOf(trace, gpu, "clock.sm");
    if (tensor == nullptr || clock == nullptr || integralOf(*tensor, range).isUnread) return std::nullopt;
    TensorUse use;
    use.wholeNs = range.durationNs();
    double cycles = 0, activeCycles = 0;
    for (uint32_t sample = 0; sample < tensor->size(); ++sample) {
        const TimeRange reading = tensor->rangeOf(sample);
        const TimeRange part = reading.intersected(range);
        if (part.isEmpty() || !(tensor->value(sample) >= 0)) continue;
        const CounterIntegral hertz = integralOf(*clock, part);
        // A clock that was read less often than the activity holds until its next reading.
        double clockHz = hertz.mean();
        int64_t knownNs = hertz.knownNs;
        if (!hertz.hasValue()) {
            const std::optional<uint32_t> held = clock->sampleAt(part.startNs);
            if (!held || !(clock->value(*held) > 0)) continue;
            clockHz = clock->value(*held);
            knownNs = part.durationNs();
        }
        const double here = clockHz * static_cast<double>(knownNs) / 1e9;
        cycles += here;
        activeCycles += here * tensor->value(sample) / 100;
        use.knownNs += knownNs;
        use.longestReadingNs = std::max(use.longestReadingNs, reading.durationNs());
    }
    if (use.knownNs <= 0 || cycles <= 0) return std::nullopt;
    use.activity = activeCycles / cycles;
    use.clockHz = cycles * 1e9 / static_cast<double>(use.knownNs);
    const Gpu& about = trace.gpus[gpu];
    const double sheetClock = datasheetClockHz(about.name, about.computeMajor, about.computeMinor, about.smCount);
    if (sheetClock > 0) use.ofDataSheet = use.activity * use.clockHz / sheetClock;
    const double perClock = flopsPerClockOfSm(about.computeMajor, about.computeMinor, "fp16") * about.smCount;
    const double roof = measuredRoof(trace, about.id);
    if (roof > 0) use.ofMeasured = use.activity * use.clockHz * perClock / roof;
    return use;
}

}  // namespace lanescope
