#include "model/summary/reports.h"

#include <array>
#include <string>

#include "model/summary/reportBuilders.h"

namespace lanescope {

namespace {

constexpr std::array infos{
    ReportInfo{"nvtx_sum", "NVTX Range Summary", "Time inside each NVTX range, on the CPU"},
    ReportInfo{"nvtx_gpu_proj_sum", "NVTX GPU Projection Summary",
               "Time the GPU took for the work launched inside each NVTX range"},
    ReportInfo{"cuda_api_sum", "CUDA API Summary", "Time inside each CUDA runtime and driver call"},
    ReportInfo{"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", "Time of each kernel, by full name"},
    ReportInfo{"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)",
               "Time of each kind of memcpy and of memsets"},
    ReportInfo{"cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)",
               "Bytes of each kind of memcpy and of memsets"},
    ReportInfo{"memcpy_bandwidth", "Memcpy Bandwidth",
               "Bandwidth of each kind of memcpy between each two kinds of memory"},
    ReportInfo{"memcpy_advice", "Memcpy Advice", "What could be better about the memcpys"},
    ReportInfo{"nvlink", "NVLink Traffic",
               "Bytes that each GPU sent and received over NVLink, by link, by its counters", true,
               false, true},
    ReportInfo{"gpu_activity", "GPU Activity",
               "Utilization, clocks, power and throttling of each GPU, as sampled", true, false,
               true},
    ReportInfo{"cuda_memory_sum", "CUDA Memory Summary",
               "Allocations, peak and what was never freed, by GPU and kind of memory"},
    ReportInfo{"um_total_sum", "Unified Memory Totals Summary",
               "Migrations and page faults of managed memory in all"},
    ReportInfo{
        "nccl_sum", "NCCL Summary",
        "Calls, GPU time and bus bandwidth of each NCCL operation, by communicator and size"},
    ReportInfo{"cuda_gpu_kern_sum:base", "CUDA GPU Kernel Summary (base names)",
               "Time of each kernel, template and function arguments left out", false},
    ReportInfo{"memcpy_bandwidth:size", "Memcpy Bandwidth by Size",
               "The same, by size of the copies", false},
    ReportInfo{"memcpy_bandwidth:device", "Memcpy Bandwidth by GPU", "The same, by GPU", false},
    ReportInfo{"memcpy_bandwidth:range", "Memcpy Bandwidth by NVTX Range",
               "The same, for all instances of an NVTX range (steps, unless named)", false, true},
    ReportInfo{"memcpy_bandwidth:instance", "Memcpy Bandwidth by Instance of an NVTX Range",
               "The same, for each instance on its own", false, true},
    ReportInfo{"nvlink_by_range", "NVLink Traffic by NVTX Range",
               "Bytes over NVLink in each instance of an NVTX range, of the GPUs of its process",
               false, true, true},
    ReportInfo{"nvlink_by_range:link", "NVLink Traffic by NVTX Range and Link",
               "The same, for each link on its own", false, true, true},
    ReportInfo{"energy_by_range", "Energy by NVTX Range",
               "Energy in each instance of an NVTX range, of the GPUs of its process", false, true,
               true},
    ReportInfo{"nvtx_pushpop_sum", "NVTX Push/Pop Range Summary",
               "Time inside each pushed and popped NVTX range", false},
    ReportInfo{"nvtx_startend_sum", "NVTX Start/End Range Summary",
               "Time inside each started and ended NVTX range", false},
    ReportInfo{"nccl_trace", "NCCL Trace", "Every NCCL operation, by start", false},
    ReportInfo{"nccl_lateness", "NCCL Lateness",
               "How late each rank enters collectives, and how often it is the last", false},
    ReportInfo{"nccl_lateness:collective", "NCCL Lateness by Collective",
               "When each rank entered each collective", false},
    ReportInfo{"um_sum", "Unified Memory Analysis Summary",
               "Migrations and page faults of managed memory, by address", false},
    ReportInfo{"um_cpu_page_faults_sum", "Unified Memory CPU Page Faults Summary",
               "Page faults of the CPU in managed memory, by instruction", false},
    ReportInfo{"cuda_gpu_trace", "CUDA GPU Trace", "Every kernel, memcpy and memset, by start",
               false},
    ReportInfo{"nvprof_summary", "Profiling result", "What nvprof prints without options", false},
    ReportInfo{"nvprof_gpu_trace", "Profiling result", "What nvprof --print-gpu-trace prints",
               false},
};

/// Who builds each of `infos`, in the same order.
constexpr std::array<ReportTable (*)(const ReportQuery&), infos.size()> builders{
    nvtxSummary,
    nvtxGpuProjectionSummary,
    apiSummary,
    kernelSummary,
    memoryTimeSummary,
    memorySizeSummary,
    memcpyBandwidth,
    memcpyAdvice,
    nvlinkSummary,
    gpuActivity,
    memoryUseSummary,
    unifiedMemoryTotals,
    ncclSummary,
    kernelBaseNameSummary,
    memcpyBandwidthBySize,
    memcpyBandwidthByDevice,
    memcpyBandwidthByRange,
    memcpyBandwidthByInstance,
    nvlinkByRange,
    nvlinkByRangeAndLink,
    energyByRange,
    nvtxPushPopSummary,
    nvtxStartEndSummary,
    ncclTrace,
    ncclLateness,
    ncclLatenessByCollective,
    unifiedMemorySummary,
    cpuPageFaultSummary,
    gpuTrace,
    nvprofSummary,
    nvprofGpuTrace,
};

std::string allNames() {
    std::string names;
    for (const ReportInfo& info : infos) {
        if (!names.empty()) names += ", ";
        names += info.name;
    }
    return names;
}

Result<size_t> indexOf(std::string_view name) {
    for (size_t index = 0; index < infos.size(); ++index)
        if (infos[index].name == name) return index;
    return fail("There is no report \"{}\"; there are: {}.", name, allNames());
}

}  // namespace

std::span<const ReportInfo> allReports() {
    return infos;
}

Result<ReportInfo> findReport(std::string_view name) {
    const Result<size_t> index = indexOf(name);
    if (!index) return fail(index.error());
    return infos[*index];
}

Result<ReportTable> makeReport(const Trace& trace, std::string_view name,
                               std::optional<TimeRange> range, std::string_view rangeName) {
    const Result<size_t> index = indexOf(name);
    if (!index) return fail(index.error());
    ReportTable table = builders[*index]({trace, range, std::string(rangeName)});
    table.name = infos[*index].name;
    table.title = infos[*index].title;
    return table;
}

Result<void> makeReportInParts(const Trace& trace, std::string_view name,
                               std::optional<TimeRange> range, const ReportSink& sink,
                               std::string_view rangeName) {
    const Result<size_t> index = indexOf(name);
    if (!index) return fail(index.error());
    const auto named = [&](ReportTable& part) {
        part.name = infos[*index].name;
        part.title = infos[*index].title;
        return sink(part);
    };
    // The only reports with a row per event; all others have one per name.
    if (builders[*index] == gpuTrace) {
        gpuTraceInParts({trace, range}, named);
        return {};
    }
    if (builders[*index] == nvprofGpuTrace) {
        nvprofGpuTraceInParts({trace, range}, named);
        return {};
    }
    const Result<ReportTable> table = makeReport(trace, name, range, rangeName);
    if (!table) return fail(table.error());
    sink(*table);
    return {};
}

}  // namespace lanescope
