// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/viewer_scale/TrainingRows.h"

namespace lanescope::bench {

/// A data-parallel training on two simulated GPUs: a process and rank a GPU, each with four streams
/// and four threads (forward and optimizer, backward, loading, watching) that keep NVTX ranges four
/// deep. The same seed gives the same rows. Nothing in it was measured on a GPU.
class TrainingSimulation {
  public:
    static constexpr int rankCount = 2;
    static constexpr int threadCount = 4;
    static constexpr int streamCount = 4;
    static constexpr int kernelNameCount = 300;

    explicit TrainingSimulation(uint64_t seed);

    const SimulatedNames& names() const { return names_; }
    /// Fills `rows` with the next step, which begins after everything of the last one has ended.
    void nextStep(StepRows& rows);
    /// When the last step ended.
    int64_t endNs() const { return timeNs_; }

  private:
    class Rank;
    /// Of a name, drawn once: how long it takes and how many blocks it starts.
    struct KernelShape {
        int64_t durationNs;
        uint16_t gridX;
    };

    uint64_t random();
    /// `ns` give or take an eighth.
    int64_t jittered(int64_t ns);

    SimulatedNames names_;
    std::vector<KernelShape> shapes_;
    uint64_t randomState_;
    uint32_t step_ = 0;
    int64_t timeNs_ = 1'000'000;
    std::vector<uint32_t> correlations_;  ///< The last one of each rank.
};

}  // namespace lanescope::bench
