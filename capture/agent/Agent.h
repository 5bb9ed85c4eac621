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
#include "capture/agent/DiskLimit.h"
#include "capture/agent/EventRing.h"
#include "capture/agent/NvtxRecorder.h"
#include "capture/agent/Windows.h"
#include "capture/agent/ownThreads.h"
#include "capture/log/LogFile.h"
#include "capture/log/MonotonicCondition.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// Agent of one process. It writes NVTX calls and CUDA activity to the log with two threads of its
/// own, a writer and a flusher. Only the flusher makes calls that may wait inside CUPTI, so a
/// hanging CUPTI stops neither NVTX nor the end of the process.
///
/// Callers use `current()`, because the entry points for NVTX and the driver carry no pointer of
/// ours. A forked child gets a new agent with its first NVTX call and never touches its parent's
/// CUPTI again. An agent is never destroyed: calls may come until the end.
class Agent {
  public:
    /// Returns the agent of this process and creates it if there is none. Returns null if the
    /// environment disables the agent. Throws `std::bad_alloc` if there is no memory for one.
    static Agent* current();
    static Agent* existing();
    /// Returns true if this process was forked from one that used CUDA. CUDA and CUPTI are unusable here.
    static bool hasLostCuda();

    using MakeActivitySource = std::unique_ptr<ActivitySource>(const AgentOptions&, Agent&);
    /// Starts recording CUDA activity with the source that `make` makes, if the options request it.
    /// Called by the driver's injection point. Once per process. At a level without GPU work the source is made later,
    /// by the flusher.
    void startCuda(MakeActivitySource& make);
    /// Returns true while this process records nothing. Any thread.
    static bool isAsleep() { return isAsleep_.load(std::memory_order_acquire); }
    static void forgetSleep() { isAsleep_.store(false); }
    /// Records an NVTX call of the calling thread; see `NvtxRecorder::record`.
    int recordNvtx(const NvtxCall& call);
    uint64_t nextNvtxRangeId() { return nvtx_.nextRangeId(); }
    /// Adds a source that the writer drains from now on. `source` is never destroyed. Any thread, once per source.
    void add(EventSource& source);

    /// Searches this process for a Python interpreter. Call it on a thread that waits for the
    /// loader of shared libraries anyway.
    void searchForPython() { stacks_.search(); }
    CallStacks& stacks() { return stacks_; }
    BurstMemory& burstMemory() { return burstMemory_; }

    Windows& windows() { return windows_; }

    /// Starts the threads. Without a writer it writes the begin of the log itself, once, and later calls try again.
    void startThreads();
    /// Makes the writer check for work now. Any thread; at most one system call.
    void wakeWriter();
    void startAndWake() {
        startThreads();
        wakeWriter();
    }
    /// Writes all data, then the END record. Returns within about 4 s, whatever CUPTI does, or 14 s while it
    /// writes a burst and no signal ends the process. `signal` is that signal, or 0; the value of the first call
    /// counts. Later and nested calls wait for the same end.
    void finish(int signal);

    const CycleClock& clock() const { return clock_; }

    /// Returns true if this process records CUDA activity, or tried to.
    bool hasCuda() const { return hasActivity_.load(std::memory_order_acquire) || makeCuda_.load() != nullptr; }
    /// Returns true if both threads of the agent run. From then on recording a call takes no memory.
    bool hasThreads() const { return hasWriter_.load(std::memory_order_acquire) && hasFlusher_.load(); }

  private:
    Agent(const log::LogFolder& folder, AgentOptions options);
    static void* writerMain(void* agent);
    static void* flusherMain(void* agent);
    void runWriter();
    void writeHere(bool isLast);
    void finishHere(int signal);
    void reportChildren();
    bool writeRound(bool isLast);
    void endIfSignalled(bool isRunning);
    void runFlusher();
    void beginCuda(MakeActivitySource& make, bool isLate);
    log::RecordingLevel firstLevel() const;
    bool followsLevel() const { return options_.followsLevel || options_.beginsAsleep; }
    bool isLevelApplied() const { return level_.load() == appliedLevel_.load(); }
    void applyLevel();
    void followLevel();
    void writeLevel(log::RecordingLevel level, int64_t sinceNs);
    bool hasEvents(bool hasActivity) const;
    void drain();
    void writeEnd();
    void noteMissingWindow();
    void reportLostBlocks();
    void reportLostCalls();
    void limitLog();
    bool isReserveReached();
    void endRecording(HealthCode code, const std::string& sentence);
    void publishLogStatus();
    void writeEndRecord(log::EndReason reason);
    void writeIdentity();
    bool isIdentityWritten() const { return identityWrittenIn_ == writer_.generation() + 1; }
    void writeClock();

    static inline constinit std::atomic<bool> isAsleep_{false};

    const AgentOptions options_;
    const log::LogFolder folder_;
    CycleClock clock_;  // writer thread only, except for its static part
    log::LogFile file_;
    log::RecordWriter writer_;
    Windows windows_;
    CallStacks stacks_;
    BurstMemory burstMemory_{0};  // none until the writer runs, which returns it
    NvtxRecorder nvtx_;
    std::atomic<EventSource*> sources_{nullptr};  // newest first
    std::unique_ptr<ActivitySource> activity_;
    std::atomic<bool> hasActivity_{false};
    std::atomic<MakeActivitySource*> makeCuda_{nullptr};  // not called yet, although CUDA runs

    // The writer reads the level of the run, and the flusher applies it to the source.
    std::atomic<log::RecordingLevel> level_, appliedLevel_;
    std::atomic<log::RecordingLevel> attemptedLevel_{log::RecordingLevel::All};  // flusher thread

    std::atomic<bool> hasWriter_{false}, hasFlusher_{false};
    std::atomic<bool> isStarting_{false};   // a thread starts the threads, or writes in place of the writer
    std::atomic<bool> lacksWriter_{false};  // a start has failed
    std::atomic<int64_t> nextStartNs_{0};
    std::atomic<bool> writeSoon_{false};        // CUPTI was flushed
    std::atomic<bool> wantsUnfinished_{false};  // flush also GPU work that has not ended
    std::atomic<bool> isLogFull_{false};        // the log has reached its limit
    std::atomic<int> endingSignal_{0};
    WakeUp wake_;  // wakes the writer
    // Writer thread only:
    uint32_t identityWrittenIn_ = 0;  // the writer's generation plus one; 0: not yet
    bool hasPublishedLogStatus_ = false;
    int64_t writePeriodNs_ = 0, writerBegunNs_ = 0, nextWriteNs_ = 0, nextClockNs_ = 0;
    int64_t nextDiskNs_ = 0, nextLevelNs_ = 0;
    bool hasUnfinishedRequest_ = false;
    bool isLevelPending_ = false;  // not written yet
    int64_t levelReadNs_ = 0;
    log::LevelRecord levelWritten_{};
    DiskLimit diskLimit_;

    enum class Phase { Running, Flushing, Flushed, Ending, Ended };
    std::mutex mutex_;  // guards the two members below; never held while CUPTI or I/O is called
    log::MonotonicCondition changed_;
    Phase phase_ = Phase::Running;
    int endSignal_ = 0;
};

/// Source that records no CUDA activity and writes the reason to the log.
class NoSource final : public ActivitySource {
  public:
    /// `sentence` is a literal.
    NoSource(Agent& agent, Severity severity, HealthCode code, const char* sentence)
        : agent_(agent), severity_(severity), code_(code), sentence_(sentence) {}

    void start(bool isLate) override;
    void prepare() override {}
    void flush(bool) override {}
    bool setLevel(log::RecordingLevel) override { return true; }
    void collect() override {}
    void drain(log::RecordWriter& writer) override;
    void finish(log::RecordWriter&) override {}

  private:
    Agent& agent_;
    const Severity severity_;
    const HealthCode code_;
    const char* const sentence_;
    bool hasReported_ = false;
};

}  // namespace lanescope::agent
