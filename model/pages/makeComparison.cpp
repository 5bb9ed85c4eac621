// SPDX-License-Identifier: Apache-2.0
#include "model/pages/makeComparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>

#include "model/analysis/shownNumbers.h"
#include "model/analysis/storedSummary.h"
#include "model/compare/comparePrograms.h"
#include "model/compare/evaluateCondition.h"
#include "model/compare/judgeRuns.h"
#include "model/index/indexedSummary.h"
#include "model/index/openTrace.h"
#include "model/live/LiveTrace.h"
#include "model/pages/TimelineData.h"
#include "model/system/system.h"
#include "model/text/formatValue.h"

namespace lanescope {

using namespace analysis;
using namespace compare;
using namespace report;

namespace {

/// A repeated file is a mistake and would always compare as equal. Earlier runs may be those of a side.
Result<void> checkFilesDiffer(const std::vector<std::string>& files) {
    for (size_t second = 1; second < files.size(); ++second) {
        for (size_t first = 0; first < second; ++first) {
            std::error_code ignored;
            if (files[first] == files[second] || std::filesystem::equivalent(files[first], files[second], ignored))
                return fail("{} and {} are the same file; name different runs.", printable(files[first]),
                            printable(files[second]));
        }
    }
    return {};
}

bool isFolder(const std::string& name) {
    std::error_code ignored;
    return std::filesystem::is_directory(name, ignored);
}

Result<std::vector<RunSummary>> summarize(const std::vector<std::string>& files, const CompareSelection& selection,
                                          const TraceOpener& open) {
    std::vector<RunSummary> runs;
    for (const std::string& file : files) {
        Result<RunSummary> run = summarizeFile(file, selection, open);
        if (!run) return fail(run.error());
        runs.push_back(std::move(*run));
    }
    return runs;
}

Result<std::vector<std::string>> tracesIn(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (at->path().extension() == ".sqlite" && at->is_regular_file(ignored)) files.push_back(at->path().string());
    }
    if (error) return fail("Cannot read the folder {}: {}.", printable(folder), error.message());
    std::ranges::sort(files);
    return files;
}

bool hasSteps(const RunSummary& run) {
    return !run.isEmpty() && std::ranges::all_of(run.workers, [](const auto& worker) { return !worker.steps.empty(); });
}

/// Returns true if both are runs of one command on one machine, with equally many processes and the
/// same GPUs, recorded with equal options. A run without a known command or host matches none.
bool areAlike(const RunSummary& run, const RunSummary& other) {
    const auto settingOf = [](const RunSummary& each) {
        const SummaryFacts& facts = each.facts;
        return std::tie(facts.commandLine, facts.host, facts.gpuNames, facts.recordOptions);
    };
    return !run.facts.commandLine.empty() && !run.facts.host.empty() && settingOf(run) == settingOf(other) &&
           run.workers.size() == other.workers.size();
}

/// Traces of a folder that are runs like another one.
struct FolderRuns {
    std::vector<RunSummary> runs;  ///< Oldest first.
    int64_t others = 0;            ///< Number of other, corrupt or unreadable traces there.
};

/// Reads the traces (`*.sqlite`) in `folder`, without subfolders, by `summarizeFile`. Fails if it cannot be read.
Result<FolderRuns> runsOfFolder(const std::string& folder, const RunSummary& like, const CompareSelection& selection,
                                const TraceOpener& open) {
    const Result<std::vector<std::string>> files = tracesIn(folder);
    if (!files) return fail(files.error());
    FolderRuns found;
    for (const std::string& file : *files) {
        Result<RunSummary> run = summarizeFile(file, selection, open);
        if (run && !run->facts.damage() && hasSteps(*run) && areAlike(*run, like))
            found.runs.push_back(std::move(*run));
        else
            ++found.others;
    }
    std::ranges::stable_sort(found.runs, {}, [](const auto& each) { return each.facts.startUtcNs; });
    return found;
}

/// Returns "; 3 other traces there are damaged, or of another command, machine or way of recording"; empty for none.
std::string othersClause(int64_t others) {
    if (others == 0) return {};
    return fmt::format(
        "; {} corrupt, or of another command, machine or way of recording",
        others == 1 ? "one other trace in the folder is" : fmt::format("{} other traces in the folder are", others));
}

/// Runs for the spread between runs, and notes about them.
struct EarlierRuns {
    std::vector<RunSummary> runs;
    std::vector<std::string> sentences;
};

/// Returns the runs of the folder except the compared ones, which are not earlier.
Result<FolderRuns> earlierIn(const std::string& folder, const RunSummary& like, std::span<const RunSummary> compared,
                             const ComparisonRequest& request, const TraceOpener& open) {
    Result<FolderRuns> found = runsOfFolder(folder, like, request.selection, open);
    if (!found) return found;
    std::erase_if(found->runs, [&](const RunSummary& run) {
        return std::ranges::any_of(compared, [&](const auto& each) { return isSameRecording(each, run); });
    });
    return found;
}

/// Adds a folder's runs: of the baseline's command, else of the candidate's. `compared` begins with the baseline's.
Result<void> addFolder(const std::string& folder, std::span<const RunSummary> compared,
                       const ComparisonRequest& request, const TraceOpener& open, EarlierRuns& earlier) {
    Result<FolderRuns> found = earlierIn(folder, compared.front(), compared, request, open);
    std::string_view side = "baseline";
    if (found && found->runs.empty()) {
        side = "candidate";
        found = earlierIn(folder, compared.back(), compared, request, open);
    }
    if (!found) return fail(found.error());
    if (found->runs.empty())
        return fail(
            "{} has no other run of the command of either side on its machine, recorded alike, so it does not show how "
            "much runs differ.",
            printable(folder));
    earlier.sentences.push_back(
        fmt::format("The spread between runs is taken from {} of the {}'s command on its machine in {}{}.",
                    found->runs.size() == 1 ? "one run" : fmt::format("{} runs", found->runs.size()), side,
                    printable(folder), othersClause(found->others)));
    earlier.runs.insert(earlier.runs.end(), std::make_move_iterator(found->runs.begin()),
                        std::make_move_iterator(found->runs.end()));
    return {};
}

Result<EarlierRuns> earlierRuns(const ComparisonRequest& request, std::span<const RunSummary> compared,
                                const TraceOpener& open) {
    EarlierRuns earlier;
    for (const std::string& name : request.earlier) {
        if (isFolder(name)) {
            const Result<void> added = addFolder(name, compared, request, open, earlier);
            if (!added) return fail(added.error());
            continue;
        }
        Result<RunSummary> run = summarizeFile(name, request.selection, open);
        if (!run) return fail(run.error());
        if (const HealthNote* damage = run->facts.damage())
            return fail("{} does not show how much runs differ: {} Name another run.", name, damage->sentence);
        earlier.runs.push_back(std::move(*run));
    }
    if (earlier.runs.size() == 1)
        return fail("There is one earlier run, which does not show how much runs differ: it takes at least two.");
    return earlier;
}

/// Returns the summary in the trace, or next to its index.
std::optional<RunSummary> storedSummaryOf(const std::string& file) {
    if (auto indexed = readIndexedSummary(file)) return indexed;
    auto stored = readRunSummary(file);
    // Opening a trace by its index reads no page of it, and detects no corruption.
    return !stored || hasIndex(file) ? stored : readRunSummaryChecked(file);
}

/// With fewer runs a spread means next to nothing.
constexpr size_t minRuns = 3;

/// Returns the median of the worker that the others wait for.
double medianStepOf(const RunSummary& run) {
    return std::max(1.0, stepsOf(run.workers[run.criticalWorker()]).medianNs);
}

HistoricRun historicRun(const RunSummary& run) { return {run.facts.title, run.facts.startUtcNs, medianStepOf(run)}; }

/// Returns the last `most` runs started before `run`.
std::vector<RunSummary> earlierOf(std::vector<RunSummary> runs, const RunSummary& run, size_t most) {
    std::erase_if(runs, [&](const RunSummary& each) { return each.facts.startUtcNs >= run.facts.startUtcNs; });
    if (runs.size() > most) runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(most));
    return runs;
}

std::string runsSentence(const RunHistory& history) {
    const auto earlier = std::span(history.runs).first(history.runs.size() - 1);
    const auto [least, most] =
        std::ranges::minmax_element(earlier, [](const auto& a, const auto& b) { return a.medianNs < b.medianNs; });
    return fmt::format("The last {} runs of this command on this machine in {} had median steps from {} to {}{}.",
                       earlier.size(), printable(history.folder), timeText(least->medianNs), timeText(most->medianNs),
                       othersClause(history.others));
}

std::string changeSentence(const RunHistory& history) {
    if (!history.change) return "No change of their level is certain.";
    const ChangePoint& change = *history.change;
    const size_t since = history.runs.size() - 1 - change.first;
    std::string text =
        fmt::format("Their level changed between {} and {}: {} % ({} among random orders of these runs)",
                    printable(history.runs[change.first - 1].title), printable(history.runs[change.first].title),
                    percentDifferenceText(change.percent), pValueEquation(change.pValue));
    return text + (history.compared == since ? fmt::format("; this run is compared with the {} since.", since)
                                             : "; too few runs since then to compare this one with.");
}

/// A run and the earlier runs of its folder.
struct HistoryOfRun {
    RunHistory history = {};
    std::vector<RunSummary> level;            ///< Runs that it is compared with, oldest first.
    std::vector<std::string> sentences = {};  ///< Notes about them.
};

/// Returns the earlier runs of a folder to compare a run with: the last `most` similar ones started before it, or those
/// since the latest change of their level if there are three. Fails if there are fewer than three.
Result<HistoryOfRun> historyOf(const RunSummary& run, const std::string& folder, size_t most,
                               const CompareSelection& selection, const TraceOpener& open) {
    const std::string title = printable(run.facts.title);
    if (run.criticalWorker() == noIndex)
        return fail("{} has no steps on a GPU, so there is nothing to compare.", title);
    if (run.facts.startUtcNs == 0 || run.facts.host.empty() || run.facts.commandLine.empty())
        return fail("{} does not contain its start time, host and command, so its earlier runs cannot be found.",
                    title);
    Result<FolderRuns> found = runsOfFolder(folder, run, selection, open);
    if (!found) return fail(found.error());
    HistoryOfRun answer{.level = earlierOf(std::move(found->runs), run, most)};
    if (answer.level.size() < minRuns)
        return fail(
            "{} has {} earlier run{} of the command of {} on its machine, recorded alike; it takes at least {}{}.",
            printable(folder), answer.level.size(), answer.level.size() == 1 ? "" : "s", title, minRuns,
            othersClause(found->others));
    RunHistory& history = answer.history;
    history.folder = folder;
    history.others = found->others;
    std::vector<double> medians;
    for (const RunSummary& each : answer.level) history.runs.push_back(historicRun(each));
    history.runs.push_back(historicRun(run));
    for (const HistoricRun& each : history.runs) medians.push_back(each.medianNs);
    history.change = latestChange(medians);
    const Stretch level = levelOf(answer.level.size(), history.change, minRuns);
    answer.level.resize(level.end);
    answer.level.erase(answer.level.begin(), answer.level.begin() + static_cast<std::ptrdiff_t>(level.begin));
    history.compared = answer.level.size();
    answer.sentences = {runsSentence(history), changeSentence(history)};
    return answer;
}

}  // namespace

std::vector<std::string> ComparisonRequest::comparedFiles() const {
    std::vector<std::string> files = baseline;
    for (const std::vector<std::string>& runs : candidates) files.insert(files.end(), runs.begin(), runs.end());
    return files;
}

Result<void> checkFiles(const ComparisonRequest& request) {
    if (request.earlier.size() == 1 && !isFolder(request.earlier.front()))
        return fail("One earlier run does not show how much runs differ: name at least two.");
    const Result<void> differ = checkFilesDiffer(request.comparedFiles());
    return differ ? checkFilesDiffer(request.earlier) : differ;
}

Result<RunSummary> summarizeFile(const std::string& file, const CompareSelection& selection, const TraceOpener& open) {
    std::optional<SourceKey> source;
    if (selection.isDefault()) {
        if (std::optional<RunSummary> stored = storedSummaryOf(file)) return std::move(*stored);
        source = sourceKeyOf(file);
    }
    // Checked before the read: a trace that is finished meanwhile may have been read partially.
    const std::optional<LiveTrace> live = liveTraceAt(file);
    const bool isStillRecorded = live && stateOf(*live) == LiveState::Recording;
    Result<void> sound;
    for (int attempt = 0; attempt < 2; ++attempt) {
        // The loader reads, or reports, files without a summary, such as compressed traces.
        Result<TracePtr> trace = open(file);
        if (!trace) return fail(trace.error());
        const Result<StepSelection> steps = stepSelectionFor(**trace, selection);
        Result<RunSummary> run = steps ? summarizeRun(**trace, *steps) : fail(steps.error());
        sound = checkIndex(**trace);
        // A corrupt index is removed, so the next opening reads the trace itself.
        if (!sound) continue;
        if (run) run->facts.isStillRecorded = isStillRecorded;
        // Stored with the index only: without one, the trace is unreliable, small, or still written.
        if (run && source && (*trace)->backing) static_cast<void>(writeIndexedSummary(*run, file, *source));
        trace->reset();
        system::returnFreeMemory();  // for the next file
        return run;
    }
    return fail(sound.error());
}

Result<ComparisonReport> makeComparison(const ComparisonRequest& request, const TraceOpener& open) {
    ComparisonReport report{.selection = request.selection.sentence()};
    if (!request.baseline.empty()) report.files = {request.baseline.front(), request.candidates.front().front()};
    auto baseline = summarize(request.baseline, request.selection, open);
    if (!baseline) return fail(baseline.error());
    for (const std::vector<std::string>& files : request.candidates) {
        const auto candidate = summarize(files, request.selection, open);
        if (!candidate) return fail(candidate.error());
        std::vector<std::string> sentences;
        if (!request.history.empty()) {
            Result<HistoryOfRun> history =
                historyOf(candidate->front(), request.history, request.historyRuns, request.selection, open);
            if (!history) return fail(history.error());
            report.history = std::move(history->history);
            baseline = std::move(history->level);
            sentences = std::move(history->sentences);
        }
        std::vector<RunSummary> compared = *baseline;
        compared.insert(compared.end(), candidate->begin(), candidate->end());
        Result<EarlierRuns> earlier = earlierRuns(request, compared, open);
        if (!earlier) return fail(earlier.error());
        sentences.insert(sentences.end(), earlier->sentences.begin(), earlier->sentences.end());
        Result<ProgramComparison> programs = comparePrograms(*baseline, *candidate, earlier->runs);
        if (!programs) return fail(programs.error());
        report.baseline = std::move(programs->baseline);
        ComparedCandidate one{std::move(programs->candidate), std::move(programs->comparison), {}};
        std::vector<std::string>& details = one.comparison.answer.details;
        details.insert(details.begin(), sentences.begin(), sentences.end());
        for (const Condition& condition : request.conditions)
            one.conditions.push_back(evaluateCondition(condition, one.comparison, request.isMissingFine));
        report.candidates.push_back(std::move(one));
    }
    return report;
}

Result<std::string> comparisonPage(const ComparisonReport& report, const TraceOpener& open) {
    std::string timelines;
    std::optional<StepRange> steps;
    if (!report.candidates.empty()) steps = typicalSteps(report.candidates.front().summary);
    for (const std::string& file : report.files) {
        const Result<TracePtr> trace = open(file);
        if (!trace) return fail(trace.error());
        const Result<RunSummary> run = summarizeRun(**trace);
        if (!run) return fail(run.error());
        TimelineRequest request{
            .steps = steps, .label = (timelines.empty() ? "Baseline: " : "Candidate: ") + printable((*trace)->title)};
        Result<std::string> timeline = timelineHtml(**trace, *run, {}, request);
        request.steps = std::nullopt;  // One of the runs does not have these steps.
        if (!timeline) timeline = timelineHtml(**trace, *run, {}, request);
        if (!timeline) return timeline;
        timelines += *timeline;
    }
    return comparisonAsHtml(report, timelines);
}

}  // namespace lanescope
