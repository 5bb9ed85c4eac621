// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "model/format/Result.h"
#include "model/importers/loadTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// A trace that is being recorded: its final path and the current file.
struct LiveTrace {
    std::filesystem::path finished;
    std::filesystem::path partial;
};

/// Returns the unfinished trace at `path`, which may be either name. Returns nullopt for a finished
/// trace and for any other path.
std::optional<LiveTrace> liveTraceAt(const std::filesystem::path& path);

enum class LiveState {
    Recording,
    Finished,   ///< The finished trace exists.
    Abandoned,  ///< No process is left that could finish it.
};

/// Checks the lock that `lanescope record` holds while it runs. O(1).
LiveState stateOf(const LiveTrace& live);

/// Returns the folder with the logs of a run, for 'lanescope recover'.
std::filesystem::path logFolderOf(const LiveTrace& live);

/// Loads the current state of a trace that is being recorded. Reads a copy, so the recorder never
/// waits and no index is left. The latest events may lack names that are written later. Errors and
/// progress are those of `loadTrace`. Reads everything written so far. One thread.
Result<TracePtr> loadLiveTrace(const LiveTrace& live, const LoadProgress& progress = {});

/// Returns the event of `after` that corresponds to `event` of `before`, an earlier state of the same recording: of the
/// same kind, time and name. Invalid if missing. O(log n) except for events of one start.
EventRef sameEvent(const Trace& before, EventRef event, const Trace& after);

}  // namespace lanescope
