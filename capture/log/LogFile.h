// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/log/LogFormat.h"
#include "capture/log/Records.h"
#include "model/format/health.h"

namespace lanescope::log {

/// Appends checksummed blocks of records to the log of this process. What has been flushed survives
/// any end of the process, since the page cache is the kernel's. The file is created, readable by
/// its owner only, with the first flush. Its descriptor keeps away from the low numbers, which
/// programs close and expect to get; should the program close it all the same, as one that becomes
/// a daemon does, the file is opened again, and nothing is ever written into whatever file got the
/// number. Used by the writer thread only; nothing here throws for I/O.
class LogFile {
  public:
    /// `pathWithoutSuffix` is completed by ".log", or by ".2.log" and so on if that exists already.
    /// A file that cannot be opened is asked for at `door`; see `logDoor.h`.
    explicit LogFile(std::string pathWithoutSuffix, std::string door = {});
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    /// Adds one whole record (`bytes` a multiple of 8) to the block being built and flushes a block
    /// that has become large. `timeNs` is the event's start, 0 if it has none.
    void append(const void* record, size_t bytes, int64_t timeNs = 0);
    /// Writes the block being built, if there is one. A full disk loses the block, cuts the file
    /// back to the last good one and counts it. What is appended after that is lost as well,
    /// because it may refer to what was lost, until `resume`.
    void flush();
    /// From now on nothing refers to what was lost.
    void resume() { isBroken_ = false; }
    /// Gives the block being built up, and counts it as lost. Never throws, so it is for where
    /// there is no memory.
    void loseBlock();
    /// Whether the file has been begun.
    bool isBegun() const { return !firstPath_.empty() && !cannotOpen_; }
    /// errno of what kept the file from being begun; 0 if nothing did so far.
    int beginProblem() const { return beginProblem_; }
    /// How much of the file's disk others than root may still fill, and how large it is, in bytes;
    /// 0 and 0 while there is no file or nobody knows.
    struct Disk {
        uint64_t freeBytes = 0, bytes = 0;
    };
    Disk disk() const;

    /// Goes on in the next file of the log; see `LogFormat.h`. If that cannot be opened the present
    /// one is kept, and false is the answer.
    bool beginNextPart();
    /// How many bytes the present file has, and all files of the log together, what waits included.
    uint64_t partBytes() const { return static_cast<uint64_t>(fileBytes_) + block_.size(); }
    uint64_t totalBytes() const { return earlierBytes_ + partBytes(); }
    /// Ends the log: writes what waits, and from now on nothing.
    void finish();

    bool isEmpty() const { return block_.empty() && file_.descriptor < 0; }
    /// Blocks lost to a disk that was full or failed, since the last call. 0 when the log has ended
    /// for good, since nothing can be written about it any more.
    uint64_t takeLostBlocks();

  private:
    /// A file of ours while it is open.
    struct Opened {
        int descriptor = -1;
        uint64_t deviceNumber = 0, fileNumber = 0;
    };
    bool open();
    bool openAgain();
    Opened openFile(const std::string& path, int flags) const;
    static bool writeHeader(const Opened& file, uint32_t part);
    bool isStillOurs() const;
    void close();

    const std::string pathWithoutSuffix_, door_;
    std::string firstPath_, path_;  // of the first and of the present file
    Opened file_;
    uint32_t part_ = 0;
    bool cannotOpen_ = false;
    int beginProblem_ = 0;
    bool isFinished_ = false;
    bool isBroken_ = false;    // a block was lost
    bool isMoreLost_ = false;  // and something after it
    int64_t fileBytes_ = 0;
    uint64_t earlierBytes_ = 0;  // in earlier files
    uint64_t sequence_ = 0;
    uint64_t lostBlocks_ = 0;
    log::BlockHeader header_{};
    std::vector<unsigned char> block_;
};

/// Turns records into bytes of the log and each distinct string into an id, once. Used by the
/// writer thread only.
class RecordWriter {
  public:
    explicit RecordWriter(LogFile& file) : file_(file) {}

    /// Id of a string; writes it down when it is new. 0 for the empty string. Strings longer than
    /// 32 KiB are cut; when a program makes millions of different ones, the rest share one id.
    uint32_t string(std::string_view text);

    /// Writes a record of a kind; fills in its header. `timeNs` as in `LogFile::append`.
    template <class Record>
    void write(log::RecordKind kind, Record& record, int64_t timeNs = 0) {
        static_assert(sizeof(Record) % 8 == 0);
        record.header = {static_cast<uint16_t>(kind), record.header.flags, sizeof(Record)};
        file_.append(&record, sizeof(Record), timeNs);
    }

    /// Writes a record followed by `tail`, padded with zeros to a multiple of 8.
    template <class Record>
    void writeWithTail(log::RecordKind kind, Record& record, std::string_view tail,
                       int64_t timeNs) {
        writeWithTail(record.header, sizeof(Record), kind, tail, timeNs);
    }
    /// Writes an NVTX record followed by the bytes of its extended payload.
    void writeNvtx(log::NvtxRecord& record, std::string_view extended);

    /// Writes nothing any more, and keeps no strings.
    void stop();

    /// Forgets what was written, after blocks were lost: every string gets a new id with its next
    /// use.
    void startAgain();
    /// How often that happened; ids from before are void.
    uint32_t generation() const { return generation_; }

    void property(std::string_view name, std::string_view value);
    /// `count` says how many, if that is countable.
    void note(Severity severity, HealthCode code, std::string_view sentence, uint64_t count = 0);
    void dropped(Loss what, uint64_t count);

  private:
    void writeWithTail(log::RecordHeader& header, size_t structBytes, log::RecordKind kind,
                       std::string_view tail, int64_t timeNs);

    LogFile& file_;
    std::deque<std::string> strings_;
    std::unordered_map<std::string_view, uint32_t> idOf_;
    size_t stringBytes_ = 0;
    uint32_t lastId_ = 0;
    uint32_t generation_ = 0;
    std::string scratch_;
    bool isStopped_ = false;
};

}  // namespace lanescope::log
