// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// How far the median steps of the runs of a side lie apart.
struct RunBand {
    size_t runs = 0;  ///< Less than two: there is no band.
    double lowestNs = 0, highestNs = 0;
};

/// Of what stands for one worker in each run. O(n log n) in their steps.
RunBand runBand(std::span<const WorkerSummary* const> workers);

/// Steps of several runs over their order, as charts draw them: up to a thousand steps each by
/// itself, of more so many neighbours put together that there are no more than a thousand.
struct StepBars {
    /// A step, or a few that follow each other.
    struct Bar {
        size_t first = 0, count = 1;  ///< Places among the compared steps.
        int64_t shortestNs = 0, medianNs = 0, longestNs = 0;
    };
    /// A step that stands out.
    struct Mark {
        size_t step = 0;
        OutlierStep outlier;
    };
    struct Run {
        std::vector<Bar> bars;
        std::vector<int64_t> numbers;    ///< Of the steps.
        std::vector<std::string> names;  ///< "step 12", for the pointer.
        std::vector<int64_t> wallNs;
        std::vector<Mark> marks;
        StepDistribution steps;
        RunBand band;
        size_t stepCount() const { return wallNs.size(); }
    };
    std::vector<Run> runs;
    size_t stepsPerBar = 1;
    size_t stepCount = 0;  ///< Of the run that has most.
};

/// A run of the chart: its worker, or null for none.
struct StepBarsOf {
    const WorkerSummary* worker = nullptr;
    StepDistribution steps;
    RunBand band = {};
};

/// O(n log n) in the steps.
StepBars stepBars(std::span<const StepBarsOf> runs);

}  // namespace lanescope::compare
