// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "capture/agent/Windows.h"

namespace lanescope::agent {

/// Tells work that was launched in a window from other work, whenever it ran. CUPTI numbers the
/// CUDA calls of a process nearly in their order, and GPU work bears the number of the call that
/// launched it. Numbers that follow each other and whose calls began in the same stretch of time
/// are one run, so memory grows with the edges of windows and with the calls that overtake each
/// other there, not with the number of calls. However late a call begins among others, its own
/// beginning counts: work near an edge waits for it. Writer thread only.
class LaunchWindows {
  public:
    enum class Answer {
        Inside,
        Outside,
        NotYetKnown,  ///< The call may still come.
    };
    /// So many runs are known, the latest; each takes 64 bytes.
    static constexpr size_t mostRuns = 16'384;

    /// `knowsCalls`: CUDA calls are recorded. Without, the time counts at which work ran.
    LaunchWindows(const Windows& windows, bool knowsCalls)
        : windows_(windows), knowsCalls_(knowsCalls) {}

    /// A CUDA call that began at `startNs`, before the last `Windows::refresh`; whether that lies
    /// in a window. O(log runs), constant for calls that come in their order.
    bool sawCall(uint32_t correlationId, int64_t startNs);
    /// Whether work was launched in a window; it was handed over before the last
    /// `Windows::refresh`. `ranNs` is when it began to run, 0 if that is unknown. O(log runs).
    Answer find(uint32_t correlationId, int64_t ranNs) const;
    /// The same for work that has waited long enough: never `NotYetKnown`.
    Answer guess(uint32_t correlationId, int64_t ranNs) const;
    /// How many runs are known.
    size_t runs() const { return runs_.size(); }

  private:
    struct Run {
        int64_t last;      ///< The number of its last call.
        uint64_t stretch;  ///< In which all of its calls began; see `Windows::stretchAt`.
    };
    /// Between which stretches that of a call must lie.
    struct Range {
        uint64_t earliest, latest;
    };
    int64_t numberOf(uint32_t correlationId) const;
    void markSeen(int64_t number);
    bool wasSeen(int64_t number) const;
    void put(int64_t number, uint64_t stretch);
    Range near(int64_t number, int64_t ranNs) const;
    Range nearest(int64_t number, int64_t ranNs) const;

    const Windows& windows_;
    const bool knowsCalls_;
    int64_t newest_ = 0;           // the highest number so far
    std::vector<bool> seen_;       // which of the latest numbers came, a ring
    std::map<int64_t, Run> runs_;  // by the number of the first call of each
};

}  // namespace lanescope::agent
