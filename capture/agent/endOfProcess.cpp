#include "capture/agent/endOfProcess.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "capture/agent/Agent.h"

namespace lanescope {

namespace {

std::atomic<int> wakeDescriptor{-1};
std::atomic<bool> termSignalCame{false};
std::atomic<bool> termSignalPending{false};
std::atomic<bool> exitWatched{false};

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
    const int descriptor = wakeDescriptor.load(std::memory_order_relaxed);
    // A second SIGTERM is impatience; no descriptor means that no writer would see the first.
    if (descriptor < 0 || termSignalCame.exchange(true)) {
        endAtOnce();
        return;
    }
    termSignalPending.store(true);
    const uint64_t one = 1;
    if (::write(descriptor, &one, sizeof one) != sizeof one) endAtOnce();
}

}  // namespace

void finishAtExit() {
    if (!exitWatched.exchange(true)) std::atexit(&onExit);
}

void watchForTermSignal(int descriptor) {
    struct sigaction present {};
    if (::sigaction(SIGTERM, nullptr, &present) != 0) return;
    // A forked child has inherited our handler; it needs only its own descriptor.
    if (present.sa_handler == &onTermSignal) wakeDescriptor.store(descriptor);
    if (present.sa_handler != SIG_DFL) return;
    wakeDescriptor.store(descriptor);
    struct sigaction action {};
    action.sa_handler = &onTermSignal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
}

bool takeTermSignal() { return termSignalPending.exchange(false); }

void endByTermSignal() { endAtOnce(); }

void forgetTermSignal() {
    wakeDescriptor.store(-1);
    termSignalCame.store(false);
    termSignalPending.store(false);
}

}  // namespace lanescope
