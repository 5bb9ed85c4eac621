// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/format/TimeRange.h"
#include "model/importers/sqlite/Identities.h"
#include "model/importers/sqlite/RowReader.h"

namespace lanescope {

/// Whose a row is that names no thread.
enum class Nameless : uint8_t {
    LeftOut,  ///< Nobody's: it is tallied.
    Kept,     ///< That of a thread without a name.
};

/// Goes through a table of what threads did: hands the thread and the times of each row that has
/// them to `take(thread, times)`; tallies the others. A table whose rows are moments has no end.
template <class Table, class Take>
void forEachThreadRow(TableReader<Table>& reader, const Table& table, Identities& identities,
                      Nameless nameless, Take take) {
    while (reader.next()) {
        std::optional<TimeRange> times;
        if constexpr (requires { table.end; })
            times = reader.times(table.start, table.end);
        else if (const std::optional<int64_t> timeNs = reader.time(table.start))
            times = TimeRange{*timeNs, *timeNs};
        if (!times) continue;
        uint32_t thread = noIndex;
        if (const std::optional<int64_t> tid = reader.integer(table.globalTid))
            thread = identities.thread(*tid);
        else if (nameless == Nameless::Kept)
            thread = identities.unnamedThread();
        if (thread == noIndex)
            reader.skipRow();
        else
            take(thread, *times);
    }
}

/// Which stream of which process a row of GPU activity belongs to.
struct GpuPlace {
    uint32_t process = noIndex;
    /// `noIndex` also for what concerns a whole context or no known device.
    uint32_t stream = noIndex;
};

/// Reads it from the row; both `noIndex` if there are more processes or streams than can be.
template <class Table>
GpuPlace readGpuPlace(TableReader<Table>& reader, const Table& table, Identities& identities) {
    constexpr int64_t wholeContext = 0xffffffff;
    GpuPlace place;
    const std::optional<int64_t> pid = reader.integer(table.globalPid);
    place.process = pid ? identities.process(*pid) : identities.unnamedProcess();
    if (place.process == noIndex) return {};
    const int64_t stream = reader.integerOr(table.streamId, 0);
    if (stream == wholeContext || stream < 0) return place;
    const int64_t device = reader.integerOr(table.deviceId, 0);
    if (device < 0) return place;  // What the recorder writes where it knows none.
    place.stream =
        identities.stream(place.process, device, reader.integerOr(table.contextId, 0), stream);
    return place;
}

/// Goes through a table of GPU activity: hands the place, times and correlation of each row that
/// has them to `take(place, times, correlation)`; tallies the others. A row without a stream is one
/// of the others, unless it `mayBeOfContext`. Every row there is is told to `tally(isUntimed)`.
template <class Table, class Take, class Tally>
void forEachGpuRow(TableReader<Table>& reader, const Table& table, Identities& identities,
                   Take take, bool mayBeOfContext, Tally tally) {
    while (reader.next()) {
        const int64_t untimed = reader.untimedCount();
        const std::optional<TimeRange> times = reader.times(table.start, table.end);
        tally(reader.untimedCount() > untimed);
        if (!times) continue;
        const GpuPlace place = readGpuPlace(reader, table, identities);
        if (place.process == noIndex || (place.stream == noIndex && !mayBeOfContext)) {
            reader.skipRow();
            continue;
        }
        take(place, *times, reader.unsigned32(table.correlationId));
    }
}

template <class Table, class Take>
void forEachGpuRow(TableReader<Table>& reader, const Table& table, Identities& identities,
                   Take take, bool mayBeOfContext = false) {
    forEachGpuRow(reader, table, identities, take, mayBeOfContext, [](bool) {});
}

}  // namespace lanescope
