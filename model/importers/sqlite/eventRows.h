// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/format/TimeRange.h"
#include "model/importers/sqlite/Identities.h"
#include "model/importers/sqlite/RowReader.h"

namespace lanescope {

/// The handling of a row without a thread.
enum class UnnamedRows : uint8_t {
    Skipped,  ///< Skipped and tallied.
    Kept,     ///< Assigned to an unnamed thread.
};

/// Reads a table of thread activity. Calls `take(thread, times)` for each valid row and tallies the
/// others. A table without an end column has points in time.
template <class Table, class Take>
void forEachThreadRow(TableReader<Table>& reader, const Table& table, Identities& identities, UnnamedRows nameless,
                      Take take) {
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
        else if (nameless == UnnamedRows::Kept)
            thread = identities.unnamedThread();
        if (thread == noIndex)
            reader.skipRow();
        else
            take(thread, *times);
    }
}

struct GpuPlace {
    uint32_t process = noIndex;
    /// `noIndex` also for a whole context or an unknown device.
    uint32_t stream = noIndex;
};

/// Reads the place from the row. Both are `noIndex` if the maximum of processes or streams is reached.
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
    if (device < 0) return place;  // The recorder's value for unknown.
    place.stream = identities.stream(place.process, device, reader.integerOr(table.contextId, 0), stream);
    return place;
}

/// Reads a table of GPU activity. Calls `take(place, times, correlation)` for each valid row and tallies the others. A
/// row without a stream is invalid unless `mayBeOfContext`. Calls `tally(isUntimed)` for every row.
template <class Table, class Take, class Tally>
void forEachGpuRow(TableReader<Table>& reader, const Table& table, Identities& identities, Take take,
                   bool mayBeOfContext, Tally tally) {
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
void forEachGpuRow(TableReader<Table>& reader, const Table& table, Identities& identities, Take take,
                   bool mayBeOfContext = false) {
    forEachGpuRow(reader, table, identities, take, mayBeOfContext, [](bool) {});
}

}  // namespace lanescope
