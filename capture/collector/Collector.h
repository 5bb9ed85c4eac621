// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/collector/GpuInventory.h"
#include "capture/collector/ImportCounts.h"
#include "capture/collector/LogImporter.h"
#include "capture/collector/RunInfo.h"
#include "capture/collector/SamplerImporter.h"
#include "capture/collector/TraceWriter.h"
#include "capture/collector/trimToWindows.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

/// File next to the logs that takes up the disk space needed to finish the trace. If the disk or a quota fills, the
/// logs stop first. The space is released when the trace is finished, which needs it. On a disk that is full already
/// the reserve is smaller or missing. One thread.
class DiskReserve {
  public:
    /// Name of the file in the run folder.
    static constexpr const char* fileName = "reserve";
    static constexpr uint64_t minBytes = 4 << 20, maxBytes = uint64_t{1} << 30;

    /// Begins with `minBytes`, or the part of it that the disk has.
    explicit DiskReserve(std::shared_ptr<const Folder> runFolder);
    DiskReserve(DiskReserve&&) = default;
    ~DiskReserve();

    /// Enlarges the reserve to `minBytes` plus the space for the events of two seconds, at most `maxBytes` and a
    /// quarter of the free space. `logBytes` is the number of log bytes that were read in `ns`.
    void cover(uint64_t logBytes, int64_t ns);
    /// Gives the space back, once and for all.
    void release();

  private:
    bool grow(uint64_t bytes);

    std::shared_ptr<const Folder> runFolder_;
    UniqueFd file_;
    uint64_t bytes_ = 0;
};

struct MainProcess {
    uint32_t pid = 0;
    int exitStatus = 0;         ///< 128 plus the signal's number for a signal, as in shells.
    int64_t endRealtimeNs = 0;  ///< Time at which its end was observed; 0 if it was not.
};

/// Number of recording windows that a process has begun and ended so far.
struct WindowProgress {
    uint32_t pid = 0;
    size_t begun = 0;
    size_t ended = 0;
};

/// Result of a run, for the lines that `record` prints.
struct CollectedRun {
    std::filesystem::path trace;
    size_t logs = 0;  ///< Processes that loaded the agent and left a log.
    ImportCounts counts = {};
    int processes = 0;                             ///< Processes with content.
    int processesTruncated = 0;                    ///< Processes among these without a proper end.
    size_t logsNotAllRead = 0;                     ///< Corrupt or unreadable logs, not all in the trace.
    size_t processesWithoutLog = 0;                ///< Had something to record and could not write it.
    int64_t threadStates = 0;                      ///< States of all threads; not counted as events of the program.
    std::vector<TraceWriter::Note> warnings = {};  ///< Of the trace's health, most severe first.
    /// Unread bytes of the logs at the end of the program; nullopt if the end was not observed.
    std::optional<int64_t> logBytesUnreadAtExit = {};
    /// Time from the end of the last process to the naming of the trace; 0 if the end was not observed.
    int64_t closingNs = 0;
};

/// Reasons for which closing steps are skipped.
enum class ClosingSkip : uint8_t {
    NothingRecorded,
    NoRoom,  ///< The disk or memory was too small.
};

/// Hooks of the end of a recording, when all events are in the trace: `add` and `settled` run before it gets its name,
/// `skipped` afterwards. They must not fail the recording; each may be empty.
struct ClosingSteps {
    /// Called when everything is committed and readable through other connections, if the file
    /// system allows that. May add to `database`, in transactions of its own. Called again if the trace is made again.
    std::function<void(Database& database)> add;
    /// Called when the trace is closed in `file` and final; `name` is its later path.
    std::function<void(const std::filesystem::path& file, const std::filesystem::path& name)> settled;
    /// Called instead of the others, when the trace has its name `name`.
    std::function<void(const std::filesystem::path& name, ClosingSkip reason)> skipped;
};

/// Reader of the logs of a run from its start to its end. One thread at a time.
class RunReader {
  public:
    virtual ~RunReader() = default;

    /// Sets the machine of the run, if it was not known at the beginning. Before `poll`.
    virtual void setMachine(Machine machine) = 0;
    /// Reads the present contents of the logs. A corrupt log does not affect the others. Does not throw.
    virtual void poll() = 0;
    /// Returns the process ids of logs without an end, whose processes may still be writing.
    virtual std::vector<uint32_t> openProcesses() const = 0;
    virtual std::vector<WindowProgress> windowProgress() const = 0;
    /// Notes that the program has ended now. Any thread, also during a poll.
    virtual void noteProgramEnd() = 0;
    /// Notes that these processes still run although the recording ends at `atRealtimeNs`. Before `finish`.
    virtual void cut(std::vector<uint32_t> running, int64_t atRealtimeNs) = 0;
    virtual void note(HealthCode code, std::string_view sentence) = 0;
    /// Notes a process that could leave neither a log nor a sign because of `error`, an errno. Before `finish`.
    virtual void addLostLog(int pid, int error, std::string program) = 0;
    virtual void property(std::string_view name, std::string_view value) = 0;
    /// Reads the rest of the logs and completes the result. Call once.
    virtual Result<CollectedRun> finish(std::optional<MainProcess> mainProcess, bool overwrite,
                                        const ClosingSteps& closing) = 0;
};

/// Builder of one trace from all logs in a run folder, while they grow or later. Follows every
/// log, also a ring whose first files are gone, builds `<output>.partial` and renames it at the end, so that a file
/// with the final name is complete. The logs are only read.
class Collector final : public RunReader {
  public:
    /// Begins `<output>.partial` and replaces a leftover one.
    static Result<std::unique_ptr<Collector>> begin(std::shared_ptr<const Folder> runFolder,
                                                    std::filesystem::path output, RunInfo info,
                                                    Journal journal = Journal::Live);
    ~Collector() override;

    void setMachine(Machine machine) override;
    /// If the trace cannot be written, as on a full disk, nothing more is imported until `finish`.
    void poll() override;
    std::vector<uint32_t> openProcesses() const override;
    std::vector<WindowProgress> windowProgress() const override;
    /// Notes the number of unread bytes of the logs: the work left until the trace can be closed. `finish` writes it to
    /// the trace.
    void noteProgramEnd() override;
    size_t logCount() const { return logs_.size() + unreadable_.size(); }
    void cut(std::vector<uint32_t> running, int64_t atRealtimeNs) override;
    void note(HealthCode code, std::string_view sentence) override;
    void addLostLog(int pid, int error, std::string program) override;
    void property(std::string_view name, std::string_view value) override;

    /// Writes the final facts and renames the file. If the trace could not be written, it is removed and made again of
    /// the logs alone, the second time without `closing`. Unless `overwrite`, fails if a file of that name exists by
    /// now; the partial file then stays. Calls the hooks of `closing` if the run has content. If the process is killed
    /// meanwhile, the partial file stays readable, as during recording.
    Result<CollectedRun> finish(std::optional<MainProcess> mainProcess, bool overwrite,
                                const ClosingSteps& closing = {}) override;

  private:
    Collector(std::shared_ptr<const Folder> runFolder, std::filesystem::path output, RunInfo info);

    std::filesystem::path presentOutput() const;
    std::filesystem::path partialPath() const;
    Result<void> beginTrace(Journal journal);
    void discardTrace();
    Result<void> importLogs();
    Result<CollectedRun> complete(std::optional<MainProcess> mainProcess, bool overwrite, const ClosingSteps& closing);
    void findLogs();
    void addLog(const std::string& name);
    void finishSamplers(CollectedRun& run);
    void importPerfLogs(CollectedRun& run);
    uint32_t hostNumber(const std::string& logName);
    void writeRun(int64_t durationNs);
    void writeMissingDriver();
    void writeMissingRanks();
    void writeTruncation();
    size_t writeLostLogs();
    void writeReusedIds();
    void writeMissingWriters();
    void writeVersions();
    void writeClocksThatWereSet();
    Result<void> trimToRecordedWindows();
    Result<void> trimThreads(RecordedWindows& windows);
    Result<void> nameFile(bool overwrite);

    struct Note {
        HealthCode code;
        std::string sentence;
    };

    std::shared_ptr<const Folder> runFolder_;
    std::filesystem::path output_;
    /// Folder of the output. SQLite needs a path, which is where the folder is now: its name may lead elsewhere.
    std::optional<Folder> outputFolder_;
    std::filesystem::path liveTrace_;  ///< Path by which SQLite opened the present trace.
    RunInfo info_;
    GpuInventory gpus_;
    std::unique_ptr<TraceWriter> trace_;
    // Created while there is memory for it.
    Error outOfMemory_{"Out of memory: the logs could not be read."};
    std::optional<Error> brokenBy_;  ///< Reason why the trace cannot be written; nullopt while it can.
    std::map<std::string, std::unique_ptr<LogImporter>> logs_;
    std::map<std::string, std::unique_ptr<SamplerImporter>> samplerLogs_;
    int64_t lastCounter_ = 0;
    std::optional<DiskReserve> reserve_;  ///< While the trace is written live.
    int64_t polledNs_ = 0;                ///< Time of the last poll; 0 before the first.
    std::map<std::string, Error> unreadable_;
    std::map<std::string, uint32_t> hosts_;
    std::vector<Note> notes_;
    struct LostLog {
        std::string pid, program;
        int error = 0;
    };
    std::vector<LostLog> lostLogs_;
    std::vector<std::pair<std::string, std::string>> properties_;
    std::vector<uint32_t> running_;  ///< End of the recording.
    int64_t truncationRealtimeNs_ = 0;
    std::atomic<uint64_t> bytesRead_ = 0;         ///< By all completed polls.
    std::atomic<int64_t> bytesUnreadAtEnd_ = -1;  ///< Negative: the end was not observed.
    bool isNamed_ = false;
};

}  // namespace lanescope::capture
