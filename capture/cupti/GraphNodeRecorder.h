// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>

#include "capture/agent/CallStacks.h"
#include "capture/agent/CycleClock.h"
#include "capture/agent/EventRing.h"
#include "capture/cupti/CuptiLibrary.h"
#include "capture/log/LogFile.h"

namespace lanescope::agent {

/// Recorder of the places where CUDA graph nodes are captured, by callbacks for created or copied
/// nodes. The whole graph launches the work of such a node later, from another line. Keeps
/// everything, whatever the windows are: graphs are captured long before they are launched.
class GraphNodeRecorder {
  public:
    /// `wakeWriter` as in `ThreadRings`. `stacks` and `burst` outlive all calls.
    GraphNodeRecorder(const CuptiLibrary& cupti, CallStacks& stacks, BurstMemory& burst,
                      std::function<void()> wakeWriter);

    /// Enables the callbacks, or disables them permanently. Does nothing with a CUPTI that does not number nodes.
    void enable(CUpti_SubscriberHandle subscriber, bool isOn) const;

    static bool isOfNode(CUpti_CallbackId id);
    void onNode(CUpti_CallbackId id, const CUpti_ResourceData& resource);

    /// Records how far the threads have come. Writer thread, like the following function.
    void mark() { rings_.mark(); }
    void drain(log::RecordWriter& writer, const CycleClock& clock);

  private:
    struct Node;
    struct ThreadState {
        CallStacks::OfThread stacks;
        void beginThread() { stacks.beginThread(); }
    };

    uint64_t numberOf(CUgraphNode node) const;

    const CuptiLibrary& cupti_;
    CallStacks& stacks_;
    ThreadRings<ThreadState> rings_;
    bool hasReportedLost_ = false;  // writer thread only
};

}  // namespace lanescope::agent
