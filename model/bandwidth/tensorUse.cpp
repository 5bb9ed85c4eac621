// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/tensorUse.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "model/bandwidth/LinkUse.h"
#include "model/bandwidth/computePeaks.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

const CounterSeries* counterOf(const Trace& trace, uint32_t gpu, bool (*isWanted)(const CounterSeries&)) {
    const auto found = std::ranges::find_if(trace.counters, [&](const CounterSeries& each) {
        return each.gpu == gpu && isWanted(each) && each.hasValue();
    });
    return found == trace.counters.end() ? nullptr : &*found;
}

/// GPM has a key for it, hardware counters have names.
bool isTensorActivity(const CounterSeries& series) {
    return series.key == "tensor.activity" || (series.source == "pm" && series.name.starts_with("Tensor Active"));
}

bool isSmClock(const CounterSeries& series) { return series.key == "clock.sm"; }

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

/// Returns activity times clock at a GPU's peak, in Hz: of the measured one, else of the data sheet; 0 if unknown.
double peakActiveHz(const Trace& trace, uint32_t gpu) {
    const Gpu& about = trace.gpus[gpu];
    const double perClock = flopsPerActiveClockOfSm(about.computeMajor, about.computeMinor, "fp16") * about.smCount;
    const double roof = measuredRoof(trace, about.id);
    const double peak =
        roof > 0 ? roof
                 : datasheetFlopsPerSecond(about.name, about.computeMajor, about.computeMinor, about.smCount, "fp16");
    return perClock > 0 ? peak / perClock : 0;
}

}  // namespace

TensorReadings tensorReadings(const Trace& trace, uint32_t gpu, TimeRange range) {
    TensorReadings result;
    const CounterSeries* const tensor = counterOf(trace, gpu, isTensorActivity);
    const CounterSeries* const clock = counterOf(trace, gpu, isSmClock);
    if (tensor == nullptr || clock == nullptr) return result;
    result.sampler = tensor->source;
    for (uint32_t sample = 0; sample < tensor->size(); ++sample) {
        const TimeRange reading = tensor->rangeOf(sample);
        const TimeRange part = reading.intersected(range);
        if (part.isEmpty() || !(tensor->value(sample) >= 0)) continue;
        const CounterIntegral hertz = integralOf(*clock, part);
        double clockHz = hertz.mean();
        int64_t knownNs = hertz.knownNs;
        if (!hertz.hasValue()) {
            const std::optional<uint32_t> held = clock->sampleAt(part.startNs);
            if (!held || !(clock->value(*held) > 0)) continue;
            clockHz = clock->value(*held);
            knownNs = part.durationNs();
        }
        result.readings.push_back({part, knownNs, reading.durationNs(), tensor->value(sample) / 100, clockHz});
    }
    return result;
}

void addMfuCounters(Trace& trace) {
    for (uint32_t gpu = 0; gpu < trace.gpus.size(); ++gpu) {
        const double peakHz = peakActiveHz(trace, gpu);
        const CounterSeries* const tensor = counterOf(trace, gpu, isTensorActivity);
        if (peakHz <= 0 || tensor == nullptr) continue;
        const TensorReadings read = tensorReadings(trace, gpu, {tensor->timeNs(0), tensor->endNs()});
        if (read.readings.empty()) continue;
        LargeVector<int64_t> timesNs(trace.memory.get());
        LargeVector<double> values(trace.memory.get());
        for (const TensorReading& each : read.readings) {
            if (!timesNs.empty() && timesNs.back() == each.range.startNs) {
                timesNs.pop_back();
                values.pop_back();
            }
            timesNs.push_back(each.range.startNs);
            values.push_back(100 * each.activity * each.clockHz / peakHz);
            timesNs.push_back(each.range.endNs);
            values.push_back(std::numeric_limits<double>::quiet_NaN());
        }
        CounterSeries series;
        series.name = "MFU (computed)";
        series.key = mfuKey;
        series.unit = CounterUnit::Percent;
        series.isMeanOfInterval = true;
        series.gpu = gpu;
        series.intervalNs = tensor->intervalNs;
        series.set(timesNs, values, read.readings.back().range.endNs);
        trace.counters.push_back(std::move(series));
    }
}

std::optional<TensorUse> tensorUseOf(const Trace& trace, uint32_t gpu, TimeRange range) {
    const CounterSeries* const tensor = counterOf(trace, gpu, isTensorActivity);
    if (tensor == nullptr || integralOf(*tensor, range).isUnread) return std::nullopt;
    TensorUse use;
    use.wholeNs = range.durationNs();
    double cycles = 0, activeCycles = 0;
    for (const TensorReading& each : tensorReadings(trace, gpu, range).readings) {
        const double here = each.clockHz * static_cast<double>(each.knownNs) / 1e9;
        cycles += here;
        activeCycles += here * each.activity;
        use.knownNs += each.knownNs;
    }
    if (use.knownNs <= 0 || cycles <= 0) return std::nullopt;
    use.activity = activeCycles / cycles;
    use.clockHz = cycles * 1e9 / static_cast<double>(use.knownNs);
    const Gpu& about = trace.gpus[gpu];
    const double rate = use.activity * use.clockHz * about.smCount *
                        flopsPerActiveClockOfSm(about.computeMajor, about.computeMinor, "fp16");
    const double sheet =
        datasheetFlopsPerSecond(about.name, about.computeMajor, about.computeMinor, about.smCount, "fp16");
    if (sheet > 0) use.ofDataSheet = rate / sheet;
    if (const double roof = measuredRoof(trace, about.id); roof > 0) use.ofMeasured = rate / roof;
    return use;
}

}  // namespace lanescope
