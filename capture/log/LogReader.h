// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/log/LogFormat.h"
#include "capture/log/Records.h"
#include "model/format/Result.h"

namespace lanescope::log {

/// Receives the records of a log in order. References and views live until the call returns.
/// Numbers in them are as the traced process wrote them: a receiver checks what it uses as an index
/// or enum.
class RecordVisitor {
  public:
    virtual ~RecordVisitor() = default;

    virtual void visit(const StringRecord&, std::string_view) {}
    virtual void visit(const PropertyRecord&) {}
    virtual void visit(const KernelRecord&) {}
    virtual void visit(const MemcpyRecord&) {}
    virtual void visit(const MemsetRecord&) {}
    virtual void visit(const ApiRecord&) {}
    virtual void visit(const StackRecord&) {}
    virtual void visit(const GraphNodeRecord&) {}
    virtual void visit(const SyncRecord&) {}
    virtual void visit(const CudaEventRecord&) {}
    virtual void visit(const OverheadRecord&) {}
    virtual void visit(const DeviceRecord&) {}
    virtual void visit(const ContextRecord&) {}
    virtual void visit(const StreamRecord&) {}
    virtual void visit(const GraphRecord&) {}
    virtual void visit(const DeviceMemoryRecord&) {}
    virtual void visit(const MemoryPoolRecord&) {}
    virtual void visit(const UnifiedMemoryRecord&) {}
    virtual void visit(const NvtxRecord&, std::span<const std::byte>) {}
    virtual void visit(const NvtxDomainRecord&) {}
    virtual void visit(const NvtxCategoryRecord&) {}
    virtual void visit(const NvtxSchemaRecord&) {}
    virtual void visit(const NvtxSchemaEntryRecord&) {}
    virtual void visit(const NvtxEnumRecord&) {}
    virtual void visit(const NvtxEnumEntryRecord&) {}
    virtual void visit(const NcclCommunicatorRecord&) {}
    virtual void visit(const NcclOperationRecord&) {}
    virtual void visit(const NcclStopRecord&) {}
    virtual void visit(const ThreadNameRecord&) {}
    virtual void visit(const ClockRecord&) {}
    virtual void visit(const DroppedRecord&) {}
    virtual void visit(const NoteRecord&) {}
    virtual void visit(const EndRecord&) {}
    virtual void visit(const WindowRecord&) {}
    virtual void visit(const SampledGpuRecord&) {}
    virtual void visit(const CounterRecord&) {}
    virtual void visit(const SamplesRecord&, std::span<const SampleValue>) {}
    virtual void visit(const GpuProcessRecord&) {}
    virtual void visit(const SamplingMomentRecord&) {}
    virtual void visit(const GpuMetricRecord&) {}
    virtual void visit(const WatchedProcessRecord&) {}
    virtual void visit(const WatchedThreadRecord&) {}
    virtual void visit(const ThreadRunRecord&) {}
    /// The moments as they lie in the log: `1 + metricCount` words each.
    virtual void visit(const GpuMetricSamplesRecord&, std::span<const uint64_t>) {}
};

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
