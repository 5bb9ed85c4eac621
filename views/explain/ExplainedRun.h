// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include "model/compare/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/explain/StepGrid.h"
#include "model/steps/mainRanges.h"

namespace lanescope::views {

/// One run, explained, as its parts on the screen show it. Immutable.
struct ExplainedRun {
    explicit ExplainedRun(compare::RunSummary made);

    /// Its steps are stretches that anybody would call so; else there is more to say of it.
    bool hasPlainSteps() const;
    /// From the events: the ranges that such a run comes back to, and where they are.
    void lookAt(const Trace& trace);
    /// What to begin with: the steady steps, else where ranges and the work of GPUs are, else where
    /// the latter alone is; nothing if that is nearly all.
    std::optional<TimeRange> first() const { return steady ? steady : elsewhere; }

    compare::RunSummary summary;
    explain::StepGrid grid;
    std::optional<TimeRange> steady;     ///< `explain::steadySteps`.
    std::optional<MainRanges> ranges;    ///< Of a run without plain steps.
    std::optional<TimeRange> elsewhere;  ///< Of one without any.
};
using ExplainedRunPtr = std::shared_ptr<const ExplainedRun>;

}  // namespace lanescope::views
