// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/GlobalId.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

bool isWithin(TimeRange range, TimeRange limits) {
    return range.startNs >= limits.startNs && range.endNs <= limits.endNs;
}

/// The rows that a trace contributes when only a part of it is merged into another trace: some
/// processes, each within a time window. Refers to the trace. One thread.
class WindowedRows {
  public:
    /// `windows` contains the merged time of each process on the clock of the whole. It is empty for a skipped process.
    WindowedRows(const Trace& part, const ClockMap& clock, std::vector<TimeRange> windows);

    TimeRange window() const { return whole_; }
    bool isTaken(uint32_t process) const { return process < windows_.size() && !windows_[process].isEmpty(); }
    /// Returns true if a merged process uses the GPU.
    bool isGpuTaken(uint32_t gpu) const { return gpus_.contains(gpu); }

    /// Returns the rows of events with a stream or a process that overlap its window. GPU work and
    /// calls are never truncated. GPU work that was launched outside of the window is skipped, as
    /// in a recording of limited time. O(n log n).
    std::vector<uint32_t> of(const auto& table) const { return rowsInWindow(table); }
    /// Also returns the calls outside of the window that launched work inside it. The launch
    /// decides which process owns the work and where a GPU step begins. O(n log n).
    std::vector<uint32_t> of(const ApiTable& table) const;
    /// Returns the ranges inside the window and those that contain it, which are to be clipped to
    /// it. Other ranges are skipped, since a clipped piece would look like a shorter range.
    std::vector<uint32_t> of(const NvtxTable& table) const;
    /// Returns all nodes of merged processes, since nodes of graphs have no time of their own.
    std::vector<uint32_t> of(const GraphNodeTable& table) const;
    /// Also returns the earlier allocations that are still live in the window.
    std::vector<uint32_t> of(const MemoryEventTable& table) const;
    /// Also returns the last size of each pool before the window.
    std::vector<uint32_t> of(const MemoryPoolTable& table) const;
    /// Returns the rows whose memcpy is merged. `memcpys` maps each row to its new row, or to `noIndex`.
    static std::vector<uint32_t> of(const MigrationTable& table, const std::vector<uint32_t>& memcpys);
    /// Returns true if the call of a process with this correlation is merged.
    bool isCallTaken(uint32_t process, uint32_t correlation) const;

  private:
    uint32_t processOf(const auto& table, uint32_t row) const;
    /// Returns the time of a row on the clock of the whole.
    TimeRange timesOf(const auto& table, uint32_t row) const;
    /// Returns the rows of merged processes which `accepts(row, window)`.
    std::vector<uint32_t> rowsWhere(const auto& table, auto accepts) const {
        std::vector<uint32_t> rows;
        for (uint32_t row = 0; row < table.size(); ++row)
            if (const uint32_t process = processOf(table, row); isTaken(process) && accepts(row, windows_[process]))
                rows.push_back(row);
        return rows;
    }
    std::vector<uint32_t> rowsInWindow(const auto& table) const {
        return rowsWhere(table, [&](uint32_t row, TimeRange window) {
            const TimeRange times = timesOf(table, row);
            return times.startNs < window.endNs && times.endNs >= window.startNs;
        });
    }
    /// Adds the calls that launched the merged rows of a table of GPU work.
    void takeLaunchesOf(const auto& table, EventKind kind, std::vector<uint32_t>& calls) const;

    const Trace& part_;
    const ClockMap clock_;
    std::vector<TimeRange> windows_;
    TimeRange whole_;
    std::unordered_set<uint32_t> gpus_;
    std::unordered_set<uint64_t> calls_;  ///< Process and correlation.
};

uint32_t WindowedRows::processOf(const auto& table, uint32_t row) const {
    if constexpr (requires { table.process; }) {
        return table.process[row];
    } else if constexpr (requires { table.thread; }) {
        const uint32_t thread = table.thread[row];
        return thread < part_.threads.size() ? part_.threads[thread].process : noIndex;
    } else {
        const uint32_t stream = table.stream[row];
        return stream < part_.streams.size() ? part_.streams[stream].process : noIndex;
    }
}

TimeRange WindowedRows::timesOf(const auto& table, uint32_t row) const {
    if constexpr (requires { table.timeNs; })
        return clock_.at(TimeRange{table.timeNs[row], table.timeNs[row]});
    else
        return clock_.at(TimeRange{table.startNs[row], table.endNs[row]});
}

uint64_t callKey(uint32_t process, uint32_t correlation) { return uint64_t{process} << 32 | correlation; }

WindowedRows::WindowedRows(const Trace& part, const ClockMap& clock, std::vector<TimeRange> windows)
    : part_(part), clock_(clock), windows_(std::move(windows)) {
    for (const TimeRange& window : windows_)
        if (!window.isEmpty()) whole_ = whole_.isEmpty() ? window : whole_.united(window);
    for (const Stream& stream : part.streams)
        if (isTaken(stream.process)) gpus_.insert(stream.gpu);
    for (const uint32_t row : of(part.apiCalls))
        calls_.insert(callKey(processOf(part.apiCalls, row), part.apiCalls.correlation[row]));
}

void WindowedRows::takeLaunchesOf(const auto& table, EventKind kind, std::vector<uint32_t>& calls) const {
    for (const uint32_t row : of(table)) {
        const EventRef call = part_.launchingCall(EventRef(kind, row));
        if (call.isValid() && isTaken(processOf(part_.apiCalls, call.row()))) calls.push_back(call.row());
    }
}

std::vector<uint32_t> WindowedRows::of(const ApiTable& table) const {
    std::vector<uint32_t> rows = rowsInWindow(table);
    takeLaunchesOf(part_.kernels, EventKind::Kernel, rows);
    takeLaunchesOf(part_.memcpys, EventKind::Memcpy, rows);
    takeLaunchesOf(part_.memsets, EventKind::Memset, rows);
    takeLaunchesOf(part_.graphs, EventKind::Graph, rows);
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

std::vector<uint32_t> WindowedRows::of(const NvtxTable& table) const {
    return rowsWhere(table, [&](uint32_t row, TimeRange window) {
        const TimeRange times = timesOf(table, row);
        return isWithin(times, window) || isWithin(window, times);
    });
}

std::vector<uint32_t> WindowedRows::of(const GraphNodeTable& table) const {
    return rowsWhere(table, [](uint32_t, TimeRange) { return true; });
}

std::vector<uint32_t> WindowedRows::of(const MemoryEventTable& table) const {
    // Allocations that are live at the start of the window, by process, address and time.
    std::vector<std::tuple<uint32_t, uint64_t, int64_t>> live;
    const AllocationTable& allocations = part_.allocations;
    for (uint32_t row = 0; row < allocations.size(); ++row) {
        const uint32_t process = allocations.process[row];
        if (isTaken(process) && clock_.at(allocations.startNs[row]) < windows_[process].startNs &&
            clock_.at(allocations.endNs[row]) >= windows_[process].startNs)
            live.emplace_back(process, allocations.address[row], allocations.startNs[row]);
    }
    std::ranges::sort(live);
    return rowsWhere(table, [&](uint32_t row, TimeRange window) {
        const int64_t timeNs = clock_.at(table.timeNs[row]);
        const std::tuple place(table.process[row], table.address[row], table.timeNs[row]);
        return window.contains(timeNs) ||
               (timeNs < window.startNs && table.isFree[row] == 0 && std::ranges::binary_search(live, place));
    });
}

std::vector<uint32_t> WindowedRows::of(const MemoryPoolTable& table) const {
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> before;
    std::vector<uint32_t> rows = rowsWhere(table, [&](uint32_t row, TimeRange window) {
        const int64_t timeNs = clock_.at(table.timeNs[row]);
        if (timeNs < window.startNs) before[{table.process[row], table.gpu[row], table.address[row]}] = row;
        return window.contains(timeNs);
    });
    for (const auto& [pool, row] : before) rows.push_back(row);
    std::ranges::sort(rows);
    return rows;
}

std::vector<uint32_t> WindowedRows::of(const MigrationTable& table, const std::vector<uint32_t>& memcpys) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t memcpy = table.memcpy[row];
        if (memcpy < memcpys.size() && memcpys[memcpy] != noIndex) rows.push_back(row);
    }
    return rows;
}

bool WindowedRows::isCallTaken(uint32_t process, uint32_t correlation) const {
    return calls_.contains(callKey(process, correlation));
}

/// The row of the whole for each row of a part.
struct PartRows {
    std::vector<uint32_t> strings = {}, threads = {}, streams = {}, processes = {}, gpus = {}, launchConfigs = {};
    uint32_t firstStack = 0, firstMemcpy = 0, firstRange = 0;  ///< First rows of appended tables.
    std::vector<uint32_t> memcpys = {}, ranges = {};           ///< By row, if only some rows are merged.
    bool isWindowed = false;

    uint32_t of(RowsOf what, uint32_t row) const {
        const auto in = [row](const std::vector<uint32_t>& rows) { return row < rows.size() ? rows[row] : noIndex; };
        switch (what) {
            case RowsOf::Strings: return row < strings.size() ? strings[row] : 0;
            case RowsOf::Threads: return in(threads);
            case RowsOf::Streams: return in(streams);
            case RowsOf::Processes: return in(processes);
            case RowsOf::Gpus: return in(gpus);
            case RowsOf::LaunchConfigs: return in(launchConfigs);
            case RowsOf::Stacks: return firstStack + row;
            case RowsOf::Memcpys: return isWindowed ? in(memcpys) : firstMemcpy + row;
            case RowsOf::Nvtx: return isWindowed ? in(ranges) : firstRange + row;
            case RowsOf::Backwards:
            case RowsOf::StreamWaits: break;
        }
        return noIndex;
    }
};

/// The fields or tables of an object, in order.
struct PartFields {
    void operator()(const auto& each) { places.push_back(&each); }
    std::vector<const void*> places;
};

/// Maps times of a part to times of the whole, clamped to `limits` if set.
struct PartTimes {
    const ClockMap& clock;
    std::optional<TimeRange> limits;

    int64_t at(int64_t timeNs) const {
        const int64_t there = clock.at(timeNs);
        return limits ? std::clamp(there, limits->startNs, limits->endNs) : there;
    }
};

class TakenRows {
  public:
    explicit TakenRows(uint32_t all) : size_(all) {}
    explicit TakenRows(std::vector<uint32_t> some)
        : size_(static_cast<uint32_t>(some.size())), some_(std::move(some)) {}
    uint32_t size() const { return size_; }
    uint32_t operator[](uint32_t place) const { return some_ ? (*some_)[place] : place; }

  private:
    uint32_t size_;
    std::optional<std::vector<uint32_t>> some_;
};

/// Appends some rows of each column of a table of a part to the same column of the whole.
template <class Table>
class PartAppender {
  public:
    PartAppender(Table& to, const Table& from, const PartRows& rows, const PartTimes& times, const TakenRows& taken)
        : to_(to), from_(from), rows_(rows), times_(times), taken_(taken) {
        forEachField(from, fields_);
    }

    template <class T>
    void operator()(Column<T>& column) {
        const Column<T>& from = next<Column<T>>();
        if constexpr (std::is_same_v<T, int64_t>) {
            if (isTime(column))
                return append(column, from, [this](int64_t timeNs, size_t) { return times_.at(timeNs); });
        }
        append(column, from, [](T value, size_t) { return value; });
    }
    void operator()(bool&) { next<bool>(); }  // a property of the whole table, recomputed

    template <class T>
    void row(RowField<Column<T>> field) {
        append(field.field, next<Column<T>>(), [this, &field](T value, size_t at) {
            if (isLent(field.of, at)) return static_cast<T>(noIndex);
            if constexpr (std::is_signed_v<T>) {
                return value < 0 ? value : static_cast<T>(rows_.of(field.of, static_cast<uint32_t>(value)));
            } else {
                return value == noIndex ? value : static_cast<T>(rows_.of(field.of, value));
            }
        });
    }

  private:
    template <class Field>
    const Field& next() {
        return *static_cast<const Field*>(fields_.places[place_++]);
    }
    template <class T, class Change>
    void append(Column<T>& to, const Column<T>& from, Change change) {
        for (uint32_t place = 0; place < taken_.size(); ++place)
            to.push_back(change(from[taken_[place]], taken_[place]));
    }
    /// Returns true if a stack was borrowed from another thread. Such stacks are assigned again.
    bool isLent(RowsOf what, size_t at) const {
        if constexpr (requires { from_.isStackLent; })
            return what == RowsOf::Stacks && from_.isStackLent[at] != 0;
        else
            return false;
    }
    bool isTime(const Column<int64_t>& column) const {
        if constexpr (requires { to_.timeNs; })
            if (&column == &to_.timeNs) return true;
        if constexpr (requires { to_.startNs; })
            if (&column == &to_.startNs) return true;
        if constexpr (requires { to_.endNs; })
            if (&column == &to_.endNs) return true;
        return false;
    }

    Table& to_;
    const Table& from_;
    const PartRows& rows_;
    const PartTimes& times_;
    const TakenRows& taken_;
    PartFields fields_;
    size_t place_ = 0;
};

/// Returns true if the table is derived from others when a trace is finished, or needs more than its columns.
template <class Table>
constexpr bool isDerivedTable = std::is_same_v<Table, AllocationTable> || std::is_same_v<Table, EventCallTable> ||
                                std::is_same_v<Table, StreamWaitTable> || std::is_same_v<Table, ProjectionTable> ||
                                std::is_same_v<Table, NcclTable> || std::is_same_v<Table, BackwardTable>;

/// Returns true if events of the table are clipped to the window: enclosing ranges and earlier state.
template <class Table>
constexpr bool isClippedPart = std::is_same_v<Table, NvtxTable> || std::is_same_v<Table, CpuStateTable> ||
                               std::is_same_v<Table, MemoryEventTable> || std::is_same_v<Table, MemoryPoolTable>;

/// Appends the tables of a trace in the order of `forEachTable`.
class PartTablesAppender {
  public:
    /// `windowed` is null if all of the trace is merged. Sets the new rows of memcpys and ranges.
    PartTablesAppender(const Trace& from, PartRows& rows, const ClockMap& clock, const WindowedRows* windowed)
        : rows_(rows), clock_(clock), windowed_(windowed) {
        rows_.isWindowed = windowed != nullptr;
        forEachTable(from, tables_);
    }
    template <class Table>
    void operator()(Table& to) {
        const Table& from = *static_cast<const Table*>(tables_.places[place_++]);
        if constexpr (!isDerivedTable<Table>) {
            const TakenRows taken = takenOf(from);
            isRoom_ = isRoom_ && taken.size() < EventRef::maxRow - to.size();
            if (!isRoom_) return;
            if constexpr (std::is_same_v<Table, MemcpyTable>)
                if (windowed_ != nullptr) rows_.memcpys = placesOf(taken, from.size(), to.size());
            if constexpr (std::is_same_v<Table, NvtxTable>)
                if (windowed_ != nullptr) rows_.ranges = placesOf(taken, from.size(), to.size());
            PartTimes times{clock_, std::nullopt};
            if constexpr (isClippedPart<Table>)
                if (windowed_ != nullptr) times.limits = windowed_->window();
            PartAppender<Table> append(to, from, rows_, times, taken);
            forEachField(to, append);
        }
    }
    /// Returns true if no table exceeds its maximum length.
    bool isRoom() const { return isRoom_; }

  private:
    template <class Table>
    TakenRows takenOf(const Table& table) const {
        if constexpr (std::is_same_v<Table, MigrationTable>) {
            if (windowed_ != nullptr) return TakenRows(WindowedRows::of(table, rows_.memcpys));
        } else if constexpr (!std::is_same_v<Table, StackTable>) {
            if (windowed_ != nullptr) return TakenRows(windowed_->of(table));
        }
        return TakenRows(table.size());
    }
    static std::vector<uint32_t> placesOf(const TakenRows& taken, uint32_t size, uint32_t first) {
        std::vector<uint32_t> places(size, noIndex);
        for (uint32_t place = 0; place < taken.size(); ++place) places[taken[place]] = first + place;
        return places;
    }

    PartRows& rows_;
    const ClockMap& clock_;
    const WindowedRows* windowed_;
    PartFields tables_;
    size_t place_ = 0;
    bool isRoom_ = true;
};

/// Returns the facts without those that are recomputed for the whole: GPU work and waits.
NcclFacts portableFacts(NcclFacts facts, const PartRows& rows, const ClockMap& clock) {
    for (StringIndex* text : {&facts.datatype, &facts.algorithm, &facts.protocol, &facts.communicatorName})
        *text = rows.of(RowsOf::Strings, *text);
    if (facts.launchThread != noIndex) {
        facts.launchThread = rows.of(RowsOf::Threads, facts.launchThread);
        facts.launch = clock.at(facts.launch);
    }
    facts.gpu = {};
    facts.operationCount = 0;
    facts.sharedBy = 1;
    facts.waitedNs = -1;
    return facts;
}

/// Returns a series on the clock of the whole. `limits` is the merged part of it, if not all. A
/// value that holds at the start of the limits begins there. A mean over an interval that the
/// limits split is dropped, since its value for the part is unknown.
CounterSeries moved(const CounterSeries& from, const PartRows& rows, const PartTimes& times, LargeMemory* memory) {
    CounterSeries to;
    to.name = from.name;
    to.key = from.key;
    to.source = from.source;
    to.unit = from.unit;
    to.isMeanOfInterval = from.isMeanOfInterval;
    to.gpu = rows.of(RowsOf::Gpus, from.gpu);
    to.process = rows.of(RowsOf::Processes, from.process);
    to.link = from.link;
    to.core = from.core;
    to.device = from.device;
    to.intervalNs = from.intervalNs;
    CollectedValues kept(memory);
    for (uint32_t sample = 0; sample < from.size(); ++sample) {
        const TimeRange held = times.clock.at(from.rangeOf(sample));
        if (times.limits && (held.startNs >= times.limits->endNs || held.endNs <= times.limits->startNs)) continue;
        const bool isSplitMean = from.isMeanOfInterval && times.limits && !isWithin(held, *times.limits);
        kept.add(times.at(from.timeNs(sample)),
                 isSplitMean ? std::numeric_limits<double>::quiet_NaN() : from.value(sample));
    }
    if (!kept.timesNs.empty()) to.set(kept.timesNs, kept.values, times.at(from.endNs()));
    return to;
}

/// The readings of the samplers of a part other than counters, in times, processes and GPUs of the
/// whole. Only those within the window, if any.
class Readings {
  public:
    Readings(const Trace& part, const PartPlacement& placement, const WindowedRows* windowed)
        : part_(part), placement_(placement), windowed_(windowed) {
        for (uint32_t index = 0; index < part.processes.size(); ++index)
            processes_.try_emplace(part.processes[index].globalPid, index);
        for (uint32_t index = 0; index < part.gpus.size(); ++index) gpus_.try_emplace(part.gpus[index].id, index);
    }

    void addTo(Interconnect& whole) const {
        for (const SampledRange& each : part_.interconnect.sampledRanges)
            if (auto there = placed(each)) whole.sampledRanges.push_back(std::move(*there));
        for (const GpuProcessUse& each : part_.interconnect.gpuProcesses)
            if (auto there = placed(each)) whole.gpuProcesses.push_back(std::move(*there));
    }

  private:
    /// Returns nullopt for an unknown process, as its id may belong to another process in the whole.
    std::optional<SampledRange> placed(SampledRange range) const {
        const auto process = processes_.find(range.globalPid);
        if (process == processes_.end() || (windowed_ && !windowed_->isTaken(process->second))) return std::nullopt;
        range.globalPid = placement_.globalPids[process->second];
        range.range = placement_.clock.at(range.range);
        for (TimeRange* const reading : {&range.startReading, &range.endReading})
            if (!reading->isEmpty()) *reading = placement_.clock.at(*reading);
        if (windowed_ && !isWithin(range.range, windowed_->window())) return std::nullopt;
        return range;
    }

    std::optional<GpuProcessUse> placed(GpuProcessUse use) const {
        const auto gpu = gpus_.find(use.gpu);
        if (gpu == gpus_.end()) return std::nullopt;
        use.gpu = placement_.gpuIds[gpu->second];
        use.timeNs = placement_.clock.at(use.timeNs);
        const bool isTaken =
            !windowed_ || (windowed_->isGpuTaken(gpu->second) && windowed_->window().contains(use.timeNs));
        return isTaken ? std::optional(std::move(use)) : std::nullopt;
    }

    const Trace& part_;
    const PartPlacement& placement_;
    const WindowedRows* windowed_;
    MixedMap<int64_t, uint32_t> processes_, gpus_;  ///< Index in the whole, by id.
};

CounterIdentity identityOf(const CounterSeries& series) {
    return {series.source, series.key,  series.name,   series.gpu,  series.process,
            series.link,   series.core, series.device, series.unit, series.isMeanOfInterval};
}

/// Appends to `to` a later series of the same counter, as of consecutive recordings. Values in
/// between are unknown. Returns false if the series overlap. `to` is then unchanged.
bool join(CounterSeries& to, const CounterSeries& more, LargeMemory* memory) {
    const bool isAfter = more.timeNs(0) >= to.endNs();
    const CounterSeries &first = isAfter ? to : more, &second = isAfter ? more : to;
    if (second.timeNs(0) < first.endNs()) return false;
    CollectedValues all(memory);
    for (uint32_t sample = 0; sample < first.size(); ++sample) all.add(first.timeNs(sample), first.value(sample));
    if (first.endNs() < second.timeNs(0)) all.add(first.endNs(), std::numeric_limits<double>::quiet_NaN());
    for (uint32_t sample = 0; sample < second.size(); ++sample) all.add(second.timeNs(sample), second.value(sample));
    to.set(all.timesNs, all.values, second.endNs());
    return true;
}

void describeGpu(Gpu& to, const Gpu& from) {
    const int64_t id = to.id;
    if (to.name.empty() && to.uuid.empty()) to = from;
    to.id = id;
}

void describeProcess(Process& to, const Process& from, const ClockMap& clock) {
    const int64_t globalPid = to.globalPid;
    to = from;
    to.globalPid = globalPid;
    to.pid = processIdOf(globalPid);
    to.range = {0, from.range.isEmpty() ? 0 : clock.at(from.range.endNs)};
    for (TimeRange& window : to.windows) window = clock.at(window);
    for (Gap& gap : to.gaps) gap.range = clock.at(gap.range);
}

/// Restricts the facts of a process to its merged window.
void clipProcess(Process& process, TimeRange whole, TimeRange window) {
    if (window.startNs <= whole.startNs && window.endNs >= process.range.endNs) return;
    if (process.range.endNs > window.endNs) {
        process.range.endNs = window.endNs;
        process.endedAbnormally = false;  // outside of the window
    }
    if (!process.hasWindows) process.windows = {window};
    process.hasWindows = true;
    for (TimeRange& each : process.windows) each = each.intersected(window);
    std::erase_if(process.windows, [](const TimeRange& each) { return each.isEmpty(); });
    std::erase_if(process.gaps, [window](const Gap& gap) { return !gap.range.overlaps(window); });
}

}  // namespace

bool TraceBuilder::addTrace(const Trace& part, const PartPlacement& placement) {
    PartRows rows{
        .firstStack = trace_->stacks.size(), .firstMemcpy = trace_->memcpys.size(), .firstRange = trace_->nvtx.size()};
    // Merged window of each process of the part, from the windows known in the whole so far.
    std::vector<TimeRange> windows(part.processes.size());
    for (size_t index = 0; index < windows.size(); ++index) {
        const auto known = processes_.find(processOf(placement.globalPids[index]));
        if (known != processes_.end() && !trace_->processes[known->second].windows.empty())
            windows[index] = trace_->processes[known->second].windows.front();
    }
    std::optional<WindowedRows> windowed;
    if (std::ranges::any_of(windows, [](TimeRange each) { return !each.isEmpty(); }))
        windowed.emplace(part, placement.clock, windows);
    bool isRoom = true;
    const auto add = [&isRoom](std::vector<uint32_t>& list, uint32_t row) {
        isRoom = isRoom && row != noIndex;
        list.push_back(row);
        return isRoom;
    };
    for (StringIndex text = 0; text < part.strings.size(); ++text)
        rows.strings.push_back(intern(part.strings.at(text)));
    for (uint32_t index = 0; index < part.gpus.size(); ++index) {
        if (windowed && !windowed->isGpuTaken(index))
            rows.gpus.push_back(noIndex);
        else if (add(rows.gpus, gpu(placement.gpuIds[index])))
            describeGpu(trace_->gpus[rows.gpus.back()], part.gpus[index]);
    }
    for (uint32_t index = 0; index < part.processes.size(); ++index) {
        if (windowed && !windowed->isTaken(index)) {
            rows.processes.push_back(noIndex);
        } else if (add(rows.processes, process(placement.globalPids[index]))) {
            Process& there = trace_->processes[rows.processes.back()];
            describeProcess(there, part.processes[index], placement.clock);
            if (windowed) clipProcess(there, placement.clock.at(part.processes[index].range), windows[index]);
        }
    }
    for (const Thread& each : part.threads) {
        const int64_t ownerPid = placement.globalPids[each.process];
        if (rows.processes[each.process] == noIndex)
            rows.threads.push_back(noIndex);
        else if (add(rows.threads, thread(processOf(ownerPid) | threadIdOf(each.globalTid))))
            trace_->threads[rows.threads.back()].name = each.name;
    }
    for (const Stream& each : part.streams) {
        const uint32_t owner = rows.of(RowsOf::Processes, each.process);
        const uint32_t where = rows.of(RowsOf::Gpus, each.gpu);
        if (owner == noIndex)
            rows.streams.push_back(noIndex);
        else if (add(rows.streams, stream(owner, where, each.contextId, each.streamId)))
            trace_->streams[rows.streams.back()].isNullStream = each.isNullStream;
    }
    if (!isRoom) return false;
    for (LaunchConfig config : part.launchConfigs) {
        for (StringIndex* name : {&config.demangledName, &config.shortName, &config.mangledName})
            *name = rows.of(RowsOf::Strings, *name);
        config.collective = 0;  // found again for the whole trace
        rows.launchConfigs.push_back(launchConfig(config));
    }
    const WindowedRows* const windowedRows = windowed ? &*windowed : nullptr;
    PartTablesAppender append(part, rows, placement.clock, windowedRows);
    forEachTable(*trace_, append);
    if (!append.isRoom()) return false;
    const auto rangeOf = [&rows](uint32_t row) { return rows.of(RowsOf::Nvtx, row); };
    for (uint32_t row = 0; row < part.nccl.size(); ++row)
        if (const uint32_t range = rangeOf(part.nccl.nvtx[row]); range != noIndex)
            nccl({EventKind::Nvtx, range},
                 {rows.of(RowsOf::Strings, part.nccl.operation[row]), part.nccl.bytes[row], part.nccl.communicator[row],
                  portableFacts(part.nccl.facts[row], rows, placement.clock)});
    for (uint32_t row = 0; row < part.backwards.size(); ++row) {
        const uint32_t before = rangeOf(part.backwards.forward[row]);
        const uint32_t after = rangeOf(part.backwards.backward[row]);
        if (before != noIndex && after != noIndex) backward({EventKind::Nvtx, before}, {EventKind::Nvtx, after});
    }
    // Each wait gets a number that identifies its record.
    const StreamWaitTable& waits = part.streamWaits;
    const auto isCallTaken = [&](uint32_t stream, uint32_t correlation) {
        return !windowed || windowed->isCallTaken(part.streams[stream].process, correlation);
    };
    for (uint32_t row = 0; row < waits.size(); ++row) {
        const uint32_t number = row + 1;
        if (!isCallTaken(waits.waitingStream[row], waits.waitCorrelation[row]) ||
            !isCallTaken(waits.recordedStream[row], waits.recordCorrelation[row]))
            continue;
        eventRecord(
            {rows.of(RowsOf::Streams, waits.recordedStream[row]), number, number, waits.recordCorrelation[row]});
        eventWait({rows.of(RowsOf::Streams, waits.waitingStream[row]), number, number, waits.waitCorrelation[row]});
    }
    const auto isCounterTaken = [&](const CounterSeries& series) {
        if (series.process != noIndex) return !windowed || windowed->isTaken(series.process);
        return !windowed || series.gpu == noIndex || windowed->isGpuTaken(series.gpu);
    };
    const PartTimes times{placement.clock, windowed ? std::optional(windowed->window()) : std::optional<TimeRange>()};
    for (const CounterSeries& series : part.counters) {
        if (series.source.empty() || !isCounterTaken(series)) continue;
        CounterSeries there = moved(series, rows, times, memory());
        if (there.isEmpty() && !series.isEmpty()) continue;
        // A counter without GPU and process may belong to another host.
        const bool hasOwner = there.gpu != noIndex || there.process != noIndex;
        const auto same = hasOwner ? partCounters_.find(identityOf(there)) : partCounters_.end();
        if (same != partCounters_.end() && join(trace_->counters[same->second], there, memory())) continue;
        const size_t before = trace_->counters.size();
        const CounterIdentity identity = identityOf(there);
        counter(std::move(there));
        if (hasOwner && trace_->counters.size() > before)
            partCounters_.insert_or_assign(identity, static_cast<uint32_t>(before));
    }
    Readings(part, placement, windowedRows).addTo(trace_->interconnect);
    return true;
}

}  // namespace lanescope
