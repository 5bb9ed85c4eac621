// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "capture/perf/PerfEvents.h"
#include "capture/perf/PerfLog.h"

namespace lanescope::capture {

/// Writes what the kernel tells into a file, on a thread of its own that takes no signals. It holds
/// no more memory than the rings and a copy of one.
class PerfDrain {
  public:
    PerfDrain(PerfEvents events, PerfLog log);
    /// Begins. False if no thread or memory can be had; from then on it takes no more of that.
    bool start();
    /// Takes what is left and writes the end. Waits for the disk. Once; the destructor does it,
    /// too.
    void end();
    ~PerfDrain() { end(); }
    PerfDrain(const PerfDrain&) = delete;

  private:
    void run();
    void drain();

    PerfEvents events_;
    PerfLog log_;
    int wakeUp_ = -1;
    std::atomic<bool> isOver_ = false;
    std::vector<pollfd> waiting_;
    std::vector<std::byte> taken_;  ///< Of one ring, whose length it has from the start.
    std::thread thread_;
};

}  // namespace lanescope::capture
