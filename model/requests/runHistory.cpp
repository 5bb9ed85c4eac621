// SPDX-License-Identifier: Apache-2.0
#include "model/requests/runHistory.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "model/compare/judgeSteps.h"
#include "model/compare/shownNumbers.h"
#include "model/requests/runsOfFolder.h"
#include "model/values/formatValue.h"

namespace lanescope {

using namespace compare;
using namespace report;

namespace {

/// Of fewer a spread says next to nothing.
constexpr size_t fewestRuns = 3;

/// Of the worker that the others wait for.
double medianStepOf(const RunSummary& run) {
    return std::max(1.0, stepsOf(run.workers[run.criticalWorker()]).medianNs);
}

HistoricRun historicRun(const RunSummary& run) {
    return {run.facts.title, run.facts.startUtcNs, medianStepOf(run)};
}

/// Those begun before `run`, and of these the last `most`.
std::vector<RunSummary> earlierOf(std::vector<RunSummary> runs, const RunSummary& run,
                                  size_t most) {
    std::erase_if(runs, [&](const RunSummary& each) {
        return each.facts.startUtcNs >= run.facts.startUtcNs;
    });
    if (runs.size() > most)
        runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(most));
    return runs;
}

std::string runsSentence(const RunHistory& history) {
    const auto earlier = std::span(history.runs).first(history.runs.size() - 1);
    const auto [least, most] =
        std::minmax_element(earlier.begin(), earlier.end(),
                            [](const auto& a, const auto& b) { return a.medianNs < b.medianNs; });
    return fmt::format(
        "The last {} runs of this command on this machine in {} had median steps "
        "from {} to {}{}.",
        earlier.size(), printable(history.folder), timeText(least->medianNs),
        timeText(most->medianNs), othersClause(history.others));
}

std::string changeSentence(const RunHistory& history) {
    if (!history.change) return "Their level did not change from one on that can be told.";
    const ChangePoint& change = *history.change;
    const size_t since = history.runs.size() - 1 - change.first;
    std::string text = fmt::format(
        "Their level changed between {} and {}: {} % ({} among random orders of these runs)",
        printable(history.runs[change.first - 1].title),
        printable(history.runs[change.first].title), percentDifferenceText(change.percent),
        pValueEquation(change.pValue));
    return text + (history.compared == since
                       ? fmt::format("; this run is put against the {} since.", since)
                       : "; too few runs since then to put this one against.");
}

}  // namespace

Result<HistoryOfRun> historyOf(const RunSummary& run, const std::string& folder, size_t most,
                               const CompareSelection& selection, const TraceOpener& open) {
    const std::string title = printable(run.facts.title);
    if (run.criticalWorker() == noIndex)
        return fail("{} has no steps on a GPU, so there is nothing to compare.", title);
    if (run.facts.startUtcNs == 0 || run.facts.host.empty() || run.facts.commandLine.empty())
        return fail(
            "{} does not say when, where and by which command it was made, so earlier runs "
            "of it cannot be told.",
            title);
    Result<FolderRuns> found = runsOfFolder(folder, run, selection, open);
    if (!found) return fail(found.error());
    HistoryOfRun answer;
    answer.level = earlierOf(std::move(found->runs), run, most);
    if (answer.level.size() < fewestRuns)
        return fail(
            "{} has {} earlier run{} of the command of {} on its machine, recorded alike; it "
            "takes at least {}{}.",
            printable(folder), answer.level.size(), answer.level.size() == 1 ? "" : "s", title,
            fewestRuns, othersClause(found->others));
    RunHistory& history = answer.history;
    history.folder = folder;
    history.others = found->others;
    std::vector<double> medians;
    for (const RunSummary& each : answer.level) history.runs.push_back(historicRun(each));
    history.runs.push_back(historicRun(run));
    for (const HistoricRun& each : history.runs) medians.push_back(each.medianNs);
    history.change = latestChange(medians);
    const Stretch level = levelOf(answer.level.size(), history.change, fewestRuns);
    answer.level.resize(level.end);
    answer.level.erase(answer.level.begin(),
                       answer.level.begin() + static_cast<std::ptrdiff_t>(level.begin));
    history.compared = answer.level.size();
    answer.sentences = {runsSentence(history), changeSentence(history)};
    return answer;
}

}  // namespace lanescope
