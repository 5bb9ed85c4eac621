// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "capture/collector/Collector.h"
#include "capture/collector/RunInfo.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"

namespace lanescope::capture {

/// Folder for the logs of a run's processes, with a lock on its `session.json` as long as this
/// object lives, so that only one process collects it. Movable.
class RunFolder {
  public:
    /// Makes `path`, which must not exist, accessible by its owner only, and writes `info` into it.
    static Result<RunFolder> create(const std::filesystem::path& path, const RunInfo& info);
    /// Takes over a folder that `record` left. Fails if it does not exist or is still being recorded.
    static Result<RunFolder> takeOver(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    /// Deletes the logs, the facts of `record`, and the folder; keeps the folder if it contains anything else.
    void remove();

  private:
    explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
    Result<void> lock();

    std::filesystem::path path_;
    UniqueFd lock_;
};

/// Path of a recording's trace, and the folder for its logs next to it. The owner of the folder
/// owns the name of the trace.
struct OutputPlace {
    std::filesystem::path trace;
    RunFolder logs;

    /// Claims the place named by `pattern`, checked like `checkOutput`. A numbered pattern gets the first free number,
    /// even if other processes are choosing at the same time. `pid` is the program's. Leaves nothing on failure.
    static Result<OutputPlace> claim(const std::string& pattern, int pid, bool overwrite, const RunInfo& info);
};

struct RecoverOptions {
    std::filesystem::path runFolder;
    std::filesystem::path output;  ///< Empty: the name that the trace would have had.
    bool overwrite = false;
    ClosingSteps closing;
};

/// Makes a trace of the logs that a recording left, complete or not. The logs stay. Fails if the
/// folder contains no log or is still being recorded, or the trace cannot be written.
Result<CollectedRun> recover(const RecoverOptions& options);

}  // namespace lanescope::capture
