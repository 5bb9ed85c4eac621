// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/viewer_scale/TrainingRows.h"

namespace lanescope::bench {

/// A data-parallel training on two simulated GPUs: one process and rank per GPU, each with four
/// streams and four threads (forward and optimizer, backward, loading, watching) with NVTX ranges
/// four deep. The same seed gives the same rows. Nothing in it was measured on a GPU.
class TrainingSimulation {
  public:
    static constexpr int rankCount = 2, threadCount = 4, streamCount = 4, kernelNameCount = 300;

    explicit TrainingSimulation(uint64_t seed);

    const SimulatedNames& names() const { return names_; }
    /// Fills `rows` with the next step, which begins after the end of the previous one.
    void nextStep(StepRows& rows);
    /// End of the last step.
    int64_t endNs() const { return timeNs_; }

  private:
    class Rank;
    /// Duration and number of blocks of a name, drawn once.
    struct KernelShape {
        int64_t durationNs;
        uint16_t gridX;
    };

    uint64_t random();
    /// Returns `ns` plus or minus an eighth.
    int64_t jittered(int64_t ns);

    SimulatedNames names_;
    std::vector<KernelShape> shapes_;
    uint64_t randomState_;
    uint32_t step_ = 0;
    int64_t timeNs_ = 1'000'000;
    std::vector<uint32_t> correlations_;  ///< The last correlation of each rank.
};

}  // namespace lanescope::bench
