// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/Agent.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "capture/agent/Inside.h"
#include "capture/agent/NvtxRegistry.h"
#include "capture/agent/endOfProcess.h"
#include "capture/agent/processIdentity.h"
#include "capture/log/LogFolder.h"
#include "capture/log/clocks.h"
#include "model/format/factNames.h"
#include "model/format/optionValues.h"

namespace lanescope::agent {

namespace {

using namespace std::chrono_literals;

constexpr int64_t writePeriodNs = 200'000'000;  // maximum loss after SIGKILL, plus the flush period
// Short-lived processes and forked workers, which leave by _exit, would lose most of their data.
constexpr int64_t shortWritePeriodNs = 20'000'000;
constexpr int64_t shortPeriodsNs = 2'000'000'000;  // counted from the first check for work
constexpr int64_t clockPeriodNs = 1'000'000'000;
constexpr int64_t diskPeriodNs = 100'000'000;
constexpr int64_t levelPeriodNs = 100'000'000;
constexpr int asleepFlushes = 8;  // for records in flight
constexpr int64_t startAgainNs = 100'000'000;
constexpr int64_t maxClockDistanceNs = 1'000'000;
constexpr auto flushPeriod = 250ms;
// The driver keeps few managed-memory events and silently drops events that are not fetched. Of 512
// MiB moved each way, it reported 58 to 458 MiB at 250 ms and 354 to 512 MiB at 5 ms.
constexpr auto managedFlushPeriod = 5ms;
constexpr auto flushDeadline = 2s;
constexpr auto writeDeadline = 2s;
constexpr int64_t burstDeadlineNs = 10'000'000'000;

std::atomic<Agent*> currentAgent{nullptr};
std::atomic<bool> isAgentDisabled{false};  // the environment disables the agent
std::atomic<bool> wasForked{false};        // from a process that had an agent
std::atomic<bool> parentUsedCuda{false};
std::atomic<const Agent*> parentsAgent{nullptr};  // agent of the nearest ancestor

/// Set on the forking thread from before the fork until after it.
constinit thread_local NvtxRegistry* lockedForFork = nullptr;

void beforeFork() {
    // A forking signal handler may have interrupted the lock holder on its own thread.
    if (Inside::isCallingThread()) return;
    lockedForFork = existingNvtxRegistry();
    if (lockedForFork) lockedForFork->lockForFork();
}
void afterForkInParent() {
    if (NvtxRegistry* const locked = std::exchange(lockedForFork, nullptr)) locked->unlockAfterFork();
}
void afterForkInChild() {
    afterForkInParent();
    const bool isInterrupted = Inside::isCallingThread();
    // The parent's agent stays untouched: its threads do not exist here, and the parent writes the
    // contents of its rings.
    const Agent* parents = currentAgent.exchange(nullptr);
    if (parents) wasForked.store(true);
    Agent::forgetSleep();  // The child's agent reads the level itself.
    if (parents) parentsAgent.store(parents);
    if (parents && parents->hasCuda()) parentUsedCuda.store(true);
    forgetEndSignals();
    LostCalls::ofThisProcess().nested.store(0);
    LostCalls::ofThisProcess().withoutMemory.store(0);
    LostCalls::countIn(SharedTally::lostCalls());
    // A signal handler that interrupted us has forked. The child can record if the interrupted code holds no lock and
    // is not inside the allocator. Otherwise its calls are refused and counted.
    if (!isInterrupted || !Inside::isOnlyInCall() || !parents || !parents->hasThreads()) return;
    NvtxRegistry* const registry = existingNvtxRegistry();
    if (registry && !registry->tryLock()) return;
    if (registry) registry->unlockAfterFork();
    Inside::leave();
}

/// Runs when this library is loaded. If the first call of the program did this, another thread's fork could interrupt
/// it, and the child would wait forever. A forked child inherits these handlers. Registering them again could deadlock:
/// another thread may have held the lock at the fork, and no thread releases it in the child.
__attribute__((constructor)) void watchForksAndExit() {
    ::pthread_atfork(&beforeFork, &afterForkInParent, &afterForkInChild);
    finishAtExit();
}

}  // namespace

Agent* Agent::current() {
    Agent* agent = currentAgent.load(std::memory_order_acquire);
    if (agent) [[likely]]
        return agent;
    if (isAgentDisabled.load(std::memory_order_relaxed)) return nullptr;
    if (isDisabled()) {
        isAgentDisabled.store(true);
        return nullptr;
    }
    const std::string folder = environment(folderVariable);
    AgentOptions options;
    readOptionText(environment(optionsVariable), options);
    if (folder.empty() || !matchesProgram(options.only, programPath(), calledAs())) {
        isAgentDisabled.store(true);
        return nullptr;
    }
    log::setEventClock(environment(clockVariable));
    if (!wasForked.load()) SharedTally::make();
    auto* fresh =
        new Agent(log::LogFolder(folder, environment(sessionVariable), environment(doorVariable)), std::move(options));
    const bool isAsleep = fresh->level_.load() == log::RecordingLevel::Asleep;
    if (currentAgent.compare_exchange_strong(agent, fresh)) {
        if (isAsleep) isAsleep_.store(true);  // before its threads read the level
        if (wasForked.load()) SharedTally::countChild();
        LostCalls::countIn(nullptr);
        if (isAsleep) {
            // A child that never wakes lacks nothing.
            if (wasForked.load()) SharedTally::countLog();
            fresh->hasPublishedLogStatus_ = wasForked.load();
            fresh->startThreads();  // They read the level.
        }
        return fresh;
    }
    delete fresh;  // another thread was first
    return agent;
}

Agent* Agent::existing() { return currentAgent.load(std::memory_order_acquire); }

bool Agent::hasLostCuda() { return parentUsedCuda.load(); }

Agent::Agent(const log::LogFolder& folder, AgentOptions options)
    : options_(std::move(options)),
      folder_(folder),
      file_(folder, logName()),
      writer_(file_),
      windows_(options_.windows, log::eventTimeNs()),
      stacks_(options_.recordPython, options_.delay.line),
      nvtx_(
          windows_, stacks_, burstMemory_, [this] { startAndWake(); },
          options_.sampleAt.empty() ? nullptr : std::make_unique<MomentNotifier>(options_.sampleAt, folder)),
      level_(firstLevel()),
      appliedLevel_(level_.load()),
      diskLimit_(options_.diskReserveBytes) {
    levelWritten_.level = level_.load();
    levelWritten_.timestampNs = log::eventTimeNs();
    if (options_.ringNs > 0) file_.keepRing(options_.ringNs, options_.ringBytes);
    if (const Agent* const parents = parentsAgent.load()) stacks_.takeInterpreter(parents->stacks_);
}

void Agent::startCuda(MakeActivitySource& make) {
    if (!options_.recordCuda || hasLostCuda() || hasCuda()) return;
    makeCuda_.store(&make);
    finishAtExit();
    if (level_.load() < log::RecordingLevel::Kernels)
        startThreads();  // The flusher makes it at a higher level.
    else if (makeCuda_.exchange(nullptr))
        beginCuda(make, false);
}

void Agent::beginCuda(MakeActivitySource& make, bool isLate) {
    if (options_.yieldCupti) {
        activity_ = std::make_unique<NoSource>(
            *this, Severity::Info, HealthCode::CuptiYielded,
            "CUPTI was left to other tools in the program (--yield); no CUDA activity was recorded.");
    } else {
        activity_ = make(options_, *this);
    }
    activity_->start(isLate);
    activity_->setLevel(level_.load());
    stacks_.search();
    hasActivity_.store(true, std::memory_order_release);
    finishAtExit();  // again, to run before the handlers that CUDA has registered
}

/// Returns the level before one was read: that of the parent in a forked child.
log::RecordingLevel Agent::firstLevel() const {
    if (const Agent* const parents = parentsAgent.load(); parents && followsLevel()) return parents->level_.load();
    return options_.beginsAsleep ? log::RecordingLevel::Asleep : log::RecordingLevel::All;
}

/// Applies the level that the writer has read. Flusher thread.
void Agent::applyLevel() {
    const log::RecordingLevel level = isLogFull_.load() ? log::RecordingLevel::Asleep : level_.load();
    if (level >= log::RecordingLevel::Kernels && !hasActivity_.load())
        if (MakeActivitySource* const make = makeCuda_.exchange(nullptr)) beginCuda(*make, true);
    attemptedLevel_.store(level);
    if (!hasActivity_.load() || activity_->setLevel(level)) appliedLevel_.store(level);
}

/// Reads the level of the run. It is written when the flusher has applied it, after the events from before.
void Agent::followLevel() {
    const int64_t nowNs = log::monotonicNs();
    if (!followsLevel() || isLogFull_.load() || nowNs < nextLevelNs_) return;
    nextLevelNs_ = nowNs + levelPeriodNs;
    const log::RecordingLevel before = level_.load();
    // A lower level counts from its reading on, a higher one from its application on.
    const bool isApplied = isLevelApplied() || !hasFlusher_.load();
    if (isLevelPending_ && isApplied)
        writeLevel(before, before < levelWritten_.level ? levelReadNs_ : log::eventTimeNs());
    const auto read = folder_.readLevel(options_.beginsAsleep ? log::RecordingLevel::Asleep : log::RecordingLevel::All);
    if (!read) return;
    if (read->wantsUnfinished && !std::exchange(hasUnfinishedRequest_, true)) wantsUnfinished_.store(true);
    hasUnfinishedRequest_ = read->wantsUnfinished;
    if (read->level == before) return;
    if (isLevelPending_) writeLevel(before, levelReadNs_);
    levelReadNs_ = log::eventTimeNs();
    // NVTX is recorded from here on, CUDA once CUPTI has changed.
    if (before == log::RecordingLevel::Asleep && read->level > log::RecordingLevel::Steps)
        writeLevel(log::RecordingLevel::Steps, levelReadNs_);
    isLevelPending_ = true;
    if (before == log::RecordingLevel::Asleep) nvtx_.forgetOpenRanges();
    isAsleep_.store(read->level == log::RecordingLevel::Asleep, std::memory_order_release);
    const std::lock_guard lock(mutex_);
    level_.store(read->level);
    changed_.notify_all();
}

/// Writes a level, unless the log has not begun yet.
void Agent::writeLevel(log::RecordingLevel level, int64_t sinceNs) {
    isLevelPending_ = false;
    levelWritten_.level = level;
    levelWritten_.timestampNs = sinceNs;
    if (isIdentityWritten()) writer_.write(levelWritten_);
}

int Agent::recordNvtx(const NvtxCall& call) { return options_.recordNvtx ? nvtx_.record(call) : -1; }

void Agent::add(EventSource& source) {
    source.next_ = sources_.load(std::memory_order_relaxed);
    while (
        !sources_.compare_exchange_weak(source.next_, &source, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

void Agent::startThreads() {
    if (hasThreads() || isStarting_.exchange(true)) return;
    const int64_t nowNs = log::monotonicNs();
    if (nowNs >= nextStartNs_.load()) {
        nextStartNs_.store(nowNs + startAgainNs);
        if (!hasWriter_.load()) {
            // Set first, because the writer may end at once.
            hasWriter_.store(true);
            if (startThread(&Agent::writerMain, this)) {
                burstMemory_.release(BurstMemory::defaultBytes);
                watchForEndSignals(&wake_);
            } else {
                hasWriter_.store(false);
            }
        }
        if (hasWriter_.load() && !hasFlusher_.load()) hasFlusher_.store(startThread(&Agent::flusherMain, this));
        if (!hasWriter_.load() && !lacksWriter_.exchange(true)) writeHere(false);
    }
    isStarting_.store(false);
}

/// Writes without a writer thread: the begin of the log, so that its existence and the reason are known however the
/// process ends, or at the end everything.
void Agent::writeHere(bool isLast) {
    // Beyond a limit of file sizes (`ulimit -f`) a write sends a signal to the thread, which would end the program.
    sigset_t fileSize, before, pending;
    ::sigemptyset(&fileSize);
    ::sigaddset(&fileSize, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &fileSize, &before);
    ::sigpending(&pending);
    const bool wasPending = ::sigismember(&pending, SIGXFSZ) == 1;
    // The thread is the program's, which may cancel it: that must not pass through here.
    int cancelState = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelState);
    try {
        if (isLast) {
            drain();
            writeClock();
            writeEnd();
        } else {
            writeIdentity();
            writer_.note(
                Severity::Warning, HealthCode::WriterMissing,
                "No thread could be started to write the log (limit of threads or processes?). Until one starts, up to "
                "1 MiB of events per thread is kept and written at exit; without exit handlers these events are lost.");
            file_.flush();
            publishLogStatus();
        }
        file_.letGo();
    } catch (...) {
        // Without memory the log has no begin or no end.
    }
    ::pthread_setcancelstate(cancelState, nullptr);
    constexpr timespec noTime{0, 0};
    if (!wasPending) ::sigtimedwait(&fileSize, nullptr, &noTime);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Agent::wakeWriter() { wake_.request(); }

void* Agent::writerMain(void* self) {
    ::pthread_setname_np(::pthread_self(), "lanescope-write");
    leaveDescriptorsOfProgram();
    auto& agent = *static_cast<Agent*>(self);
    agent.runWriter();
    {
        const std::lock_guard lock(agent.mutex_);
        agent.phase_ = Phase::Ended;
        agent.changed_.notify_all();
    }
    // From here on no thread notices a signal, so the handler has to end the process itself.
    const int lateSignal = takeEndSignal();
    forgetEndSignals();
    if (lateSignal) endBySignal(lateSignal);
    return nullptr;
}

void* Agent::flusherMain(void* self) {
    ::pthread_setname_np(::pthread_self(), "lanescope-flush");
    try {
        static_cast<Agent*>(self)->runFlusher();
    } catch (...) {
        // Out of memory; the writer continues without it.
    }
    return nullptr;
}

void Agent::runWriter() {
    constexpr int maxAttempts = 3;
    writePeriodNs_ = shortWritePeriodNs;
    writerBegunNs_ = log::monotonicNs();
    int failures = 0;
    for (bool goesOn = true; goesOn;) {
        wake_.waitFor(writePeriodNs_ / 2);
        Phase phase;
        {
            const std::lock_guard lock(mutex_);
            phase = phase_;
        }
        endIfSignalled(phase == Phase::Running);
        const bool isLast = phase == Phase::Ending;
        try {
            goesOn = writeRound(isLast);
            failures = 0;
        } catch (...) {
            // Out of memory. Drops the block and the memory of all names. Events still in rings and
            // buffers are processed in the next round.
            file_.loseBlock();
            writer_.startAgain();
            goesOn = !isLast || ++failures < maxAttempts;
        }
    }
}

void Agent::endIfSignalled(bool isRunning) {
    const int signal = isRunning ? takeEndSignal() : 0;
    if (signal == 0) return;
    // finish() waits for this thread, so another thread must call it.
    endingSignal_.store(signal);
    const auto finishAndEnd = [](void* self) -> void* {
        ::pthread_setname_np(::pthread_self(), "lanescope-end");
        auto* agent = static_cast<Agent*>(self);
        agent->finish(agent->endingSignal_.load());
        endBySignal(agent->endingSignal_.load());
        return nullptr;
    };
    if (!startThread(finishAndEnd, this)) endBySignal(signal);
}

bool Agent::writeRound(bool isLast) {
    drain();
    followLevel();
    const int64_t nowNs = log::monotonicNs();
    if (nowNs >= nextClockNs_ && !file_.isEmpty() && !isAsleep()) {
        writeClock();
        nextClockNs_ = nowNs + clockPeriodNs;
    }
    if (isLast) {
        writeEnd();
        return false;
    }
    // Records from a CUPTI flush are written immediately, so that they survive a crash.
    if (nowNs < nextWriteNs_ && !writeSoon_.exchange(false)) return true;
    limitLog();
    reportLostBlocks();
    file_.flush();
    publishLogStatus();
    if (!wasForked.load() && nowNs - writerBegunNs_ > shortPeriodsNs) writePeriodNs_ = writePeriodNs;
    nextWriteNs_ = nowNs + writePeriodNs_;
    return true;
}

bool Agent::hasEvents(bool hasActivity) const {
    if (hasActivity || nvtx_.isUsed()) return true;
    for (const EventSource* source = sources_.load(std::memory_order_acquire); source; source = source->next_)
        if (source->isUsed()) return true;
    return false;
}

void Agent::drain() {
    const bool hasActivity = hasActivity_.load(std::memory_order_acquire);
    // Everything written now was handed over before the windows are read; see `Windows`.
    if (hasActivity) activity_->collect();
    nvtx_.mark();
    // Sources added after this point are drained in the next round.
    EventSource* const sources = sources_.load(std::memory_order_acquire);
    for (EventSource* source = sources; source; source = source->next_) source->mark();
    clock_.calibrate();  // so that all drained events precede the last clock reading
    if (!isIdentityWritten() && hasEvents(hasActivity)) {
        writeIdentity();
        // A burst may fill the disk before the next round: the limit must be known from the first block on.
        if (!file_.isBegun()) {
            file_.flush();
            limitLog();
        }
    }
    windows_.refresh(writer_);
    if (hasActivity) {
        activity_->drain(writer_);
        activity_->prepare();
    }
    nvtx_.drain(writer_, clock_);
    for (EventSource* source = sources; source; source = source->next_) source->drain(writer_, windows_);
    if (isIdentityWritten()) stacks_.report(writer_);
    reportLostCalls();
}

void Agent::runFlusher() {
    stacks_.search();
    // Records that waited for the first context must not wait for another period.
    if (hasActivity_.load(std::memory_order_acquire)) activity_->flush(false);
    int asleep = 0;
    std::unique_lock lock(mutex_);
    // An ordinary flush may be in progress when the process ends; the final flush must still follow.
    while (phase_ == Phase::Running || phase_ == Phase::Flushing) {
        const bool isManaged = options_.recordUnifiedMemory && appliedLevel_.load() >= log::RecordingLevel::Kernels;
        changed_.wait_for(lock, isManaged ? managedFlushPeriod : flushPeriod, [this] {
            return phase_ != Phase::Running || (level_.load() != attemptedLevel_.load() && !isLogFull_.load());
        });
        const bool isFinal = phase_ == Phase::Flushing;
        lock.unlock();
        if (!isFinal) applyLevel();
        asleep = appliedLevel_.load() == log::RecordingLevel::Asleep ? asleep + 1 : 0;
        const bool isIdle = !isFinal && asleep > asleepFlushes;
        if (!isFinal && !isIdle) stacks_.search();
        if (hasActivity_.load(std::memory_order_acquire) && !isIdle) {
            activity_->flush(isFinal || wantsUnfinished_.exchange(false));
            writeSoon_.store(true);
            wakeWriter();
        }
        lock.lock();
        if (isFinal && phase_ == Phase::Flushing) {  // otherwise it took too long and no thread waits any more
            phase_ = Phase::Flushed;
            changed_.notify_all();
        }
    }
}

/// Writes everything on the calling thread, if no writer could be started.
void Agent::finishHere(int signal) {
    constexpr int maxAttempts = 100;
    constexpr timespec pause{0, 1'000'000};
    if (!lacksWriter_.load()) return;
    // Another thread may be starting the threads. It could also have been interrupted by the caller.
    for (int attempt = 0; isStarting_.exchange(true); ++attempt) {
        if (attempt == maxAttempts) return;
        ::nanosleep(&pause, nullptr);
    }
    if (hasWriter_.load()) {
        isStarting_.store(false);
        return finish(signal);
    }
    {
        const std::lock_guard lock(mutex_);
        if (phase_ == Phase::Ended) return;
        phase_ = Phase::Ended;
        endSignal_ = signal;
    }
    writeHere(true);
    nvtx_.stop();
    // `isStarting_` stays, so that no thread starts any more.
}

void Agent::finish(int signal) {
    // A thread that is being started may not start after all.
    constexpr timespec pause{0, 1'000'000};
    for (int attempt = 0; attempt < 100 && hasWriter_.load() && isStarting_.load(); ++attempt)
        ::nanosleep(&pause, nullptr);
    if (!hasWriter_.load()) return finishHere(signal);
    std::unique_lock lock(mutex_);
    if (phase_ == Phase::Running) {
        endSignal_ = signal;
        // Without a flusher no thread would answer.
        phase_ = hasFlusher_.load() ? Phase::Flushing : Phase::Ending;
        changed_.notify_all();
    }
    changed_.wait_for(lock, flushDeadline, [this] { return phase_ != Phase::Flushing; });
    if (phase_ != Phase::Ended) phase_ = Phase::Ending;
    lock.unlock();
    wakeWriter();
    lock.lock();
    // A burst just before the exit takes longer, but only as long as it is being written.
    const int64_t begunNs = log::monotonicNs();
    for (int64_t left = burstMemory_.freeBytes();;) {
        if (changed_.wait_for(lock, writeDeadline, [this] { return phase_ == Phase::Ended; })) return;
        const int64_t before = std::exchange(left, burstMemory_.freeBytes());
        if (signal != 0 || left == before || log::monotonicNs() - begunNs > burstDeadlineNs) return;
    }
}

void Agent::writeEnd() {
    file_.allow(UINT64_MAX);
    reportLostBlocks();
    if (isLevelPending_) writeLevel(level_.load(), levelReadNs_);
    if (hasActivity_.load(std::memory_order_acquire)) activity_->finish(writer_);
    if (!file_.isEmpty()) {
        noteMissingWindow();
        if (!wasForked.load()) reportChildren();
        writeEndRecord(endSignal_ ? log::EndReason::Signal : log::EndReason::Exit);
    }
    file_.flush();
    publishLogStatus();
}

/// Reports forked children without a log.
void Agent::reportChildren() {
    if (const uint64_t children = SharedTally::childrenWithoutLog(); children > 0)
        writer_.note(Severity::Warning, HealthCode::ChildrenWithoutLog,
                     std::to_string(children) +
                         " forked processes used NVTX or CUDA but had no log when this process ended (usual for "
                         "workers that exit early, without exit handlers).",
                     children);
    if (const auto [children, problem] = SharedTally::unwritable(); children > 0)
        writer_.note(Severity::Warning, HealthCode::ChildrenWithoutLog,
                     std::to_string(children) + " forked processes used NVTX or CUDA, but could not write a log: " +
                         std::strerror(problem) + ".",
                     children);
}

/// Counts the log of a forked child, or leaves a sign that no log will exist. Once.
void Agent::publishLogStatus() {
    if (hasPublishedLogStatus_) return;
    if (file_.isBegun()) {
        if (wasForked.load()) SharedTally::countLog();
        hasPublishedLogStatus_ = true;
    } else if (const int problem = file_.beginProblem()) {
        const bool isKnown = file_.leaveSign(problem, programPath());
        if (wasForked.load() && isKnown) SharedTally::countLog();
        if (wasForked.load() && !isKnown) SharedTally::countUnwritable(problem);
        hasPublishedLogStatus_ = true;
    }
}

void Agent::writeEndRecord(log::EndReason reason) {
    int signal = 0;
    {
        const std::lock_guard lock(mutex_);
        signal = endSignal_;
    }
    log::EndRecord end{};
    end.timestampNs = log::eventTimeNs();
    end.reason = reason;
    end.signal = static_cast<uint32_t>(signal);
    writer_.write(end);
}

/// Begins another file when the current file has become long. Ends the log when it has reached its
/// limit or the disk is nearly full.
void Agent::limitLog() {
    if (isLogFull_.load()) return;
    if (options_.maxLogBytes > 0 && file_.totalBytes() >= options_.maxLogBytes) {
        endRecording(HealthCode::LogLimit,
                     "The log reached --max-size (" + std::to_string(options_.maxLogBytes >> 20) +
                         " MiB); recording of this process stopped. Raise --max-size or record a window.");
    } else if (isReserveReached()) {
        endRecording(
            HealthCode::DiskReserve,
            "The disk was nearly full; recording of this process stopped. Free disk space or lower --disk-reserve.");
    } else if (file_.isRingStuck()) {
        file_.keepRing(0, 0);  // The end is short.
        reportLostBlocks();
        endRecording(HealthCode::LogLimit,
                     "The ring of the log was full, and no further file could be made for it; recording of this "
                     "process stopped. Check the rights to the folder of the logs.");
    } else if (file_.isPartDue() || file_.partBytes() >= options_.maxPartBytes) {
        writer_.beginPart();
    }
}

bool Agent::isReserveReached() {
    const int64_t nowNs = log::monotonicNs();
    if (options_.diskReserveBytes == 0 || (nowNs < nextDiskNs_ && !file_.isAtLimit())) return false;
    nextDiskNs_ = nowNs + diskPeriodNs;
    const bool isReached = diskLimit_.isReached(file_.disk(), nowNs);
    file_.allow(diskLimit_.allowedBytes());
    return isReached;
}

void Agent::endRecording(HealthCode code, const std::string& sentence) {
    nvtx_.stop();
    file_.allow(UINT64_MAX);  // The end is short.
    writer_.note(Severity::Warning, code, sentence);
    writeEndRecord(log::EndReason::LogFull);
    writer_.stop();
    isLogFull_.store(true);
}

void Agent::noteMissingWindow() {
    const WindowOptions& options = windows_.options();
    if (windows_.isEverything() || windows_.hadAny()) return;
    const char* sentence = "The process ended before the recording window; nothing was kept.";
    if (options.trigger == WindowTrigger::CudaProfilerCalls)
        sentence = "The process did not call cudaProfilerStart; nothing was kept.";
    if (options.trigger == WindowTrigger::NvtxRange)
        sentence = "The process did not open the requested NVTX range; nothing was kept.";
    if (options.trigger == WindowTrigger::Steps)
        sentence = "The process did not reach the requested steps; nothing was kept.";
    writer_.note(Severity::Warning, HealthCode::NoWindow, sentence);
}

void Agent::reportLostBlocks() {
    const uint64_t lost = file_.takeLostBlocks();
    if (lost == 0) return;
    // The lost blocks may contain definitions that later records refer to, so all definitions are written again.
    writer_.startAgain();
    writer_.dropped(Loss::LogBlocks, lost);
}

/// Subtracts losses from the counts only after they are written.
void Agent::reportLostCalls() {
    const auto report = [this](Loss what, std::atomic<uint64_t>& counted) {
        const uint64_t count = counted.load(std::memory_order_relaxed);
        if (count == 0 || isLogFull_.load()) return;
        if (!isIdentityWritten()) writeIdentity();
        writer_.dropped(what, count);
        counted.fetch_sub(count, std::memory_order_relaxed);
    };
    const auto reportAll = [&report](LostCalls& calls) {
        report(Loss::NestedCalls, calls.nested);
        report(Loss::CallsWithoutMemory, calls.withoutMemory);
    };
    reportAll(LostCalls::ofThisProcess());
    // Calls of forked children without an agent.
    if (LostCalls* const shared = wasForked.load() ? nullptr : SharedTally::lostCalls()) reportAll(*shared);
}

void Agent::writeIdentity() {
    identityWrittenIn_ = writer_.generation() + 1;
    for (const auto& [name, value] : processIdentity(options_.keepsCommandLine)) writer_.property(name, value);
    if (wasForked.load() || isForkWithoutExec()) writer_.property(facts::forkedChild, facts::one);
    if (!options_.recordNvtx) writer_.property(facts::nvtx, facts::off);
    if (!options_.recordCuda) writer_.property(facts::cuda, facts::off);
    if (followsLevel()) writer_.write(levelWritten_);
    writeClock();
}

void Agent::writeClock() {
    const log::ClockPair clocks = log::readClocks(maxClockDistanceNs);
    if (clocks.distanceNs > maxClockDistanceNs) return;  // The thread lost its core each time; the next second follows.
    log::ClockRecord record{};
    record.realtimeNs = clocks.monotonicNs + clocks.offsetNs;
    record.monotonicNs = clocks.monotonicNs;
    writer_.write(record);
}

void NoSource::start(bool) { agent_.startThreads(); }

void NoSource::drain(log::RecordWriter& writer) {
    if (!std::exchange(hasReported_, true)) writer.note(severity_, code_, sentence_);
}

}  // namespace lanescope::agent
