// SPDX-License-Identifier: Apache-2.0
// A finished trace into one that is being built.
#include <type_traits>
#include <vector>

#include "model/build/TraceBuilder.h"
#include "model/format/GlobalId.h"

namespace lanescope {

namespace {

/// Which row of the whole each row of a part is.
struct PartRows {
    std::vector<uint32_t> strings, threads, streams, processes, gpus, launchConfigs;
    uint32_t firstStack = 0, firstMemcpy = 0, firstRange = 0;  ///< Of tables that are appended.

    uint32_t of(RowsOf what, uint32_t row) const {
        const auto in = [row](const std::vector<uint32_t>& rows) {
            return row < rows.size() ? rows[row] : noIndex;
        };
        switch (what) {
            case RowsOf::Strings:
                return row < strings.size() ? strings[row] : 0;
            case RowsOf::Threads:
                return in(threads);
            case RowsOf::Streams:
                return in(streams);
            case RowsOf::Processes:
                return in(processes);
            case RowsOf::Gpus:
                return in(gpus);
            case RowsOf::LaunchConfigs:
                return in(launchConfigs);
            case RowsOf::Stacks:
                return firstStack + row;
            case RowsOf::Memcpys:
                return firstMemcpy + row;
            case RowsOf::Nvtx:
                return firstRange + row;
            case RowsOf::Backwards:
            case RowsOf::StreamWaits:
                break;
        }
        return noIndex;
    }
};

/// The fields, or the tables, of something in their order.
struct Places {
    template <class T>
    void operator()(const T& each) {
        places.push_back(&each);
    }
    std::vector<const void*> places;
};

/// Appends each column of a table of a part to that of the whole.
template <class Table>
class Appender {
  public:
    Appender(Table& to, const Table& from, const PartRows& rows, const ClockMap& clock)
        : to_(to), from_(from), rows_(rows), clock_(clock) {
        forEachField(from, fields_);
    }

    template <class T>
    void operator()(Column<T>& column) {
        const Column<T>& from = next<Column<T>>();
        if constexpr (std::is_same_v<T, int64_t>) {
            if (isTime(column))
                return append(column, from,
                              [this](int64_t timeNs, size_t) { return clock_.at(timeNs); });
        }
        append(column, from, [](T value, size_t) { return value; });
    }
    void operator()(bool&) { next<bool>(); }  // said of the whole table, and found anew

    template <class T>
    void row(RowField<Column<T>> field) {
        append(field.field, next<Column<T>>(), [this, &field](T value, size_t at) {
            if (isLent(field.of, at)) return static_cast<T>(noIndex);
            if constexpr (std::is_signed_v<T>) {
                return value < 0 ? value
                                 : static_cast<T>(rows_.of(field.of, static_cast<uint32_t>(value)));
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
        for (size_t at = 0; at < from.size(); ++at) to.push_back(change(from[at], at));
    }
    /// Whether a stack is another thread's, which is lent anew.
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
    const ClockMap& clock_;
    Places fields_;
    size_t place_ = 0;
};

/// Whether the table is made of others when a trace is finished, or needs more than its columns.
template <class Table>
constexpr bool isMadeAnew =
    std::is_same_v<Table, AllocationTable> || std::is_same_v<Table, EventCallTable> ||
    std::is_same_v<Table, StreamWaitTable> || std::is_same_v<Table, ProjectionTable> ||
    std::is_same_v<Table, NcclTable> || std::is_same_v<Table, BackwardTable>;

/// Appends the tables of a trace, in the order in which `forEachTable` visits them.
class TablesAppender {
  public:
    TablesAppender(const Trace& from, const PartRows& rows, const ClockMap& clock)
        : rows_(rows), clock_(clock) {
        forEachTable(from, tables_);
    }
    template <class Table>
    void operator()(Table& to) {
        const Table& from = *static_cast<const Table*>(tables_.places[place_++]);
        if constexpr (!isMadeAnew<Table>) {
            isRoom_ = isRoom_ && from.size() < EventRef::maximumRow - to.size();
            if (!isRoom_) return;
            Appender<Table> append(to, from, rows_, clock_);
            forEachField(to, append);
        }
    }
    /// Whether all tables are as long as tables may be.
    bool isRoom() const { return isRoom_; }

  private:
    const PartRows& rows_;
    const ClockMap& clock_;
    Places tables_;
    size_t place_ = 0;
    bool isRoom_ = true;
};

/// Without what is found again of the whole: the work on GPUs and who waited for whom.
NcclFacts told(NcclFacts facts, const PartRows& rows, const ClockMap& clock) {
    for (StringIndex* text :
         {&facts.datatype, &facts.algorithm, &facts.protocol, &facts.communicatorName})
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

CounterSeries moved(const CounterSeries& from, const PartRows& rows, const ClockMap& clock,
                    LargeMemory* memory) {
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
    LargeVector<int64_t> timesNs(memory);
    LargeVector<double> values(memory);
    for (uint32_t sample = 0; sample < from.size(); ++sample) {
        timesNs.push_back(clock.at(from.timeNs(sample)));
        values.push_back(from.value(sample));
    }
    to.set(timesNs, values, clock.at(from.endNs()));
    return to;
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

}  // namespace

bool TraceBuilder::addTrace(const Trace& part, const PartPlacement& placement) {
    PartRows rows;
    rows.firstStack = trace_->stacks.size();
    rows.firstMemcpy = trace_->memcpys.size();
    rows.firstRange = trace_->nvtx.size();
    bool isRoom = true;
    const auto add = [&isRoom](std::vector<uint32_t>& list, uint32_t row) {
        isRoom = isRoom && row != noIndex;
        list.push_back(row);
        return isRoom;
    };
    for (StringIndex text = 0; text < part.strings.size(); ++text)
        rows.strings.push_back(intern(part.strings.at(text)));
    for (size_t index = 0; index < part.gpus.size(); ++index)
        if (add(rows.gpus, gpu(placement.gpuIds[index])))
            describeGpu(trace_->gpus[rows.gpus.back()], part.gpus[index]);
    for (size_t index = 0; index < part.processes.size(); ++index)
        if (add(rows.processes, process(placement.globalPids[index])))
            describeProcess(trace_->processes[rows.processes.back()], part.processes[index],
                            placement.clock);
    for (const Thread& each : part.threads) {
        const int64_t whose = placement.globalPids[each.process];
        if (add(rows.threads, thread(processOf(whose) | threadIdOf(each.globalTid))))
            trace_->threads[rows.threads.back()].name = each.name;
    }
    for (const Stream& each : part.streams) {
        const uint32_t owner = rows.of(RowsOf::Processes, each.process);
        const uint32_t where = rows.of(RowsOf::Gpus, each.gpu);
        if (add(rows.streams, stream(owner, where, each.contextId, each.streamId)))
            trace_->streams[rows.streams.back()].isNullStream = each.isNullStream;
    }
    if (!isRoom) return false;
    for (LaunchConfig config : part.launchConfigs) {
        for (StringIndex* name : {&config.demangledName, &config.shortName, &config.mangledName})
            *name = rows.of(RowsOf::Strings, *name);
        rows.launchConfigs.push_back(launchConfig(config));
    }
    TablesAppender append(part, rows, placement.clock);
    forEachTable(*trace_, append);
    for (uint32_t row = 0; row < part.nccl.size(); ++row)
        nccl({EventKind::Nvtx, rows.firstRange + part.nccl.nvtx[row]},
             {rows.of(RowsOf::Strings, part.nccl.operation[row]), part.nccl.bytes[row],
              part.nccl.communicator[row], told(part.nccl.facts[row], rows, placement.clock)});
    for (uint32_t row = 0; row < part.backwards.size(); ++row)
        backward({EventKind::Nvtx, rows.firstRange + part.backwards.forward[row]},
                 {EventKind::Nvtx, rows.firstRange + part.backwards.backward[row]});
    // Each wait gets a number, by which it finds its record again.
    const StreamWaitTable& waits = part.streamWaits;
    for (uint32_t row = 0; row < waits.size(); ++row) {
        const uint32_t number = row + 1;
        eventRecord({rows.of(RowsOf::Streams, waits.recordedStream[row]), number, number,
                     waits.recordCorrelation[row]});
        eventWait({rows.of(RowsOf::Streams, waits.waitingStream[row]), number, number,
                   waits.waitCorrelation[row]});
    }
    for (const CounterSeries& series : part.counters)
        if (!series.source.empty()) counter(moved(series, rows, placement.clock, memory()));
    return append.isRoom();
}

}  // namespace lanescope
