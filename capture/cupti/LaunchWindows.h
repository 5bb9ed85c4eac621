// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "capture/agent/Windows.h"

namespace lanescope::agent {

/// Tells work that was launched in a window from other work, whenever it ran. CUPTI numbers the
/// CUDA calls of a process in their order, and GPU work bears the number of the call that launched
/// it. So of each edge of a window it is enough to know the numbers just before and just after it.
/// Near the edge, where calls of several threads may overtake each other, each call's own time
/// counts. Memory does not grow with the number of calls. Writer thread only.
class LaunchWindows {
  public:
    enum class Answer {
        Inside,
        Outside,
        NotYetKnown,  ///< The calls around it have not come yet.
    };

    /// `knowsCalls`: CUDA calls are recorded. Without, the time counts at which work ran.
    LaunchWindows(const Windows& windows, bool knowsCalls)
        : windows_(windows), knowsCalls_(knowsCalls) {}

    /// Whether everything is kept, so that nobody need ask.
    bool isEverything() const { return windows_.isEverything(); }

    /// Learns the edges that `Windows::refresh` has learned; to be called after that, before the
    /// calls and the work that were handed over before.
    void refresh();
    /// A CUDA call that began at `startNs`.
    void sawCall(uint32_t correlationId, int64_t startNs);
    /// Whether work was launched in a window. `ranNs` is when it began to run, 0 if that is
    /// unknown.
    Answer find(uint32_t correlationId, int64_t ranNs) const;
    /// The same for work that has waited long enough: never `NotYetKnown`.
    Answer guess(uint32_t correlationId, int64_t ranNs) const;

  private:
    enum class Side { Before, After, NotYetKnown };
    /// A moment at which a window begins or ends, and what is known of the calls around it.
    struct Edge {
        int64_t ns;
        bool isBegin;
        bool hasBefore = false, hasAfter = false;
        uint32_t lastBefore = 0;  ///< Highest number of a call before the edge.
        uint32_t firstAfter = 0;  ///< Lowest number of one at or after it.
        std::unordered_map<uint32_t, int64_t> near;
    };
    struct Call {
        uint32_t correlationId;
        int64_t startNs;
    };
    void addEdge(int64_t ns, bool isBegin);
    static Side sideOf(const Edge& edge, uint32_t correlationId, int64_t ranNs);
    Answer answer(uint32_t correlationId, int64_t ranNs, bool mustDecide) const;

    const Windows& windows_;
    const bool knowsCalls_;
    std::deque<Edge> edges_;    // by time
    uint32_t nextWindow_ = 0;   // the first window of which an edge is still to come
    bool knowsBegin_ = false;   // of that one
    std::vector<Call> latest_;  // a ring of the last calls, for the edges that are learned later
    size_t nextLatest_ = 0;
};

}  // namespace lanescope::agent
