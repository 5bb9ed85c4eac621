// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"

#include <climits>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "model/export/TraceFileWriter.h"
#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/checksums.h"
#include "model/format/files.h"
#include "model/format/tables/Schema.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

/// Kinds that files of other tools also contain.
constexpr bool isOfAnotherTool(EventKind kind) {
    constexpr std::array kinds{EventKind::Kernel, EventKind::Memcpy, EventKind::Memset,
                               EventKind::Api,    EventKind::Sync,   EventKind::Nvtx};
    return std::ranges::find(kinds, kind) != kinds.end();
}

/// Fills a database that was just made, and closes it.
Result<void> fill(const Trace& trace, Database database, bool isToBeSealed) {
    if (auto created = createTraceTables(database, TraceState::Unfinished); !created) return created;
    if (isToBeSealed)
        if (auto announced = announceSeal(database); !announced) return announced;
    if (auto written = TraceFileWriter(trace, database).write(); !written) return written;
    return markWhole(database);
}

std::filesystem::path partialOf(std::filesystem::path path) {
    path += unfinishedEnding;
    return path;
}

Result<void> write(const Trace& trace, const std::filesystem::path& path, bool isToBeSealed) {
    if (const Result<void> place = checkPlaceForTrace(path, {}); !place) return place;
    const std::filesystem::path partial = partialOf(path);
    Result<Database> database = Database::create(partial);
    if (!database) return fail(database.error());
    Result<void> written = fill(trace, std::move(*database), isToBeSealed);
    if (written && isToBeSealed) written = sealPages(partial);
    if (!written) {
        static_cast<void>(removeFile(partial));
        return written;
    }
    // Complete at this point: if it cannot be renamed, the error names its path.
    return publishFile(partial, path, IfExists::Fail);
}

}  // namespace

bool isOfSqlite(const Trace& trace) {
    bool hasOthers = trace.memoryEvents.size() + trace.migrations.size() > 0;
    forEachKind([&](auto each) {
        if constexpr (each.origin == kinds::Origin::Recorded)
            if (!isOfAnotherTool(each.kind) && each.size(trace) > 0) hasOthers = true;
    });
    return hasOthers;
}

Result<void> checkPlaceForTrace(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs) {
    if (const Result<void> other = checkIsNoInput(path, inputs); !other) return other;
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_other(status)) return fail("{}: cannot write, not a regular file.", path.string());
    if (const Result<void> place = checkPlace(path); !place) return place;
    if (mayExist(path)) return fail("{}: the file exists. Choose another name, or remove it.", path.string());
    const std::filesystem::path partial = partialOf(path);
    if (const size_t bytes = partial.filename().string().size(); bytes > NAME_MAX)
        return fail(
            "{}: cannot write, the name is {} bytes too long with {}, which is appended until the trace is complete. "
            "Choose a shorter one.",
            path.string(), bytes - NAME_MAX, unfinishedEnding);
    if (mayExist(partial))
        return fail(
            "{1}: {0} exists, so the trace is being written, or writing was interrupted. Choose another name, or "
            "remove that file if no program writes it.",
            partial.string(), path.string());
    return {};
}

Result<void> writeTraceFile(const Trace& trace, const std::filesystem::path& path) { return write(trace, path, false); }

Result<void> writeSealedTraceFile(const Trace& trace, const std::filesystem::path& path) {
    return write(trace, path, true);
}

}  // namespace lanescope
