// SPDX-License-Identifier: Apache-2.0
#include "model/compare/runTurns.h"

#include <algorithm>
#include <utility>

namespace lanescope::compare {

RunTurns runTurns(RunGroup baseline, RunGroup candidate) {
    RunTurns turns;
    if (baseline.size() != candidate.size() || baseline.size() < fewestRunsByTurns) return turns;
    struct Start {
        int64_t utcNs = 0;
        bool isCandidate = false;
        size_t run = 0;
    };
    std::vector<Start> starts;
    for (const auto& [runs, isCandidate] : {std::pair(baseline, false), std::pair(candidate, true)})
        for (size_t run = 0; run < runs.size(); ++run) {
            const SummaryFacts& facts = runs[run].facts;
            if (facts.startUtcNs <= 0 || facts.host != baseline.front().facts.host) return turns;
            starts.push_back({facts.startUtcNs, isCandidate, run});
        }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start& a, const Start& b) { return a.utcNs < b.utcNs; });
    for (size_t at = 0; at < starts.size(); at += 2)
        if (starts[at].isCandidate == starts[at + 1].isCandidate) return turns;
    turns.baseline.resize(baseline.size());
    turns.candidate.resize(candidate.size());
    for (size_t at = 0; at < starts.size(); ++at)
        (starts[at].isCandidate ? turns.candidate : turns.baseline)[starts[at].run] =
            static_cast<double>(at);
    return turns;
}

}  // namespace lanescope::compare
