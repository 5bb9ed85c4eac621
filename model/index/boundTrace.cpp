#include "model/index/boundTrace.h"

#include <algorithm>
#include <optional>

#include "model/index/traceFields.h"

namespace lanescope {

namespace {

/// Times beyond are not taken from any file; differences of two stay within 64 bits.
constexpr int64_t greatestTimeNs = int64_t{1} << 61;
/// Of one slice: the sum of a step of them does not overflow either.
constexpr int64_t greatestDurationNs = greatestTimeNs / Lane::busyStep;

// Enumerators of each kind, by the last of them.
constexpr int64_t last(MemcpyKind) {
    return static_cast<int64_t>(memcpyKindCount) - 1;
}
constexpr int64_t last(MemoryKind) {
    return static_cast<int64_t>(memoryKindCount) - 1;
}
constexpr int64_t last(MigrationCause) {
    return static_cast<int64_t>(MigrationCause::AccessCounters);
}
constexpr int64_t last(FaultAccess) {
    return static_cast<int64_t>(FaultAccess::Prefetch);
}
constexpr int64_t last(SyncType) {
    return static_cast<int64_t>(SyncType::Context);
}
constexpr int64_t last(NvtxStyle) {
    return static_cast<int64_t>(NvtxStyle::Mark);
}
constexpr int64_t last(SliceCategory) {
    return static_cast<int64_t>(sliceCategoryCount) - 1;
}

/// Bounds whatever the type of a column alone tells, and notices tables of unequal columns.
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
            column.bound(-greatestTimeNs, greatestTimeNs);
    }
    template <class T>
    void operator()(RecordColumn<T>& records) {
        for (Column<int64_t>& field : records.fields()) (*this)(field);
    }
    template <class T>
    void operator()(std::vector<T>& values) {
        for (T& value : values) (*this)(value);
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

/// How long the columns of a table are; nothing if they are not equally long.
class EqualSizes {
  public:
    template <class T>
    void operator()(const Column<T>& column) {
        take(column.size());
    }
    template <class T>
    void operator()(const RecordColumn<T>& records) {
        for (const Column<int64_t>& field : records.fields()) take(field.size());
    }
    void operator()(bool) {}  // something said of the whole table
    bool areEqual() const { return areEqual_; }

  private:
    void take(size_t size) {
        areEqual_ = areEqual_ && size == size_.value_or(size) && size <= EventRef::maximumRow + 1;
        size_ = size;
    }
    std::optional<size_t> size_;
    bool areEqual_ = true;
};

bool isTime(int64_t timeNs, int64_t latestNs = greatestTimeNs) {
    return timeNs >= -greatestTimeNs && timeNs <= latestNs;
}
bool isRange(TimeRange range) {
    return isTime(range.startNs) && isTime(range.endNs) && range.startNs <= range.endNs;
}

/// Whether the times are sound that stand in no column.
bool areTimesSound(const Trace& trace) {
    const auto areRanges = [](const std::vector<TimeRange>& ranges) {
        return std::all_of(ranges.begin(), ranges.end(), isRange);
    };
    // One that nobody ended reaches beyond all other times.
    const auto isWindow = [](TimeRange window) {
        return isTime(window.startNs) && isTime(window.endNs, 2 * greatestTimeNs) &&
               window.startNs <= window.endNs;
    };
    if (!isRange(trace.range)) return false;
    for (const Process& process : trace.processes) {
        if (!isRange(process.range) ||
            !std::all_of(process.windows.begin(), process.windows.end(), isWindow))
            return false;
        for (const Gap& gap : process.gaps)
            if (!isRange(gap.range)) return false;
    }
    for (const Track& track : trace.tracks)
        if (!areRanges(track.unrecorded) || !areRanges(track.lossy)) return false;
    for (const SampledRange& each : trace.interconnect.sampledRanges)
        if (!isRange(each.range) || !isRange(each.startReading) || !isRange(each.endReading))
            return false;
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
        return areTimesSound(trace_) && checkPlaces() && boundTables() && boundNccl() &&
               boundCounters() && boundTracks() && boundSums();
    }

  private:
    template <class T>
    static bool isBelow(uint32_t index, const std::vector<T>& table, bool mayBeNone = false) {
        return index < table.size() || (mayBeNone && index == noIndex);
    }

    bool checkPlaces() {
        for (const Thread& thread : trace_.threads)
            if (!isBelow(thread.process, trace_.processes)) return false;
        for (const Stream& stream : trace_.streams)
            if (!isBelow(stream.process, trace_.processes) || !isBelow(stream.gpu, trace_.gpus))
                return false;
        for (const LaunchConfig& config : trace_.launchConfigs)
            if (std::max({config.demangledName, config.shortName, config.mangledName}) >=
                trace_.strings.size())
                return false;
        return trace_.strings.size() > 0;
    }

    template <class Table>
    bool boundTable(Table& table) {
        EqualSizes sizes;
        forEachField(table, sizes);
        TypeBounds types(rows_);
        forEachField(table, types);
        return sizes.areEqual();
    }
    /// An index into a table of `limit` rows; without any it must not be used.
    static bool index(Column<uint32_t>& column, size_t limit, bool mayBeNone = false) {
        column.bound(0, static_cast<int64_t>(limit) - 1, mayBeNone);
        return limit > 0 || column.empty();
    }

    bool boundTables() {
        const size_t strings = trace_.strings.size();
        const size_t threads = trace_.threads.size();
        const size_t streams = trace_.streams.size();
        const size_t processes = trace_.processes.size();
        const size_t gpus = trace_.gpus.size();
        Trace& t = trace_;
        const auto device = [gpus](Column<int16_t>& column) {
            column.bound(-1, static_cast<int64_t>(gpus) - 1);
        };
        device(t.memcpys.sourceDevice);
        device(t.memcpys.destinationDevice);
        return boundTable(t.kernels) && index(t.kernels.config, t.launchConfigs.size()) &&
               index(t.kernels.stream, streams) && boundTable(t.memcpys) &&
               index(t.memcpys.stream, streams) && boundTable(t.migrations) &&
               index(t.migrations.memcpy, t.memcpys.size()) && boundTable(t.memsets) &&
               index(t.memsets.stream, streams) && boundTable(t.graphs) &&
               index(t.graphs.stream, streams) && boundTable(t.memoryEvents) &&
               index(t.memoryEvents.process, processes) && index(t.memoryEvents.gpu, gpus, true) &&
               boundTable(t.memoryPools) && index(t.memoryPools.process, processes) &&
               index(t.memoryPools.gpu, gpus, true) && boundTable(t.allocations) &&
               index(t.allocations.process, processes) && index(t.allocations.gpu, gpus, true) &&
               boundTable(t.pageFaults) && index(t.pageFaults.process, processes) &&
               index(t.pageFaults.gpu, gpus, true) && index(t.pageFaults.instruction, strings) &&
               boundTable(t.apiCalls) && index(t.apiCalls.name, strings) &&
               index(t.apiCalls.thread, threads) && boundTable(t.syncs) &&
               index(t.syncs.stream, streams, true) && index(t.syncs.process, processes) &&
               boundTable(t.eventRecords) && index(t.eventRecords.stream, streams) &&
               boundTable(t.eventWaits) && index(t.eventWaits.stream, streams) &&
               boundTable(t.streamWaits) && index(t.streamWaits.waitingStream, streams) &&
               index(t.streamWaits.recordedStream, streams) &&
               index(t.streamWaits.byRecord, t.streamWaits.size()) && boundTable(t.nvtx) &&
               index(t.nvtx.text, strings) && index(t.nvtx.domain, strings) &&
               index(t.nvtx.category, strings) && index(t.nvtx.thread, threads) &&
               index(t.nvtx.payload, strings) && boundTable(t.projections) &&
               index(t.projections.nvtx, t.nvtx.size()) && index(t.projections.stream, streams) &&
               boundLinks();
    }

    bool boundLinks() {
        const auto rows = [](Column<uint32_t>& links, size_t limit) {
            return links.size() <= limit && index(links, limit);
        };
        LaunchLinks& links = trace_.links;
        return rows(links.calls, trace_.apiCalls.size()) &&
               rows(links.kernels, trace_.kernels.size()) &&
               rows(links.memcpys, trace_.memcpys.size()) &&
               rows(links.memsets, trace_.memsets.size()) &&
               rows(links.graphs, trace_.graphs.size());
    }

    bool boundNccl() {
        NcclTable& nccl = trace_.nccl;
        if (!boundTable(nccl) || !index(nccl.nvtx, trace_.nvtx.size()) ||
            !index(nccl.operation, trace_.strings.size()))
            return false;
        // In the order of their `forEachField`: four names first, the launching thread later.
        constexpr size_t names = 4;
        constexpr size_t launchThread = 13;
        std::vector<Column<int64_t>>& fields = nccl.facts.fields();
        for (size_t field = 0; field < names; ++field)
            fields[field].bound(0, int64_t{trace_.strings.size()} - 1);
        fields[launchThread].bound(0, static_cast<int64_t>(trace_.threads.size()) - 1, true);
        return !trace_.threads.empty() || nccl.size() == 0;
    }

    bool boundCounters() {
        if (trace_.counterRows.size() != trace_.counters.size()) return false;
        uint64_t row = 0;
        for (size_t i = 0; i < trace_.counters.size(); ++i) {
            CounterSeries& series = trace_.counters[i];
            TypeBounds types(rows_);
            CounterSeries::forEachOwnField(series, types);
            if (!isBelow(series.gpu, trace_.gpus, true) ||
                !isBelow(series.process, trace_.processes, true) || !series.isSound() ||
                trace_.counterRows[i] != row)
                return false;
            row += series.size();
        }
        return row <= EventRef::maximumRow;
    }

    bool isSubject(const Track& track) const {
        switch (track.kind) {
            case TrackKind::Gpu:
            case TrackKind::GpuPageFaults:
                return isBelow(track.subject, trace_.gpus);
            case TrackKind::Stream:
            case TrackKind::StreamProjection:
                return isBelow(track.subject, trace_.streams);
            case TrackKind::Process:
            case TrackKind::CpuPageFaults:
                return isBelow(track.subject, trace_.processes);
            case TrackKind::Thread:
            case TrackKind::ThreadNvtx:
            case TrackKind::ThreadApi:
                return isBelow(track.subject, trace_.threads);
            case TrackKind::Counter:
            case TrackKind::CounterStates:
                return isBelow(track.subject, trace_.counters);
            case TrackKind::CounterGroup:
                return isBelow(track.subject, trace_.gpus, true);
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
    const Track& parentOf(const Track& track) const {
        return trace_.tracks[static_cast<size_t>(track.parent)];
    }

    bool boundLane(Lane& lane) {
        const size_t count = lane.startNs.size();
        TypeBounds types(rows_);
        forEachField(lane, types);
        lane.durationNs.bound(0, greatestDurationNs);
        if (count > EventRef::maximumRow || lane.durationNs.size() != count ||
            lane.name.size() != count || lane.event.size() != count ||
            lane.category.size() != count ||
            lane.busyNs.size() != (count > 0 ? count / Lane::busyStep + 1 : 0) ||
            !index(lane.name, trace_.strings.size()))
            return false;
        return boundTiles(lane.tiles, count);
    }

    bool boundTiles(LaneTiles& tiles, size_t count) {
        for (LaneTiles::Level& level : tiles.levels) {
            const size_t buckets = level.bucketCount();
            const size_t position = static_cast<size_t>(&level - tiles.levels.data());
            if (count == 0 || buckets == 0 || level.shift > 62 ||
                level.shift != tiles.levels.front().shift + position ||
                level.category.size() != buckets || level.name.size() != buckets ||
                level.slice.size() != buckets + 1 || level.busyNs.size() != buckets + 1 ||
                level.overhangNs.size() != buckets + 1)
                return false;
            index(level.slice, count + 1);
            index(level.name, trace_.strings.size());
        }
        // Pictures rely on a coarsest level of few buckets.
        if (!tiles.levels.empty() && tiles.levels.back().bucketCount() > LaneTiles::leastBuckets)
            return false;
        size_t below = count;
        for (LaneTiles::Runs& runs : tiles.runs) {
            below = (below + LaneTiles::runLength - 1) / LaneTiles::runLength;
            if (runs.widest.size() != below || runs.widestNs.size() != below) return false;
            index(runs.widest, count);
        }
        return tiles.runs.empty() || below <= LaneTiles::runLength;
    }

    bool boundSums() {
        if (trace_.sums.tracks.size() != trace_.tracks.size()) return false;
        for (size_t track = 0; track < trace_.tracks.size(); ++track) {
            TrackSums& sums = trace_.sums.tracks[track];
            if (sums.lanes.size() != trace_.tracks[track].lanes.size() ||
                sums.busy.timeNs.size() != sums.busy.busyNs.size())
                return false;
            sums.busy.timeNs.bound(-greatestTimeNs, greatestTimeNs);
            sums.busy.busyNs.bound(-greatestTimeNs, greatestTimeNs);
            for (LaneSums& lane : sums.lanes)
                if (!boundLaneSums(lane)) return false;
        }
        return true;
    }
    static bool boundLaneSums(LaneSums& sums) {
        for (Column<int64_t>* column : {&sums.count, &sums.totalNs, &sums.minimumNs,
                                        &sums.maximumNs, &sums.bytes, &sums.untimedBytes}) {
            if (column->size() != sums.key.size()) return false;
            column->bound(0, greatestTimeNs);
        }
        return true;
    }

    Trace& trace_;
    RowCounts& rows_;
};

}  // namespace

bool boundTrace(Trace& trace, RowCounts& rows) {
    for (size_t kind = 0; kind < rows.size(); ++kind)
        rows[kind] = kind <= static_cast<size_t>(EventKind::CounterSample)
                         ? trace.rowCount(static_cast<EventKind>(kind))
                         : 0;
    return TraceBounds(trace, rows).apply();
}

}  // namespace lanescope
