// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/agent/Windows.h"
#include "capture/log/LogFile.h"

namespace lanescope::agent {

/// Source that records events on the program's threads for the writer thread, for example the NCCL profiler plugin. It
/// registers itself with `Agent::add`, so the agent depends on no source. Lives as long as the process.
class EventSource {
  public:
    virtual ~EventSource() = default;

    virtual bool isUsed() const = 0;
    /// Records how far the threads have come, before `Windows::refresh`. Writer thread.
    virtual void mark() = 0;
    /// Writes the events that were present at `mark` and began in a window. Writer thread.
    virtual void drain(log::RecordWriter& writer, const Windows& windows) = 0;

  private:
    friend class Agent;
    EventSource* next_ = nullptr;  // next in the agent's list; constant once added
};

struct AgentOptions;
class Agent;

/// Source of CUDA activity records: capture/cupti, or, in an agent built without CUPTI, a source
/// that only reports its absence.
class ActivitySource {
  public:
    virtual ~ActivitySource() = default;

    /// Starts recording at level All, on the thread that initializes CUDA, or later, if `isLate`, on the flusher
    /// thread. Reports no errors; the next `drain` writes them to the log.
    virtual void start(bool isLate) = 0;
    /// Prepares memory ahead of need. Writer thread.
    virtual void prepare() = 0;
    /// Requests completed records; with `unfinished` also those of work that has not ended, which then have no times.
    /// Flusher thread. May block inside CUPTI, so callers wait with a deadline only.
    virtual void flush(bool unfinished) = 0;
    /// Enables what a level records and disables everything else that costs the program time. Records in flight still
    /// arrive. Returns false while the change waits until a thread has waited for its context. Flusher thread, or the
    /// starting one. May block like `flush`.
    virtual bool setLevel(log::RecordingLevel level) = 0;
    /// Collects the records handed over so far, for `drain`. Writer thread.
    virtual void collect() = 0;
    /// Writes the collected records that lie in a window. Writer thread.
    virtual void drain(log::RecordWriter& writer) = 0;
    /// Ends the source. The last call, after everything was drained. Writer thread.
    virtual void finish(log::RecordWriter& writer) = 0;
};

/// Returns the source of this build: that of capture/cupti or of withoutCupti.cpp. `agent` outlives
/// it. Only the entry points call this; the layers below use the interface.
std::unique_ptr<ActivitySource> makeActivitySource(const AgentOptions& options, Agent& agent);

}  // namespace lanescope::agent
