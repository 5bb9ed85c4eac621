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

/// Receiver of the records of a log, in order. References and views are valid during the call.
/// Numbers in them are unchecked values of the traced process: a receiver validates those that it
/// uses as an index or enum.
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
    /// The samples as stored in the log: `1 + metricCount` words each.
    virtual void visit(const GpuMetricSamplesRecord&, std::span<const uint64_t>) {}
};

/// Reader of one log while it grows. It validates everything: any prefix and any corruption is
/// safe. Reads whole blocks only and stops at the first bad block of a file. Follows the log
/// through its files. One thread at a time.
class LogReader {
  public:
    struct Progress {
        uint64_t bytesRead = 0;  ///< Bytes of the file header and of whole good blocks.
        uint64_t blocks = 0;
        uint64_t records = 0;
        uint64_t lostBlocks = 0;      ///< Gaps in the sequence: blocks never written, or lost.
        uint64_t oddRecords = 0;      ///< Records in good blocks that are too short for their kind.
        uint64_t unknownRecords = 0;  ///< Records of kinds unknown to this version.
        int64_t latestTimeNs = 0;     ///< Time of the latest event; 0 if there was none.
    };

    /// Opens `path` for reading; it may still be empty. Fails with a sentence if it is not a
    /// regular file or cannot be opened. Never follows a symbolic link.
    static Result<LogReader> open(const std::filesystem::path& path);

    LogReader(LogReader&& other) noexcept;
    LogReader& operator=(LogReader&& other) noexcept;
    LogReader(const LogReader&) = delete;
    LogReader& operator=(const LogReader&) = delete;
    ~LogReader();

    /// Passes the records of at most `maxBlocks` whole new blocks to `visitor`. Returns the
    /// number of blocks read, 0 if there are none for now. Fails if the file cannot be read or is
    /// no log.
    Result<size_t> poll(RecordVisitor& visitor, size_t maxBlocks = SIZE_MAX);

    const std::optional<FileHeader>& header() const { return header_; }
    const Progress& progress() const { return progress_; }
    /// Returns the number of bytes after the last good block that the last `poll` did not
    /// understand: an unfinished block, or damage. Includes skipped bytes of earlier files.
    uint64_t bytesNotUnderstood() const { return bytesNotUnderstood_; }
    /// Returns true if the last `poll` stopped at a block that is wrong rather than unfinished.
    bool isCorrupt() const { return isDamaged_; }
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
    uint64_t earlierBytes_ = 0;  ///< Read from earlier files.
    uint64_t skippedBytes_ = 0;  ///< Skipped in earlier files.
    uint64_t retriedAt_ = UINT64_MAX;
    uint64_t expectedSequence_ = 0;
    std::optional<FileHeader> header_;
    Progress progress_;
    uint64_t bytesNotUnderstood_ = 0;
    bool isDamaged_ = false;
    std::vector<uint64_t> payload_;  ///< 8-byte words, so that records are aligned.
};

}  // namespace lanescope::log
