// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include "model/compare/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/explain/StepGrid.h"

namespace lanescope::views {

/// One run, explained, as its parts on the screen show it. Immutable.
struct ExplainedRun {
    explicit ExplainedRun(compare::RunSummary made);

    compare::RunSummary summary;
    explain::StepGrid grid;
    std::optional<TimeRange> steady;  ///< What to begin with (`explain::steadySteps`).
};
using ExplainedRunPtr = std::shared_ptr<const ExplainedRun>;

}  // namespace lanescope::views
