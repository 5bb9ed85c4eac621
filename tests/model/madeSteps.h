// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/explain/Explanation.h"
#include "model/explain/rules.h"
#include "tests/support/idleCauses.h"
#include "tests/support/orFail.h"

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

/// Replaces the steps of a worker by equal ones, a second from start to start, of which `change` changes each.
template <class Change>
void replaceSteps(analysis::WorkerSummary& worker, int64_t count, Change change) {
    const analysis::StepSummary like = worker.steps.front();
    worker.steps.clear();
    for (int64_t number = 0; number < count; ++number) {
        analysis::StepSummary& step = worker.steps.emplace_back(like);
        step.number = number;
        step.startNs = number * 1'000 * ms;
        change(step);
    }
}

/// The same, with a part longer in the steps that `isLong` selects by number, and a little uneven in all.
template <class IsLong>
void lengthenSteps(analysis::WorkerSummary& worker, int64_t count, analysis::StepPart part, int64_t moreNs,
                   IsLong isLong) {
    replaceSteps(worker, count, [&](analysis::StepSummary& step) {
        const int64_t longerNs = (isLong(step.number) ? moreNs : 0) + step.number * 7'919 % 100'000;
        step.parts[part] += longerNs;
        step.wallNs += longerNs;
    });
}

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

/// Returns the finding of the rule. Ends the test program if there is none.
inline Finding foundBy(const Explanation& explanation, const Rule* rule) {
    const Finding* found = findingOf(explanation, rule);
    return test::orFail(found == nullptr ? std::nullopt : std::optional(*found));
}

inline Finding foundBy(MadeRun& made, const Rule* rule) { return foundBy(explain::explain(made.run()), rule); }
inline std::vector<const Rule*> rulesOf(MadeRun& made) { return rulesOf(explain::explain(made.run())); }

}  // namespace lanescope::explain
