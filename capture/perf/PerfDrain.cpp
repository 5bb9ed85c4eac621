// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfDrain.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "capture/log/clocks.h"
#include "capture/perf/perfRecords.h"

namespace lanescope::capture {

namespace {

/// A ring that is a quarter full wakes us before.
constexpr int turnMs = 200;

int64_t threadCpuTimeNs() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

/// All that the thread uses.
struct PerfDrain::Work {
    Work(PerfEvents ofKernel, PerfLog file)
        : events(std::move(ofKernel)),
          log(std::move(file)),
          wakeUp(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Work() {
        if (wakeUp >= 0) ::close(wakeUp);
    }
    Work(const Work&) = delete;

    void run();
    void drain();

    PerfEvents events;
    PerfLog log;
    const int wakeUp;
    std::atomic<bool> isOver = false;
    std::vector<pollfd> waiting;
    std::vector<std::byte> taken;  ///< Of one ring, whose length it has from the start.
    std::mutex mutex;              ///< Guards the next.
    bool isDone = false;
    std::condition_variable done;
};

PerfDrain::PerfDrain(PerfEvents events, PerfLog log)
    : work_(std::make_shared<Work>(std::move(events), std::move(log))) {}

PerfDrain::~PerfDrain() {
    // Who wants to know has asked.
    static_cast<void>(end());
}

bool PerfDrain::start() {
    sigset_t all, previous;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        // Nobody could be told of memory that is lacking later.
        size_t longest = 0;
        for (const PerfRing& ring : work_->events.rings())
            longest = std::max(longest, ring.dataBytes());
        work_->taken.reserve(longest);
        for (const int event : work_->events.descriptors())
            work_->waiting.push_back({event, POLLIN, 0});
        work_->waiting.push_back({work_->wakeUp, POLLIN, 0});
        thread_ = std::thread([work = work_] { work->run(); });
    } catch (const std::exception&) {
        // The caller says so.
    }
    ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return thread_.joinable();
}

bool PerfDrain::end(std::chrono::milliseconds patience) {
    if (!thread_.joinable()) return true;
    work_->isOver = true;
    const uint64_t one = 1;
    // Else it ends with its turn.
    static_cast<void>(!::write(work_->wakeUp, &one, sizeof(one)));
    std::unique_lock lock(work_->mutex);
    const bool isDone = work_->done.wait_for(lock, patience, [this] { return work_->isDone; });
    lock.unlock();
    // A disk that does not answer holds it, and nothing can end it.
    isDone ? thread_.join() : thread_.detach();
    return isDone;
}

void PerfDrain::Work::run() {
    const int64_t begunNs = lanescope::log::monotonicNs();
    while (!isOver) {
        ::poll(waiting.data(), waiting.size(), turnMs);
        // Where all processes have ended an event says so at once, whenever it is asked.
        for (pollfd& each : waiting)
            if ((each.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) each.fd = -1;
        drain();
    }
    drain();
    log.end(lanescope::log::monotonicNs() - begunNs, threadCpuTimeNs());
    const std::lock_guard lock(mutex);
    isDone = true;
    done.notify_all();
}

void PerfDrain::Work::drain() {
    uint32_t core = 0;
    for (PerfRing& ring : events.rings()) {
        ring.drain([&](auto first, auto rest) {
            taken.assign(first.begin(), first.end());
            taken.insert(taken.end(), rest.begin(), rest.end());
        });
        // The kernel has its room back before the disk is waited for.
        if (!taken.empty())
            log.add(core, std::span(taken).first(dropEmptyStacks(taken, perfRegisterCount)));
        taken.clear();
        ++core;
    }
}

}  // namespace lanescope::capture
