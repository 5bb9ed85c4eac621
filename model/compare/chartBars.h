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

/// Range of the median steps of one side's runs.
struct RunBand {
    size_t runs = 0;  ///< No band with fewer than two.
    double lowestNs = 0, highestNs = 0;
};

/// Returns the band of the workers that represent one worker in each run. O(n log n) in their steps.
RunBand runBand(std::span<const analysis::WorkerSummary* const> workers);

/// Steps of several runs in order, as drawn by charts. Up to a thousand steps are shown
/// individually; more steps are grouped with neighbours into at most a thousand bars.
struct StepBars {
    /// A step, or several consecutive ones.
    struct Bar {
        size_t first = 0, count = 1;  ///< Indices among the compared steps.
        int64_t shortestNs = 0, medianNs = 0, longestNs = 0;
    };
    /// An outlier step.
    struct Mark {
        size_t step = 0;
        analysis::OutlierStep outlier;
    };
    struct Run {
        std::vector<Bar> bars;
        std::vector<int64_t> numbers;    ///< Numbers of the steps.
        std::vector<std::string> names;  ///< "step 12", for the tooltip.
        std::vector<int64_t> wallNs;
        std::vector<Mark> marks;
        StepDistribution steps;
        RunBand band;
        size_t stepCount() const { return wallNs.size(); }
    };
    std::vector<Run> runs;
    size_t stepsPerBar = 1;
    size_t stepCount = 0;  ///< Steps of the longest run.
};

/// A run of the chart: its worker, or null for none.
struct StepBarsOf {
    const analysis::WorkerSummary* worker = nullptr;
    StepDistribution steps;
    RunBand band = {};
};

/// O(n log n) in the steps.
StepBars stepBars(std::span<const StepBarsOf> runs);

/// Bars from the baseline's mean step to the candidate's, in order, with small parts combined. A chart only draws them.
struct WaterfallBars {
    struct Bar {
        std::string label;                       ///< "exposed communication", "3 other parts".
        std::optional<analysis::StepPart> part;  ///< Nullopt for combined parts.
        int64_t fromNs = 0, toNs = 0;            ///< Starts at the end of the previous bar.
        int64_t lostNs() const { return toNs - fromNs; }
    };
    int64_t baselineNs = 0, candidateNs = 0;
    std::vector<Bar> bars;  ///< Largest first; combined parts last.
    DurationScale scale;    ///< Scale of all its numbers.

    /// Return the lowest and the highest end of a bar.
    int64_t lowestNs() const;
    int64_t highestNs() const;
};

/// Returns a bar for each changed part: the `maxBars` largest, each of at least a hundredth of all
/// changes. The rest is combined, unless it is one part or cancels out.
WaterfallBars waterfallBars(const WorkerComparison& pair, size_t maxBars = 7);

}  // namespace lanescope::compare
