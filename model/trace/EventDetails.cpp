#include "model/trace/EventDetails.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/values/formatValue.h"
#include "model/trace/ncclDetails.h"

namespace lanescope {

namespace {

/// "9.521234567 s", on the same clock as the ruler of the timeline.
std::string exactSeconds(int64_t timeNs) {
    const int64_t second = 1'000'000'000;
    return fmt::format("{}{}.{:09} s", timeNs < 0 ? "-" : "", std::abs(timeNs / second),
                       std::abs(timeNs % second));
}

/// Collects the lines about one event, leaving out what is not known.
class Details {
  public:
    Details(const Trace& trace, EventRef event) : trace_(trace), event_(event) {}

    std::vector<Property> take() { return std::move(lines_); }

    void add(std::string name, std::string value) {
        if (!value.empty()) lines_.push_back({std::move(name), std::move(value)});
    }

    void addTimes() {
        const TimeRange range = trace_.rangeOf(event_);
        add("Start", exactSeconds(range.startNs));
        if (range.durationNs() > 0) add("Duration", formatDuration(range.durationNs()));
    }

    void addThread(uint32_t threadIndex) {
        const Thread& thread = trace_.threads[threadIndex];
        add("Thread", thread.name.empty() ? fmt::format("TID {}", thread.tid)
                                          : fmt::format("{} (TID {})", thread.name, thread.tid));
        addProcess(thread.process);
    }

    void addProcess(uint32_t processIndex) {
        const Process& process = trace_.processes[processIndex];
        std::string text =
            fmt::format("{}{}PID {}", process.name, process.name.empty() ? "" : ", ", process.pid);
        if (process.rank) text += fmt::format(", rank {}", *process.rank);
        add("Process", std::move(text));
    }

    void addGpu(uint32_t gpuIndex) {
        const Gpu& gpu = trace_.gpus[gpuIndex];
        add("GPU", gpu.name.empty() ? fmt::format("{}", gpu.id)
                                    : fmt::format("{} ({})", gpu.id, gpu.name));
    }

    void addStream(uint32_t streamIndex) {
        const Stream& stream = trace_.streams[streamIndex];
        addGpu(stream.gpu);
        add("Stream", fmt::format("{}{}, context {}", stream.streamId,
                                  stream.isNullStream ? " (default)" : "", stream.contextId));
        addProcess(stream.process);
    }

    /// The call that launched this work, and how long the work waited for the GPU.
    void addLaunch() {
        const EventRef call = trace_.launchingCall(event_);
        if (!call.isValid()) return;
        add("Launched by", trace_.nameOf(call));
        const uint32_t thread = trace_.apiCalls.thread[call.row()];
        add("Launching thread", trace_.threads[thread].name.empty()
                                    ? fmt::format("TID {}", trace_.threads[thread].tid)
                                    : trace_.threads[thread].name);
        const int64_t waitNs = trace_.rangeOf(event_).startNs - trace_.rangeOf(call).startNs;
        if (waitNs >= 0) add("Launch to start", formatDuration(waitNs));
    }

    void addBandwidth(int64_t bytes) {
        const int64_t durationNs = trace_.rangeOf(event_).durationNs();
        add("Size", fmt::format("{} ({} bytes)", formatBytes(bytes), formatCount(bytes)));
        if (durationNs > 0)
            add("Bandwidth", fmt::format("{:.2f} GB/s", static_cast<double>(bytes) /
                                                            static_cast<double>(durationNs)));
    }

  private:
    const Trace& trace_;
    EventRef event_;
    std::vector<Property> lines_;
};

std::string dimensions(const std::array<uint32_t, 3>& size) {
    return fmt::format("{} x {} x {}", size[0], size[1], size[2]);
}

std::string device(const Trace& trace, int16_t gpu) {
    if (gpu < 0 || static_cast<size_t>(gpu) >= trace.gpus.size()) return {};
    return fmt::format(" of GPU {}", trace.gpus[static_cast<size_t>(gpu)].id);
}

void describeKernel(const Trace& trace, uint32_t row, Details& details) {
    const LaunchConfig& config = trace.launchConfigs[trace.kernels.config[row]];
    details.add("Kernel", std::string(trace.strings.at(config.shortName)));
    details.addTimes();
    details.add("Grid", dimensions(config.grid));
    details.add("Block", dimensions(config.block));
    details.add("Registers per thread", fmt::format("{}", config.registersPerThread));
    details.add("Static shared memory", formatBytes(config.staticSharedBytes));
    details.add("Dynamic shared memory", formatBytes(config.dynamicSharedBytes));
    details.addStream(trace.kernels.stream[row]);
    details.addLaunch();
    const EventRef kernel(EventKind::Kernel, row);
    if (const uint32_t call = ncclCallOfWork(trace, kernel); call != noIndex)
        for (Property& line : describeNcclCall(trace, call)) details.add(line.name, line.value);
    if (trace.kernels.graphNode[row] != 0)
        details.add("CUDA graph node", fmt::format("{}", trace.kernels.graphNode[row]));
    details.add("Full name", std::string(trace.strings.at(config.demangledName)));
}

std::string_view causeName(MigrationCause cause) {
    switch (cause) {
        case MigrationCause::UserPrefetch:
            return "the program prefetched it";
        case MigrationCause::PageFault:
            return "a page fault";
        case MigrationCause::SpeculativePrefetch:
            return "the driver prefetched it";
        case MigrationCause::Eviction:
            return "eviction, to make room";
        case MigrationCause::AccessCounters:
            return "it was accessed from afar too often";
        case MigrationCause::Unknown:
            break;
    }
    return "";
}

/// Why and from where managed memory moved, if that is what the copy is.
void addMigration(const Trace& trace, uint32_t memcpy, Details& details) {
    const MigrationTable& table = trace.migrations;
    const auto found = std::lower_bound(table.memcpy.begin(), table.memcpy.end(), memcpy);
    if (found == table.memcpy.end() || *found != memcpy) return;
    const auto row = static_cast<size_t>(found - table.memcpy.begin());
    details.add("Cause", std::string(causeName(table.cause[row])));
    details.add("Address", fmt::format("{:#x}", table.address[row]));
}

void describeMemcpy(const Trace& trace, uint32_t row, Details& details) {
    const MemcpyTable& table = trace.memcpys;
    details.add("Memcpy", fmt::format("{} ({})", name(table.kind[row]), longName(table.kind[row])));
    details.addTimes();
    details.addBandwidth(table.bytes[row]);
    details.add("From", fmt::format("{} memory{}", name(table.sourceMemory[row]),
                                    device(trace, table.sourceDevice[row])));
    details.add("To", fmt::format("{} memory{}", name(table.destinationMemory[row]),
                                  device(trace, table.destinationDevice[row])));
    addMigration(trace, row, details);
    details.addStream(table.stream[row]);
    details.addLaunch();
}

void describeMemset(const Trace& trace, uint32_t row, Details& details) {
    details.add("Memset", fmt::format("to {}", trace.memsets.value[row]));
    details.addTimes();
    details.addBandwidth(trace.memsets.bytes[row]);
    details.add("Memory", std::string(name(trace.memsets.memory[row])));
    details.addStream(trace.memsets.stream[row]);
    details.addLaunch();
}

void describeGraph(const Trace& trace, EventRef event, Details& details) {
    const uint32_t row = event.row();
    details.add("CUDA graph", fmt::format("{}", trace.graphs.graph[row]));
    details.addTimes();
    details.add("Recorded", "as a whole, without the kernels in it");
    details.addStream(trace.graphs.stream[row]);
    details.addLaunch();
}

void describePageFault(const Trace& trace, EventRef event, Details& details) {
    const PageFaultTable& table = trace.pageFaults;
    const uint32_t row = event.row();
    details.add("Managed memory", trace.nameOf(event));
    details.addTimes();
    details.add("Address", fmt::format("{:#x}", table.address[row]));
    if (table.gpu[row] != noIndex) {
        details.add("Fault groups", formatCount(table.count[row]));
        details.addGpu(table.gpu[row]);
    }
    details.add("Instruction", std::string(trace.strings.at(table.instruction[row])));
    details.addProcess(table.process[row]);
}

void describeSample(const Trace& trace, EventRef event, Details& details) {
    const Trace::SamplePlace place = trace.samplePlace(event);
    const CounterSeries& series = trace.counters[place.counter];
    const double value = series.value(place.sample);
    details.add(series.name, formatCounter(value, series.unit));
    details.add("From", exactSeconds(series.timeNs(place.sample)));
    details.add("Held for", formatDuration(trace.rangeOf(event).durationNs()));
    if (place.sample > 0) {
        const double change = value - series.value(place.sample - 1);
        if (change > 0) details.add("Change", "+" + formatCounter(change, series.unit));
        if (change < 0) details.add("Change", "\u2212" + formatCounter(-change, series.unit));
    }
    details.add("Peak", formatCounter(series.maximum(), series.unit));
    if (series.gpu != noIndex) details.addGpu(series.gpu);
    if (series.process != noIndex) details.addProcess(series.process);
}

void describeApiCall(const Trace& trace, EventRef call, Details& details) {
    const uint32_t row = call.row();
    details.add(trace.apiCalls.isDriver[row] != 0 ? "CUDA driver call" : "CUDA runtime call",
                trace.nameOf(call));
    details.addTimes();
    details.addThread(trace.apiCalls.thread[row]);
    if (trace.apiCalls.returnValue[row] != 0)
        details.add("Returned", fmt::format("error {}", trace.apiCalls.returnValue[row]));
    const std::vector<EventRef> work = trace.launchedWork(call);
    if (work.empty()) return;
    details.add("Launched", trace.nameOf(work.front()));
    if (work.size() > 1) details.add("Operations", formatCount(static_cast<int64_t>(work.size())));
}

void describeSync(const Trace& trace, EventRef event, Details& details) {
    details.add("Wait", trace.nameOf(event));
    details.addTimes();
    if (trace.syncs.stream[event.row()] != noIndex)
        details.addStream(trace.syncs.stream[event.row()]);
    else
        details.addProcess(trace.syncs.process[event.row()]);
}

void addRange(const Trace& trace, uint32_t row, Details& details) {
    const NvtxTable& table = trace.nvtx;
    details.add("Domain", std::string(trace.strings.at(table.domain[row])));
    details.add("Category", std::string(trace.strings.at(table.category[row])));
    if (const uint32_t call = ncclCallOfRange(trace, row); call != noIndex)
        for (Property& line : describeNcclCall(trace, call)) details.add(line.name, line.value);
    details.add("Payload", std::string(trace.strings.at(table.payload[row])));
}

void describeNvtx(const Trace& trace, EventRef event, Details& details) {
    const uint32_t row = event.row();
    const bool isMark = trace.nvtx.style[row] == NvtxStyle::Mark;
    details.add(isMark ? "NVTX mark" : "NVTX range", trace.nameOf(event));
    details.addTimes();
    if (trace.nvtx.isOpen[row] != 0) details.add("State", "never closed by the program");
    addRange(trace, row, details);
    details.addThread(trace.nvtx.thread[row]);
}

void describeProjection(const Trace& trace, EventRef event, Details& details) {
    const uint32_t nvtx = trace.projections.nvtx[event.row()];
    details.add("NVTX range", trace.nameOf(event));
    details.addTimes();
    details.add("Operations on the GPU",
                formatCount(trace.projections.operationCount[event.row()]));
    const EventRef range(EventKind::Nvtx, nvtx);
    details.add("Duration on the CPU", formatDuration(trace.rangeOf(range).durationNs()));
    details.add("Behind the CPU",
                formatDuration(trace.rangeOf(event).startNs - trace.rangeOf(range).startNs));
    addRange(trace, nvtx, details);
    details.addStream(trace.projections.stream[event.row()]);
}

}  // namespace

std::vector<Property> describe(const Trace& trace, EventRef event) {
    Details details(trace, event);
    // An event of a row that the trace does not have is invalid too; its name is empty.
    if (trace.rangeOf(event) == TimeRange{} && trace.nameOf(event).empty()) return {};
    switch (event.kind()) {
        case EventKind::Kernel:
            describeKernel(trace, event.row(), details);
            break;
        case EventKind::Memcpy:
            describeMemcpy(trace, event.row(), details);
            break;
        case EventKind::Memset:
            describeMemset(trace, event.row(), details);
            break;
        case EventKind::Api:
            describeApiCall(trace, event, details);
            break;
        case EventKind::Sync:
            describeSync(trace, event, details);
            break;
        case EventKind::Nvtx:
            describeNvtx(trace, event, details);
            break;
        case EventKind::Projection:
            describeProjection(trace, event, details);
            break;
        case EventKind::Graph:
            describeGraph(trace, event, details);
            break;
        case EventKind::PageFault:
            describePageFault(trace, event, details);
            break;
        case EventKind::CounterSample:
            describeSample(trace, event, details);
            break;
        case EventKind::None:
            break;
    }
    return details.take();
}

}  // namespace lanescope
