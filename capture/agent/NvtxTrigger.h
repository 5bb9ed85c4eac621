// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "capture/agent/Windows.h"

namespace lanescope::agent {

struct NvtxCall;

/// Tells the samplers of the run, through a pipe in its folder, when a range that was chosen begins
/// or ends, so that they read their counters at once. Never waits: what does not fit into the pipe
/// is dropped. Any thread; a call that is none of the chosen ranges' takes no lock, but for the
/// pattern's comparison with its name.
class MomentTeller {
  public:
    /// `pattern` as for `matchesPattern`.
    MomentTeller(std::string pattern, const std::string& runFolder);
    MomentTeller(const MomentTeller&) = delete;
    MomentTeller& operator=(const MomentTeller&) = delete;

    /// Looks at a call, whose time is `timeNs`. `level` as in `NvtxRecord`.
    void look(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs) noexcept;

  private:
    struct Range {
        uint64_t key;
        uint32_t occurrence;
        std::string name;
    };
    void lookAndTell(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs);
    void tell(int64_t timeNs, const Range& range, bool isEnd);
    bool isPipeOurs();

    const std::string pattern_, pipePath_;
    std::atomic<size_t> openCount_{0};
    std::mutex
        mutex_;  // guards what follows; taken for chosen ranges, and while one is open by ends
    std::vector<Range> open_;
    uint32_t occurrences_ = 0;
    int pipe_ = -1;
    uint64_t deviceNumber_ = 0, fileNumber_ = 0;
    int64_t nextTryNs_ = 0;
};

/// Whether a range of this name is a step of a training: "step", "iteration" or "iter" as a word,
/// by itself or after "train" or "training", whatever numbers and signs follow, and PyTorch's
/// "ProfilerStep#12". Case does not matter.
bool isStepName(std::string_view name);

/// Opens and closes windows by the NVTX ranges of the program. Looks at each call as it is made, so
/// that not one event at the edge of a window is lost or too many; a call that is neither the first
/// nor the last of a window waits for nothing.
class NvtxTrigger {
  public:
    explicit NvtxTrigger(Windows& windows)
        : windows_(windows), options_(windows.options()), period_(periodOf(options_.steps)) {}

    /// Looks at a call before it is recorded and answers its time. `level` as in `NvtxRecord`.
    int64_t timeOf(const NvtxCall& call, uint32_t threadId, int32_t level);

  private:
    static int64_t periodOf(StepRange steps) {
        return steps.last == INT64_MAX ? steps.last : steps.last + 1;
    }
    bool isTriggerRange(const NvtxCall& call);
    bool isInDomain(uint32_t domain);
    int64_t beginRange(uint64_t key, uint32_t threadId);
    int64_t endRange(uint64_t key);

    Windows& windows_;
    const WindowOptions& options_;
    const int64_t
        period_;  ///< After so many steps, those before the first among them, all begins anew.
    /// The range of the program that is the window or the present step; 0 for none.
    std::atomic<uint64_t> openKey_{0};
    std::atomic<uint32_t> stepThread_{0};  ///< The first that had a step; others are not counted.

    enum : uint8_t { NotAsked, Yes, No };
    std::array<std::atomic<uint8_t>, 256> isInDomain_{};  ///< By domain.

    std::mutex mutex_;  // guards the count; taken where a window or a step begins or ends
    int64_t step_ = 0;
};

}  // namespace lanescope::agent
