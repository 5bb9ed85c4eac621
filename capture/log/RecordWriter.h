// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/log/LogFile.h"
#include "capture/log/Records.h"
#include "model/format/health.h"

namespace lanescope::log {

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
