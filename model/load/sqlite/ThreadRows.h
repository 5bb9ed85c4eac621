// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/format/TimeRange.h"
#include "model/load/sqlite/Identities.h"
#include "model/load/sqlite/TableReader.h"

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

}  // namespace lanescope
