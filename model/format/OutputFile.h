// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "model/format/AtomicFile.h"
#include "model/format/Result.h"

namespace lanescope {

/// Where a program writes what it was asked for: a file that appears under its very name once it is
/// whole, or in place a device, a pipe or stdout, which have no such moment. One thread.
class OutputFile {
  public:
    /// Fails at once if no file can get that name. A new file is its owner's only; one that is
    /// there keeps who may use it.
    static Result<OutputFile> open(const std::filesystem::path& path);
    static OutputFile standardOutput();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    /// Gives up a file that was not closed.
    ~OutputFile();

    /// Writes; a failure shows at `close`.
    void write(std::string_view text);
    /// False once nothing more can arrive: the reader has gone or the disk is full.
    bool isWanted() const { return file_ ? file_->isGood() : error_ == 0; }
    /// Flushes and puts the file in its place. A reader that has gone away, as `head` does, is no
    /// failure.
    Result<void> close();

  private:
    OutputFile() = default;

    std::optional<AtomicFile> file_;  ///< Else:
    std::FILE* stream_ = nullptr;
    std::filesystem::path path_;  ///< Of the stream; empty for stdout.
    int error_ = 0;               ///< errno of its first failure.
};

/// Fails if `path` is one of `inputs`, which are being read.
Result<void> checkIsNoInput(const std::filesystem::path& path,
                            std::span<const std::filesystem::path> inputs);

}  // namespace lanescope
