// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "model/format/AtomicFile.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// Where a command prints: stdout, or a file that only appears under its name once it is whole. One
/// thread.
class Output {
  public:
    /// stdout if there is no `path`. Devices and pipes are written in place. Fails for a path that
    /// cannot be written or is one of `inputs`.
    static Result<Output> open(const std::optional<std::filesystem::path>& path,
                               const std::vector<std::filesystem::path>& inputs);
    Output(Output&& other) noexcept;
    Output& operator=(Output&&) = delete;
    /// Gives up a file that was not closed.
    ~Output();

    /// Writes; a failure shows at `close`.
    void write(std::string_view text);
    /// False once nothing more can arrive: the reader has gone or the disk is full.
    bool isWanted() const { return file_ ? file_->isGood() : error_ == 0; }
    /// Flushes and puts the file in its place. A reader that has gone away, as `head` does, is no
    /// failure.
    Result<void> close();

  private:
    Output() = default;

    std::optional<AtomicFile> file_;  ///< Else:
    std::FILE* stream_ = nullptr;
    std::filesystem::path path_;  ///< Of the stream; empty for stdout.
    int error_ = 0;               ///< errno of its first failure.
};

}  // namespace lanescope::cli
