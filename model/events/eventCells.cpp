#include "model/events/eventCells.h"

#include <fmt/format.h>

namespace lanescope {

namespace {

std::string threadText(const Trace& trace, uint32_t index) {
    const Thread& thread = trace.threads[index];
    const Process& process = trace.processes[thread.process];
    std::string text = thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name;
    if (trace.processes.size() > 1)
        text += process.rank ? fmt::format(", rank {}", *process.rank)
                             : fmt::format(", PID {}", process.pid);
    return text;
}

std::string streamText(const Trace& trace, uint32_t index) {
    const Stream& stream = trace.streams[index];
    return stream.isNullStream ? fmt::format("stream {} (default)", stream.streamId)
                               : fmt::format("stream {}", stream.streamId);
}

/// The number of a table's column of streams; `noIndex` for events of no stream.
uint32_t streamOf(const Trace& trace, EventRef event) {
    const uint32_t row = event.row();
    switch (event.kind()) {
        case EventKind::Kernel:
            return trace.kernels.stream[row];
        case EventKind::Memcpy:
            return trace.memcpys.stream[row];
        case EventKind::Memset:
            return trace.memsets.stream[row];
        case EventKind::Graph:
            return trace.graphs.stream[row];
        case EventKind::Sync:
            return trace.syncs.stream[row];
        case EventKind::Projection:
            return trace.projections.stream[row];
        default:
            return noIndex;
    }
}

uint32_t threadOf(const Trace& trace, EventRef event) {
    if (event.kind() == EventKind::Api) return trace.apiCalls.thread[event.row()];
    if (event.kind() == EventKind::Nvtx) return trace.nvtx.thread[event.row()];
    return noIndex;
}

Cell placeOf(const Trace& trace, EventRef event) {
    if (const uint32_t stream = streamOf(trace, event); stream != noIndex)
        return streamText(trace, stream);
    if (const uint32_t thread = threadOf(trace, event); thread != noIndex)
        return threadText(trace, thread);
    return {};
}

Cell gpuOf(const Trace& trace, EventRef event) {
    uint32_t gpu = noIndex;
    if (const uint32_t stream = streamOf(trace, event); stream != noIndex)
        gpu = trace.streams[stream].gpu;
    if (event.kind() == EventKind::PageFault) gpu = trace.pageFaults.gpu[event.row()];
    if (gpu == noIndex) return {};
    return static_cast<int64_t>(trace.gpus[gpu].id);
}

Cell bytesOf(const Trace& trace, EventRef event) {
    if (event.kind() == EventKind::Memcpy) return int64_t{trace.memcpys.bytes[event.row()]};
    if (event.kind() == EventKind::Memset) return int64_t{trace.memsets.bytes[event.row()]};
    return {};
}

Cell rateOf(const Trace& trace, EventRef event) {
    const Cell bytes = bytesOf(trace, event);
    const int64_t durationNs = trace.rangeOf(event).durationNs();
    const auto* count = std::get_if<int64_t>(&bytes);
    // Without a duration there is no rate.
    if (!count || durationNs <= 0) return {};
    return static_cast<double>(*count) / static_cast<double>(durationNs);
}

Cell correlationOf(const Trace& trace, EventRef event) {
    uint32_t correlation = 0;
    const uint32_t row = event.row();
    switch (event.kind()) {
        case EventKind::Kernel:
            correlation = trace.kernels.correlation[row];
            break;
        case EventKind::Memcpy:
            correlation = trace.memcpys.correlation[row];
            break;
        case EventKind::Memset:
            correlation = trace.memsets.correlation[row];
            break;
        case EventKind::Graph:
            correlation = trace.graphs.correlation[row];
            break;
        case EventKind::Api:
            correlation = trace.apiCalls.correlation[row];
            break;
        case EventKind::Sync:
            correlation = trace.syncs.correlation[row];
            break;
        default:
            break;
    }
    return correlation != 0 ? Cell(static_cast<int64_t>(correlation)) : Cell();
}

}  // namespace

const std::vector<ReportColumn>& eventColumns() {
    static const std::vector<ReportColumn> columns{{"Start", Unit::Timestamp},
                                                   {"Duration", Unit::Nanoseconds},
                                                   {"Kind", Unit::Text},
                                                   {"Name", Unit::Text},
                                                   {"Thread or stream", Unit::Text},
                                                   {"GPU", Unit::Identifier},
                                                   {"Bytes", Unit::Bytes},
                                                   {"Throughput", Unit::GigabytesPerSecond},
                                                   {"Correlation", Unit::Identifier}};
    return columns;
}

std::string_view nameOfKind(EventKind kind) {
    switch (kind) {
        case EventKind::Kernel:
            return "Kernel";
        case EventKind::Memcpy:
            return "Memcpy";
        case EventKind::Memset:
            return "Memset";
        case EventKind::Api:
            return "CUDA API call";
        case EventKind::Sync:
            return "Synchronization";
        case EventKind::Nvtx:
            return "NVTX";
        case EventKind::Projection:
            return "NVTX on the GPU";
        case EventKind::Graph:
            return "CUDA graph";
        case EventKind::PageFault:
            return "Page fault";
        default:
            return "";
    }
}

Cell eventCell(const Trace& trace, EventRef event, EventColumn column) {
    switch (column) {
        case EventColumn::Start:
            return trace.rangeOf(event).startNs;
        case EventColumn::Duration:
            return trace.rangeOf(event).durationNs();
        case EventColumn::Kind:
            return std::string(nameOfKind(event.kind()));
        case EventColumn::Name:
            return trace.nameOf(event);
        case EventColumn::Place:
            return placeOf(trace, event);
        case EventColumn::Gpu:
            return gpuOf(trace, event);
        case EventColumn::Bytes:
            return bytesOf(trace, event);
        case EventColumn::Rate:
            return rateOf(trace, event);
        case EventColumn::Correlation:
            return correlationOf(trace, event);
    }
    return {};
}

std::vector<Cell> eventCells(const Trace& trace, EventRef event) {
    std::vector<Cell> cells;
    cells.reserve(eventColumnCount);
    for (size_t column = 0; column < eventColumnCount; ++column)
        cells.push_back(eventCell(trace, event, static_cast<EventColumn>(column)));
    return cells;
}

}  // namespace lanescope
