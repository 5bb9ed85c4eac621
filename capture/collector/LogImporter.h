// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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

/// When one process recorded, if it did not all the time. Takes beginnings and ends as the log has
/// them, in any number and order that a cut or damaged log may leave. Those that a log says again,
/// as each of its files and after a loss, count once.
class ProcessWindows {
  public:
    struct Window {
        uint32_t index = 0;
        int64_t startNs = 0;           ///< In the log's time.
        std::optional<int64_t> endNs;  ///< Nothing while it is open.
    };
    /// More would be no use to anybody; further ones are left out.
    static constexpr size_t maximumCount = 100'000;

    void add(const log::WindowRecord& record);
    /// True once the process said anything of windows: then it recorded nothing outside them.
    bool areThere() const { return areThere_; }
    const std::vector<Window>& all() const { return windows_; }

  private:
    std::vector<Window> windows_;
    std::unordered_map<uint32_t, size_t> placeOf_;  // in windows_, by index
    std::optional<size_t> latest_;                  // of which the log spoke
    bool areThere_ = false;
};

/// Which of a launcher's processes a process says it is.
struct RankFacts {
    int64_t rank = 0;
    int64_t worldSize = 0;
    std::optional<int64_t> localWorldSize;  ///< How many of them run on its host.
    std::string host;
};

/// A sentence that names the ranks that left no record though others of their launch did, or
/// nothing if all are there. Of a launch on several hosts only the recorded hosts count.
std::optional<std::string> missingRanksSentence(const std::vector<RankFacts>& present);

/// Brings one process's log into the trace, as far as it goes. One thread.
class LogImporter : private log::RecordVisitor {
  public:
    /// `host` is the number of the host in global ids.
    static Result<std::unique_ptr<LogImporter>> open(const std::filesystem::path& path,
                                                     TraceWriter& trace, GpuInventory& gpus,
                                                     int64_t sessionStartNs, uint32_t host);

    /// What others than the process itself know of its end.
    struct KnownEnd {
        std::optional<int> exitStatus;
        int64_t seenNs = 0;     ///< When it was seen to have ended, in the log's time; 0 if never.
        bool stillRan = false;  ///< It had not ended at `seenNs`, when the recording did.
        bool becameAnother = false;  ///< By exec, which began another log.
    };

    /// Takes at most `maximumBlocks` new blocks. A log that cannot be read is left alone from then
    /// on; `finish` says so in the trace. Returns how many blocks were taken.
    size_t poll(size_t maximumBlocks);
    /// Call once at the end: writes what is still open, who the process was, and what is doubtful.
    /// A process that did nothing worth showing leaves nothing.
    void finish(const KnownEnd& known);
    /// After that, and once all others have named what they saw: threads that have no name are
    /// called as the program is, so that readers who join them with their names lose none.
    void nameOtherThreads();

    uint32_t pid() const { return process_.pid; }
    /// When it recorded, as far as it has said by now.
    const ProcessWindows& ownWindows() const { return windows_; }
    /// True once the process wrote its last record, or the log cannot be read.
    bool isComplete() const { return end_.has_value() || problem_.has_value(); }
    /// True if its end may be missing: it was killed, crashed or still ran. A process forked from a
    /// recorded one commonly leaves without its exit handlers, and is not counted as cut short.
    bool wasCutShort() const {
        return !end_ && !isForkedChild() && !known_.stillRan && !known_.becameAnother;
    }
    /// True if the log is damaged or could not be read, so that there is more in it than in the
    /// trace.
    uint64_t bytesRead() const { return reader_.progress().bytesRead; }
    bool isNotAllRead() const { return problem_.has_value() || reader_.isDamaged(); }
    /// True if the process showed a device, a context or CUDA activity.
    bool usedCuda() const { return activity_.sawDevice() || activity_.counts().events() > 0; }
    /// True if the process recorded an event, used a GPU or had something to say, or if its log
    /// cannot be read.
    bool isWorthShowing() const;
    /// Which rank the process said it is, if it said so and of how many.
    std::optional<RankFacts> rankFacts() const;
    ImportCounts counts() const;
    /// What the process said of itself; empty if it did not.
    std::string_view property(std::string_view name) const;
    /// When the clock of the machine was set, on the trace's axis.
    struct ClockSetting {
        int64_t timeNs = 0;
        int64_t byNs = 0;
    };
    /// The first time that it was; nothing if it never was while the process recorded.
    const std::optional<ClockSetting>& clockSetting() const { return clockSetting_; }
    int64_t processId() const { return process_.processId(); }
    /// When the process recorded, on the trace's axis, sorted; nothing if it did all the time.
    std::optional<std::vector<TimeRange>> windows() const;
    /// When the log was begun, in its own time; 0 if it does not say.
    int64_t begunRealtimeNs() const { return reader_.header() ? reader_.header()->realtimeNs : 0; }
    /// When the process ended, on the trace's axis: as it said itself, else the latest moment at
    /// which it is known to have run. 0 if nothing is known.
    int64_t endNs() const;

  private:
    LogImporter(log::LogReader reader, TraceWriter& trace, GpuInventory& gpus,
                int64_t sessionStartNs, uint32_t host);

    void visit(const log::StringRecord& record, std::string_view text) override;
    void visit(const log::PropertyRecord& record) override;
    void visit(const log::KernelRecord& record) override { activity_.add(record); }
    void visit(const log::MemcpyRecord& record) override { activity_.add(record); }
    void visit(const log::MemsetRecord& record) override { activity_.add(record); }
    void visit(const log::GraphRecord& record) override { activity_.add(record); }
    void visit(const log::DeviceMemoryRecord& record) override { memory_.add(record); }
    void visit(const log::MemoryPoolRecord& record) override { memory_.add(record); }
    void visit(const log::UnifiedMemoryRecord& record) override { memory_.add(record); }
    void visit(const log::ApiRecord& record) override { activity_.add(record); }
    void visit(const log::StackRecord& record) override { process_.add(record); }
    void visit(const log::GraphNodeRecord& record) override { activity_.add(record); }
    void visit(const log::SyncRecord& record) override { activity_.add(record); }
    void visit(const log::CudaEventRecord& record) override { activity_.add(record); }
    void visit(const log::OverheadRecord& record) override { activity_.add(record); }
    void visit(const log::DeviceRecord& record) override { activity_.add(record); }
    void visit(const log::ContextRecord& record) override { activity_.add(record); }
    void visit(const log::StreamRecord& record) override { activity_.add(record); }
    void visit(const log::NvtxRecord& record, std::span<const std::byte> extended) override;
    void visit(const log::NvtxDomainRecord& record) override { nvtx_.add(record); }
    void visit(const log::NvtxCategoryRecord& record) override { nvtx_.add(record); }
    void visit(const log::NvtxSchemaRecord& record) override { nvtx_.add(record); }
    void visit(const log::NvtxSchemaEntryRecord& record) override { nvtx_.add(record); }
    void visit(const log::NvtxEnumRecord& record) override { nvtx_.add(record); }
    void visit(const log::NvtxEnumEntryRecord& record) override { nvtx_.add(record); }
    void visit(const log::NcclCommunicatorRecord& record) override { nccl_.add(record); }
    void visit(const log::NcclOperationRecord& record) override { nccl_.add(record); }
    void visit(const log::NcclStopRecord& record) override { nccl_.add(record); }
    void visit(const log::ThreadNameRecord& record) override;
    void visit(const log::ClockRecord& record) override;
    void visit(const log::DroppedRecord& record) override;
    void visit(const log::NoteRecord& record) override;
    void visit(const log::EndRecord& record) override { end_ = record; }
    void visit(const log::WindowRecord& record) override { windows_.add(record); }

    bool isForkedChild() const { return property(facts::forkedChild) == facts::one; }
    /// When a clock was read, in the log's time, which that clock may have left since.
    int64_t timeOf(const log::ClockRecord& clock) const;
    std::string shownName() const;
    /// When the latest thing of this kind happened that came before in the log, in its time.
    int64_t latestBefore(Loss what) const;
    void writeName();
    void writeProcess();
    void writeWindows();
    void writeGaps();
    void writeHealth();
    void writeEnd();
    void writeLosses();
    void writeMemoryTrouble();

    log::LogReader reader_;
    ProcessContext process_;
    ActivityImporter activity_;
    MemoryImporter memory_;
    NvtxImporter nvtx_;
    NcclPluginImporter nccl_;
    std::map<std::string, std::string, std::less<>> properties_;
    std::map<uint32_t, uint32_t> threadNames_;
    std::vector<log::ClockRecord> clocks_;
    std::optional<ClockSetting> clockSetting_;
    std::vector<log::NoteRecord> notes_;
    /// A stretch in which something was lost, in the log's time.
    struct Gap {
        Loss what;
        TimeRange range;
        uint64_t count;
    };
    std::map<Loss, uint64_t> dropped_;
    std::vector<Gap> gaps_;
    int64_t latestNvtxNs_ = 0;
    bool isNamed_ = false;  ///< In the trace.
    ProcessWindows windows_;
    std::optional<log::EndRecord> end_;
    KnownEnd known_;
    std::optional<Error> problem_;
};

}  // namespace lanescope::capture
