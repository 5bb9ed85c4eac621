// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "capture/agent/Windows.h"
#include "capture/log/LogFolder.h"

namespace lanescope::agent {

struct NvtxCall;

/// Notifies the run's samplers, through a pipe in its folder, when a chosen range begins or ends, so that they read
/// their counters at once. Never waits: messages that do not fit into the pipe are dropped. Any thread. A call outside
/// the chosen ranges takes no lock and costs one comparison of its name with the pattern.
class MomentNotifier {
  public:
    MomentNotifier(std::string pattern, log::LogFolder folder);

    /// Examines a call made at `timeNs`. `level` as in `NvtxRecord`.
    void examine(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs) noexcept;

  private:
    struct Range {
        uint64_t key;
        uint32_t occurrence;
        std::string name;
    };
    void notifyIfChosen(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs);
    void notify(int64_t timeNs, const Range& range, bool isEnd);
    bool isPipeOurs();

    const std::string pattern_;
    const log::LogFolder folder_;
    std::atomic<size_t> openCount_{0};
    std::mutex mutex_;  // guards what follows; locked for chosen ranges and their ends
    std::vector<Range> open_;
    uint32_t occurrences_ = 0;
    int pipe_ = -1;
    uint64_t deviceNumber_ = 0, fileNumber_ = 0;
    int64_t nextTryNs_ = 0;
};

/// Opens and closes windows by the program's NVTX ranges. Examines each call when it is made, so that windows have
/// exactly the right events at their edges. A call that is neither the first nor the last of a window does not wait.
class NvtxTrigger {
  public:
    explicit NvtxTrigger(Windows& windows)
        : windows_(windows), options_(windows.options()), period_(periodOf(options_.steps)) {}

    /// Examines a call before it is recorded and returns its time. `level` as in `NvtxRecord`.
    int64_t timeOf(const NvtxCall& call, uint32_t threadId, int32_t level);

  private:
    static int64_t periodOf(StepRange steps) { return steps.last == INT64_MAX ? steps.last : steps.last + 1; }
    bool isTriggerRange(const NvtxCall& call);
    bool isInDomain(uint32_t domain);
    int64_t beginRange(uint64_t key, uint32_t threadId);
    int64_t endRange(uint64_t key);

    Windows& windows_;
    const WindowOptions& options_;
    const int64_t period_;  ///< Steps, with the skipped first ones, until the schedule restarts.
    /// Range that is the window or the present step; 0 for none.
    std::atomic<uint64_t> openKey_{0};
    std::atomic<uint32_t> stepThread_{0};  ///< First thread that had a step; only its steps count.

    enum : uint8_t { NotAsked, Yes, No };
    std::array<std::atomic<uint8_t>, 256> isInDomain_{};  ///< By domain.

    std::mutex mutex_;  // guards the count; locked when a window or a step begins or ends
    int64_t step_ = 0;
};

}  // namespace lanescope::agent
