// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTest>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/analysis/RunSummary.h"

namespace lanescope {

/// Spread between runs of one program, as logarithms of their time; for simulations.
struct RunNoise {
    const char* name = "";
    bool drifts = false;  ///< The machine's speed drifts during the runs, in addition to the level.
    std::function<double(std::mt19937&)> level = {};
};

/// Spread between runs for each of `runNoises`.
struct NoiseSizes {
    double normal = 0, spreadWithDrift = 0;
    double betweenModes = 0, withinModes = 0;
    double heavyTail = 0;
};

/// Normal, drifting, bimodal, and heavy-tailed.
inline std::vector<RunNoise> runNoises(const NoiseSizes& sizes) {
    using Random = std::mt19937;
    const auto normal = [](double spread) {
        return [spread](Random& random) { return std::normal_distribution<double>(0, spread)(random); };
    };
    return {{"normal", false, normal(sizes.normal)},
            {"drifting", true, normal(sizes.spreadWithDrift)},
            {"bimodal", false,
             [sizes](Random& random) {
                 const double mode = random() % 2 == 0 ? 0 : sizes.betweenModes;
                 return mode + std::normal_distribution<double>(0, sizes.withinModes)(random);
             }},
            {"heavy-tailed", false,
             [sizes](Random& random) { return sizes.heavyTail * std::student_t_distribution<double>(3)(random); }}};
}

/// Adds test rows for each noise and some numbers of runs per side: "recipe" and "runs".
inline void addNoiseRows(const std::vector<RunNoise>& noises) {
    QTest::addColumn<int>("recipe");
    QTest::addColumn<int>("runs");
    for (int recipe = 0; recipe < int(noises.size()); ++recipe)
        for (const int runs : {3, 5, 10})
            QTest::addRow("%s, %d a side", noises[size_t(recipe)].name, runs) << recipe << runs;
}

}  // namespace lanescope

namespace lanescope::analysis {

/// Returns a run of one GPU with these steps, which compute in one kernel.
inline RunSummary simulatedRun(WorkerSummary worker, const char* kernel) {
    RunSummary run;
    run.facts.title = "run";
    run.source = StepSource::NvtxRange;
    run.pattern = "step #";
    Contributor contributor;
    contributor.name = kernel;
    for (const StepSummary& step : worker.steps) {
        contributor.exposedNs += step.parts[StepPart::Compute];
        ++contributor.count;
    }
    contributor.totalNs = contributor.exposedNs;
    run.facts.kernelCount = contributor.count;
    worker.rank = 0;
    worker.foundSteps = contributor.count;
    worker.contributors.push_back(contributor);
    run.workers.push_back(std::move(worker));
    return run;
}

}  // namespace lanescope::analysis
