// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildProjections.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/build/LanePacker.h"
#include "model/build/permute.h"
#include "model/trace/ExtremesTree.h"
#include "model/trace/RowsByOwner.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

/// Ranges times streams; some seconds' work. Real runs need less than a hundredth, hostile files
/// could ask for any number.
constexpr uint64_t mostSteps = uint64_t{1} << 32;

/// One piece of GPU work, by the call that launched it.
struct LaunchedWork {
    int64_t callStartNs;
    EventRef work;
};

/// What one thread launched on one stream, in order of the calls; by thread and stream.
using WorkOfThreads = std::map<std::pair<uint32_t, uint32_t>, LargeVector<LaunchedWork>>;

WorkOfThreads joinCallsWithWork(const Trace& trace, const std::stop_token& stop) {
    WorkOfThreads joined;
    forEachLaunch(
        trace,
        [&](uint32_t call, EventRef work) {
            const std::pair place{trace.apiCalls.thread[call], streamOf(trace, work)};
            joined.try_emplace(place, trace.memory.get())
                .first->second.push_back({trace.apiCalls.startNs[call], work});
        },
        stop);
    const auto isEarlier = [](const LaunchedWork& a, const LaunchedWork& b) {
        return a.callStartNs < b.callStartNs;
    };
    for (auto& [place, work] : joined)
        if (!std::is_sorted(work.begin(), work.end(), isEarlier)) sortLarge(work, isEarlier, stop);
    return joined;
}

/// From the first start to the last end of any run of work.
class WorkSpan {
  public:
    WorkSpan(const Trace& trace, const LargeVector<LaunchedWork>& work)
        : trace_(trace), work_(work) {
        // A stream works in the order of its calls, so this is the usual case and needs no memory.
        TimeRange last = trace.rangeOf(work.front().work);
        for (const LaunchedWork& each : work) {
            const TimeRange range = trace.rangeOf(each.work);
            if (range.startNs < last.startNs || range.endNs < last.endNs) {
                const auto startOf = [&trace](const LaunchedWork& w) {
                    return trace.rangeOf(w.work).startNs;
                };
                const auto endOf = [&trace](const LaunchedWork& w) {
                    return trace.rangeOf(w.work).endNs;
                };
                starts_.emplace(work.begin(), work.end(), startOf, trace.memory.get());
                ends_.emplace(work.begin(), work.end(), endOf, trace.memory.get());
                break;
            }
            last = range;
        }
    }

    /// Of the pieces `[low, high)`; the run must not be empty.
    TimeRange of(size_t low, size_t high) const {
        if (starts_) return {starts_->minimum(low, high), ends_->maximum(low, high)};
        return {trace_.rangeOf(work_[low].work).startNs,
                trace_.rangeOf(work_[high - 1].work).endNs};
    }

  private:
    const Trace& trace_;
    const LargeVector<LaunchedWork>& work_;
    std::optional<ExtremesTree<int64_t>> starts_, ends_;
};

/// Rows of ranges (not marks) by thread, each thread's sorted by start as the table is. Python
/// functions lie too deep in each other to be looked at on a GPU.
RowsByOwner rangesByThread(const Trace& trace, const std::stop_token& stop) {
    return {trace.nvtx.thread, trace.threads.size(), stop, [&trace](uint32_t row) {
                return trace.nvtx.style[row] != NvtxStyle::Mark &&
                       trace.strings.at(trace.nvtx.domain[row]) != pythonDomain;
            }};
}

void append(ProjectionTable& table, TimeRange range, uint32_t nvtx, uint32_t stream,
            uint32_t count) {
    table.startNs.push_back(range.startNs);
    table.endNs.push_back(range.endNs);
    table.nvtx.push_back(nvtx);
    table.stream.push_back(stream);
    table.operationCount.push_back(count);
}

/// Projects the ranges of one thread onto one stream; `work` is what it launched there.
void project(const Trace& trace, std::span<const uint32_t> ranges, uint32_t stream,
             const LargeVector<LaunchedWork>& work, ProjectionTable& table,
             const std::stop_token& stop) {
    const WorkSpan spans(trace, work);
    size_t from = 0;
    size_t step = 0;
    for (const uint32_t row : ranges) {
        if (isStopped(stop, step++)) return;
        const int64_t startNs = trace.nvtx.startNs[row];
        const int64_t endNs = trace.nvtx.endNs[row];
        while (from < work.size() && work[from].callStartNs < startNs) ++from;
        if (from == work.size()) break;
        if (work[from].callStartNs >= endNs) continue;
        const auto to = static_cast<size_t>(
            std::partition_point(work.begin() + static_cast<std::ptrdiff_t>(from), work.end(),
                                 [endNs](const LaunchedWork& w) { return w.callStartNs < endNs; }) -
            work.begin());
        append(table, spans.of(from, to), row, stream, static_cast<uint32_t>(to - from));
    }
}

/// By start; of those that start together the outer range first.
void sortProjections(const NvtxTable& nvtx, ProjectionTable& table, const std::stop_token& stop) {
    // Plain, since a sort looks at each many times.
    LargeMemory* const memory = table.startNs.memory();
    const LargeVector<int64_t> startNs(table.startNs.begin(), table.startNs.end(), memory);
    const auto isBefore = [&](uint32_t a, uint32_t b) {
        if (startNs[a] != startNs[b]) return startNs[a] < startNs[b];
        if (table.endNs[a] != table.endNs[b]) return table.endNs[a] > table.endNs[b];
        const uint32_t nvtxA = table.nvtx[a];
        const uint32_t nvtxB = table.nvtx[b];
        if (nvtx.depth[nvtxA] != nvtx.depth[nvtxB]) return nvtx.depth[nvtxA] < nvtx.depth[nvtxB];
        return nvtxA != nvtxB ? nvtxA < nvtxB : table.stream[a] < table.stream[b];
    };
    const RowOrder order = sortedOrder(table.size(), isBefore, memory, stop);
    if (order.empty()) return;
    permute(table.startNs, order, stop);
    permute(table.endNs, order, stop);
    permute(table.nvtx, order, stop);
    permute(table.stream, order, stop);
    permute(table.operationCount, order, stop);
}

}  // namespace

void buildProjections(Trace& trace, const std::stop_token& stop) {
    auto table = tableIn<ProjectionTable>(trace.memory.get());
    WorkOfThreads works = joinCallsWithWork(trace, stop);
    const RowsByOwner ranges = rangesByThread(trace, stop);
    uint64_t steps = 0;
    for (auto& [place, work] : works) {
        const auto [thread, stream] = place;
        steps += ranges.of(thread).size();
        if (steps > mostSteps) {
            trace.health.push_back(
                {Severity::Warning, HealthCode::ProjectionsCut,
                 "Too many NVTX ranges on threads with too many streams: those of the last threads "
                 "are not shown on the GPU."});
            break;
        }
        project(trace, ranges.of(thread), stream, work, table, stop);
        work = LargeVector<LaunchedWork>();
    }
    if (stop.stop_requested()) return;
    sortProjections(trace.nvtx, table, stop);

    std::vector<LanePacker> packers(trace.streams.size(), LanePacker(Packing::Nested));
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (isStopped(stop, row)) return;
        const uint32_t lane =
            packers[table.stream[row]].place(table.startNs[row], table.endNs[row]);
        table.depth.push_back(static_cast<uint16_t>(std::min(lane, LanePacker::maximumLanes)));
    }
    trace.projections = std::move(table);
}

}  // namespace lanescope
