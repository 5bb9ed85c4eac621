#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/log/LogFormat.h"

namespace lanescope {

/// Appends checksummed blocks of records to the log of this process. What has been flushed survives
/// any end of the process, since the page cache is the kernel's. The file is created, readable by
/// its owner only, with the first flush. Its descriptor keeps away from the low numbers, which
/// programs close and expect to get; should the program close it all the same, the log ends there
/// rather than go on in whatever file got the number. Used by the writer thread only; nothing here
/// throws for I/O.
class LogFile {
  public:
    /// `pathWithoutSuffix` is completed by ".log", or by ".2.log" and so on if that exists already.
    explicit LogFile(std::string pathWithoutSuffix);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    /// Adds one whole record (`bytes` a multiple of 8) to the block being built and flushes a block
    /// that has become large. `timeNs` is the event's start, 0 if it has none.
    void append(const void* record, size_t bytes, int64_t timeNs = 0);
    /// Writes the block being built, if there is one. A full disk loses the block, cuts the file
    /// back to the last good one and counts it; the next flush tries again.
    void flush();

    bool isEmpty() const { return block_.empty() && descriptor_ < 0; }
    /// Blocks lost to a disk that was full or failed, since the last call. 0 when the log has ended
    /// for good, since nothing can be written about it any more.
    uint64_t takeLostBlocks();

  private:
    bool open();
    bool writeHeader();
    bool isStillOurs() const;
    void close();

    std::string pathWithoutSuffix_;
    int descriptor_ = -1;
    bool cannotOpen_ = false;
    uint64_t deviceNumber_ = 0, fileNumber_ = 0;  // of the file that we opened
    int64_t fileBytes_ = 0;
    uint64_t sequence_ = 0;
    uint64_t lostBlocks_ = 0;
    log::BlockHeader header_{};
    std::vector<unsigned char> block_;
};

}  // namespace lanescope
