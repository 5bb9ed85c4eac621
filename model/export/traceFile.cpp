// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "model/export/TraceFileWriter.h"
#include "model/format/AtomicFile.h"
#include "model/format/PageSeal.h"
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

/// Fills a database that was just made, and closes it.
Result<void> fill(const Trace& trace, Database database, bool isToBeSealed) {
    if (auto created = createTraceTables(database); !created) return created;
    if (isToBeSealed)
        if (auto announced = announceSeal(database); !announced) return announced;
    return TraceFileWriter(trace, database).write();
}

Result<void> write(const Trace& trace, const std::filesystem::path& path, bool isToBeSealed) {
    std::filesystem::path partial = path;
    partial += ".partial";
    Result<Database> database = Database::create(partial);
    if (!database) return fail(database.error());
    Result<void> written = fill(trace, std::move(*database), isToBeSealed);
    if (written && isToBeSealed) written = sealPages(partial);
    if (written) written = publishFile(partial, path, IfExists::Fail);
    std::error_code ignored;
    if (!written) std::filesystem::remove(partial, ignored);
    return written;
}

}  // namespace

Result<void> writeTraceFile(const Trace& trace, const std::filesystem::path& path) {
    return write(trace, path, false);
}

Result<void> writeSealedTraceFile(const Trace& trace, const std::filesystem::path& path) {
    return write(trace, path, true);
}

}  // namespace lanescope
