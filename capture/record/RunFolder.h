// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "capture/collector/Collector.h"
#include "capture/collector/RunInfo.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// The folder that the processes of a run leave their logs in, held by a lock on its `session.json`
/// as long as this object lives, so that nobody collects it twice. Movable.
class RunFolder {
  public:
    /// Makes `path`, which must not exist, accessible by its owner only, and writes `info` into it.
    static Result<RunFolder> create(const std::filesystem::path& path, const RunInfo& info);
    /// Takes over a folder that `record` left. Fails if there is none or it is still being
    /// recorded.
    static Result<RunFolder> takeOver(const std::filesystem::path& path);

    RunFolder(RunFolder&& other) noexcept;
    RunFolder& operator=(RunFolder&&) = delete;
    ~RunFolder();

    /// Absolute.
    const std::filesystem::path& path() const { return path_; }
    /// Deletes the logs, what `record` knew of the run, and the folder; leaves it if anything else
    /// is in there.
    void remove();

  private:
    explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
    Result<void> lock();

    std::filesystem::path path_;
    int lock_ = -1;
};

/// Where a recording leaves its trace, and the folder for its logs beside it. Who holds the folder
/// holds the name of the trace.
struct OutputPlace {
    std::filesystem::path trace;
    RunFolder logs;

    /// Takes the place that `pattern` names, checked as `checkOutput` does and, for a numbered
    /// pattern, with the first number that nobody has, though others may be choosing at the same
    /// time. `pid` is the program's. Leaves nothing behind when it fails.
    static Result<OutputPlace> claim(const std::string& pattern, int pid, bool overwrite,
                                     const RunInfo& info);
};

struct RecoverOptions {
    std::filesystem::path runFolder;
    std::filesystem::path output;  ///< Empty: the name that the trace would have had.
    bool overwrite = false;
    ClosingSteps closing;
};

/// Makes a trace of the logs that a recording left behind, whatever there is of them. The logs
/// stay. Fails if the folder holds no log or is still being recorded, or the trace cannot be
/// written.
Result<CollectedRun> recover(const RecoverOptions& options);

}  // namespace lanescope::capture
