// SPDX-License-Identifier: Apache-2.0
#include "model/requests/makeComparison.h"

#include <optional>
#include <system_error>

#include "model/compare/storedSummary.h"
#include "model/gate/evaluateCondition.h"
#include "model/index/openTrace.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

/// A file twice is a mistake, and would always compare as equal. Earlier runs may be those of a
/// side.
Result<void> checkFilesDiffer(const std::vector<std::string>& files) {
    for (size_t second = 1; second < files.size(); ++second) {
        for (size_t first = 0; first < second; ++first) {
            std::error_code ignored;
            if (files[first] == files[second] ||
                std::filesystem::equivalent(files[first], files[second], ignored))
                return fail("{} and {} are the same file; name different runs.",
                            printable(files[first]), printable(files[second]));
        }
    }
    return {};
}

Result<std::vector<compare::RunSummary>> summarize(const std::vector<std::string>& files,
                                                   const CompareSelection& selection,
                                                   const TraceOpener& open) {
    std::vector<compare::RunSummary> runs;
    for (const std::string& file : files) {
        Result<compare::RunSummary> run = summarizeFile(file, selection, open);
        if (!run) return fail(run.error());
        runs.push_back(std::move(*run));
    }
    return runs;
}

}  // namespace

std::vector<std::string> ComparisonRequest::comparedFiles() const {
    std::vector<std::string> files = baseline;
    for (const std::vector<std::string>& runs : candidates)
        files.insert(files.end(), runs.begin(), runs.end());
    return files;
}

Result<void> checkFiles(const ComparisonRequest& request) {
    if (request.earlier.size() == 1)
        return fail("One earlier run does not tell how much runs differ: name at least two.");
    const Result<void> differ = checkFilesDiffer(request.comparedFiles());
    return differ ? checkFilesDiffer(request.earlier) : differ;
}

Result<compare::RunSummary> summarizeFile(const std::string& file,
                                          const CompareSelection& selection,
                                          const TraceOpener& open) {
    if (selection.isDefault())
        if (std::optional<compare::RunSummary> stored = compare::readRunSummary(file))
            return std::move(*stored);
    // What has none, as a compressed trace, is for the loader to read or to complain of.
    const Result<TracePtr> trace = open(file);
    if (!trace) return fail(trace.error());
    const Result<StepSelection> steps = stepSelectionFor(**trace, selection);
    if (!steps) return fail(steps.error());
    Result<compare::RunSummary> run = compare::summarizeRun(**trace, *steps);
    if (const Result<void> sound = checkIndex(**trace); !sound) return fail(sound.error());
    return run;
}

Result<report::ComparisonReport> makeComparison(const ComparisonRequest& request,
                                                const TraceOpener& open) {
    report::ComparisonReport report;
    report.selection = request.selection.sentence();
    const auto baseline = summarize(request.baseline, request.selection, open);
    if (!baseline) return fail(baseline.error());
    const auto earlier = summarize(request.earlier, request.selection, open);
    if (!earlier) return fail(earlier.error());
    for (const std::vector<std::string>& files : request.candidates) {
        const auto candidate = summarize(files, request.selection, open);
        if (!candidate) return fail(candidate.error());
        Result<compare::ProgramComparison> compared =
            compare::comparePrograms(*baseline, *candidate, *earlier);
        if (!compared) return fail(compared.error());
        report.baseline = std::move(compared->baseline);
        report::ComparedCandidate one{
            std::move(compared->candidate), std::move(compared->comparison), {}};
        for (const gate::Condition& condition : request.conditions)
            one.conditions.push_back(
                gate::evaluateCondition(condition, one.comparison, request.isMissingFine));
        report.candidates.push_back(std::move(one));
    }
    return report;
}

}  // namespace lanescope
