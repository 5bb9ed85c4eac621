// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/log/LogFolder.h"
#include "capture/log/LogFormat.h"
#include "capture/log/Records.h"
#include "model/format/health.h"

namespace lanescope::log {

/// Appends checksummed blocks of records to the log of this process. Flushed data survives any end of the process,
/// since the page cache is the kernel's. The first flush creates the file, readable by its owner only. Its descriptor
/// avoids the low numbers, which programs close and expect to get. If the program closes it anyway, as a daemon does,
/// the file is opened again; nothing is ever written into another file that got the number. Writer thread only; nothing
/// here throws for I/O.
class LogFile {
  public:
    /// Appends ".log" to `nameWithoutSuffix`, or ".2.log" and so on if that file exists.
    LogFile(LogFolder folder, std::string nameWithoutSuffix);
    ~LogFile();
    LogFile& operator=(LogFile&&) = delete;

    /// Adds one whole record (`bytes` a multiple of 8) to the current block and flushes a block
    /// that has become large. `timeNs` is the event's start, 0 if it has none.
    void append(const void* record, size_t bytes, int64_t timeNs = 0);
    /// Writes the current block, if any. On a full disk it counts the block as lost and truncates
    /// the file after the last good block. Everything appended after that is lost too, because it
    /// may refer to lost records, until `resume`.
    void flush();
    /// Limits what is written from now on; blocks beyond it are lost as on a full disk. Unlimited by default.
    void allow(uint64_t bytes) {
        allowedBytes_ = bytes;
        isAtLimit_ = false;
    }
    /// Returns true if a block was lost to `allow` since its last call.
    bool isAtLimit() const { return isAtLimit_; }
    /// Ends the loss: following records refer to no lost ones.
    void resume() { isBroken_ = false; }
    /// Drops the current block and counts it as lost. Never throws, so it is usable without memory.
    void loseBlock();
    bool isBegun() const { return !firstName_.empty() && !cannotOpen_; }
    /// Returns the errno that prevented the creation of the file, or 0.
    int beginProblem() const { return beginProblem_; }
    /// Leaves a sign that no log exists because of `problem`, an errno. Returns false if that is impossible.
    bool leaveSign(int problem, std::string_view program) const {
        return folder_.leaveSign(nameWithoutSuffix_, problem, program);
    }
    /// Free space for non-root users and total size of the file's disk, in bytes; 0 and 0 without a file or if unknown.
    struct Disk {
        uint64_t freeBytes = 0, bytes = 0;
    };
    Disk disk() const;

    /// Makes the log a ring: it keeps the events of the last `ns` before its newest event, in files of `bytes` in all.
    /// Older files are removed, never the present one. Beyond `bytes` blocks are lost as on a full disk. Before the
    /// first record.
    void keepRing(int64_t ns, uint64_t bytes);
    bool isRing() const { return ringBytes_ > 0; }
    /// Returns true if a ring should begin its next file: the present one has an eighth of its time or size.
    bool isPartDue() const { return isPartDue_; }
    /// Returns true if a ring could neither begin a file nor remove one when it needed the space. Its blocks are lost.
    bool isRingStuck() const { return isRingStuck_; }
    /// Continues in the next file of the log; see `LogFormat.h`. Returns false and keeps the
    /// present file if the next one cannot be opened.
    bool beginNextPart();
    /// Returns the size of the present file, and of all present files of the log, including unwritten data.
    uint64_t partBytes() const { return static_cast<uint64_t>(fileBytes_) + block_.size(); }
    uint64_t totalBytes() const { return earlierBytes_ + partBytes(); }
    /// Closes the descriptor; the next flush opens the file again. For a log that another thread continues.
    void letGo();
    /// Ends the log: writes the pending data, and nothing afterwards.
    void finish();

    bool isEmpty() const { return block_.empty() && file_.descriptor < 0; }
    /// Returns the blocks lost to a full or failed disk since the last call. Returns 0 after the
    /// log has ended for good, since nothing can be written about it any more.
    uint64_t takeLostBlocks();

  private:
    struct Opened {
        int descriptor = -1;
        uint64_t deviceNumber = 0, fileNumber = 0;
    };
    bool open();
    bool openAgain();
    static Opened opened(int descriptor);
    void markBroken(int problem);
    bool removeOldest();
    bool fitsRing(uint64_t bytes);
    void noteTimes();
    static bool writeHeader(const Opened& file, uint32_t part);
    bool isStillOurs() const;
    void close();

    const LogFolder folder_;
    const std::string nameWithoutSuffix_;
    std::string firstName_, name_;  // of the first and of the present file
    Opened file_;
    uint32_t part_ = 0;
    bool cannotOpen_ = false;
    int beginProblem_ = 0;
    bool isFinished_ = false;
    bool isBroken_ = false;    // a block was lost
    bool isMoreLost_ = false;  // more records after it were lost
    uint64_t allowedBytes_ = UINT64_MAX;
    bool isAtLimit_ = false;
    bool isMarked_ = false;  // the header of the present file reports the loss
    int64_t fileBytes_ = 0;
    uint64_t earlierBytes_ = 0;  // in earlier files that were not removed
    /// A file before the present one.
    struct Earlier {
        uint32_t part;
        uint64_t bytes;
        int64_t newestNs;  // time of the newest event of the log until its end
    };
    std::deque<Earlier> earlier_;  // oldest first; rings only
    int64_t ringNs_ = 0;
    uint64_t ringBytes_ = 0;          // 0: no ring
    size_t blockBytes_ = 512u << 10;  // a block this large is worth a system call
    int64_t newestNs_ = 0, partBegunNs_ = 0;
    bool isPartDue_ = false, isRingStuck_ = false;
    uint64_t sequence_ = 0;
    uint64_t lostBlocks_ = 0;
    log::BlockHeader header_{};
    std::vector<unsigned char> block_;
};

/// Converts records to bytes of the log and each distinct string to an id, once. Writer thread only.
class RecordWriter {
  public:
    explicit RecordWriter(LogFile& file) : file_(file) {}

    /// Returns the id of a string and writes the string if it is new. Returns 0 for the empty string. Truncates strings
    /// longer than 32 KiB. If a program makes millions of different ones, the rest share one id.
    uint32_t string(std::string_view text);

    /// Writes a record and fills in its header. `timeNs` as in `LogFile::append`.
    template <class Record>
    void write(Record& record, int64_t timeNs = 0) {
        static_assert(sizeof(Record) % 8 == 0);
        record.header = {static_cast<uint16_t>(Record::kind), record.header.flags, sizeof(Record)};
        file_.append(&record, sizeof(Record), timeNs);
    }

    /// Writes a record followed by `tail`, padded with zeros to a multiple of 8.
    template <class Record>
    void writeWithTail(Record& record, std::string_view tail, int64_t timeNs) {
        writeWithTail(record.header, sizeof(Record), Record::kind, tail, timeNs);
    }
    void writeNvtx(log::NvtxRecord& record, std::string_view extended);

    void stop();
    bool isRing() const { return file_.isRing(); }

    /// Begins the next file of a ring if that is due. Call it between events, before their strings and stacks.
    void beginPartIfDue() {
        if (file_.isPartDue()) [[unlikely]]
            beginPart();
    }
    /// Begins the next file and forgets all written strings; a ring repeats its properties and notes there. Returns
    /// false and continues in the present file if the next one cannot be opened.
    bool beginPart();

    /// Forgets all written strings after blocks were lost: every string gets a new id with its next use.
    void startAgain();
    /// Returns the number of `startAgain` calls; ids from before the last one are void.
    uint32_t generation() const { return generation_; }

    void property(std::string_view name, std::string_view value);
    void note(Severity severity, HealthCode code, std::string_view sentence, uint64_t count = 0);
    void dropped(Loss what, uint64_t count);

  private:
    void writeWithTail(log::RecordHeader& header, size_t structBytes, log::RecordKind kind, std::string_view tail,
                       int64_t timeNs);

    LogFile& file_;
    std::deque<std::string> strings_;
    std::unordered_map<std::string_view, uint32_t> idOf_;
    size_t stringBytes_ = 0;
    uint32_t lastId_ = 0;
    uint32_t generation_ = 0;
    std::string scratch_;
    struct Note {
        log::NoteRecord record;
        std::string code, sentence;
    };
    void write(Note& note);
    void writeProperty(std::string_view name, std::string_view value);
    // Each part of a ring repeats these.
    std::vector<Note> notes_;
    std::map<std::string, std::string, std::less<>> properties_;
    bool isStopped_ = false;
};

}  // namespace lanescope::log
