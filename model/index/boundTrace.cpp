// SPDX-License-Identifier: Apache-2.0
#include "model/index/indexFields.h"

#include <algorithm>
#include <optional>

namespace lanescope {

namespace {

/// For one slice, so that the sum of a step of them does not overflow.
constexpr int64_t maxDurationNs = maxTimestampNs / Lane::busyStep;

// The last enumerator of each kind.
constexpr int64_t last(MemcpyKind) { return static_cast<int64_t>(memcpyKindCount) - 1; }
constexpr int64_t last(MemoryKind) { return static_cast<int64_t>(memoryKindCount) - 1; }
constexpr int64_t last(MigrationCause) { return static_cast<int64_t>(MigrationCause::AccessCounters); }
constexpr int64_t last(FaultAccess) { return static_cast<int64_t>(FaultAccess::Prefetch); }
constexpr int64_t last(SyncType) { return static_cast<int64_t>(SyncType::Context); }
constexpr int64_t last(ThreadState) { return static_cast<int64_t>(threadStateCount) - 1; }
constexpr int64_t last(StateSource) { return static_cast<int64_t>(StateSource::Samples); }
constexpr int64_t last(NvtxStyle) { return static_cast<int64_t>(NvtxStyle::Mark); }
constexpr int64_t last(SliceCategory) { return static_cast<int64_t>(sliceCategoryCount) - 1; }

/// Bounds the values of columns by type alone, and detects tables with columns of unequal length.
class TypeBounds {
  public:
    explicit TypeBounds(const RowCounts& rows) : rows_(rows) {}

    template <class T>
    void operator()(Column<T>& column) {
        if constexpr (std::is_same_v<T, EventRef>)
            column.bound(&rows_);
        else if constexpr (std::is_enum_v<T>)
            column.bound(0, last(T{}));
        else if constexpr (std::is_same_v<T, int64_t>)
            column.bound(-maxTimestampNs, maxTimestampNs);
    }
    template <class T>
    void operator()(RecordColumn<T>& records) {
        for (Column<int64_t>& field : records.fields()) (*this)(field);
    }
    template <class T>
    void operator()(std::vector<T>& values) {
        for (T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(Rare<T>& value) {
        if (value.hasValue()) (*this)(value.edit());
    }
    void operator()(LaneTiles& tiles) { forEachField(tiles, *this); }
    void operator()(LaneTiles::Level& level) { forEachField(level, *this); }
    void operator()(LaneTiles::Runs& runs) { forEachField(runs, *this); }
    void operator()(CounterSeries::Level& level) { forEachField(level, *this); }
    template <class T>
    void operator()(T&) {}

  private:
    const RowCounts& rows_;
};

size_t countOf(const Trace& trace, RowsOf of) {
    switch (of) {
        case RowsOf::Strings: return trace.strings.size();
        case RowsOf::Threads: return trace.threads.size();
        case RowsOf::Streams: return trace.streams.size();
        case RowsOf::Processes: return trace.processes.size();
        case RowsOf::Gpus: return trace.gpus.size();
        case RowsOf::LaunchConfigs: return trace.launchConfigs.size();
        case RowsOf::Memcpys: return trace.memcpys.size();
        case RowsOf::Nvtx: return trace.nvtx.size();
        case RowsOf::Backwards: return trace.backwards.size();
        case RowsOf::StreamWaits: return trace.streamWaits.size();
        case RowsOf::Stacks: return trace.stacks.size();
    }
    return 0;
}

/// Bounds an index into `count` rows. Returns false if no valid index exists.
template <class T>
bool boundRows(Column<T>& column, size_t count, bool mayBeNone = false) {
    const int64_t last = static_cast<int64_t>(count) - 1;
    if constexpr (std::is_same_v<T, int16_t>) {
        column.bound(mayBeNone ? -1 : 0, last);
    } else if (count > 0) {
        column.bound(0, last, mayBeNone);
    } else if (mayBeNone) {
        column.bound(noIndex, noIndex);
    }
    return count > 0 || mayBeNone || column.empty();
}

/// Bounds the columns of a table by the list of its fields, and detects columns of unequal length.
class TableBounds {
  public:
    TableBounds(const Trace& trace, const RowCounts& rows) : trace_(trace), types_(rows) {}

    bool isSound() const { return isSound_; }

    template <class T>
    void operator()(Column<T>& column) {
        static_assert(!std::is_same_v<T, uint32_t>, "say in the list: number, rowOf or rowOrNone");
        take(column.size());
        types_(column);
    }
    void number(Column<uint32_t>& column) { take(column.size()); }
    template <class T>
    void row(RowField<Column<T>> row) {
        boundTo(row.field, row.of, row.mayBeNone);
    }
    template <class T>
    void operator()(RecordColumn<T>& records) {
        T record;
        forEachField(record, RecordBounds{*this, records.fields().begin()});
    }
    void operator()(bool) {}  // a property of the whole table

  private:
    /// Bounds the fields of records, which are columns of plain numbers.
    struct RecordBounds {
        TableBounds& table;
        std::vector<Column<int64_t>>::iterator column;

        template <class T>
        void operator()(T&) {
            static_assert(!std::is_same_v<T, uint32_t>, "say in the list: number, rowOf or rowOrNone");
            table(*column++);
        }
        void number(uint32_t&) { table(*column++); }
        void row(RowField<uint32_t> row) { table.boundTo(*column++, row.of, row.mayBeNone); }
    };

    template <class T>
    void boundTo(Column<T>& column, RowsOf of, bool mayBeNone) {
        take(column.size());
        isSound_ = boundRows(column, countOf(trace_, of), mayBeNone) && isSound_;
    }
    void take(size_t size) {
        isSound_ = isSound_ && size == size_.value_or(size) && size <= EventRef::maxRow + size_t{1};
        size_ = size;
    }

    const Trace& trace_;
    TypeBounds types_;
    std::optional<size_t> size_;
    bool isSound_ = true;
};

bool isTime(int64_t timeNs, int64_t latestNs = maxTimestampNs) {
    return timeNs >= -maxTimestampNs && timeNs <= latestNs;
}
bool isRange(TimeRange range) { return isTime(range.startNs) && isTime(range.endNs) && range.startNs <= range.endNs; }

/// Returns true if the times outside of columns are valid.
bool areTimesSound(const Trace& trace) {
    const auto areRanges = [](const std::vector<TimeRange>& ranges) {
        return std::all_of(ranges.begin(), ranges.end(), isRange);
    };
    // An open window extends beyond all other times.
    const auto isWindow = [](TimeRange window) {
        return isTime(window.startNs) && isTime(window.endNs, 2 * maxTimestampNs) && window.startNs <= window.endNs;
    };
    if (!isRange(trace.range)) return false;
    for (const Process& process : trace.processes) {
        if (!isRange(process.range) || !std::all_of(process.windows.begin(), process.windows.end(), isWindow))
            return false;
        for (const Gap& gap : process.gaps)
            if (!isRange(gap.range)) return false;
    }
    for (const Track& track : trace.tracks)
        if (!areRanges(track.unrecorded) || !areRanges(track.lossy)) return false;
    for (const SampledRange& each : trace.interconnect.sampledRanges)
        if (!isRange(each.range) || !isRange(each.startReading) || !isRange(each.endReading)) return false;
    for (const GpuProcessUse& use : trace.interconnect.gpuProcesses)
        if (!isTime(use.timeNs)) return false;
    for (const HealthNote& note : trace.health)
        if (note.timeNs && !isTime(*note.timeNs)) return false;
    for (const CounterSeries& series : trace.counters)
        if (!isTime(series.endNs())) return false;
    return true;
}

class TraceBounds {
  public:
    TraceBounds(Trace& trace, RowCounts& rows) : trace_(trace), rows_(rows) {}

    bool apply() {
        return areTimesSound(trace_) && checkPlaces() && boundTables() && boundLinks() && boundCounters() &&
               boundTracks() && boundSums();
    }

  private:
    static bool isBelow(uint32_t index, const auto& table, bool mayBeNone = false) {
        return index < table.size() || (mayBeNone && index == noIndex);
    }

    bool checkPlaces() {
        for (const Thread& thread : trace_.threads)
            if (!isBelow(thread.process, trace_.processes)) return false;
        for (const Stream& stream : trace_.streams)
            if (!isBelow(stream.process, trace_.processes) || !isBelow(stream.gpu, trace_.gpus)) return false;
        return trace_.strings.size() > 0;
    }

    bool boundTables() {
        TableBounds configs(trace_, rows_);
        forEachField(trace_.launchConfigs, configs);
        bool areSound = configs.isSound();
        forEachTable(trace_, [&](auto& table) {
            TableBounds bounds(trace_, rows_);
            forEachField(table, bounds);
            areSound = areSound && bounds.isSound();
        });
        return areSound;
    }

    bool boundLinks() {
        const auto rows = [](Column<uint32_t>& links, size_t limit) {
            return links.size() <= limit && boundRows(links, limit);
        };
        LaunchLinks& links = trace_.links;
        return rows(links.calls, trace_.apiCalls.size()) && rows(links.kernels, trace_.kernels.size()) &&
               rows(links.memcpys, trace_.memcpys.size()) && rows(links.memsets, trace_.memsets.size()) &&
               rows(links.graphs, trace_.graphs.size());
    }

    bool boundCounters() {
        if (trace_.counterRows.size() != trace_.counters.size()) return false;
        uint64_t row = 0;
        for (size_t i = 0; i < trace_.counters.size(); ++i) {
            CounterSeries& series = trace_.counters[i];
            TypeBounds types(rows_);
            CounterSeries::forEachOwnField(series, types);
            if (!isBelow(series.gpu, trace_.gpus, true) || !isBelow(series.process, trace_.processes, true) ||
                !series.isSound() || trace_.counterRows[i] != row)
                return false;
            row += series.size();
        }
        return row <= EventRef::maxRow;
    }

    bool isSubject(const Track& track) const {
        switch (track.kind) {
            case TrackKind::Gpu:
            case TrackKind::GpuEvents: return isBelow(track.subject, trace_.gpus);
            case TrackKind::Stream:
            case TrackKind::StreamProjection: return isBelow(track.subject, trace_.streams);
            case TrackKind::Process:
            case TrackKind::ProcessEvents: return isBelow(track.subject, trace_.processes);
            case TrackKind::Thread:
            case TrackKind::ThreadNvtx:
            case TrackKind::ThreadApi:
            case TrackKind::ThreadStates:
            case TrackKind::ThreadStacks: return isBelow(track.subject, trace_.threads);
            case TrackKind::Counter:
            case TrackKind::CounterStates: return isBelow(track.subject, trace_.counters);
            case TrackKind::CounterGroup: return isBelow(track.subject, trace_.gpus, true);
        }
        return false;
    }

    bool boundTracks() {
        for (size_t i = 0; i < trace_.tracks.size(); ++i) {
            Track& track = trace_.tracks[i];
            const auto own = static_cast<int64_t>(i);
            if (!isSubject(track) || track.parent < -1 || track.parent >= own ||
                track.depth != (track.parent < 0 ? 0 : parentOf(track).depth + 1))
                return false;
            for (Lane& lane : track.lanes)
                if (!boundLane(lane)) return false;
        }
        return true;
    }
    const Track& parentOf(const Track& track) const { return trace_.tracks[static_cast<size_t>(track.parent)]; }

    bool boundLane(Lane& lane) {
        const size_t count = lane.startNs.size();
        TypeBounds types(rows_);
        forEachField(lane, types);
        lane.durationNs.bound(0, maxDurationNs);
        if (count > EventRef::maxRow || lane.durationNs.size() != count || lane.name.size() != count ||
            lane.event.size() != count || lane.category.size() != count ||
            lane.busyNs.size() != (count > 0 ? count / Lane::busyStep + 1 : 0) ||
            !boundRows(lane.name, trace_.strings.size()))
            return false;
        return !lane.tiles.hasValue() || boundTiles(lane.tiles.edit(), count);
    }

    bool boundTiles(LaneTiles& tiles, size_t count) {
        for (LaneTiles::Level& level : tiles.levels) {
            const size_t buckets = level.bucketCount();
            const size_t position = static_cast<size_t>(&level - tiles.levels.data());
            if (count == 0 || buckets == 0 || level.shift > 62 ||
                level.shift != tiles.levels.front().shift + position || level.category.size() != buckets ||
                level.name.size() != buckets || level.slice.size() != buckets + 1 ||
                level.busyNs.size() != buckets + 1 || level.overhangNs.size() != buckets + 1)
                return false;
            boundRows(level.slice, count + 1);
            boundRows(level.name, trace_.strings.size());
        }
        // Pictures rely on a coarsest level of few buckets.
        if (!tiles.levels.empty() && tiles.levels.back().bucketCount() > LaneTiles::minBuckets) return false;
        size_t below = count;
        for (LaneTiles::Runs& runs : tiles.runs) {
            below = (below + LaneTiles::runLength - 1) / LaneTiles::runLength;
            if (runs.widest.size() != below || runs.longestNs.size() != below) return false;
            boundRows(runs.widest, count);
        }
        return tiles.runs.empty() || below <= LaneTiles::runLength;
    }

    bool boundSums() {
        if (trace_.sums.tracks.size() != trace_.tracks.size()) return false;
        for (size_t track = 0; track < trace_.tracks.size(); ++track) {
            TrackSums& sums = trace_.sums.tracks[track];
            if ((!sums.lanes.empty() && sums.lanes.size() != trace_.tracks[track].lanes.size()) ||
                sums.busy->timeNs.size() != sums.busy->busyNs.size())
                return false;
            if (sums.busy.hasValue()) {
                sums.busy.edit().timeNs.bound(-maxTimestampNs, maxTimestampNs);
                sums.busy.edit().busyNs.bound(-maxTimestampNs, maxTimestampNs);
            }
            for (LaneSums& lane : sums.lanes)
                if (!boundLaneSums(lane)) return false;
        }
        return true;
    }
    static bool boundLaneSums(LaneSums& sums) {
        for (Column<int64_t>* column :
             {&sums.count, &sums.totalNs, &sums.minimumNs, &sums.maximumNs, &sums.bytes, &sums.untimedBytes}) {
            if (column->size() != sums.key.size()) return false;
            column->bound(0, maxTimestampNs);
        }
        return true;
    }

    Trace& trace_;
    RowCounts& rows_;
};

}  // namespace

bool boundTrace(Trace& trace, RowCounts& rows) {
    for (size_t kind = 0; kind < rows.size(); ++kind) rows[kind] = trace.rowCount(static_cast<EventKind>(kind));
    return TraceBounds(trace, rows).apply();
}

}  // namespace lanescope
