// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>

namespace lanescope::capture {

/// While it lives, signals that mean the program go to the program: SIGTERM, SIGHUP, SIGUSR1 and
/// SIGUSR2 are passed on, and so are SIGINT and SIGQUIT unless they come from the terminal, which
/// sends them to both by itself. We live on to write the trace. Signals that were ignored before
/// stay ignored. At most one at a time; make it on the main thread.
class SignalForwarder {
  public:
    explicit SignalForwarder(pid_t target);
    SignalForwarder(const SignalForwarder&) = delete;
    SignalForwarder& operator=(const SignalForwarder&) = delete;
    ~SignalForwarder();

    /// Sends a signal to the program, unless it has ended. Any thread.
    void send(int number) const;
    /// The program has ended and its number may be used again: swallow signals from here on.
    void stopForwarding();
    /// True once a signal came after `stopForwarding`, from the terminal or elsewhere: whoever sent
    /// it wants no more waiting.
    bool cameAfterEnd() const;

  private:
    static constexpr std::array<int, 6> signals{SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};
    std::array<struct sigaction, signals.size()> previous_{};
};

}  // namespace lanescope::capture
