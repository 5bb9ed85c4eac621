// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "capture/agent/ActivitySource.h"
#include "capture/agent/CallStacks.h"
#include "capture/agent/CycleClock.h"
#include "capture/agent/NvtxRecorder.h"
#include "capture/agent/Windows.h"
#include "capture/agent/ownThreads.h"
#include "capture/log/LogFile.h"
#include "capture/log/MonotonicCondition.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// The agent of one process: takes NVTX calls and CUDA activity and writes them to the log with two
/// threads of its own, a writer and a flusher. The flusher alone calls what may wait inside CUPTI,
/// so a CUPTI that hangs stops neither NVTX nor the end of the process.
///
/// It is reached through `current()`, because the entry points that NVTX and the driver call carry
/// no pointer of ours. A forked child finds no agent there and gets a fresh one with its first NVTX
/// call; its parent's CUPTI is never touched again. An agent is never destroyed: calls may come
/// until the end.
class Agent {
  public:
    /// The agent of this process, made when there is none. Null if the environment asks for none.
    /// Throws `std::bad_alloc` where there is no memory for one.
    static Agent* current();
    /// The same, but null when there is none yet.
    static Agent* existing();
    /// Whether this process was forked from one that used CUDA: CUDA is unusable here and so is
    /// CUPTI.
    static bool hasLostCuda();

    using MakeActivitySource = std::unique_ptr<ActivitySource>(const AgentOptions&, Agent&);
    /// Called by the driver's injection point: begins to record CUDA activity with the source that
    /// `make` makes, if it is wanted. Once per process.
    void startCuda(MakeActivitySource& make);
    /// Records an NVTX call of the calling thread; see `NvtxRecorder::record`.
    int recordNvtx(const NvtxCall& call);
    uint64_t nextNvtxRangeId() { return nvtx_.nextRangeId(); }
    /// The writer drains `source` from now on. Any thread, once for each source, which is never
    /// destroyed.
    void add(EventSource& source);

    /// Looks whether there is Python in this process. On a thread that waits for the loader of
    /// shared libraries anyway.
    void lookForPython() { stacks_.look(); }
    /// Of all calls of this process. Outlive all that asks.
    CallStacks& stacks() { return stacks_; }

    /// When this process keeps what it sees. Outlives all that asks.
    Windows& windows() { return windows_; }

    /// Starts the two threads if they do not run yet. Any thread.
    void startThreads();
    /// Makes the writer look for work now. Any thread; at most one system call.
    void wakeWriter();
    /// Both, for those who have something to be written.
    void startAndWake() {
        startThreads();
        wakeWriter();
    }
    /// Writes everything down, then the END record; returns within about 4 s whatever CUPTI does.
    /// `signal` is the signal that ends the process, or 0; that of the first call counts. Later and
    /// nested calls wait for the same end.
    void finish(int signal);

    /// Turns ticks into times. Writer thread.
    const CycleClock& clock() const { return clock_; }

    /// Whether this process records CUDA activity, or tried to.
    bool hasCuda() const { return hasActivity_.load(std::memory_order_acquire); }

  private:
    Agent(const std::string& folder, const std::string& door, AgentOptions options);
    static void* writerMain(void* agent);
    static void* flusherMain(void* agent);
    void runWriter();
    /// One round of the writer; false when it was the last one.
    bool writeRound(bool isLast);
    void endIfSignalled(bool isRunning);
    void runFlusher();
    bool hasEvents(bool hasActivity) const;
    void drain();
    void writeEnd();
    void noteMissingWindow();
    void reportLostBlocks();
    void reportLostCalls();
    void limitLog();
    bool isReserveReached();
    void endRecording(HealthCode code, const std::string& sentence);
    void tellWhetherLogIsThere();
    void writeEndRecord(log::EndReason reason);
    void writeIdentity();
    void writeClock();

    const AgentOptions options_;
    const std::string logPath_;  // without ".log"
    CycleClock clock_;           // writer thread only, but for its static part
    log::LogFile file_;
    log::RecordWriter writer_;
    Windows windows_;
    CallStacks stacks_;
    NvtxRecorder nvtx_;
    std::atomic<EventSource*> sources_{nullptr};  // the newest first
    std::unique_ptr<ActivitySource> activity_;
    std::atomic<bool> hasActivity_{false};

    std::atomic<bool> threadsStarted_{false};
    std::atomic<bool> writeSoon_{false};  // CUPTI was flushed
    std::atomic<bool> isLogFull_{false};  // it has reached its limit
    std::atomic<int> endingSignal_{0};
    WakeUp wake_;  // of the writer
    // Writer thread only:
    bool identityWritten_ = false;
    bool hasToldOfLog_ = false;
    int64_t writePeriodNs_ = 0, writerBegunNs_ = 0, nextWriteNs_ = 0, nextClockNs_ = 0;
    int64_t nextDiskNs_ = 0;

    enum class Phase { Running, Flushing, Flushed, Ending, Ended };
    std::mutex mutex_;  // guards the two below; never held while CUPTI or I/O is called
    log::MonotonicCondition changed_;
    Phase phase_ = Phase::Running;
    int endSignal_ = 0;
};

/// Records no CUDA activity, and says in the log why.
class NoSource final : public ActivitySource {
  public:
    /// `sentence` is a literal.
    NoSource(Agent& agent, Severity severity, HealthCode code, const char* sentence)
        : agent_(agent), severity_(severity), code_(code), sentence_(sentence) {}

    void start() override;
    void prepare() override {}
    void flush(bool) override {}
    void switchOff() override {}
    void collect() override {}
    void drain(log::RecordWriter& writer) override;
    void finish(log::RecordWriter&) override {}

  private:
    Agent& agent_;
    const Severity severity_;
    const HealthCode code_;
    const char* const sentence_;
    bool hasSaid_ = false;
};

}  // namespace lanescope::agent
