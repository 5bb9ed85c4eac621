// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/agent/Windows.h"
#include "capture/log/LogFile.h"

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

struct AgentOptions;
class Agent;

/// Where records of CUDA activity come from: capture/cupti, or in an agent built without CUPTI a
/// source that only says so.
class ActivitySource {
  public:
    virtual ~ActivitySource() = default;

    /// Starts recording, on the thread that initializes CUDA. Never fails loudly: what went wrong
    /// is written down by the next `drain`.
    virtual void start() = 0;
    /// Writer thread: gets memory ready ahead of need.
    virtual void prepare() = 0;
    /// Flusher thread: asks for what is complete. `isFinal` asks for everything, once, at the end.
    /// May block inside CUPTI, which is why nobody waits for it without a deadline.
    virtual void flush(bool isFinal) = 0;
    /// Flusher thread: ends, for good, what costs the program time. What is under way still comes.
    /// May block as `flush`.
    virtual void switchOff() = 0;
    /// Writer thread: takes what has been handed over so far, for `drain`.
    virtual void collect() = 0;
    /// Writer thread: writes down what was collected and lies in a window.
    virtual void drain(log::RecordWriter& writer) = 0;
    /// Writer thread: the last call, after all has been drained.
    virtual void finish(log::RecordWriter& writer) = 0;
};

/// The source of this build: that of capture/cupti, or of withoutCupti.cpp. `agent` outlives it.
/// For the entry points only; what lies below them knows no source by name.
std::unique_ptr<ActivitySource> makeActivitySource(const AgentOptions& options, Agent& agent);

}  // namespace lanescope::agent
