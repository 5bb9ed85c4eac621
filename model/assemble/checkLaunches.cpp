// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/checkLaunches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/apiCalls.h"
#include "model/text/formatValue.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/tasks.h"

namespace lanescope {

namespace {

/// Fewer launches prove nothing about a clock.
constexpr int64_t minLaunches = 8;
/// A GPU starts at least one of many launches sooner than that.
constexpr int64_t maxDelayNs = 10'000'000'000;
/// Real clocks disagree by less. A kernel cannot start before its launch.
constexpr int64_t maxLeadNs = 2'000'000;

/// Delays from the start of a launch to the start of its work, of one GPU.
struct Delays {
    int64_t count = 0, early = 0;
    int64_t minNs = std::numeric_limits<int64_t>::max(), maxNs = std::numeric_limits<int64_t>::min();

    void add(int64_t delayNs) {
        ++count;
        early += delayNs < -maxLeadNs ? 1 : 0;
        minNs = std::min(minNs, delayNs);
        maxNs = std::max(maxNs, delayNs);
    }
    bool isLate() const { return count >= minLaunches && minNs > maxDelayNs; }
    bool isEarly() const { return count >= minLaunches && 2 * early > count; }
};

void checkClocks(Trace& trace, const std::stop_token& stop) {
    std::vector<Delays> delays(trace.gpus.size());
    forEachLaunch(
        trace,
        [&](uint32_t call, EventRef work) {
            const uint32_t stream = streamOf(trace, work);
            if (stream == noIndex) return;
            delays[trace.streams[stream].gpu].add(trace.rangeOf(work).startNs - trace.apiCalls.startNs[call]);
        },
        stop);
    for (size_t index = 0; index < delays.size(); ++index) {
        const Delays& found = delays[index];
        Gpu& gpu = trace.gpus[index];
        gpu.isClockInconsistent = found.isLate() || found.isEarly();
        if (!gpu.isClockInconsistent) continue;
        const int64_t offsetNs = found.isLate() ? found.minNs : found.maxNs < 0 ? -found.maxNs : -found.minNs;
        trace.health.push_back(
            {Severity::Warning,
             HealthCode::GpuClockInconsistent,
             fmt::format("GPU {}: the clocks of GPU and CPU do not agree. Its work starts {} {} {} its launches, so "
                         "causes of its idle time are unknown.",
                         gpu.id, found.isLate() || found.maxNs < 0 ? "at least" : "up to", formatDuration(offsetNs),
                         found.isLate() ? "after" : "before"),
             {},
             {},
             found.isLate() ? found.count : found.early});
    }
}

/// Notes of the recorder that explain missing work.
bool isExplained(const Trace& trace) {
    constexpr std::array reasons{HealthCode::NoCupti,      HealthCode::CuptiMissing, HealthCode::CuptiFailed,
                                 HealthCode::CuptiTaken,   HealthCode::CuptiYielded, HealthCode::CuptiSilent,
                                 HealthCode::CuptiKinds,   HealthCode::NoWindow,     HealthCode::BuffersExhausted,
                                 HealthCode::NoWindowCalls};
    return std::ranges::any_of(
        trace.health, [&](const HealthNote& note) { return std::ranges::find(reasons, note.code) != reasons.end(); });
}

/// Returns what to do to get the GPU work, by the recorder.
std::string_view remedyOf(const Trace& trace) {
    const auto isBy = [&](std::string_view name) { return trace.producer.find(name) != std::string::npos; };
    if (trace.producerKind == ProducerKind::Lanescope)
        return "\"lanescope doctor\" reports what keeps CUPTI from recording the GPU; then record again.";
    if (isBy("torch.profiler"))
        return "Record again with ProfilerActivity.CUDA, wait for the GPU before the profiler stops, and record "
               "fewer steps.";
    if (isBy("Nsight Systems"))
        return "Record again with nsys profile --trace=cuda, on Linux without WSL2, or with administrator rights "
               "within it.";
    if (isBy("nvprof")) return "Record again without --profile-api-trace none and --profile-from-start off.";
    if (isBy("RPD") || isBy("rocprof")) return "Record again with rocprofv3 --sys-trace.";
    return "Record again with a profiler that may record the GPU.";
}

/// Launches per process, of those without any work on a GPU. A call that failed launched nothing.
void checkWork(Trace& trace, const std::stop_token& stop) {
    std::vector<int64_t> launches(trace.processes.size());
    std::vector<bool> isKnown(trace.strings.size()), isLaunching(trace.strings.size());
    for (uint32_t row = 0; row < trace.apiCalls.size() && !isStopped(stop, row); ++row) {
        const StringIndex name = trace.apiCalls.name[row];
        if (!isKnown[name]) {
            isKnown[name] = true;
            isLaunching[name] = callClassOf(trace.strings.at(name)) == CallClass::Launch;
        }
        if (isLaunching[name] && trace.apiCalls.returnValue[row] == 0)
            ++launches[trace.threads[trace.apiCalls.thread[row]].process];
    }
    std::vector<bool> works(trace.processes.size());
    for (const auto* streams : {&trace.kernels.stream, &trace.graphs.stream})
        for (const uint32_t stream : *streams) works[trace.streams[stream].process] = true;
    const bool isAnyWork = std::ranges::find(works, true) != works.end();
    int64_t all = 0;
    for (size_t process = 0; process < launches.size(); ++process) {
        if (launches[process] < minLaunches || works[process]) continue;
        all += launches[process];
        if (isAnyWork)
            trace.health.push_back({Severity::Warning,
                                    HealthCode::GpuWorkMissing,
                                    fmt::format("Process {}: {} calls launched GPU work of which the file has no row.",
                                                trace.processes[process].pid, formatCount(launches[process])),
                                    trace.processes[process].globalPid,
                                    {},
                                    launches[process]});
    }
    if (!isAnyWork && all > 0)
        trace.health.push_back({Severity::Warning,
                                HealthCode::GpuWorkMissing,
                                fmt::format("{} call{} launched GPU work, but the file has no row of it. {}",
                                            formatCount(all), all == 1 ? "" : "s", remedyOf(trace)),
                                {},
                                {},
                                all});
}

}  // namespace

void checkLaunches(Trace& trace, const std::stop_token& stop) {
    checkClocks(trace, stop);
    if (trace.producerKind != ProducerKind::Lanescope || !isExplained(trace)) checkWork(trace, stop);
}

}  // namespace lanescope
