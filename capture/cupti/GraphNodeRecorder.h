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

/// Records where the nodes of CUDA graphs are captured, by being called back when one is made or
/// copied: what such a node launches later is launched by the whole graph, from another line. All
/// is kept, whatever the windows are: graphs are captured long before they are launched.
class GraphNodeRecorder {
  public:
    /// `wakeWriter` as in `ThreadRings`. `stacks` outlives all calls.
    GraphNodeRecorder(const CuptiLibrary& cupti, CallStacks& stacks,
                      std::function<void()> wakeWriter);

    /// Asks to be called back, or, for good, no longer to be. Does nothing with a CUPTI that does
    /// not number nodes.
    void enable(CUpti_SubscriberHandle subscriber, bool isOn) const;

    /// Whether CUPTI's callback is one for `onNode`.
    static bool isOfNode(CUpti_CallbackId id);
    /// A node was made or copied. The program's thread.
    void onNode(CUpti_CallbackId id, const CUpti_ResourceData& resource);

    /// Notes how far the threads have come. Writer thread, as what follows.
    void mark() { rings_.mark(); }
    /// Writes down what came before `mark`.
    void drain(log::RecordWriter& writer, const CycleClock& clock);

  private:
    struct Node;
    /// What a thread keeps beside its ring.
    struct ThreadState {
        CallStacks::OfThread stacks;
        void beginThread() { stacks.beginThread(); }
    };

    uint64_t numberOf(CUgraphNode node) const;

    const CuptiLibrary& cupti_;
    CallStacks& stacks_;
    ThreadRings<ThreadState> rings_;
    bool hasSaidLost_ = false;  // writer thread only
};

}  // namespace lanescope::agent
