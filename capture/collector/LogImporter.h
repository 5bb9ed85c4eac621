// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/collector/ActivityImporter.h"
#include "capture/collector/NcclPluginImporter.h"
#include "capture/collector/NvtxImporter.h"
#include "capture/collector/ProcessContext.h"
#include "capture/log/LogReader.h"
#include "capture/log/Records.h"
#include "model/format/TimeRange.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

/// Recording windows of one process, if it did not record all the time. Accepts beginnings and ends
/// in any number and order, as in a truncated or corrupt log. Repeated windows count once: each
/// file of a log repeats them, and so does a log after a loss.
class ProcessWindows {
  public:
    struct Window {
        uint32_t index = 0;
        int64_t startNs = 0;           ///< In the log's time.
        std::optional<int64_t> endNs;  ///< nullopt while it is open.
    };
    /// Maximum number of windows; further ones are skipped.
    static constexpr size_t maxCount = 100'000;

    void add(const log::WindowRecord& record);
    /// Returns true if the process reported windows: then it recorded nothing outside them.
    bool areThere() const { return areThere_; }
    const std::vector<Window>& all() const { return windows_; }

  private:
    std::vector<Window> windows_;
    std::unordered_map<uint32_t, size_t> placeOf_;  // in windows_, by index
    std::optional<size_t> latest_;                  // the latest window in the log
    bool areThere_ = false;
};

/// Place of a process among a launcher's processes, as it reported.
struct RankFacts {
    int64_t rank = 0;
    int64_t worldSize = 0;
    std::optional<int64_t> localWorldSize;  ///< Number of ranks on its host.
    std::string host;
};

/// Returns a sentence with the ranks that left no record though others of their launch did, or
/// nullopt if all are present. For a launch on several hosts only the recorded hosts count.
std::optional<std::string> missingRanksSentence(const std::vector<RankFacts>& present);

/// Importer of one process's log into the trace. One thread.
class LogImporter {
  public:
    /// `host` is the number of the host in global ids.
    static Result<std::unique_ptr<LogImporter>> open(std::shared_ptr<const Folder> folder, const std::string& name,
                                                     TraceWriter& trace, GpuInventory& gpus, int64_t sessionStartNs,
                                                     uint32_t host);

    /// Facts about the end of the process from other sources.
    struct KnownEnd {
        std::optional<int> exitStatus;
        int64_t seenNs = 0;      ///< Time at which its end was observed, in the log's time; 0 if never.
        bool stillRan = false;   ///< It had not ended at `seenNs`, when the recording did.
        bool hasExeced = false;  ///< By exec, which began another log.
    };

    /// Imports at most `maxBlocks` new blocks and returns their number. Ignores a log that
    /// cannot be read from then on; `finish` reports that in the trace.
    size_t poll(size_t maxBlocks);
    /// Writes open events, the identity of the process and doubtful facts. Call once at the end. A
    /// process without content leaves nothing.
    void finish(const KnownEnd& known);
    /// Names unnamed threads after the program, so that readers who join threads with names lose
    /// none. Call after `finish` of all importers.
    void nameOtherThreads();

    uint32_t pid() const { return process_.pid; }
    /// Returns its recording windows, as far as it has reported them.
    const ProcessWindows& ownWindows() const { return windows_; }
    /// Returns true if the process wrote its last record, or the log cannot be read.
    bool isComplete() const { return end_.has_value() || problem_.has_value(); }
    /// Returns true if its end may be missing: it was killed, crashed or still ran. A process forked from a recorded
    /// one commonly leaves without its exit handlers, and does not count as cut short.
    bool wasTruncated() const {
        return !end_ && brokenErrno_ == 0 && !isForkedChild() && !known_.stillRan && !known_.hasExeced;
    }
    /// Returns the bytes read so far. `isNotAllRead` returns true if the log is corrupt or could
    /// not be read, so that its contents are not all in the trace.
    uint64_t bytesRead() const { return reader_.progress().bytesRead; }
    bool isNotAllRead() const { return problem_.has_value() || reader_.isCorrupt(); }
    bool usedCuda() const { return activity_.sawDevice() || activity_.counts().events() > 0; }
    /// Returns true if the process recorded an event, used a GPU or wrote a note, or if its log cannot be read.
    bool hasContent() const;
    /// Returns true if the process could not start the thread that writes its log, at least for a time.
    bool lackedWriter() const;
    /// Returns the rank and the world size that the process reported, or nullopt.
    std::optional<RankFacts> rankFacts() const;
    ImportCounts counts() const;
    /// Returns a property that the process reported; empty without one.
    std::string_view property(std::string_view name) const;
    /// A change of the system time, on the trace's axis.
    struct ClockSetting {
        int64_t timeNs = 0;
        int64_t byNs = 0;
    };
    /// Returns the first one, or nullopt if none happened while the process recorded.
    const std::optional<ClockSetting>& clockSetting() const { return clockSetting_; }
    int64_t processId() const { return process_.processId(); }
    /// Returns the recording windows on the trace's axis, sorted; nullopt if it recorded all the time.
    std::optional<std::vector<TimeRange>> windows() const;
    /// Returns the begin of the log, in its own time; 0 if unknown.
    int64_t begunRealtimeNs() const { return reader_.header() ? reader_.header()->realtimeNs : 0; }
    /// Returns the end of the process, on the trace's axis: as it reported, else the latest time at
    /// which it is known to have run. 0 if unknown.
    int64_t endNs() const;

  private:
    LogImporter(log::LogReader reader, TraceWriter& trace, GpuInventory& gpus, int64_t sessionStartNs, uint32_t host);

    void add(const log::StringRecord& record, std::string_view text) { process_.strings.add(record.id, text); }
    void add(const log::NvtxRecord& record, std::span<const std::byte> extended);
    void add(const log::ThreadNameRecord& record);
    void add(const log::ClockRecord& record);
    void add(const log::DroppedRecord& record);
    void add(const log::NoteRecord& record);
    void add(const log::EndRecord& record) { end_ = record; }
    void add(const log::LevelRecord& record);

    std::string lossAtEnd() const;
    /// Returns the last time in the log, in its own time. The clock is read once a second, even if the process is idle.
    int64_t latestNs() const;
    bool isOfWriter(const log::NoteRecord& note) const;
    bool isForkedChild() const { return property(facts::forkedChild) == facts::one; }
    /// Returns the time of a clock reading, in the log's time, which that clock may have left since.
    int64_t timeOf(const log::ClockRecord& clock) const;
    std::string shownName() const;
    /// Writes a health note on this process. Its name is put in front of the sentence.
    void report(Severity severity, HealthCode code, std::string_view sentence, std::optional<int64_t> timeNs = {},
                std::optional<int64_t> count = {});
    /// Reports a number of things, unless it is 0.
    void reportCount(Severity severity, HealthCode code, std::integral auto count, std::string_view sentence) {
        if (count > 0) report(severity, code, sentence, {}, static_cast<int64_t>(count));
    }
    /// Returns the time of the latest earlier event of this kind in the log, in its time.
    int64_t latestBefore(Loss what) const;
    void writeName();
    void writeProcess();
    void writeWindows();
    void writeGaps();
    void writeLevels();
    void writeWarnings();
    void writeRingBegin();
    void writeEnd();
    void writeLosses();
    void reportMemoryCorruption();

    log::LogReader reader_;
    ProcessContext process_;
    ActivityImporter activity_;
    MemoryImporter memory_;
    NvtxImporter nvtx_;
    NcclPluginImporter nccl_;
    std::map<uint32_t, uint32_t> threadNames_;
    std::vector<log::ClockRecord> clocks_;
    std::optional<ClockSetting> clockSetting_;
    std::vector<log::NoteRecord> notes_;
    /// An interval in which events were lost, in the log's time.
    struct Gap {
        Loss what;
        TimeRange range;
        uint64_t count;
    };
    std::map<Loss, uint64_t> dropped_;
    std::vector<Gap> gaps_;
    std::vector<log::LevelRecord> levels_;
    int64_t latestNvtxNs_ = 0;
    bool isNamed_ = false;  ///< In the trace.
    ProcessWindows windows_;
    std::optional<log::EndRecord> end_;
    KnownEnd known_;
    int brokenErrno_ = 0;  ///< Reason for which the log broke off; 0 if it did not.
    std::optional<Error> problem_;
};

}  // namespace lanescope::capture
