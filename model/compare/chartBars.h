// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
RunBand runBand(std::span<const analysis::WorkerSummary* const> workers);

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
        analysis::OutlierStep outlier;
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
    const analysis::WorkerSummary* worker = nullptr;
    StepDistribution steps;
    RunBand band = {};
};

/// O(n log n) in the steps.
StepBars stepBars(std::span<const StepBarsOf> runs);

/// How the baseline's mean step becomes the candidate's: which bars stand between the two, in which
/// order, and what is put together. A chart only draws them.
struct WaterfallBars {
    struct Bar {
        std::string label;                       ///< "exposed communication", "3 other parts".
        std::optional<analysis::StepPart> part;  ///< Nothing for what is put together.
        int64_t fromNs = 0, toNs = 0;            ///< It begins where the one before it ends.
        int64_t lostNs() const { return toNs - fromNs; }
    };
    int64_t baselineNs = 0, candidateNs = 0;
    std::vector<Bar> bars;  ///< Weightiest first; what is put together comes last.
    DurationScale scale;    ///< Of all its numbers.

    /// The lowest and the highest end of a bar.
    int64_t lowestNs() const;
    int64_t highestNs() const;
};

/// A bar for each part that changed: the `mostBars` weightiest, each of at least a hundredth of all
/// changes. The rest is put together, unless it is one part or cancels itself out.
WaterfallBars waterfallBars(const WorkerComparison& pair, size_t mostBars = 7);

}  // namespace lanescope::compare
