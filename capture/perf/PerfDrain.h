// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "capture/perf/PerfEvents.h"
#include "capture/perf/PerfLog.h"

namespace lanescope::capture {

/// Writes what the kernel tells into a file, on a thread of its own that takes no signals. It holds
/// no more memory than the rings and a copy of one.
class PerfDrain {
  public:
    static constexpr std::chrono::milliseconds usualPatience{30'000};

    PerfDrain(PerfEvents events, PerfLog log);
    /// Begins. False if no thread or memory can be had; from then on it takes no more of that.
    bool start();
    /// Takes what is left and writes the end. Waits for the disk, but not for longer than
    /// `patience`: false then, and the thread is left with its file, of which the end is missing.
    /// Once; the destructor does it, too.
    [[nodiscard]] bool end(std::chrono::milliseconds patience = usualPatience);
    ~PerfDrain();
    PerfDrain(const PerfDrain&) = delete;

  private:
    struct Work;

    std::shared_ptr<Work> work_;  ///< The thread's, too, which may be left.
    std::thread thread_;
};

}  // namespace lanescope::capture
