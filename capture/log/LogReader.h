// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/log/LogFormat.h"
#include "capture/log/RecordVisitor.h"
#include "model/format/Result.h"

namespace lanescope::log {

/// Reads one log while it grows, and trusts nothing in it: any prefix and any corruption is safe.
/// Reads whole blocks only and never past the first block that is wrong, but for the next file of
/// the same log: it follows the log through its files by itself. One thread at a time.
class LogReader {
  public:
    /// What was read so far.
    struct Progress {
        uint64_t bytesRead = 0;  ///< Of the file header and whole good blocks.
        uint64_t blocks = 0;
        uint64_t records = 0;
        uint64_t lostBlocks = 0;  ///< Steps in the sequence: written by nobody, or lost on the way.
        uint64_t oddRecords = 0;  ///< In good blocks, but too short for what they claim to be.
        uint64_t unknownRecords = 0;  ///< Of kinds that this version does not know.
        int64_t latestTimeNs = 0;     ///< Of the latest event; 0 if there was none.
    };

    /// Opens `path` for reading; it may still be empty. Fails with a sentence if it is not a
    /// regular file or cannot be opened. Never follows a symbolic link.
    static Result<LogReader> open(const std::filesystem::path& path);

    LogReader(LogReader&& other) noexcept;
    LogReader& operator=(LogReader&& other) noexcept;
    LogReader(const LogReader&) = delete;
    LogReader& operator=(const LogReader&) = delete;
    ~LogReader();

    /// Gives `visitor` the records of at most `maximumBlocks` blocks that are whole and were not
    /// given before. Returns how many blocks it read; 0 when there is nothing more for now. Fails
    /// if the file cannot be read or is no log.
    Result<size_t> poll(RecordVisitor& visitor, size_t maximumBlocks = SIZE_MAX);

    /// The file header, once it was there.
    const std::optional<FileHeader>& header() const { return header_; }
    const Progress& progress() const { return progress_; }
    /// Bytes behind the last good block, which the last `poll` did not understand: the tail of a
    /// block that is still being written, or damage; and those left out of earlier files.
    uint64_t bytesNotUnderstood() const { return bytesNotUnderstood_; }
    /// True if the last `poll` stopped at a block that is wrong rather than unfinished.
    bool isDamaged() const { return isDamaged_; }
    const std::filesystem::path& path() const { return path_; }

  private:
    LogReader() = default;
    enum class Step { Done, Wait, Damaged };

    Result<Step> readHeader(uint64_t fileBytes);
    bool goToNextPart();
    Result<uint64_t> fileBytes() const;
    Result<Step> readBlock(uint64_t fileBytes, RecordVisitor& visitor);
    Result<bool> readAt(void* target, size_t bytes, uint64_t offset) const;
    void visitRecords(std::span<const std::byte> payload, RecordVisitor& visitor);

    std::filesystem::path path_;
    int file_ = -1;
    uint32_t part_ = 0;
    uint64_t offset_ = 0;        ///< In the present file.
    uint64_t earlierBytes_ = 0;  ///< Read from the files before it,
    uint64_t skippedBytes_ = 0;  ///< and left out of them.
    uint64_t retriedAt_ = UINT64_MAX;
    uint64_t expectedSequence_ = 0;
    std::optional<FileHeader> header_;
    Progress progress_;
    uint64_t bytesNotUnderstood_ = 0;
    bool isDamaged_ = false;
    std::vector<uint64_t> payload_;  ///< 8-byte words, so that records lie aligned.
};

}  // namespace lanescope::log
