// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include "tests/support/idleCauses.h"
#include "views/explain/ExplainJob.h"

namespace lanescope::views {

inline constexpr int64_t ms = 1'000'000;

/// A synthetic run with these ranks and steps: each step computes 10 ms, waits 5 ms for a launch
/// and 2 ms for data. Step 7 of the last rank takes 30 ms more.
inline analysis::RunSummary madeSummary(int ranks, int steps) {
    using analysis::CauseKind;
    using analysis::Contributor;
    using analysis::ContributorKind;
    using analysis::ContributorName;
    using analysis::OutlierStep;
    using analysis::RunSummary;
    using analysis::StepPart;
    using analysis::StepParts;
    using analysis::StepSummary;
    using analysis::WorkerSummary;
    RunSummary run{.source = StepSource::NvtxRange, .pattern = "step #"};
    run.facts.hasApiCalls = true;
    run.facts.kernelCount = 1;
    for (int rank = 0; rank < ranks; ++rank) {
        WorkerSummary worker{.pid = 100 + static_cast<uint32_t>(rank), .gpuId = rank};
        if (ranks > 1) worker.rank = rank;
        int64_t atNs = 100 * ms;
        const auto add = [&worker](StepPart part, ContributorKind kind, const ContributorName& name, int64_t ns) {
            Contributor each{.part = part, .kind = kind, .name = name, .count = 1};
            each.exposedNs = each.totalNs = ns;
            worker.contributors.push_back(each);
        };
        for (int number = 0; number < steps; ++number) {
            StepSummary step;
            step.number = number;
            step.name = "step " + std::to_string(number);
            step.startNs = atNs;
            step.parts[StepPart::Compute] = 10 * ms;
            step.parts[StepPart::LaunchBound] = 5 * ms;
            step.parts[StepPart::DataLoading] = 2 * ms;
            if (rank == ranks - 1 && number == 7) {
                step.parts[StepPart::DataLoading] += 30 * ms;
                OutlierStep odd{.number = 7, .startNs = atNs};
                odd.excessNs = odd.partExcessNs = 30 * ms;
                odd.part = StepPart::DataLoading;
                odd.contributor = analysis::idle(CauseKind::LoadingRange);
                worker.outliers.push_back(odd);
            }
            step.wallNs = step.parts.sum();
            atNs += step.wallNs;
            worker.steps.push_back(step);
        }
        const StepParts total = worker.totalParts();
        add(StepPart::Compute, ContributorKind::Kernel, "gemm", total[StepPart::Compute]);
        add(StepPart::LaunchBound, ContributorKind::Idle, analysis::idle(CauseKind::OutsideCalls),
            total[StepPart::LaunchBound]);
        add(StepPart::DataLoading, ContributorKind::Idle, analysis::idle(CauseKind::LoadingRange),
            total[StepPart::DataLoading]);
        run.workers.push_back(std::move(worker));
    }
    return run;
}

inline ExplainedRunPtr madeRun(int ranks, int steps) {
    return std::make_shared<const ExplainedRun>(madeSummary(ranks, steps));
}

}  // namespace lanescope::views
