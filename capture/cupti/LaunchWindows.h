// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "capture/agent/Windows.h"

namespace lanescope::agent {

/// Classifier that distinguishes work launched in a window from other work, whenever it ran. CUPTI numbers the CUDA
/// calls of a process nearly in their order, and GPU work carries the number of the call that launched it. Consecutive
/// numbers whose calls began in the same interval form one run. Memory therefore grows with the window edges and with
/// the calls that overtake each other there, not with the number of calls. For a late call its own beginning counts:
/// work near an edge waits for it. Writer thread only.
class LaunchWindows {
  public:
    enum class Answer {
        Inside,
        Outside,
        NotYetKnown,  ///< The call may still arrive.
    };
    /// Number of runs kept, the latest; each takes 64 bytes.
    static constexpr size_t maxRuns = 16'384;

    /// `hasCalls`: CUDA calls are recorded. Otherwise the time at which work ran decides.
    LaunchWindows(const Windows& windows, bool hasCalls) : windows_(windows), hasCalls_(hasCalls) {}

    /// Adds a CUDA call that began at `startNs`, before the last `Windows::refresh`. Returns true
    /// if it began in a window. O(log runs), constant for calls in order.
    bool addCall(uint32_t correlationId, int64_t startNs);
    /// Returns the answer for work that was handed over before the last `Windows::refresh`. `ranNs`
    /// is the time at which it began to run, or 0 if unknown. O(log runs).
    Answer find(uint32_t correlationId, int64_t ranNs) const;
    /// Returns the answer for work that has waited long enough: never `NotYetKnown`.
    Answer guess(uint32_t correlationId, int64_t ranNs) const;
    size_t runs() const { return runs_.size(); }

  private:
    struct Run {
        int64_t last;       ///< Number of its last call.
        uint64_t interval;  ///< Interval in which all of its calls began; see `Windows::intervalAt`.
    };
    /// First and last possible interval of a call.
    struct Range {
        uint64_t earliest, latest;
    };
    int64_t numberOf(uint32_t correlationId) const;
    void markSeen(int64_t number);
    bool wasSeen(int64_t number) const;
    void put(int64_t number, uint64_t interval);
    Range near(int64_t number, int64_t ranNs) const;
    Range nearest(int64_t number, int64_t ranNs) const;

    const Windows& windows_;
    const bool hasCalls_;
    int64_t newest_ = 0;           // the highest number so far
    std::vector<bool> seen_;       // arrival flags of the latest numbers, a ring
    std::map<int64_t, Run> runs_;  // by the number of each run's first call
};

}  // namespace lanescope::agent
