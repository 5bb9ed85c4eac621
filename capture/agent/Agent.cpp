// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/Agent.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "capture/agent/Inside.h"
#include "capture/agent/NvtxRegistry.h"
#include "capture/agent/endOfProcess.h"
#include "capture/agent/ownThreads.h"
#include "capture/agent/processIdentity.h"
#include "capture/log/clocks.h"
#include "capture/log/logDoor.h"
#include "model/format/factNames.h"
#include "model/format/optionValues.h"

namespace lanescope::agent {

namespace {

using namespace std::chrono_literals;

constexpr int64_t writePeriodNs = 200'000'000;  // what a SIGKILL can lose, with the flush period
// Processes that live for moments only and forked workers, which leave by _exit, would lose most of
// what they did.
constexpr int64_t shortWritePeriodNs = 20'000'000;
constexpr int64_t shortPeriodsNs = 2'000'000'000;  // from the first look for work on
constexpr int64_t clockPeriodNs = 1'000'000'000;
constexpr int64_t diskPeriodNs = 500'000'000;
constexpr uint64_t mostReserve = uint64_t{1} << 30, usualShareOfDisk = 20;
constexpr auto flushPeriod = 250ms;
// The driver keeps few events of managed memory, and drops without a word what is not fetched: of
// 512 MiB that moved each way 58 to 458 were told of at 250 ms, 354 to 512 at 5 ms.
constexpr auto managedFlushPeriod = 5ms;
constexpr auto flushDeadline = 2s;
constexpr auto writeDeadline = 2s;

std::atomic<Agent*> currentAgent{nullptr};
std::atomic<bool> isUnwanted{false};  // the environment asks for no agent
std::atomic<bool> wasForked{false};   // from a process that had an agent
std::atomic<bool> parentUsedCuda{false};
std::atomic<const Agent*> parentsAgent{nullptr};  // of the latest process before that had one

/// Of the thread that forks, from before it does until after.
constinit thread_local NvtxRegistry* lockedForFork = nullptr;

void beforeFork() {
    // A signal handler that forks may have interrupted whoever holds the lock, on its own thread.
    if (Inside::isCallingThread()) return;
    lockedForFork = existingNvtxRegistry();
    if (lockedForFork) lockedForFork->lockForFork();
}
void afterForkInParent() {
    if (NvtxRegistry* const locked = std::exchange(lockedForFork, nullptr))
        locked->unlockAfterFork();
}
void afterForkInChild() {
    afterForkInParent();
    // The parent's agent stays where it is, untouched: its threads do not exist here, and what
    // waits in its rings is the parent's to write.
    const Agent* parents = currentAgent.exchange(nullptr);
    if (parents) wasForked.store(true);
    if (parents) parentsAgent.store(parents);
    if (parents && parents->hasCuda()) parentUsedCuda.store(true);
    forgetEndSignals();
    LostCalls::nested.store(0);
    LostCalls::withoutMemory.store(0);
}

/// When this library is loaded, since whoever did it with the first call of the program might be
/// interrupted there by another thread's fork, and the child would wait for it for ever. What is
/// registered here a forked child has without asking for it: the lock that that takes may have been
/// another thread's when the child was made, which nobody gives back there.
__attribute__((constructor)) void watchForksAndExit() {
    ::pthread_atfork(&beforeFork, &afterForkInParent, &afterForkInChild);
    finishAtExit();
}

}  // namespace

Agent* Agent::current() {
    Agent* agent = currentAgent.load(std::memory_order_acquire);
    if (agent) [[likely]]
        return agent;
    if (isUnwanted.load(std::memory_order_relaxed)) return nullptr;
    if (isDisabled()) {
        isUnwanted.store(true);
        return nullptr;
    }
    const std::string folder = environment(folderVariable);
    AgentOptions options;
    readOptionText(environment(optionsVariable), options);
    if (folder.empty() || !suitsProgram(options.only, programPath(), calledAs())) {
        isUnwanted.store(true);
        return nullptr;
    }
    log::takeEventClock(environment(clockVariable));
    if (!wasForked.load()) SharedTally::make();
    auto* fresh = new Agent(folder, environment(doorVariable), std::move(options));
    if (currentAgent.compare_exchange_strong(agent, fresh)) {
        if (wasForked.load()) SharedTally::countChild();
        return fresh;
    }
    delete fresh;  // another thread was first
    return agent;
}

Agent* Agent::existing() {
    return currentAgent.load(std::memory_order_acquire);
}

bool Agent::hasLostCuda() {
    return parentUsedCuda.load();
}

Agent::Agent(const std::string& folder, const std::string& door, AgentOptions options)
    : options_(std::move(options)),
      logPath_(folder + "/" + logName()),
      file_(logPath_, door),
      writer_(file_),
      windows_(options_.windows, log::eventTimeNs()),
      stacks_(options_.recordPython),
      nvtx_(
          windows_, stacks_, [this] { startAndWake(); },
          options_.sampleAt.empty() ? nullptr
                                    : std::make_unique<MomentTeller>(options_.sampleAt, folder)) {
    if (const Agent* const parents = parentsAgent.load()) stacks_.takeInterpreter(parents->stacks_);
}

void Agent::startCuda(MakeActivitySource& make) {
    if (!options_.recordCuda || hasLostCuda() || hasActivity_.load()) return;
    if (options_.yieldCupti) {
        activity_ = std::make_unique<NoSource>(
            *this, Severity::Info, HealthCode::CuptiYielded,
            "CUPTI was left to other tools in the program, as asked, so no CUDA activity was "
            "recorded.");
    } else {
        activity_ = make(options_, *this);
    }
    activity_->start();
    stacks_.look();
    hasActivity_.store(true, std::memory_order_release);
    finishAtExit();  // again, to come before what CUDA has registered
}

int Agent::recordNvtx(const NvtxCall& call) {
    return options_.recordNvtx ? nvtx_.record(call) : -1;
}

void Agent::add(EventSource& source) {
    source.next_ = sources_.load(std::memory_order_relaxed);
    while (!sources_.compare_exchange_weak(source.next_, &source, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
}

void Agent::startThreads() {
    if (threadsStarted_.exchange(true)) return;
    const bool writes = startThread(&Agent::writerMain, this);
    const bool flushes = startThread(&Agent::flusherMain, this);
    if (!writes || !flushes) {
        const std::lock_guard lock(mutex_);
        // Nobody will answer, so nobody must wait.
        if (phase_ == Phase::Running) phase_ = writes ? Phase::Ending : Phase::Ended;
        return;
    }
    watchForEndSignals(&wake_);
}

void Agent::wakeWriter() {
    wake_.ask();
}

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
    // From here on nobody would see a signal that came, so the handler has to end the process
    // itself.
    const int cameMeanwhile = takeEndSignal();
    forgetEndSignals();
    if (cameMeanwhile) endBySignal(cameMeanwhile);
    return nullptr;
}

void* Agent::flusherMain(void* self) {
    ::pthread_setname_np(::pthread_self(), "lanescope-flush");
    try {
        static_cast<Agent*>(self)->runFlusher();
    } catch (...) {
        // Out of memory; the writer goes on without it.
    }
    return nullptr;
}

void Agent::runWriter() {
    constexpr int mostAttempts = 3;
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
            // Out of memory. The block is given up, and with it the memory of all names; what is
            // still in rings and buffers has its turn again.
            file_.loseBlock();
            writer_.startAgain();
            identityWritten_ = false;
            goesOn = !isLast || ++failures < mostAttempts;
        }
    }
}

void Agent::endIfSignalled(bool isRunning) {
    const int signal = isRunning ? takeEndSignal() : 0;
    if (signal == 0) return;
    // finish() waits for this thread, so another one must call it.
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
    const int64_t nowNs = log::monotonicNs();
    if (nowNs >= nextClockNs_ && !file_.isEmpty()) {
        writeClock();
        nextClockNs_ = nowNs + clockPeriodNs;
    }
    if (isLast) {
        writeEnd();
        return false;
    }
    // What a flush of CUPTI brought is not kept waiting, so that it survives what comes next.
    if (nowNs < nextWriteNs_ && !writeSoon_.exchange(false)) return true;
    reportLostBlocks();
    file_.flush();
    tellWhetherLogIsThere();
    limitLog();
    if (!wasForked.load() && nowNs - writerBegunNs_ > shortPeriodsNs)
        writePeriodNs_ = writePeriodNs;
    nextWriteNs_ = nowNs + writePeriodNs_;
    return true;
}

bool Agent::hasEvents(bool hasActivity) const {
    if (hasActivity || nvtx_.isUsed()) return true;
    for (const EventSource* source = sources_.load(std::memory_order_acquire); source;
         source = source->next_) {
        if (source->isUsed()) return true;
    }
    return false;
}

void Agent::drain() {
    const bool hasActivity = hasActivity_.load(std::memory_order_acquire);
    // What is written down now was handed over before the windows are looked at; see `Windows`.
    if (hasActivity) activity_->collect();
    nvtx_.mark();
    // Those that come after this moment have their turn in the next round.
    EventSource* const sources = sources_.load(std::memory_order_acquire);
    for (EventSource* source = sources; source; source = source->next_) source->mark();
    clock_.calibrate();  // so that all that is drained now lies before the last reading
    if (!identityWritten_ && hasEvents(hasActivity)) {
        identityWritten_ = true;
        writeIdentity();
    }
    windows_.refresh(writer_);
    if (hasActivity) {
        activity_->drain(writer_);
        activity_->prepare();
    }
    nvtx_.drain(writer_, clock_);
    for (EventSource* source = sources; source; source = source->next_)
        source->drain(writer_, windows_);
    if (identityWritten_) stacks_.report(writer_);
    reportLostCalls();
}

void Agent::runFlusher() {
    stacks_.look();
    // What waited for the first context, which has just been made, must not wait for a period more.
    if (hasActivity_.load(std::memory_order_acquire)) activity_->flush(false);
    bool isSwitchedOff = false;
    const auto period = options_.recordUnifiedMemory ? managedFlushPeriod : flushPeriod;
    std::unique_lock lock(mutex_);
    // An ordinary flush may be under way when the process ends; the final one must still follow.
    while (phase_ == Phase::Running || phase_ == Phase::Flushing) {
        changed_.wait_for(lock, period, [this] { return phase_ != Phase::Running; });
        const bool isFinal = phase_ == Phase::Flushing;
        lock.unlock();
        if (!isFinal) stacks_.look();
        if (hasActivity_.load(std::memory_order_acquire)) {
            if (isLogFull_.load() && !isFinal && !std::exchange(isSwitchedOff, true))
                activity_->switchOff();
            activity_->flush(isFinal);
            writeSoon_.store(true);
            wakeWriter();
        }
        lock.lock();
        if (isFinal &&
            phase_ == Phase::Flushing) {  // else it took too long and nobody waits any more
            phase_ = Phase::Flushed;
            changed_.notify_all();
        }
    }
}

void Agent::finish(int signal) {
    std::unique_lock lock(mutex_);
    if (!threadsStarted_.load()) return;
    if (phase_ == Phase::Running) {
        endSignal_ = signal;
        phase_ = Phase::Flushing;
        changed_.notify_all();
    }
    changed_.wait_for(lock, flushDeadline, [this] { return phase_ != Phase::Flushing; });
    if (phase_ != Phase::Ended) phase_ = Phase::Ending;
    lock.unlock();
    wakeWriter();
    lock.lock();
    changed_.wait_for(lock, writeDeadline, [this] { return phase_ == Phase::Ended; });
}

void Agent::writeEnd() {
    reportLostBlocks();
    if (hasActivity_.load(std::memory_order_acquire)) activity_->finish(writer_);
    if (!file_.isEmpty()) {
        noteMissingWindow();
        const uint64_t children = wasForked.load() ? 0 : SharedTally::childrenWithoutLog();
        if (children > 0)
            writer_.note(Severity::Warning, HealthCode::ChildrenWithoutLog,
                         std::to_string(children) +
                             " processes forked from this one used NVTX or CUDA and had left no "
                             "log when it ended, as those do that leave within their first moments "
                             "without their exit handlers.",
                         children);
        writeEndRecord(endSignal_ ? log::EndReason::Signal : log::EndReason::Exit);
    }
    file_.flush();
    tellWhetherLogIsThere();
}

/// Once: counts the log of a forked child, or leaves a sign that there will be no log.
void Agent::tellWhetherLogIsThere() {
    if (hasToldOfLog_) return;
    if (file_.isBegun()) {
        if (wasForked.load()) SharedTally::countLog();
        hasToldOfLog_ = true;
    } else if (const int problem = file_.beginProblem()) {
        const std::string sign = logPath_ + std::string(log::lostLogEnding);
        if (::symlink(log::lostLogText(problem, programPath()).c_str(), sign.c_str()) != 0)
            log::askDoor(environment(doorVariable), log::DoorWish::Lost,
                         std::string_view(sign).substr(sign.rfind('/') + 1), problem);
        hasToldOfLog_ = true;
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
    writer_.write(log::RecordKind::End, end);
}

/// Begins another file where one has become long, and ends the log where it has reached its limit
/// or the disk is nearly full.
void Agent::limitLog() {
    if (isLogFull_.load()) return;
    if (options_.maximumLogBytes > 0 && file_.totalBytes() >= options_.maximumLogBytes) {
        endRecording(HealthCode::LogLimit,
                     "The log of this process reached the " +
                         std::to_string(options_.maximumLogBytes >> 20) +
                         " MiB that were allowed, so nothing was recorded from there on; allow "
                         "more, or record windows.");
    } else if (isReserveReached()) {
        endRecording(HealthCode::DiskReserve,
                     "The disk was nearly full, so nothing was recorded from there on; make room, "
                     "or say with --disk-reserve what is to stay free.");
    } else if (file_.partBytes() >= options_.maximumPartBytes && file_.beginNextPart()) {
        writer_.startAgain();
        identityWritten_ = false;
    }
}

bool Agent::isReserveReached() {
    const int64_t nowNs = log::monotonicNs();
    if (options_.diskReserveBytes == 0 || nowNs < nextDiskNs_) return false;
    nextDiskNs_ = nowNs + diskPeriodNs;
    const log::LogFile::Disk disk = file_.disk();
    if (disk.bytes == 0) return false;
    const uint64_t reserve = options_.diskReserveBytes == usualReserve
                                 ? std::min(mostReserve, disk.bytes / usualShareOfDisk)
                                 : options_.diskReserveBytes;
    return disk.freeBytes < reserve;
}

void Agent::endRecording(HealthCode code, const std::string& sentence) {
    nvtx_.stop();
    writer_.note(Severity::Warning, code, sentence);
    writeEndRecord(log::EndReason::LogFull);
    writer_.stop();
    isLogFull_.store(true);
}

void Agent::noteMissingWindow() {
    const WindowOptions& options = windows_.options();
    if (windows_.isEverything() || windows_.hadAny()) return;
    const char* sentence =
        "The process ended before the window of time began, so nothing was kept.";
    if (options.trigger == WindowTrigger::CudaProfilerCalls)
        sentence = "The process never called cudaProfilerStart, so nothing was kept.";
    if (options.trigger == WindowTrigger::NvtxRange)
        sentence =
            "The process never began the NVTX range that was asked for, so nothing was kept.";
    if (options.trigger == WindowTrigger::Steps)
        sentence = "The process never came to the steps that were asked for, so nothing was kept.";
    writer_.note(Severity::Warning, HealthCode::NoWindow, sentence);
}

void Agent::reportLostBlocks() {
    const uint64_t lost = file_.takeLostBlocks();
    if (lost == 0) return;
    // The lost blocks may have held what later records refer to, so all of that is said again.
    writer_.startAgain();
    identityWritten_ = false;
    writer_.dropped(Loss::LogBlocks, lost);
}

/// What could not be kept is taken from the counts only once it is written down.
void Agent::reportLostCalls() {
    const auto report = [this](Loss what, std::atomic<uint64_t>& counted) {
        const uint64_t count = counted.load(std::memory_order_relaxed);
        if (count == 0 || isLogFull_.load()) return;
        if (!std::exchange(identityWritten_, true)) writeIdentity();
        writer_.dropped(what, count);
        counted.fetch_sub(count, std::memory_order_relaxed);
    };
    report(Loss::NestedCalls, LostCalls::nested);
    report(Loss::CallsWithoutMemory, LostCalls::withoutMemory);
}

void Agent::writeIdentity() {
    for (const auto& [name, value] : processIdentity(options_.keepsCommandLine))
        writer_.property(name, value);
    if (wasForked.load() || isForkWithoutExec()) writer_.property(facts::forkedChild, facts::one);
    if (!options_.recordNvtx) writer_.property(facts::nvtx, facts::off);
    if (!options_.recordCuda) writer_.property(facts::cuda, facts::off);
    writeClock();
}

void Agent::writeClock() {
    log::ClockRecord record{};
    record.realtimeNs = log::realtimeNs();
    record.monotonicNs = log::monotonicNs();
    writer_.write(log::RecordKind::Clock, record);
}

void NoSource::start() {
    agent_.startThreads();
}

void NoSource::drain(log::RecordWriter& writer) {
    if (!std::exchange(hasSaid_, true)) writer.note(severity_, code_, sentence_);
}

}  // namespace lanescope::agent
