// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/Windows.h"
#include "capture/log/RecordWriter.h"

namespace lanescope::agent {

/// Takes events on the program's threads for the writer thread, as the profiler plugin of NCCL
/// does. It gives itself to `Agent::add`, so the agent knows none of them. Lives as long as the
/// process.
class EventSource {
  public:
    virtual ~EventSource() = default;

    /// Whether there is anything yet. Any thread.
    virtual bool isUsed() const = 0;
    /// Writer thread: notes how far the threads have come, before `Windows::refresh`.
    virtual void mark() = 0;
    /// Writer thread: writes down what was there at `mark` and began in a window.
    virtual void drain(log::RecordWriter& writer, const Windows& windows) = 0;

  private:
    friend class Agent;
    EventSource* next_ = nullptr;  // of the agent's list; constant once it is in there
};

}  // namespace lanescope::agent
