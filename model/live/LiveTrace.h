// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "model/format/Result.h"
#include "model/importers/loadTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// A trace that is still being recorded: the file it is going to be, and what there is of it.
struct LiveTrace {
    std::filesystem::path finished;
    std::filesystem::path partial;
};

/// What `path`, the name of either, stands for if the trace is not finished. Nothing for a finished
/// trace and for a name that says nothing.
std::optional<LiveTrace> liveTraceAt(const std::filesystem::path& path);

/// How a recording stands.
enum class LiveState {
    Recording,
    Finished,   ///< The finished trace is there.
    Abandoned,  ///< There is no one left who could finish it.
};

/// Looks at the lock that `lanescope record` holds while it lives. O(1).
LiveState stateOf(const LiveTrace& live);

/// The folder that holds the logs of a run, from which 'lanescope recover' makes a trace.
std::filesystem::path logFolderOf(const LiveTrace& live);

/// What there is of a trace that is still being recorded, by a copy of it, so that who records it
/// waits for nobody and no index is left beside it. Its last moments may lack names that are
/// written later. Errors and progress are those of `loadTrace`. Reads all that was written so far;
/// one thread.
Result<TracePtr> loadLiveTrace(const LiveTrace& live, const LoadProgress& progress = {});

/// The event of `after` that `event` is of `before`, an earlier state of the same recording: of the
/// same kind, time and name. Invalid if there is none. O(log n) but for events of one start.
EventRef sameEvent(const Trace& before, EventRef event, const Trace& after);

}  // namespace lanescope
