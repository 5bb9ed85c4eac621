// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_set>

#include "capture/agent/ActivitySource.h"
#include "capture/agent/CallStacks.h"
#include "capture/agent/EventRing.h"
#include "capture/log/Records.h"

namespace lanescope::agent {

class Agent;

/// A communicator as NCCL introduced it. Lives as long as the process, because NCCL passes its
/// address back with every event.
struct NcclCommunicator {
    uint64_t hash = 0;
    char name[128] = "";  ///< The program's name for it, truncated to fit.
    int32_t rank = -1, rankCount = -1, nodeCount = -1;
    uint32_t interfaceVersion = 0;
    int64_t timestampNs = 0;
    NcclCommunicator* next = nullptr;  ///< The communicator made before.
};

/// An event that NCCL begins. Texts are NCCL's, valid during the call only, and may be null.
struct NcclStart {
    NcclStart();
    log::NcclOperationRecord record{};  ///< Without its id, thread, time, stack and texts.
    const char *function = nullptr, *datatype = nullptr, *algorithm = nullptr, *protocol = nullptr;
};

/// Recorder of events of NCCL's profiler interface from any number of threads, for the writer
/// thread. The calling thread never waits and, after its first event, never allocates.
class NcclRecorder final : public EventSource {
  public:
    /// Returns the recorder of this process's agent, made if there is none. Returns null if the environment disables
    /// the agent, or without memory. Any thread; a forked child gets one of its own.
    static NcclRecorder* current();

    /// Stores a communicator; returns null without memory. Not for the hot path: allocates.
    NcclCommunicator* introduce(const NcclCommunicator& communicator);
    /// Records the start of an event. Returns its id for `stop`, or 0 if there was no room.
    uint64_t start(const NcclStart& event);
    /// Records the end of an event. Unknown ids are harmless: the reader skips them.
    void stop(uint64_t id);

    bool isUsed() const override { return rings_.isUsed(); }
    void mark() override { rings_.mark(); }
    void drain(log::RecordWriter& writer, const Windows& windows) override;

  private:
    explicit NcclRecorder(Agent& agent);
    struct ThreadState {
        CallStacks::OfThread stacks;
        void beginThread() { stacks.beginThread(); }
    };
    struct Entry;
    void drainCommunicators(log::RecordWriter& writer);

    const Agent* const agent_;
    CallStacks& stacks_;
    ThreadRings<ThreadState> rings_;
    std::atomic<uint64_t> lastId_{0};
    std::atomic<NcclCommunicator*> newest_{nullptr};
    const NcclCommunicator* newestWritten_ = nullptr;  // writer thread only
    uint32_t writtenGeneration_ = 0;                   // writer thread only
    std::unordered_set<uint64_t> keptOpen_;            // with windows: began in one; writer thread only
};

}  // namespace lanescope::agent
