// SPDX-License-Identifier: Apache-2.0
#include "capture/record/SignalForwarder.h"

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "capture/log/clocks.h"

namespace lanescope::capture {

namespace {

/// A signal handler reaches no object, so what it needs stands here. 0: swallow.
std::atomic<pid_t> forwardTarget{0};
std::atomic<bool> isProgramOver{false};
std::atomic<bool> wasAskedToEnd{false};
std::atomic<int64_t> latestEndNs{0};  ///< When a signal that ends programs was passed on.
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

/// Whoever signals a process and its group, as `timeout` does, makes two of one for us, and a third
/// for the program, which is in that group. Launchers take several for impatience.
constexpr int64_t sameSignalNs = 200'000'000;

bool isRepeated() {
    const int64_t nowNs = log::monotonicNs();
    return nowNs - latestEndNs.exchange(nowNs) < sameSignalNs;
}

void forward(int number, siginfo_t* info, void*) {
    if (isProgramOver.load() && number != SIGUSR1 && number != SIGUSR2) wasAskedToEnd = true;
    const bool isTerminals = (number == SIGINT || number == SIGQUIT) && info->si_code > 0;
    const pid_t target = forwardTarget.load();
    if (target <= 0 || isTerminals) return;
    if (number != SIGUSR1 && number != SIGUSR2 && isRepeated()) return;
    const int saved = errno;
    ::kill(target, number);
    errno = saved;
}

}  // namespace

SignalForwarder::SignalForwarder(pid_t target) {
    isProgramOver = false;
    wasAskedToEnd = false;
    latestEndNs = -sameSignalNs;
    forwardTarget = target;
    struct sigaction action {};
    action.sa_sigaction = forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t index = 0; index < signals.size(); ++index) {
        sigaction(signals[index], nullptr, &previous_[index]);
        if (previous_[index].sa_handler != SIG_IGN) sigaction(signals[index], &action, nullptr);
    }
}

SignalForwarder::~SignalForwarder() {
    forwardTarget = 0;
    for (size_t index = 0; index < signals.size(); ++index)
        sigaction(signals[index], &previous_[index], nullptr);
}

void SignalForwarder::send(int number) const {
    if (const pid_t target = forwardTarget.load(); target > 0) ::kill(target, number);
}

void SignalForwarder::stopForwarding() {
    forwardTarget = 0;
    isProgramOver = true;
}

bool SignalForwarder::cameAfterEnd() const {
    return wasAskedToEnd.load();
}

}  // namespace lanescope::capture
