// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

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

}  // namespace lanescope::capture
