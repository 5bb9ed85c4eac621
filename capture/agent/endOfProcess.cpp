#include "capture/agent/endOfProcess.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "capture/agent/Agent.h"
#include "capture/agent/clocks.h"

namespace lanescope {

namespace {

std::atomic<sem_t*> wakeUp{nullptr};
std::atomic<int64_t> firstTermSignalNs{0};
constexpr int64_t impatienceNs = 3'000'000'000;
std::atomic<bool> termSignalPending{false};

void onExit() {
    try {
        if (Agent* agent = Agent::existing()) agent->finish(0);
    } catch (...) {
    }
}

void endAtOnce() {
    std::signal(SIGTERM, SIG_DFL);
    ::kill(::getpid(), SIGTERM);
}

// Only async-signal-safe calls in here.
void onTermSignal(int) {
    sem_t* wake = wakeUp.load(std::memory_order_relaxed);
    const int64_t nowNs = monotonicNs();
    int64_t firstNs = 0;
    if (!wake || !firstTermSignalNs.compare_exchange_strong(firstNs, nowNs)) {
        // Whoever signals a process and its group makes two of one; only a later one is impatience.
        // Without a semaphore no writer would see the first.
        if (!wake || nowNs - firstNs > impatienceNs) endAtOnce();
        return;
    }
    termSignalPending.store(true);
    const int before = errno;
    ::sem_post(wake);
    errno = before;
}

}  // namespace

// Exit handlers run newest first, so the one registered when CUDA begins runs before CUDA's own.
void finishAtExit() {
    std::atexit(&onExit);
}

void watchForTermSignal(sem_t* wake) {
    struct sigaction present {};
    if (::sigaction(SIGTERM, nullptr, &present) != 0) return;
    // A forked child has inherited our handler; it needs only its own semaphore.
    if (present.sa_handler == &onTermSignal) wakeUp.store(wake);
    if (present.sa_handler != SIG_DFL) return;
    wakeUp.store(wake);
    struct sigaction action {};
    action.sa_handler = &onTermSignal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
}

bool takeTermSignal() {
    return termSignalPending.exchange(false);
}

void endByTermSignal() {
    // Our threads block every signal, and so may those of the program by now.
    sigset_t term;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    ::pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
    endAtOnce();
}

void forgetTermSignal() {
    wakeUp.store(nullptr);
    firstTermSignalNs.store(0);
    termSignalPending.store(false);
}

}  // namespace lanescope
