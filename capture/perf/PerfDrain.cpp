// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfDrain.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <exception>

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

PerfDrain::PerfDrain(PerfEvents events, PerfLog log)
    : events_(std::move(events)),
      log_(std::move(log)),
      wakeUp_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

bool PerfDrain::start() {
    sigset_t all, previous;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        // Nobody could be told of memory that is lacking later.
        size_t longest = 0;
        for (const PerfRing& ring : events_.rings()) longest = std::max(longest, ring.dataBytes());
        taken_.reserve(longest);
        for (const int event : events_.descriptors()) waiting_.push_back({event, POLLIN, 0});
        waiting_.push_back({wakeUp_, POLLIN, 0});
        thread_ = std::thread([this] { run(); });
    } catch (const std::exception&) {
        // The caller says so.
    }
    ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return thread_.joinable();
}

void PerfDrain::end() {
    if (thread_.joinable()) {
        isOver_ = true;
        const uint64_t one = 1;
        // Else it ends with its turn.
        static_cast<void>(!::write(wakeUp_, &one, sizeof(one)));
        thread_.join();
    }
    if (wakeUp_ >= 0) ::close(wakeUp_);
    wakeUp_ = -1;
}

void PerfDrain::run() {
    const int64_t begunNs = log::monotonicNs();
    while (!isOver_) {
        ::poll(waiting_.data(), waiting_.size(), turnMs);
        // Where all processes have ended an event says so at once, whenever it is asked.
        for (pollfd& each : waiting_)
            if ((each.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) each.fd = -1;
        drain();
    }
    drain();
    log_.end(log::monotonicNs() - begunNs, threadCpuTimeNs());
}

void PerfDrain::drain() {
    uint32_t core = 0;
    for (PerfRing& ring : events_.rings()) {
        ring.drain([&](auto first, auto rest) {
            taken_.assign(first.begin(), first.end());
            taken_.insert(taken_.end(), rest.begin(), rest.end());
        });
        // The kernel has its room back before the disk is waited for.
        if (!taken_.empty())
            log_.add(core, std::span(taken_).first(dropEmptyStacks(taken_, perfRegisterCount)));
        taken_.clear();
        ++core;
    }
}

}  // namespace lanescope::capture
