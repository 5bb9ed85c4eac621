// SPDX-License-Identifier: Apache-2.0
#include "model/live/LiveTrace.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "model/format/UniqueFd.h"
#include "model/format/checkFile.h"
#include "model/format/files.h"
#include "model/live/TraceMirror.h"

namespace lanescope {

namespace {

namespace fs = std::filesystem;

bool isFile(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

}  // namespace

std::optional<LiveTrace> liveTraceAt(const fs::path& path) {
    LiveTrace live{path, path};
    if (path.extension() == unfinishedEnding)
        live.finished.replace_extension();
    else
        live.partial += unfinishedEnding;
    if (isFile(live.finished) || !isFile(live.partial)) return std::nullopt;
    return live;
}

fs::path logFolderOf(const LiveTrace& live) {
    return live.finished.parent_path() / ("." + live.finished.filename().string() + ".run");
}

LiveState stateOf(const LiveTrace& live) {
    // The trace gets its name before the lock is released, so the checks are in reverse order.
    UniqueFd file = openTrustedFile(logFolderOf(live) / "session.json", live.partial);
    const bool isHeld = file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    file.reset();
    if (isFile(live.finished) && !isFile(live.partial)) return LiveState::Finished;
    return isHeld ? LiveState::Recording : LiveState::Abandoned;
}

namespace {

/// Rows per step, small enough for a quick reaction to cancellation.
constexpr int64_t rowsAtOnce = 500'000;

}  // namespace

Result<TracePtr> loadLiveTrace(const LiveTrace& live, const LoadProgress& progress) {
    Result<TraceMirror> mirror = TraceMirror::create(live.partial);
    if (!mirror) return fail(mirror.error());
    for (int64_t rows = rowsAtOnce; rows >= rowsAtOnce;) {
        const Result<int64_t> more = mirror->refresh(rowsAtOnce);
        if (!more) return fail(more.error());
        rows = *more;
        if (progress && !progress(0, "reading along")) return fail("{}: opening was cancelled.", live.partial.string());
    }
    return loadOpenTrace(mirror->descriptor(), live.partial, progress);
}

EventRef sameEvent(const Trace& before, EventRef event, const Trace& after) {
    if (!event.isValid() || event.row() >= before.rowCount(event.kind())) return {};
    const TimeRange range = before.rangeOf(event);
    uint32_t low = 0, high = after.rowCount(event.kind());
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int64_t startNs = after.rangeOf(EventRef(event.kind(), middle)).startNs;
        startNs < range.startNs ? low = middle + 1 : high = middle;
    }
    const std::string name = before.nameOf(event);
    EventRef open;
    for (; low < after.rowCount(event.kind()); ++low) {
        const EventRef found(event.kind(), low);
        const TimeRange there = after.rangeOf(found);
        if (there.startNs != range.startNs) break;
        if (after.nameOf(found) != name) continue;
        if (there.endNs == range.endNs) return found;
        // A range that was open in `before` may have ended.
        if (there.endNs > range.endNs && !open.isValid()) open = found;
    }
    return open;
}

}  // namespace lanescope
