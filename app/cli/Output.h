// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/OutputFile.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// Where a command prints: stdout, or a file that only appears under its name once it is whole. One
/// thread.
class Output {
  public:
    /// stdout if there is no `path`. Devices and pipes are written in place. Fails for a path that
    /// cannot be written, is one of `inputs` or names a database, as traces are.
    static Result<Output> open(const std::optional<std::filesystem::path>& path,
                               const std::vector<std::filesystem::path>& inputs);

    /// Text goes out only as long as `isSound` does not fail, which is asked of what was made so
    /// far: before any of it leaves, and again by `close`, which fails with its error.
    void giveOutOnly(std::function<Result<void>()> isSound) { isSound_ = std::move(isSound); }

    /// Writes; a failure shows at `close`.
    void write(std::string_view text);
    /// False once nothing more can arrive: the reader has gone, the disk is full or what is written
    /// is not sound.
    bool isWanted() const { return sound_.has_value() && file_.isWanted(); }
    /// Flushes and puts the file in its place. A reader that has gone away, as `head` does, is no
    /// failure.
    Result<void> close();

    /// Whether a person reads along, whose terminal acts upon what it is told.
    bool isTerminal() const;
    /// How many columns a line of text may have: as many as the terminal has, else as the
    /// environment variable COLUMNS says.
    size_t lineWidth() const;

  private:
    Output(OutputFile file, bool isStdout) : file_(std::move(file)), isStdout_(isStdout) {}
    void release();

    OutputFile file_;
    bool isStdout_;
    std::function<Result<void>()> isSound_;
    Result<void> sound_;  ///< Once it has failed, for good.
    std::string held_;    ///< What waits for `isSound_`.
};

}  // namespace lanescope::cli
