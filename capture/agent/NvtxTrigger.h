// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "capture/agent/Windows.h"

namespace lanescope::agent {

struct NvtxCall;

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
