// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/importers/TraceFormat.h"
#include "model/trace/Trace.h"

struct sqlite3;

namespace lanescope {

/// A copy of a trace that is still being written, in a file without a name. Each `refresh` copies
/// new rows, one table after the other by row number. Its steps are so short that the writer never
/// waits for a reader at its end. Between them, the trace is not open. One thread.
class TraceMirror {
  public:
    static Result<TraceMirror> create(std::filesystem::path partial);

    /// Copies at most `maxRows` new rows and returns their number. The rest is copied by the next call.
    Result<int64_t> refresh(int64_t maxRows = 2'000'000);

    /// Returns the copy, to be read with `loadOpenTrace`.
    int descriptor() const { return descriptor_; }
    const std::filesystem::path& partial() const { return partial_; }

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    using Connection = std::unique_ptr<sqlite3, Close>;
    /// A Lanescope table with the columns that both files have.
    struct Table {
        std::string name;
        std::string columns;
        int columnCount = 0;
        int64_t lastRow = 0;
    };
    explicit TraceMirror(std::filesystem::path partial) : partial_(std::move(partial)) {}
    Result<void> makeCopy();
    Result<Connection> openPartial() const;
    Result<void> findTables(sqlite3* source);
    Result<int64_t> copyRows(sqlite3* source, Table& table, int64_t maxRows);

    std::filesystem::path partial_;
    UniqueFd descriptor_;
    Connection copy_;
    std::vector<Table> tables_;
};

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
