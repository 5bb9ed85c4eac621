// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/analysis/stepPatterns.h"
#include "model/explain/rules.h"

namespace lanescope::explain {

/// Something that a rule found wrong with a run. Times are of the mean step.
struct Finding {
    Rule rule = Rule::LaunchBound;
    /// Of `RunSummary::workers`: where it was found.
    uint32_t worker = 0;
    /// What a step takes in it. No change gives back more, most give back less.
    int64_t mostGainNs = 0;
    double share = 0;  ///< Of the mean step.
    /// Late launches beside it in the mean step that may be the recorder's doing.
    int64_t recorderNs = 0;
    /// What it is mostly about ("outside CUDA calls", "AllReduce"), and in which NVTX ranges; empty
    /// if not known.
    std::string contributor;
    std::string path;
    std::string launched;     ///< At which line, if it is work (`analysis::Contributor::launched`).
    double countPerStep = 0;  ///< Of the contributor; 0 if that says nothing.
    /// When to look, on the clock of the trace: the longest step if that tells anything.
    std::optional<int64_t> atNs;
    /// Of `StepPattern`: which steps it is about.
    std::optional<analysis::StepPattern> pattern;
    std::string sentence;  ///< For people.
    /// A query of the trace file that shows it, of its own steps and ranges; empty if none does.
    std::string sql;
    bool operator==(const Finding&) const = default;
};

/// Where the time of one worker's mean step goes, rounded so that it sums up.
struct WorkerParts {
    uint32_t worker = 0;
    int64_t meanNs = 0;
    analysis::StepParts parts;  ///< They sum to `meanNs`.
    bool operator==(const WorkerParts&) const = default;
};

/// One run, explained.
struct Explanation {
    std::string sentence;       ///< The answer in one.
    std::string what = "step";  ///< What all times are of: "step", "run" of one without steps.
    /// Which steps that is said of, and how much of the run they are: "59 of 60 steps "step #", 71
    /// % of the time from the first to the last GPU work, 1 left out as warm-up.". Empty without
    /// any, and of a run that is explained as a whole.
    std::string steps;
    std::vector<WorkerParts> workers;  ///< Those with steps.
    std::vector<Finding> findings;     ///< That with most to gain first.
    std::vector<std::string> doubts;   ///< What makes all of it less certain; sentences.
    bool operator==(const Explanation&) const = default;
};

/// Explains a run by its summary alone, without the rules of `muted`. O(workers * contributors);
/// any thread.
Explanation explain(const analysis::RunSummary& run, const std::set<Rule>& muted = {});

}  // namespace lanescope::explain
