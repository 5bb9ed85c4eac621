// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/endOfProcess.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>

#include "capture/agent/Agent.h"
#include "capture/log/clocks.h"

namespace lanescope::agent {

namespace {

// A program that handles one of these signals ends itself, and the agent finishes at exit.
constexpr int endSignals[] = {SIGTERM, SIGINT, SIGHUP};

std::atomic<WakeUp*> wakeUp{nullptr};
std::atomic<int64_t> firstSignalNs{0};
constexpr int64_t impatienceNs = 3'000'000'000;
std::atomic<int> pendingSignal{0};
std::atomic<pid_t> watchedProcess{0};

void onExit() {
    try {
        if (Agent* agent = Agent::existing()) agent->finish(0);
    } catch (...) {
    }
}

void endAtOnce(int signal) {
    std::signal(signal, SIG_DFL);
    ::kill(::getpid(), signal);
}

// Only async-signal-safe calls in here.
void onEndSignal(int signal) {
    // A child of vfork or clone runs no fork handlers and may share this memory with its parent.
    // The signal is not meant for the parent.
    if (::getpid() != watchedProcess.load(std::memory_order_relaxed)) return endAtOnce(signal);
    WakeUp* wake = wakeUp.load(std::memory_order_relaxed);
    const int64_t nowNs = log::monotonicNs();
    int64_t firstNs = 0;
    if (!wake || !firstSignalNs.compare_exchange_strong(firstNs, nowNs)) {
        // A signal to a process and its group arrives twice; only a later one is impatience.
        // Without a sleeper no writer would notice the first signal.
        if (!wake || nowNs - firstNs > impatienceNs) endAtOnce(signal);
        return;
    }
    pendingSignal.store(signal);
    const int before = errno;
    wake->request();
    errno = before;
}

struct Counts {
    std::atomic<uint64_t> children{0}, logs{0}, unwritable{0};
    std::atomic<int> problem{0};
    LostCalls lost;
    static_assert(std::atomic<uint64_t>::is_always_lock_free);
};

constinit std::atomic<Counts*> shared{nullptr};

}  // namespace

// Registers the exit handler. Exit handlers run newest first, so one registered when CUDA begins
// runs before CUDA's own. NVTX calls register none, see `watchForksAndExit`.
void finishAtExit() { std::atexit(&onExit); }

void watchForEndSignals(WakeUp* wake) {
    // The kernel drops unhandled signals to the first process of a namespace. Such a signal ends
    // nothing there, and must not end the recording either.
    if (::getpid() == 1) return;
    watchedProcess.store(::getpid());
    for (const int signal : endSignals) {
        struct sigaction present {};
        if (::sigaction(signal, nullptr, &present) != 0) continue;
        // A forked child has inherited our handler; it needs only its own writer.
        if (present.sa_handler == &onEndSignal) wakeUp.store(wake);
        if (present.sa_handler != SIG_DFL) continue;
        wakeUp.store(wake);
        struct sigaction action {};
        action.sa_handler = &onEndSignal;
        action.sa_flags = SA_RESTART | SA_ONSTACK;  // a coroutine's stack has no room for it
        ::sigaction(signal, &action, nullptr);
    }
}

int takeEndSignal() { return pendingSignal.exchange(0); }

void endBySignal(int signal) {
    // Our threads block every signal, and the program's threads may do so too.
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    endAtOnce(signal);
}

void forgetEndSignals() {
    wakeUp.store(nullptr);
    firstSignalNs.store(0);
    pendingSignal.store(0);
}

void SharedTally::make() {
    if (shared.load() != nullptr) return;
    void* const memory = ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    Counts* none = nullptr;
    if (!shared.compare_exchange_strong(none, new (memory) Counts))
        ::munmap(memory, sizeof(Counts));  // another thread was first
}

void SharedTally::countChild() {
    if (Counts* const counts = shared.load()) counts->children.fetch_add(1);
}

void SharedTally::countLog() {
    if (Counts* const counts = shared.load()) counts->logs.fetch_add(1);
}

void SharedTally::countUnwritable(int problem) {
    Counts* const counts = shared.load();
    if (!counts) return;
    counts->problem.store(problem);
    counts->unwritable.fetch_add(1);
}

uint64_t SharedTally::childrenWithoutLog() {
    const Counts* const counts = shared.load();
    if (!counts) return 0;
    // In this order, so that a child counted in between does not appear to lack a log.
    const uint64_t children = counts->children.load();
    const uint64_t known = counts->logs.load() + counts->unwritable.load();
    return children > known ? children - known : 0;
}

std::pair<uint64_t, int> SharedTally::unwritable() {
    const Counts* const counts = shared.load();
    if (!counts) return {};
    return {counts->unwritable.load(), counts->problem.load()};
}

LostCalls* SharedTally::lostCalls() {
    Counts* const counts = shared.load();
    return counts ? &counts->lost : nullptr;
}

}  // namespace lanescope::agent
