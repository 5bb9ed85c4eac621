// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "model/assemble/LaneBuilder.h"
#include "model/assemble/finishTrace.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/WorkRows.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/processes.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// Returns the order by start, or an empty one if the table is sorted already, the usual case.
RowOrder orderOf(const auto& table, const std::stop_token& stop) {
    const auto isBefore = [&table](uint32_t a, int64_t aNs, uint32_t b, int64_t bNs) {
        return aNs != bNs ? aNs < bNs : table.endNs[a] > table.endNs[b];
    };
    bool isSorted = true;
    int64_t lastNs = std::numeric_limits<int64_t>::min();
    for (uint32_t row = 0; row < table.size() && isSorted; ++row) {
        if (isStopped(stop, row)) return {};
        const int64_t startNs = table.startNs[row];
        isSorted = row == 0 || !isBefore(row, startNs, row - 1, lastNs);
        lastNs = startNs;
    }
    if (isSorted) return {};
    // A plain copy, since a sort reads each value many times.
    LargeMemory* const memory = table.startNs.memory();
    const LargeVector<int64_t> startNs(table.startNs.begin(), table.startNs.end(), memory);
    return sortedOrder(
        table.size(), [&](uint32_t a, uint32_t b) { return isBefore(a, startNs[a], b, startNs[b]); }, memory, stop);
}

class Permuter {
  public:
    Permuter(const RowOrder& order, const std::stop_token& stop) : order_(order), stop_(stop) {}

    template <class T>
    void operator()(Column<T>& column) {
        permute(column, order_, stop_);
    }
    template <class T>
    void operator()(RecordColumn<T>& records) {
        permute(records, order_, stop_);
    }
    void operator()(bool) {}  // a property of the whole table

  private:
    const RowOrder& order_;
    const std::stop_token& stop_;
};

/// Sorts a table by one of its columns. The sort is stable, since freed memory may be allocated again at the same time.
template <class Table, class T>
void sortBy(Table& table, const Column<T>& column, const std::stop_token& stop) {
    const RowOrder order = sortedOrder(
        table.size(), [&column](uint32_t a, uint32_t b) { return column[a] < column[b]; }, column.memory(), stop);
    if (!order.empty()) forEachField(table, Permuter(order, stop));
}

/// Renumbers `rows`, which are rows of a table that was sorted into this order.
void renumber(Column<uint32_t>& rows, const RowOrder& order) {
    if (order.empty()) return;
    RowOrder newRow(order.size(), order.get_allocator());
    for (uint32_t row = 0; row < order.size(); ++row) newRow[order[row]] = row;
    Column<uint32_t> renumbered(rows.memory());
    for (const uint32_t row : rows) renumbered.push_back(newRow[row]);
    rows = std::move(renumbered);
}

// Renumbers references to rows of sorted tables.

void follow(Trace&, auto, const RowOrder&, const std::stop_token&) {}

void follow(Trace& trace, kinds::Nvtx, const RowOrder& order, const std::stop_token& stop) {
    renumber(trace.nccl.nvtx, order);
    sortBy(trace.nccl, trace.nccl.nvtx, stop);
    renumber(trace.backwards.forward, order);
    renumber(trace.backwards.backward, order);
}

void follow(Trace& trace, kinds::Memcpy, const RowOrder& order, const std::stop_token& stop) {
    renumber(trace.migrations.memcpy, order);
    sortBy(trace.migrations, trace.migrations.memcpy, stop);
}

void sortEvents(Trace& trace, auto kind, const std::stop_token& stop) {
    const RowOrder order = orderOf(kind.table(trace), stop);
    if (!order.empty()) forEachField(kind.table(trace), Permuter(order, stop));
    follow(trace, kind, order, stop);
}

/// Maximum number of records of one event that are searched for one of the context of the waiting call.
constexpr size_t maxRecordsSearched = 64;

struct Record {
    uint32_t process;
    uint32_t event;
    uint32_t correlation;
    uint32_t eventSync;
    uint32_t stream;
    int64_t context;
};

struct Wait {
    uint32_t waitingStream, waitCorrelation, recordedStream, recordCorrelation;
};

bool isNumber(uint32_t eventSync) { return eventSync != 0 && eventSync != noIndex; }

LargeVector<Record> recordsOf(const Trace& trace, const EventCallTable& calls) {
    LargeVector<Record> records(trace.memory.get());
    for (uint32_t row = 0; row < calls.size(); ++row) {
        const uint32_t stream = calls.stream[row];
        const bool isNamed = calls.event[row] != noIndex || isNumber(calls.eventSync[row]);
        if (stream == noIndex || calls.correlation[row] == 0 || !isNamed) continue;
        records.push_back({trace.streams[stream].process, calls.event[row], calls.correlation[row],
                           calls.eventSync[row], stream, trace.streams[stream].contextId});
    }
    return records;
}

class Records {
  public:
    explicit Records(LargeVector<Record> records)
        : byEvent_(std::move(records)), bySync_(byEvent_.size(), byEvent_.get_allocator()) {
        std::ranges::sort(byEvent_, {}, eventKey);
        std::iota(bySync_.begin(), bySync_.end(), 0u);
        std::erase_if(bySync_, [this](uint32_t each) { return !isNumber(byEvent_[each].eventSync); });
        std::ranges::sort(bySync_, {}, [this](uint32_t each) { return syncKey(each); });
    }

    const Record* awaitedBy(const Record& wait) const {
        if (isNumber(wait.eventSync)) {
            const auto key = std::pair(wait.process, wait.eventSync);
            const auto found =
                std::ranges::lower_bound(bySync_, key, {}, [this](uint32_t each) { return syncKey(each); });
            if (found != bySync_.end() && syncKey(*found) == key) return &byEvent_[*found];
        }
        const auto after = std::ranges::lower_bound(byEvent_, eventKey(wait), {}, eventKey);
        // Event numbers are unique in a context. Some recorders count them per process.
        const Record* last = nullptr;
        size_t searched = 0;
        for (auto each = after; each != byEvent_.begin() && searched < maxRecordsSearched; ++searched) {
            --each;
            if (each->process != wait.process || each->event != wait.event) break;
            if (each->context == wait.context) return &*each;
            if (!last) last = &*each;
        }
        return last;
    }

  private:
    static std::tuple<uint32_t, uint32_t, uint32_t> eventKey(const Record& each) {
        return {each.process, each.event, each.correlation};
    }
    std::pair<uint32_t, uint32_t> syncKey(uint32_t each) const {
        return {byEvent_[each].process, byEvent_[each].eventSync};
    }

    LargeVector<Record> byEvent_;   // by process, event, correlation
    LargeVector<uint32_t> bySync_;  // those with a synchronization number, by process and number
};

/// The source of borrowed stacks in a process.
struct StackSource {
    uint32_t thread = noIndex;  ///< The main thread, if it has stacks. Else any thread.
    uint32_t stack = noIndex;   ///< The latest stack.
};

/// Returns for each stack if it has only `lanescope.torch.shapes`, as on threads of backwards, which have no Python.
std::vector<bool> stacksOfOperatorRanges(const Trace& trace) {
    std::vector<bool> found(trace.stacks.size());
    const auto fileOf = [&trace](uint32_t stack) { return trace.strings.at(trace.stacks.file[stack]); };
    for (uint32_t stack = 0; stack < found.size(); ++stack) {
        const uint32_t outer = outerStack(trace, stack);
        if ((outer != noIndex && found[outer]) || fileOf(stack).ends_with("/lanescope/torch.py"))
            found[stack] = isLibraryFile(fileOf(ownFrame(trace, stack)));
    }
    return found;
}

/// The rows of a table with a stack column, in order of time.
class Places {
  public:
    Places(const Column<int64_t>& timeNs, const Column<uint32_t>& thread, Column<uint32_t>& stack,
           Column<uint8_t>& isLent)
        : timeNs_(timeNs),
          thread_(thread),
          stack_(stack),
          isLent_(isLent),
          stacks_(stack.memory()),
          areLent_(isLent.memory()) {}

    bool isAtEnd() const { return row_ >= stack_.size(); }
    int64_t timeNs() const { return timeNs_[row_]; }

    void findStackSources(const Trace& trace, std::vector<StackSource>& sources, const std::stop_token& stop) const {
        for (uint32_t row = 0; row < stack_.size() && !isStopped(stop, row); ++row) {
            if (stack_[row] == noIndex) continue;
            const uint32_t process = trace.threads[thread_[row]].process;
            if (trace.threads[thread_[row]].tid == trace.processes[process].pid) sources[process].thread = thread_[row];
        }
    }
    void take(const Trace& trace, std::vector<StackSource>& sources, const std::vector<bool>& isHidden) {
        const uint32_t thread = thread_[row_], last = stack_[row_];
        const uint32_t stack = last < isHidden.size() && isHidden[last] ? noIndex : last;
        ++row_;
        StackSource& source = sources[trace.threads[thread].process];
        const bool isLent = stack == noIndex && source.stack != noIndex && source.thread != thread;
        if (stack != noIndex && (source.thread == noIndex || source.thread == thread)) source.stack = stack;
        stacks_.push_back(isLent ? source.stack : stack);
        areLent_.push_back(isLent ? 1 : 0);
    }
    void finish() {
        stack_ = std::move(stacks_);
        isLent_ = std::move(areLent_);
    }

  private:
    const Column<int64_t>& timeNs_;
    const Column<uint32_t>& thread_;
    Column<uint32_t>& stack_;
    Column<uint8_t>& isLent_;
    Column<uint32_t> stacks_;
    Column<uint8_t> areLent_;
    uint32_t row_ = 0;
};

/// Returns the table whose next row is earliest. The first of equal ones.
template <size_t count>
Places* nextOf(std::array<Places, count>& tables) {
    Places* next = nullptr;
    for (Places& table : tables)
        if (!table.isAtEnd() && (next == nullptr || table.timeNs() < next->timeNs())) next = &table;
    return next;
}

/// Sorts by process and number. For equal ones: copies first, then the latest.
void sortNodes(Trace& trace, const std::stop_token& stop) {
    GraphNodeTable& nodes = trace.graphNodes;
    const auto keyOf = [&](uint32_t row) {
        return std::tuple(trace.threads[nodes.thread[row]].process, nodes.node[row], nodes.original[row] == 0, ~row);
    };
    const RowOrder order = sortedOrder(
        nodes.size(), [&](uint32_t a, uint32_t b) { return keyOf(a) < keyOf(b); }, nodes.node.memory(), stop);
    if (!order.empty()) forEachField(nodes, [&]<class T>(Column<T>& column) { permute(column, order, stop); });
}

/// Assigns to copied nodes the capture place of the original.
void resolveCopies(Trace& trace, const std::stop_token& stop) {
    GraphNodeTable& nodes = trace.graphNodes;
    Column<uint32_t> stacks(nodes.stack.memory());
    Column<uint8_t> areLent(nodes.isStackLent.memory());
    for (uint32_t row = 0; row < nodes.size(); ++row) {
        if (isStopped(stop, row)) return;
        const uint32_t at = capturedNode(trace, row);
        stacks.push_back(at == noIndex ? noIndex : nodes.stack[at]);
        areLent.push_back(at == noIndex ? uint8_t{0} : nodes.isStackLent[at]);
    }
    nodes.stack = std::move(stacks);
    nodes.isStackLent = std::move(areLent);
}

/// Maximum of ranges times streams: some seconds of work. Real runs need less than 1 %, hostile
/// files could request any number.
constexpr uint64_t maxProjectionSteps = uint64_t{1} << 32;

struct LinkedWork {
    int64_t callStartNs;
    EventRef work;
};

/// The work that each thread launched on each stream, in order of the calls.
using WorkOfThreads = std::map<std::pair<uint32_t, uint32_t>, LargeVector<LinkedWork>>;

WorkOfThreads joinCallsWithWork(const Trace& trace, const std::stop_token& stop) {
    WorkOfThreads joined;
    forEachLaunch(
        trace,
        [&](uint32_t call, EventRef work) {
            const std::pair place{trace.apiCalls.thread[call], streamOf(trace, work)};
            joined.try_emplace(place, trace.memory.get()).first->second.push_back({trace.apiCalls.startNs[call], work});
        },
        stop);
    const auto isEarlier = [](const LinkedWork& a, const LinkedWork& b) { return a.callStartNs < b.callStartNs; };
    for (auto& [place, work] : joined)
        if (!std::ranges::is_sorted(work, isEarlier)) sortLarge(work, isEarlier, stop);
    return joined;
}

/// The interval from the first start to the last end of a run of work.
class WorkSpan {
  public:
    WorkSpan(const Trace& trace, const LargeVector<LinkedWork>& work)
        : trace_(trace), work_(work), tree_(trace.memory.get()) {
        // The usual case, since a stream works in the order of its calls. Needs no memory.
        TimeRange last = trace.rangeOf(work.front().work);
        for (const LinkedWork& each : work) {
            const TimeRange range = trace.rangeOf(each.work);
            if (range.startNs < last.startNs || range.endNs < last.endNs) {
                buildTree();
                break;
            }
            last = range;
        }
    }

    /// Returns the interval of the pieces `[low, high)`, which must not be empty.
    TimeRange of(size_t low, size_t high) const {
        TimeRange span{trace_.rangeOf(work_[low].work).startNs, trace_.rangeOf(work_[high - 1].work).endNs};
        if (tree_.empty()) return span;
        for (low += work_.size(), high += work_.size(); low < high; low /= 2, high /= 2) {
            if (low % 2 == 1) span = span.united(tree_[low++]);
            if (high % 2 == 1) span = span.united(tree_[--high]);
        }
        return span;
    }

  private:
    void buildTree() {
        const size_t count = work_.size();
        tree_.resize(2 * count);
        for (size_t leaf = 0; leaf < count; ++leaf) tree_[count + leaf] = trace_.rangeOf(work_[leaf].work);
        for (size_t node = count; node-- > 1;) tree_[node] = tree_[2 * node].united(tree_[2 * node + 1]);
    }

    const Trace& trace_;
    const LargeVector<LinkedWork>& work_;
    /// Empty in the usual case. Node i has the children 2i and 2i+1; leaves start at the number of pieces.
    LargeVector<TimeRange> tree_;
};

/// Returns the rows of ranges (not marks) by thread, sorted by start. Python functions are skipped,
/// since they are nested too deeply for a projection onto a GPU.
RowsByOwner rangesByThread(const Trace& trace, const std::stop_token& stop) {
    return {trace.nvtx.thread, trace.threads.size(), stop, [&trace](uint32_t row) {
                return trace.nvtx.style[row] != NvtxStyle::Mark &&
                       !isFunctionDomain(trace.strings.at(trace.nvtx.domain[row]));
            }};
}

void append(ProjectionTable& table, TimeRange range, uint32_t nvtx, uint32_t stream, uint32_t count) {
    table.startNs.push_back(range.startNs);
    table.endNs.push_back(range.endNs);
    table.nvtx.push_back(nvtx);
    table.stream.push_back(stream);
    table.operationCount.push_back(count);
}

/// Projects the ranges of one thread onto one stream. `work` is the work that the thread launched there.
void project(const Trace& trace, std::span<const uint32_t> ranges, uint32_t stream, const LargeVector<LinkedWork>& work,
             ProjectionTable& table, const std::stop_token& stop) {
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
        const auto end = std::ranges::lower_bound(work.begin() + static_cast<std::ptrdiff_t>(from), work.end(), endNs,
                                                  {}, &LinkedWork::callStartNs);
        const auto to = static_cast<size_t>(end - work.begin());
        append(table, spans.of(from, to), row, stream, static_cast<uint32_t>(to - from));
    }
}

void sortProjections(const NvtxTable& nvtx, ProjectionTable& table, const std::stop_token& stop) {
    // A plain copy, since a sort reads each value many times.
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

void sortTables(Trace& trace, unsigned threads, const std::stop_token& stop) {
    struct Sorting {
        uint32_t rows;
        std::function<void()> run;
    };
    std::vector<Sorting> sortings;
    forEachKind([&](auto each) {
        if constexpr (each.origin == kinds::Origin::Recorded)
            sortings.push_back({each.size(trace), [&, each] { sortEvents(trace, each, stop); }});
    });
    sortings.push_back({trace.memoryEvents.size(), [&] {
                            sortBy(trace.memoryEvents, trace.memoryEvents.timeNs, stop);
                            sortBy(trace.memoryPools, trace.memoryPools.timeNs, stop);
                        }});
    sortings.push_back({trace.graphNodes.size(), [&] { sortBy(trace.graphNodes, trace.graphNodes.timeNs, stop); }});
    // The largest first, so that the threads end together.
    std::ranges::stable_sort(sortings, std::greater(), &Sorting::rows);
    Tasks tasks;
    for (Sorting& sorting : sortings) tasks.push_back(std::move(sorting.run));
    runTasks(threads, tasks);
}

void buildWaits(Trace& trace) {
    const Records records(recordsOf(trace, trace.eventRecords));
    LargeMemory* const memory = trace.memory.get();
    LargeVector<Wait> waits(memory);
    for (const Record& wait : recordsOf(trace, trace.eventWaits)) {
        const Record* record = records.awaitedBy(wait);
        if (record && record->stream != wait.stream)
            waits.push_back({wait.stream, wait.correlation, record->stream, record->correlation});
    }
    trace.eventRecords = {};
    trace.eventWaits = {};
    std::ranges::sort(waits, {}, [](const Wait& each) { return std::tie(each.waitingStream, each.waitCorrelation); });
    LargeVector<uint32_t> byRecord(waits.size(), memory);
    std::iota(byRecord.begin(), byRecord.end(), 0u);
    sortLarge(byRecord, [&waits](uint32_t a, uint32_t b) {
        return std::tie(waits[a].recordedStream, waits[a].recordCorrelation) <
               std::tie(waits[b].recordedStream, waits[b].recordCorrelation);
    });
    auto table = tableIn<StreamWaitTable>(memory);
    for (size_t row = 0; row < waits.size(); ++row) {
        table.waitingStream.push_back(waits[row].waitingStream);
        table.waitCorrelation.push_back(waits[row].waitCorrelation);
        table.recordedStream.push_back(waits[row].recordedStream);
        table.recordCorrelation.push_back(waits[row].recordCorrelation);
        table.byRecord.push_back(byRecord[row]);
    }
    trace.streamWaits = std::move(table);
}

void buildBackwards(Trace& trace, const std::stop_token& stop) {
    BackwardTable& table = trace.backwards;
    if (table.size() == 0) return;
    LargeMemory* const memory = trace.memory.get();
    LargeVector<uint64_t> pairs(memory);
    pairs.reserve(table.size());
    for (uint32_t row = 0; row < table.size() && !isStopped(stop, row); ++row)
        if (table.forward[row] != table.backward[row])
            pairs.push_back(uint64_t{table.forward[row]} << 32 | table.backward[row]);
    sortLarge(pairs, std::less<uint64_t>(), stop);
    auto sorted = tableIn<BackwardTable>(memory);
    for (size_t at = 0; at < pairs.size(); ++at) {
        if (at > 0 && pairs[at] == pairs[at - 1]) continue;
        sorted.forward.push_back(static_cast<uint32_t>(pairs[at] >> 32));
        sorted.backward.push_back(static_cast<uint32_t>(pairs[at]));
    }
    const RowOrder order = sortedOrder(
        sorted.size(), [&sorted](uint32_t a, uint32_t b) { return sorted.backward[a] < sorted.backward[b]; }, memory,
        stop);
    // An empty order means that the rows are sorted already.
    for (uint32_t row = 0; row < sorted.size(); ++row) sorted.byBackward.push_back(order.empty() ? row : order[row]);
    table = std::move(sorted);
}

void buildStacks(Trace& trace, const std::stop_token& stop) {
    GraphNodeTable& nodes = trace.graphNodes;
    if (trace.stacks.size() > 0) {
        std::vector<StackSource> sources(trace.processes.size());
        // Ranges come first, since a range begins before the calls in it.
        std::array tables{
            Places(trace.nvtx.startNs, trace.nvtx.thread, trace.nvtx.stack, trace.nvtx.isStackLent),
            Places(trace.apiCalls.startNs, trace.apiCalls.thread, trace.apiCalls.stack, trace.apiCalls.isStackLent),
            Places(nodes.timeNs, nodes.thread, nodes.stack, nodes.isStackLent)};
        for (const Places& table : tables) table.findStackSources(trace, sources, stop);
        const std::vector<bool> isHidden = stacksOfOperatorRanges(trace);
        size_t taken = 0;
        while (Places* const next = nextOf(tables)) {
            if (isStopped(stop, taken++)) return;
            next->take(trace, sources, isHidden);
        }
        for (Places& table : tables) table.finish();
    }
    sortNodes(trace, stop);
    resolveCopies(trace, stop);
}

void buildProjections(Trace& trace, const std::stop_token& stop) {
    auto table = tableIn<ProjectionTable>(trace.memory.get());
    WorkOfThreads works = joinCallsWithWork(trace, stop);
    const RowsByOwner ranges = rangesByThread(trace, stop);
    uint64_t steps = 0;
    for (auto& [place, work] : works) {
        const auto [thread, stream] = place;
        steps += ranges.of(thread).size();
        if (steps > maxProjectionSteps) {
            trace.health.push_back({Severity::Warning, HealthCode::ProjectionsCut,
                                    "Too many NVTX ranges on threads with too many streams; ranges of the last threads "
                                    "are not shown on the GPU."});
            break;
        }
        project(trace, ranges.of(thread), stream, work, table, stop);
        work = LargeVector<LinkedWork>();
    }
    if (stop.stop_requested()) return;
    sortProjections(trace.nvtx, table, stop);

    std::vector<LanePacker> packers(trace.streams.size(), LanePacker(Packing::Nested));
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (isStopped(stop, row)) return;
        const uint32_t lane = packers[table.stream[row]].place(table.startNs[row], table.endNs[row]);
        table.depth.push_back(static_cast<uint16_t>(std::min(lane, LanePacker::maxLanes)));
    }
    trace.projections = std::move(table);
}

}  // namespace lanescope
