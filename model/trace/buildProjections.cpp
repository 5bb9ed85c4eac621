#include "model/trace/buildProjections.h"

#include <algorithm>

#include "model/trace/ExtremesTree.h"
#include "model/trace/LanePacker.h"
#include "model/trace/permute.h"

namespace lanescope {

namespace {

/// Ranges times streams; some seconds' work. Real runs need less than a hundredth, hostile files
/// could ask for any number.
constexpr uint64_t mostSteps = uint64_t{1} << 32;

/// One piece of GPU work with the call that launched it.
struct LaunchedWork {
    uint32_t thread;
    uint32_t stream;
    int64_t callStartNs;
    TimeRange work;
    bool operator<(const LaunchedWork& other) const {
        if (thread != other.thread) return thread < other.thread;
        if (stream != other.stream) return stream < other.stream;
        return callStartNs < other.callStartNs;
    }
};

uint32_t streamOf(const Trace& trace, EventRef work) {
    switch (work.kind()) {
        case EventKind::Kernel:
            return trace.kernels.stream[work.row()];
        case EventKind::Memcpy:
            return trace.memcpys.stream[work.row()];
        case EventKind::Graph:
            return trace.graphs.stream[work.row()];
        default:
            return trace.memsets.stream[work.row()];
    }
}

/// Both lists of links are sorted alike, so one pass joins them.
std::vector<LaunchedWork> joinCallsWithWork(const Trace& trace) {
    std::vector<LaunchedWork> joined;
    joined.reserve(trace.workLinks.size());
    auto call = trace.callLinks.begin();
    for (const Trace::Link link : trace.workLinks) {
        while (call != trace.callLinks.end() && (*call).isOfEarlierCall(link)) ++call;
        if (call == trace.callLinks.end()) break;
        if (link.isOfEarlierCall(*call)) continue;
        const uint32_t row = (*call).event.row();
        joined.push_back({trace.apiCalls.thread[row], streamOf(trace, link.event),
                          trace.apiCalls.startNs[row], trace.rangeOf(link.event)});
    }
    std::sort(joined.begin(), joined.end());
    return joined;
}

/// Rows of ranges (not marks) by thread, each thread's sorted by start as the table is.
std::vector<std::vector<uint32_t>> rangesByThread(const Trace& trace) {
    std::vector<std::vector<uint32_t>> rows(trace.threads.size());
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        if (trace.nvtx.style[row] != NvtxStyle::Mark) rows[trace.nvtx.thread[row]].push_back(row);
    return rows;
}

void append(ProjectionTable& table, TimeRange range, uint32_t nvtx, uint32_t stream,
            uint32_t count) {
    table.startNs.push_back(range.startNs);
    table.endNs.push_back(range.endNs);
    table.nvtx.push_back(nvtx);
    table.stream.push_back(stream);
    table.operationCount.push_back(count);
}

/// Projects the ranges of one thread onto one stream; `first` to `end` is the work it launched
/// there.
void project(const Trace& trace, const std::vector<uint32_t>& ranges, const LaunchedWork* first,
             const LaunchedWork* end, ProjectionTable& table) {
    const ExtremesTree starts(first, end, [](const LaunchedWork& w) { return w.work.startNs; });
    const ExtremesTree ends(first, end, [](const LaunchedWork& w) { return w.work.endNs; });
    const LaunchedWork* from = first;
    for (const uint32_t row : ranges) {
        const int64_t startNs = trace.nvtx.startNs[row];
        const int64_t endNs = trace.nvtx.endNs[row];
        while (from != end && from->callStartNs < startNs) ++from;
        if (from == end) break;
        if (from->callStartNs >= endNs) continue;
        const LaunchedWork* to = std::partition_point(
            from, end, [endNs](const LaunchedWork& w) { return w.callStartNs < endNs; });
        const auto low = static_cast<size_t>(from - first);
        const auto high = static_cast<size_t>(to - first);
        append(table, {starts.minimum(low, high), ends.maximum(low, high)}, row, first->stream,
               static_cast<uint32_t>(high - low));
    }
}

/// By start; of those that start together the outer range first.
void sortProjections(const NvtxTable& nvtx, ProjectionTable& table) {
    const std::vector<uint32_t> order = sortedOrder(table.size(), [&](uint32_t a, uint32_t b) {
        if (table.startNs[a] != table.startNs[b]) return table.startNs[a] < table.startNs[b];
        if (table.endNs[a] != table.endNs[b]) return table.endNs[a] > table.endNs[b];
        const uint32_t nvtxA = table.nvtx[a];
        const uint32_t nvtxB = table.nvtx[b];
        if (nvtx.depth[nvtxA] != nvtx.depth[nvtxB]) return nvtx.depth[nvtxA] < nvtx.depth[nvtxB];
        return nvtxA != nvtxB ? nvtxA < nvtxB : table.stream[a] < table.stream[b];
    });
    if (order.empty()) return;
    permute(table.startNs, order);
    permute(table.endNs, order);
    permute(table.nvtx, order);
    permute(table.stream, order);
    permute(table.operationCount, order);
}

}  // namespace

void buildProjections(Trace& trace) {
    ProjectionTable table;
    const std::vector<LaunchedWork> work = joinCallsWithWork(trace);
    const std::vector<std::vector<uint32_t>> ranges = rangesByThread(trace);
    const LaunchedWork* const end = work.data() + work.size();
    uint64_t steps = 0;
    for (const LaunchedWork* first = work.data(); first != end;) {
        const LaunchedWork* next = std::find_if(first, end, [first](const LaunchedWork& w) {
            return w.thread != first->thread || w.stream != first->stream;
        });
        const std::vector<uint32_t>& ofThread = ranges[first->thread];
        steps += ofThread.size();
        if (steps > mostSteps) {
            trace.health.push_back(
                {Severity::Warning,
                 "Too many NVTX ranges on threads with too many streams: those of the last threads "
                 "are not shown on the GPU."});
            break;
        }
        project(trace, ofThread, first, next, table);
        first = next;
    }
    sortProjections(trace.nvtx, table);

    std::vector<LanePacker> packers(trace.streams.size(), LanePacker(Packing::Nested));
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t lane =
            packers[table.stream[row]].place(table.startNs[row], table.endNs[row]);
        table.depth.push_back(static_cast<uint16_t>(std::min(lane, LanePacker::maximumLanes)));
    }
    trace.projections = std::move(table);
}

}  // namespace lanescope
