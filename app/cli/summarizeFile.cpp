// SPDX-License-Identifier: Apache-2.0
#include "app/cli/summarizeFile.h"

#include "app/cli/loadForCommand.h"
#include "model/compare/storedSummary.h"
#include "model/steps/stepRanges.h"

namespace lanescope::cli {

Result<compare::RunSummary> summarizeFile(const std::string& file,
                                          const CompareSelection& selection) {
    if (selection.isDefault())
        if (std::optional<compare::RunSummary> stored = compare::readRunSummary(file))
            return std::move(*stored);
    // What has none, as a compressed trace, is for the loader to read or to complain of.
    const Result<TracePtr> trace = loadForCommand(file);
    if (!trace) return fail(trace.error());
    const Result<StepSelection> steps = stepSelectionFor(**trace, selection);
    if (!steps) return fail(steps.error());
    Result<compare::RunSummary> summary = compare::summarizeRun(**trace, *steps);
    if (!summary && !selection.range.empty() && stepRangesNamed(**trace, selection.range).empty())
        return fail("--range: {}", summary.error().sentence);
    return summary;
}

}  // namespace lanescope::cli
