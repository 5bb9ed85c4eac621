// SPDX-License-Identifier: Apache-2.0
#include "model/requests/makeComparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "model/compare/sameRecording.h"
#include "model/compare/storedSummary.h"
#include "model/gate/evaluateCondition.h"
#include "model/index/openTrace.h"
#include "model/live/LiveTrace.h"
#include "model/requests/runHistory.h"
#include "model/requests/runsOfFolder.h"
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

bool isFolder(const std::string& name) {
    std::error_code ignored;
    return std::filesystem::is_directory(name, ignored);
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

/// What tells how much runs differ, and what there is to say of it.
struct EarlierRuns {
    std::vector<compare::RunSummary> runs;
    std::vector<std::string> sentences;
};

/// Runs of the folder, those that are compared left out: they are no earlier ones.
Result<FolderRuns> earlierIn(const std::string& folder, const compare::RunSummary& like,
                             std::span<const compare::RunSummary> compared,
                             const ComparisonRequest& request, const TraceOpener& open) {
    Result<FolderRuns> found = runsOfFolder(folder, like, request.selection, open);
    if (!found) return found;
    std::erase_if(found->runs, [&](const compare::RunSummary& run) {
        return std::any_of(compared.begin(), compared.end(),
                           [&](const auto& each) { return compare::isSameRecording(each, run); });
    });
    return found;
}

/// Adds the runs of a folder: of the baseline's command, else of the candidate's. `compared` begins
/// with the baseline's.
Result<void> addFolder(const std::string& folder, std::span<const compare::RunSummary> compared,
                       const ComparisonRequest& request, const TraceOpener& open,
                       EarlierRuns& earlier) {
    Result<FolderRuns> found = earlierIn(folder, compared.front(), compared, request, open);
    std::string_view side = "baseline";
    if (found && found->runs.empty()) {
        side = "candidate";
        found = earlierIn(folder, compared.back(), compared, request, open);
    }
    if (!found) return fail(found.error());
    if (found->runs.empty())
        return fail(
            "{} has no other run of the command of either side on its machine, recorded alike, so "
            "it does not tell how much runs differ.",
            printable(folder));
    earlier.sentences.push_back(fmt::format(
        "How much runs differ is taken from {} of the {}'s command on its machine in {}{}.",
        found->runs.size() == 1 ? "one run" : fmt::format("{} runs", found->runs.size()), side,
        printable(folder), othersClause(found->others)));
    earlier.runs.insert(earlier.runs.end(), std::make_move_iterator(found->runs.begin()),
                        std::make_move_iterator(found->runs.end()));
    return {};
}

Result<EarlierRuns> earlierRuns(const ComparisonRequest& request,
                                std::span<const compare::RunSummary> compared,
                                const TraceOpener& open) {
    EarlierRuns earlier;
    for (const std::string& name : request.earlier) {
        if (isFolder(name)) {
            const Result<void> added = addFolder(name, compared, request, open, earlier);
            if (!added) return fail(added.error());
            continue;
        }
        Result<compare::RunSummary> run = summarizeFile(name, request.selection, open);
        if (!run) return fail(run.error());
        if (const HealthNote* damage = run->facts.damage())
            return fail("{} does not tell how much runs differ: {} Name another run.", name,
                        damage->sentence);
        earlier.runs.push_back(std::move(*run));
    }
    if (earlier.runs.size() == 1)
        return fail(
            "There is one earlier run, which does not tell how much runs differ: it takes "
            "at least two.");
    return earlier;
}

}  // namespace

std::vector<std::string> ComparisonRequest::comparedFiles() const {
    std::vector<std::string> files = baseline;
    for (const std::vector<std::string>& runs : candidates)
        files.insert(files.end(), runs.begin(), runs.end());
    return files;
}

Result<void> checkFiles(const ComparisonRequest& request) {
    if (request.earlier.size() == 1 && !isFolder(request.earlier.front()))
        return fail("One earlier run does not tell how much runs differ: name at least two.");
    const Result<void> differ = checkFilesDiffer(request.comparedFiles());
    return differ ? checkFilesDiffer(request.earlier) : differ;
}

Result<compare::RunSummary> summarizeFile(const std::string& file,
                                          const CompareSelection& selection,
                                          const TraceOpener& open) {
    // Who opens a trace by its index reads no page of it, and hears of no damage in one.
    if (selection.isDefault())
        if (std::optional<compare::RunSummary> stored = hasIndex(file)
                                                            ? compare::readRunSummary(file)
                                                            : compare::readRunSummaryChecked(file))
            return std::move(*stored);
    // Asked before it is read: what comes to its end meanwhile may have been read in part.
    const std::optional<LiveTrace> live = liveTraceAt(file);
    const bool isStillRecorded = live && stateOf(*live) == LiveState::Recording;
    // What has none, as a compressed trace, is for the loader to read or to complain of.
    const Result<TracePtr> trace = open(file);
    if (!trace) return fail(trace.error());
    const Result<StepSelection> steps = stepSelectionFor(**trace, selection);
    if (!steps) return fail(steps.error());
    Result<compare::RunSummary> run = compare::summarizeRun(**trace, *steps);
    if (const Result<void> sound = checkIndex(**trace); !sound) return fail(sound.error());
    if (run) run->facts.isStillRecorded = isStillRecorded;
    return run;
}

Result<report::ComparisonReport> makeComparison(const ComparisonRequest& request,
                                                const TraceOpener& open) {
    report::ComparisonReport report;
    report.selection = request.selection.sentence();
    auto baseline = summarize(request.baseline, request.selection, open);
    if (!baseline) return fail(baseline.error());
    for (const std::vector<std::string>& files : request.candidates) {
        const auto candidate = summarize(files, request.selection, open);
        if (!candidate) return fail(candidate.error());
        std::vector<std::string> sentences;
        if (!request.history.empty()) {
            Result<HistoryOfRun> history = historyOf(candidate->front(), request.history,
                                                     request.historyRuns, request.selection, open);
            if (!history) return fail(history.error());
            report.history = std::move(history->history);
            baseline = std::move(history->level);
            sentences = std::move(history->sentences);
        }
        std::vector<compare::RunSummary> compared = *baseline;
        compared.insert(compared.end(), candidate->begin(), candidate->end());
        Result<EarlierRuns> earlier = earlierRuns(request, compared, open);
        if (!earlier) return fail(earlier.error());
        sentences.insert(sentences.end(), earlier->sentences.begin(), earlier->sentences.end());
        Result<compare::ProgramComparison> programs =
            compare::comparePrograms(*baseline, *candidate, earlier->runs);
        if (!programs) return fail(programs.error());
        report.baseline = std::move(programs->baseline);
        report::ComparedCandidate one{
            std::move(programs->candidate), std::move(programs->comparison), {}};
        std::vector<std::string>& details = one.comparison.answer.details;
        details.insert(details.begin(), sentences.begin(), sentences.end());
        for (const gate::Condition& condition : request.conditions)
            one.conditions.push_back(
                gate::evaluateCondition(condition, one.comparison, request.isMissingFine));
        report.candidates.push_back(std::move(one));
    }
    return report;
}

}  // namespace lanescope
