// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/explain/Explanation.h"
#include "model/explain/rules.h"
#include "tests/support/idleCauses.h"

namespace lanescope::explain {

inline constexpr int64_t ms = 1'000'000;

inline analysis::Contributor contributor(analysis::StepPart part, analysis::ContributorKind kind,
                                         analysis::ContributorName name, int64_t ns,
                                         analysis::ContributorTrait trait = analysis::ContributorTrait::None) {
    analysis::Contributor made{
        .part = part, .kind = kind, .trait = trait, .name = std::move(name), .path = "forward", .count = 20};
    made.exposedNs = made.totalNs = ns;
    return made;
}

/// A run of ten identical steps, synthetic. Adding to a part adds to every step.
class MadeRun {
  public:
    explicit MadeRun(int ranks = 1) {
        run_.source = StepSource::NvtxRange;
        run_.pattern = "step #";
        run_.facts.hasApiCalls = true;
        run_.facts.kernelCount = 1;
        for (int rank = 0; rank < ranks; ++rank) {
            analysis::WorkerSummary worker;
            worker.pid = 100 + static_cast<uint32_t>(rank);
            if (ranks > 1) worker.rank = rank;
            worker.gpuId = rank;
            worker.foundSteps = steps;
            for (int64_t step = 0; step < steps; ++step) worker.steps.push_back({step, "", step * 1'000 * ms, 0, {}});
            run_.workers.push_back(worker);
            add(static_cast<size_t>(rank),
                contributor(analysis::StepPart::Compute, analysis::ContributorKind::Kernel, "gemm", 0), 100 * ms);
        }
    }

    void add(size_t worker, analysis::Contributor each, int64_t ns) {
        each.exposedNs = each.totalNs = ns * steps;
        for (analysis::StepSummary& step : run_.workers[worker].steps) {
            step.parts[each.part] += ns;
            step.wallNs += ns;
        }
        run_.workers[worker].contributors.push_back(std::move(each));
    }
    void add(analysis::StepPart part, analysis::ContributorKind kind, analysis::ContributorName name, int64_t ns,
             analysis::ContributorTrait trait = analysis::ContributorTrait::None) {
        add(0, contributor(part, kind, std::move(name), 0, trait), ns);
    }
    analysis::RunSummary& run() { return run_; }

    static constexpr int64_t steps = 10;

  private:
    analysis::RunSummary run_;
};

inline std::vector<const Rule*> rulesOf(const Explanation& explanation) {
    std::vector<const Rule*> rules;
    for (const Finding& finding : explanation.findings) rules.push_back(finding.rule);
    return rules;
}

/// Returns null if the rule found nothing.
inline const Finding* findingOf(const Explanation& explanation, const Rule* rule) {
    const auto found = std::ranges::find(explanation.findings, rule, &Finding::rule);
    return found == explanation.findings.end() ? nullptr : &*found;
}

inline std::vector<const Rule*> rulesOf(MadeRun& made) { return rulesOf(explain::explain(made.run())); }

}  // namespace lanescope::explain
