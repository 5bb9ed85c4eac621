// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/tensorUse.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/bandwidth/LinkUse.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

struct Throughput {
    int major, minor;  ///< Compute capability.
    double bf16, fp16, fp8, tf32, fp32, fp64;
};

constexpr Throughput throughputs[] = {
    {7, 0, 0, 1024, 0, 0, 128, 64},
    {7, 5, 0, 1024, 0, 0, 128, 4},
    {8, 0, 2048, 2048, 0, 1024, 128, 128},
    {8, 6, 1024, 1024, 0, 512, 256, 4},
    {8, 9, 1024, 1024, 2048, 512, 256, 4},
    {9, 0, 4096, 4096, 8192, 2048, 256, 256},
    {10, 0, 8192, 8192, 16384, 4096, 256, 128},
};

/// Dense bf16 (V100 and T4: fp16) throughput of a data sheet, in TFLOP/s, and its memory in GB/s.
struct Datasheet {
    std::string_view name;  ///< Part of the GPU's name.
    int major;
    double tera, memory;
};

// The first match counts.
constexpr Datasheet datasheets[] = {
    {"H100 PCIe", 9, 756, 2000},
    {"H100 NVL", 9, 835, 3900},
    {"H200 NVL", 9, 835, 4800},
    {"H100", 9, 989.4, 3350},
    {"H200", 9, 989.4, 4800},
    {"GH200", 9, 989.4, 4000},
    {"H800", 9, 989.4, 3350},
    {"H20", 9, 148, 4000},
    {"A100-SXM4-80GB", 8, 312, 2039},
    {"A100 80GB PCIe", 8, 312, 1935},
    {"A100", 8, 312, 1555},
    {"A800", 8, 312, 1935},
    {"A10G", 8, 70, 600},
    {"A10", 8, 125, 600},
    {"A30", 8, 165, 933},
    {"A40", 8, 149.7, 696},
    {"L40S", 8, 362, 864},
    {"L40", 8, 181, 864},
    {"L4", 8, 121, 300},
    {"GB200", 10, 2500, 8000},
    {"B200", 10, 2250, 8000},
    {"V100", 7, 125, 900},
    {"T4", 7, 65, 320},
};

const Datasheet* datasheetOf(std::string_view gpuName, int computeMajor) {
    for (const Datasheet& each : datasheets)
        if (each.major == computeMajor && gpuName.find(each.name) != std::string_view::npos) return &each;
    return nullptr;
}

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
    if (const double roof = measuredRoof(trace, about.id); roof > 0 && perClock > 0) return roof / perClock;
    return datasheetActiveHz(about.name, about.computeMajor, about.computeMinor, about.smCount);
}

}  // namespace

double flopsPerClockOfSm(int computeMajor, int computeMinor, std::string_view precision) {
    for (const Throughput& each : throughputs) {
        if (each.major != computeMajor || each.minor != computeMinor) continue;
        if (precision == "bf16") return each.bf16;
        if (precision == "fp16") return each.fp16;
        if (precision == "fp8") return each.fp8;
        if (precision == "tf32") return each.tf32;
        if (precision == "fp32") return each.fp32;
        if (precision == "fp64") return each.fp64;
    }
    return 0;
}

double flopsPerActiveClockOfSm(int computeMajor, int computeMinor, std::string_view precision) {
    constexpr double hopperShare = 1830.0 / 1980;
    return flopsPerClockOfSm(computeMajor, computeMinor, precision) * (computeMajor == 9 ? hopperShare : 1);
}

double datasheetClockHz(std::string_view gpuName, int computeMajor, int computeMinor, int smCount) {
    const Datasheet* const sheet = datasheetOf(gpuName, computeMajor);
    if (sheet == nullptr || smCount <= 0) return 0;
    // All sheets state fp16, which every capability with tensor cores has.
    const double perClock = flopsPerClockOfSm(computeMajor, computeMinor, "fp16");
    return perClock > 0 ? sheet->tera * 1e12 / (perClock * smCount) : 0;
}

double datasheetFlopsPerSecond(std::string_view gpuName, int computeMajor, int computeMinor, int smCount,
                               std::string_view precision) {
    const double perClock = flopsPerClockOfSm(computeMajor, computeMinor, precision);
    return perClock * smCount * datasheetClockHz(gpuName, computeMajor, computeMinor, smCount);
}

double datasheetActiveHz(std::string_view gpuName, int computeMajor, int computeMinor, int smCount) {
    const double perClock = flopsPerActiveClockOfSm(computeMajor, computeMinor, "fp16") * smCount;
    return perClock > 0 ? datasheetFlopsPerSecond(gpuName, computeMajor, computeMinor, smCount, "fp16") / perClock : 0;
}

double datasheetBytesPerSecond(std::string_view gpuName, int computeMajor) {
    const Datasheet* const sheet = datasheetOf(gpuName, computeMajor);
    return sheet == nullptr ? 0 : sheet->memory * 1e9;
}

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
    TensorUse use{.wholeNs = range.durationNs()};
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
