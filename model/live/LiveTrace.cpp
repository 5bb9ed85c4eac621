// SPDX-License-Identifier: Apache-2.0
#include "model/live/LiveTrace.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "model/format/checkFile.h"

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
    // The trace gets its name before the lock goes, so look in the other order.
    const int file = ::open((logFolderOf(live) / "session.json").c_str(), O_RDONLY | O_CLOEXEC);
    const bool isHeld = file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (file >= 0) ::close(file);
    if (isFile(live.finished) && !isFile(live.partial)) return LiveState::Finished;
    return isHeld ? LiveState::Recording : LiveState::Abandoned;
}

}  // namespace lanescope
