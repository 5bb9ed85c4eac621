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
#include <vector>

#include "capture/collector/GpuInventory.h"
#include "capture/collector/ImportCounts.h"
#include "capture/collector/LogImporter.h"
#include "capture/collector/RunInfo.h"
#include "capture/collector/SamplerImporter.h"
#include "capture/collector/TraceWriter.h"
#include "capture/collector/trimToWindows.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// How the program that `record` started ended.
struct MainProcess {
    uint32_t pid = 0;
    int exitStatus = 0;         ///< 128 and the signal's number for a signal, as shells count.
    int64_t endRealtimeNs = 0;  ///< When it was seen to have ended; 0 if nobody saw it.
};

/// How many recording windows a process has begun and ended so far.
struct WindowProgress {
    uint32_t pid = 0;
    size_t begun = 0;
    size_t ended = 0;
};

/// What became of a run, for the lines that `record` prints.
struct CollectedRun {
    std::filesystem::path trace;
    size_t logs = 0;  ///< Processes that loaded the agent and left a log.
    ImportCounts counts;
    int processes = 0;                  ///< That did something worth showing.
    int processesCutShort = 0;          ///< Of these, without a proper end.
    size_t logsNotAllRead = 0;          ///< Damaged or unreadable: they hold more than the trace.
    size_t processesWithoutLog = 0;     ///< That had something to record and could not write it.
    int64_t threadStates = 0;           ///< Of all threads; no events of the program itself.
    std::vector<std::string> warnings;  ///< Sentences of the trace's health, worst first.
    /// Bytes of the logs that nobody had read when the program ended, if somebody saw that.
    std::optional<int64_t> logBytesUnreadAtExit;
    /// From the end of the last process until the trace had its name; 0 if nobody saw the end.
    int64_t closingNs = 0;
};

/// What is done with a trace, by who knows more of traces than the collector does, when all events
/// are in it and before it gets its name. Neither must fail the recording; each may be empty.
struct ClosingSteps {
    /// Everything is committed and can be read through other connections, where the file system
    /// allows that; `database` may be added to, in transactions of its own.
    std::function<void(Database& database)> add;
    /// The trace is closed, lies in `file` and will not change any more; it is to be called `name`.
    std::function<void(const std::filesystem::path& file, const std::filesystem::path& name)>
        settled;
};

/// Makes one trace of all logs in a run folder, while they grow or later. Tails every `*.log`;
/// builds
/// `<output>.partial` and gives it its name at the end, so that a file of that name is whole. The
/// logs are only read. One thread at a time.
class Collector {
  public:
    /// Begins `<output>.partial`, replacing one that was left behind.
    static Result<std::unique_ptr<Collector>> begin(std::filesystem::path runFolder,
                                                    std::filesystem::path output, RunInfo info);
    /// Removes the partial trace if it was not finished.
    ~Collector();

    /// Makes the machine known that the run is on, if `begin` did not know it. Before `poll`.
    void setMachine(Machine machine);
    /// Takes in what the logs hold by now. A log that is damaged does not keep the others from it.
    /// Fails only if the trace cannot be written.
    Result<void> poll();
    /// Process ids of logs without an end, whose processes may still be writing.
    std::vector<uint32_t> openProcesses() const;
    /// Of the processes that do not record all the time.
    std::vector<WindowProgress> windowProgress() const;
    /// Remembers how much of the logs nobody has read yet, now that the program has ended: what is
    /// left to do before the trace can be closed. `finish` writes it to the trace. From any thread,
    /// also while another polls.
    void noteProgramEnd();
    /// How many logs were found so far.
    size_t logCount() const { return logs_.size() + unreadable_.size(); }

    /// Notes that these processes still run though the recording ends at `atRealtimeNs`. Call it
    /// before `finish`.
    void cut(std::vector<uint32_t> running, int64_t atRealtimeNs);

    /// Adds a piece of information to the trace's health.
    void note(HealthCode code, std::string_view sentence);
    /// Adds a property of the whole run.
    void property(std::string_view name, std::string_view value);

    /// Reads the last of the logs, writes what is known at the end, and names the file. Unless
    /// `overwrite`, fails when a file of that name has come up in the meantime; the partial file
    /// stays then. Of a run that left something to show, `closing` is asked to add to it. Whenever
    /// the process is killed meanwhile, the partial file can be read, as while it is recorded. Call
    /// once.
    Result<CollectedRun> finish(std::optional<MainProcess> mainProcess, bool overwrite,
                                const ClosingSteps& closing = {});

  private:
    Collector(std::filesystem::path runFolder, std::filesystem::path output, RunInfo info);

    std::filesystem::path partialPath() const;
    void findLogs();
    void addLog(const std::filesystem::path& path);
    bool hasLaterLog(const std::filesystem::path& path, const LogImporter& log) const;
    void finishSamplers(CollectedRun& run);
    void importPerfLogs(CollectedRun& run);
    uint32_t hostNumber(const std::string& logName);
    void writeRun(int64_t durationNs);
    void writeMissingDriver();
    void writeMissingRanks();
    void writeCut();
    size_t writeLostLogs();
    void writeVersions();
    void writeClocksThatWereSet();
    Result<void> trimToRecordedWindows();
    Result<void> trimThreads(RecordedWindows& windows);
    Result<void> nameFile(bool overwrite);

    std::filesystem::path runFolder_;
    std::filesystem::path output_;
    RunInfo info_;
    GpuInventory gpus_;
    std::unique_ptr<TraceWriter> trace_;
    std::map<std::filesystem::path, std::unique_ptr<LogImporter>> logs_;
    std::map<std::filesystem::path, std::unique_ptr<SamplerImporter>> samplerLogs_;
    int64_t lastCounter_ = 0;
    std::map<std::filesystem::path, Error> unreadable_;
    std::map<std::string, uint32_t> hosts_;
    std::vector<uint32_t> running_;  ///< When the recording ended.
    int64_t cutRealtimeNs_ = 0;
    std::atomic<uint64_t> bytesRead_ = 0;         ///< By all polls that are over.
    std::atomic<int64_t> bytesUnreadAtEnd_ = -1;  ///< Negative: nobody saw the end.
    bool isNamed_ = false;
};

}  // namespace lanescope::capture
