// SPDX-License-Identifier: Apache-2.0
#include "capture/record/CollectorThread.h"

#include <signal.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace lanescope::capture {

namespace {

constexpr std::chrono::milliseconds pollInterval{250};

/// Calls a duty. Without memory it is skipped.
void attempt(const std::function<void()>& duty) {
    try {
        duty();
    } catch (const std::exception&) {
        // The trace is made of the logs anyway.
    }
}

}  // namespace

CollectorThread::CollectorThread(Collector& collector, Duties duties)
    : collector_(collector), duties_(std::move(duties)) {
    // Signals belong to the main thread, which waits for the program.
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::exception&) {
        // Everything is in the logs.
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

CollectorThread::~CollectorThread() { stop(); }

void CollectorThread::stop() {
    {
        const std::lock_guard lock(mutex_);
        isStopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void CollectorThread::run() {
    attempt(duties_.first);
    std::unique_lock lock(mutex_);
    while (!isStopping_) {
        lock.unlock();
        collector_.poll();
        attempt(duties_.afterPoll);
        lock.lock();
        wake_.wait_for(lock, pollInterval, [this] { return isStopping_; });
    }
}

namespace {

constexpr int64_t settlingNs = 1'000'000'000;

bool isAlive(uint32_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; }

}  // namespace

EndOfWindows::EndOfWindows(const agent::WindowOptions& windows, int64_t startRealtimeNs) : count_(windows.count()) {
    if (!windows.areInsideProgram() && windows.durationNs > 0)
        endRealtimeNs_ = startRealtimeNs + windows.delayNs + windows.durationNs;
}

bool EndOfWindows::isReached(const Collector& collector, int64_t nowRealtimeNs) {
    if (endRealtimeNs_) return nowRealtimeNs >= *endRealtimeNs_;
    if (!haveAllEnded(collector)) {
        allEndedSinceNs_.reset();
        return false;
    }
    if (!allEndedSinceNs_) allEndedSinceNs_ = nowRealtimeNs;
    return nowRealtimeNs - *allEndedSinceNs_ >= settlingNs;
}

bool EndOfWindows::haveAllEnded(const Collector& collector) const {
    bool hasOneEnded = false;
    for (const WindowProgress& process : collector.windowProgress()) {
        const bool hasEnded = count_ && static_cast<int64_t>(process.ended) >= *count_;
        if (!hasEnded && process.begun > 0 && isAlive(process.pid)) return false;
        hasOneEnded = hasOneEnded || hasEnded;
    }
    return hasOneEnded;
}

}  // namespace lanescope::capture
