// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "model/export/TraceFileWriter.h"
#include "model/format/AtomicFile.h"
#include "model/format/tables/Schema.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

/// What files of other tools hold, too.
constexpr bool isForeign(EventKind kind) {
    constexpr std::array kinds{EventKind::Kernel, EventKind::Memcpy, EventKind::Memset,
                               EventKind::Api,    EventKind::Sync,   EventKind::Nvtx};
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

bool isOfSqlite(const Trace& trace) {
    bool hasOthers = trace.memoryEvents.size() + trace.migrations.size() > 0;
    forEachKind([&](auto each) {
        if constexpr (each.origin == kinds::Origin::Recorded)
            if (!isForeign(each.kind) && each.size(trace) > 0) hasOthers = true;
    });
    return hasOthers;
}

namespace {

/// Fills a database that was just made.
Result<void> fill(const Trace& trace, Database database) {
    if (auto created = createTraceTables(database); !created) return created;
    return TraceFileWriter(trace, database).write();
}

}  // namespace

Result<void> writeTraceFile(const Trace& trace, const std::filesystem::path& path) {
    std::filesystem::path partial = path;
    partial += ".partial";
    Result<Database> database = Database::create(partial);
    if (!database) return fail(database.error());
    Result<void> written = fill(trace, std::move(*database));
    if (written) written = publishFile(partial, path, IfExists::Fail);
    std::error_code ignored;
    if (!written) std::filesystem::remove(partial, ignored);
    return written;
}

}  // namespace lanescope
