// SPDX-License-Identifier: Apache-2.0
#include "capture/record/CollectorThread.h"

#include <signal.h>

#include <chrono>
#include <utility>

namespace lanescope::capture {

namespace {

constexpr std::chrono::milliseconds pollInterval{250};

}  // namespace

CollectorThread::CollectorThread(Collector& collector, Duties duties)
    : collector_(collector), duties_(std::move(duties)) {
    // Signals are the main thread's, which waits for the program.
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        thread_ = std::thread([this] {
            try {
                run();
            } catch (const std::exception&) {
                giveUp();
            }
        });
    } catch (const std::exception&) {
        giveUp();
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

CollectorThread::~CollectorThread() {
    static_cast<void>(stop());  // who wants to know how it went has stopped it before
}

Result<void> CollectorThread::stop() {
    {
        const std::lock_guard lock(mutex_);
        isStopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    return std::move(result_);
}

void CollectorThread::giveUp() {
    const std::lock_guard lock(mutex_);
    result_ = std::move(outOfMemory_);
}

void CollectorThread::run() {
    duties_.first();
    std::unique_lock lock(mutex_);
    while (!isStopping_ && result_) {
        lock.unlock();
        Result<void> polled = collector_.poll();
        if (polled) duties_.afterPoll();
        lock.lock();
        result_ = std::move(polled);
        wake_.wait_for(lock, pollInterval, [this] { return isStopping_; });
    }
}

}  // namespace lanescope::capture
