// SPDX-License-Identifier: Apache-2.0
#include "model/events/eventCells.h"

#include <fmt/format.h>

#include <optional>

#include "model/trace/kinds/eventFacts.h"

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

/// The stream or thread that it is on.
Cell lineCell(const Trace& trace, EventRef event) {
    if (const uint32_t stream = streamOf(trace, event); stream != noIndex)
        return streamText(trace, stream);
    if (const uint32_t thread = threadOf(trace, event); thread != noIndex)
        return threadText(trace, thread);
    return {};
}

Cell gpuCell(const Trace& trace, EventRef event) {
    const uint32_t gpu = gpuOf(trace, event);
    if (gpu == noIndex) return {};
    return static_cast<int64_t>(trace.gpus[gpu].id);
}

Cell bytesCell(const Trace& trace, EventRef event) {
    const std::optional<int64_t> bytes = bytesOf(trace, event);
    return bytes ? Cell(*bytes) : Cell();
}

Cell rateCell(const Trace& trace, EventRef event) {
    const std::optional<int64_t> bytes = bytesOf(trace, event);
    const int64_t durationNs = trace.rangeOf(event).durationNs();
    // Without a duration there is no rate.
    if (!bytes || durationNs <= 0) return {};
    return static_cast<double>(*bytes) / static_cast<double>(durationNs);
}

Cell correlationCell(const Trace& trace, EventRef event) {
    const uint32_t correlation = correlationOf(trace, event);
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
        case EventColumn::Line:
            return lineCell(trace, event);
        case EventColumn::Gpu:
            return gpuCell(trace, event);
        case EventColumn::Bytes:
            return bytesCell(trace, event);
        case EventColumn::Rate:
            return rateCell(trace, event);
        case EventColumn::Correlation:
            return correlationCell(trace, event);
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
