// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/collector/Collector.h"
#include "capture/log/MonotonicCondition.h"
#include "capture/options/AgentOptions.h"
#include "capture/record/AgentEnvironment.h"
#include "capture/record/RunFolder.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// Thread that polls a collector four times per second until it is stopped. The collector belongs
/// to that thread until then. The thread takes no signals. If no thread can be started, the logs
/// are read when the program has ended.
class CollectorThread {
  public:
    /// Additional work on the thread.
    struct Duties {
        std::function<void()> first;      ///< Before the first poll.
        std::function<void()> afterPoll;  ///< After each poll.
    };
    CollectorThread(RunReader& collector, Duties duties);
    ~CollectorThread();

    /// Ends the thread. May be called again.
    void stop();

  private:
    void run();

    RunReader& collector_;
    const Duties duties_;
    std::mutex mutex_;
    log::MonotonicCondition wake_;
    bool isStopping_ = false;
    std::thread thread_;
};

/// Detector of the end of the last recording window: by the clock for an interval of time, else by
/// the windows in the processes' logs.
class EndOfWindows {
  public:
    /// `startRealtimeNs` is the time from which delays count.
    EndOfWindows(const agent::WindowOptions& windows, int64_t startRealtimeNs);

    /// Returns true once every recorded process has closed its last window and no process has begun
    /// one for a second, in which slightly slower ranks appear. Call it periodically.
    bool isReached(const RunReader& collector, int64_t nowRealtimeNs);

  private:
    bool haveAllEnded(const RunReader& collector) const;

    std::optional<int64_t> count_;
    std::optional<int64_t> endRealtimeNs_;
    std::optional<int64_t> allEndedSinceNs_;
};

/// Progress of a recording, in memory that another process may share. If the recording is killed,
/// that process knows what to wait for and where the logs are.
struct RecordState {
    static constexpr size_t maxPathBytes = 4096;
    std::atomic<int> program = 0;  ///< Process id once the program runs; 0 before.
    std::atomic<bool> hasEnded = false;
    std::atomic<int> exitStatus = 0;                              ///< Once it has ended.
    std::atomic<int64_t> endRealtimeNs = 0;                       ///< Once it has ended.
    char runFolder[maxPathBytes] = "", trace[maxPathBytes] = "";  ///< Set before `program`.
};

/// Reader of the logs of a run, and the place that `completeRecording` uses if this process is killed.
struct RunReading {
    OutputPlace place;
    std::unique_ptr<RunReader> reader;
};

struct RecordOptions {
    std::vector<std::string> commandLine;  ///< The program and its arguments.
    std::string outputPattern;             ///< Empty: the first free default name.
    bool overwrite = false;
    bool waitForAll = false;      ///< Until the last process of the run ends, not only the program.
    bool keepLogs = false;        ///< Logs stay anyway if not all of them could be read.
    bool killsAtEnd = false;      ///< Send SIGTERM after the last window; see `WindowOptions`.
    double counterHz = 10;        ///< Sampling rate of counters in Hz; 0: off.
    double metricsHz = 0;         ///< Sampling rate of the GPUs' hardware counters in Hz; 0: off.
    double threadsHz = 100;       ///< Sampling rate of threads in Hz; 0: off.
    double cpuSamplesHz = 0;      ///< Rate of perf events in Hz, with all thread switches; 0: off.
    std::filesystem::path agent;  ///< Empty: ours.
    bool ncclPlugin = false;      ///< NCCL's own profiler interface in addition to its NVTX ranges.
    agent::AgentOptions agentOptions;
    ClosingSteps closing;  ///< Hooks that run before the trace gets its name.
    /// Makes another reader of the logs, and their folder. Empty: a `Collector`, at `outputPattern`.
    std::function<Result<RunReading>(int pid, const RunInfo& info)> beginReading;
    std::string roofsFile;         ///< Absolute path of a file of `doctor --measure -o`; empty: the stored one.
    RecordState* state = nullptr;  ///< If not null, it is kept up to date.
};

/// Outcome of a recording. The program's status is valid even if the trace failed or memory ran out.
struct RecordOutcome {
    int exitStatus = 0;
    std::string program;
    Result<CollectedRun> run;        ///< Result, or the reason why there is no trace.
    std::filesystem::path keptLogs;  ///< Empty if the logs were removed.
    bool wasEndedByUs = false;       ///< The program got SIGTERM because `killsAtEnd` was set.
};

/// Cause why a program was not started: the recording, or the program itself.
enum class RefusalCause { Recording, NoProgram, ProgramCannotRun };

struct RecordRefusal {
    Error error;
    RefusalCause cause = RefusalCause::Recording;
    int signal = 0;  ///< Signal that ended the program before it began; 0 if none did.
};

/// Runs a program under the agent and makes a trace of the logs of its processes. Blocks until the program has ended
/// and the trace is written. Call it on the main thread before any other thread is made.
Result<RecordOutcome, RecordRefusal> record(const RecordOptions& options);

/// Waits for the program of a recording that was killed. This process must be the next one of its
/// ancestors that adopts orphans (PR_SET_CHILD_SUBREAPER).
MainProcess waitForProgram(const RecordState& state);

/// Makes the trace of a recording that was killed, of its logs and without the closing steps.
RecordOutcome completeRecording(const RecordOptions& options, const RecordState& state, const MainProcess& program);

}  // namespace lanescope::capture
