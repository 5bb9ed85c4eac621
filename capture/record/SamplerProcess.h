// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>

#include "capture/sample/SamplerOptions.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// A child of `lanescope record` that samples counters: this program again, in a process group of
/// its own, so that Ctrl-C does not end it before the program that is recorded. Whatever happens to
/// it, neither the program nor `record` waits for it for long. It ends when its standard input
/// does, and so also when we are killed.
class SamplerProcess {
  public:
    /// Starts one; does not wait until it samples.
    static Result<SamplerProcess> start(const SamplerOptions& options);
    SamplerProcess(SamplerProcess&& other) noexcept;
    SamplerProcess& operator=(SamplerProcess&&) = delete;
    ~SamplerProcess();

    pid_t pid() const { return pid_; }
    /// Tells it to end; returns at once.
    void requestEnd();
    /// Gives it until `deadline`, then kills it, and reaps it. False if it had to be killed.
    bool waitUntil(std::chrono::steady_clock::time_point deadline);

  private:
    SamplerProcess() = default;

    pid_t pid_ = -1;
    int input_ = -1;    ///< Its standard input, which we never write to.
    int process_ = -1;  ///< A pidfd: its number may be somebody else's once it was waited for.
};

}  // namespace lanescope::capture
