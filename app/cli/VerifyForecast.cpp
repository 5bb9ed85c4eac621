// SPDX-License-Identifier: Apache-2.0
#include "app/cli/VerifyForecast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/Output.h"
#include "app/cli/RecordSupervisor.h"
#include "app/cli/measureRun.h"
#include "model/analysis/replaySteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace {

/// Minimum steps of an interval, of which half are counted.
constexpr int64_t stepsPerInterval = 24;
constexpr int64_t minPeriodNs = 200'000'000;
constexpr int64_t minPairs = 3;
/// Minimum delay. Code after a delayed call takes about 1 us longer, so that few calls are delayed, by this time.
constexpr int64_t minDelayNs = 50'000;
/// Maximum growth of the step. With more, the code between the calls takes longer, too (by 10 % of the added time at
/// twice the step).
constexpr double maxGrowth = 0.5;

/// Records the runs of a verification, and sums up what they show.
class Verifier {
  public:
    Verifier(const Verification& verification, const RunsFolder& folder)
        : verification_(verification), folder_(folder) {
        verified_.change = verification.change;
        verified_.runs = verification.runs;
    }

    Result<VerifiedForecast> run() {
        if (const Result<void> forecast = record("A", "as it is", &Verifier::forecast); !forecast)
            return fail(forecast.error());
        for (int number = 1; number <= verification_.runs; ++number)
            if (const Result<void> measured = record(fmt::format("B{}", number), "slowed", &Verifier::measure);
                !measured)
                return fail(measured.error());
        const Statistics growth = statisticsOf(slowed_.growthsNs);
        if (growth.count < minPairs)
            return fail("The runs are too short: an interval of {} has {} steps, and {} pairs of intervals are needed.",
                        formatDuration(verified_.periodNs), stepsPerInterval, minPairs);
        const double addedNs = statisticsOf(slowed_.addedNs).average;
        if (addedNs < verified_.addedNs / 2)
            return fail("{}: the calls did not take so much longer. Nothing was measured.", verified_.change.text());
        // A launch that follows others later takes longer itself. Other calls may wait for less.
        if (verified_.change.subject == causality::Subject::Launch) {
            verified_.forecastNs *= addedNs / verified_.addedNs;
            verified_.addedNs = addedNs;
        }
        verified_.pairs = static_cast<int>(growth.count);
        verified_.measuredNs = growth.average;
        verified_.marginNs = studentTFor(0.95, growth.count - 1) * growth.standardDeviation /
                             std::sqrt(static_cast<double>(growth.count));
        return verified_;
    }

  private:
    using Use = Result<void> (Verifier::*)(const Trace& trace, const analysis::RunSummary& run,
                                           const StepSelection& selection, const std::string& file);

    Result<void> record(const std::string& name, std::string_view how, Use use) {
        printMessage(fmt::format("{}: recording, {}.", name, how));
        capture::RecordOptions options = verification_.recording;
        options.agentOptions.delay = delay();
        const RunFiles files = folder_.files(name);
        const Result<analysis::RunSummary> run =
            measureRun(supervisor_, options, "Run " + name, files, verification_.selection);
        if (!run) return fail(run.error());
        const Result<TracePtr> trace = loadForCommand(files.trace.string());
        if (!trace) return fail(trace.error());
        const Result<StepSelection> selection = stepSelectionFor(**trace, verification_.selection);
        if (!selection) return fail(selection.error());
        return (this->*use)(**trace, *run, *selection, files.trace.string());
    }

    Result<void> forecast(const Trace& trace, const analysis::RunSummary& summary, const StepSelection& selection,
                          const std::string& file) {
        const Result<analysis::ReplayedRun> run = analysis::replayRun(trace, selection, &summary);
        if (!run) return fail(run.error());
        const causality::StepReplay& replay = run->replay;
        if (const std::string refusal = replay.refusal(); !refusal.empty()) return fail("No forecast. {}", refusal);
        const causality::Change& change = verification_.change;
        if (const Result<void> set = setCalls(trace, replay); !set) return set;
        if (verified_.calls.empty())
            return fail("{}: no such call in the steps. Run 'lanescope stats -r slopes {}' to list parts.",
                        change.partText(), file);
        verified_.stepNs = replay.recordedNs();
        verified_.forecastNs = -replay.forecast({&change, 1}).savedNs();
        if (const double growth = verified_.forecastNs / verified_.stepNs; growth > maxGrowth)
            return fail(
                "{}: the step would take {:.1f} times as long, and other code of the program longer, too. "
                "Add at most {}.",
                change.partText(), 1 + growth,
                formatDuration(static_cast<int64_t>(static_cast<double>(change.addedNs) * maxGrowth / growth)));
        const double slowedNs = verified_.stepNs + std::max(0.0, verified_.forecastNs);
        verified_.periodNs = std::max(minPeriodNs, stepsPerInterval * static_cast<int64_t>(slowedNs));
        return {};
    }

    Result<void> measure(const Trace& trace, const analysis::RunSummary& summary, const StepSelection& selection,
                         const std::string& file) {
        const Result<RunSteps> steps = findSteps(trace, selection);
        if (!steps) return fail(steps.error());
        const WorkerSteps* worker = analysis::stepsOf(trace, *steps, summary.workers[summary.criticalWorker()]);
        if (worker == nullptr) return fail("{}: no steps found.", file);
        analysis::addSlowedSteps(trace, *worker, {verified_.calls.begin(), verified_.calls.end()}, verified_.periodNs,
                                 slowed_);
        return {};
    }

    Result<void> setCalls(const Trace& trace, const causality::StepReplay& replay) {
        const causality::CausalGraph& graph = replay.graph();
        const causality::Scales scales = causality::scalesOf(trace, graph, {&verification_.change, 1});
        std::set<std::string> names;
        const bool isOfLine = verification_.change.subject == causality::Subject::Line;
        int64_t count = 0;
        for (causality::CausalGraph::Node node = 0; node < graph.size(); ++node) {
            const uint32_t group = graph.group[node];
            if (scales.ofGroup[group].addedNs == 0) continue;
            // Threads without Python, as of a backward pass, make calls of a line, but are not at it.
            const uint32_t call = graph.event[node].row();
            if (isOfLine && trace.apiCalls.isStackLent[call] != 0)
                return fail("{}: other threads call for this line, and are not slowed. Choose another line.",
                            verification_.change.partText());
            names.emplace(trace.strings.at(graph.groups[group].name));
            ++count;
        }
        verified_.calls.assign(names.begin(), names.end());
        verified_.callsPerStep = static_cast<double>(count) * replay.recordedNs() /
                                 static_cast<double>(std::max<int64_t>(replay.window().durationNs(), 1));
        verified_.addedNs = verified_.callsPerStep * static_cast<double>(verification_.change.addedNs);
        return {};
    }

    agent::CallDelay delay() const {
        using causality::Subject;
        const causality::Change& change = verification_.change;
        if (verified_.calls.empty()) return {};
        const int64_t every = (minDelayNs - 1) / std::max<int64_t>(change.addedNs, 1) + 1;
        return {.ns = change.addedNs * every,
                .every = every,
                .periodNs = verified_.periodNs,
                .line = change.subject == Subject::Line ? change.name : std::string(),
                .rank = change.subject == Subject::Rank ? change.name : std::string(),
                .calls = verified_.calls};
    }

    const Verification& verification_;
    const RunsFolder& folder_;
    RecordSupervisor supervisor_;
    VerifiedForecast verified_;
    analysis::SlowedSteps slowed_;
};

}  // namespace

Result<VerifiedForecast> verifyForecast(const Verification& verification) {
    const Result<RunsFolder> folder = RunsFolder::make(verification.folder, "verify");
    if (!folder) return fail(folder.error());
    Result<VerifiedForecast> verified = Verifier(verification, *folder).run();
    printMessage(fmt::format("The traces are in {}.", folder->path().string()));
    return verified;
}

bool VerifiedForecast::isInside() const { return std::abs(forecastNs - measuredNs) <= marginNs; }

std::string VerifiedForecast::text() const {
    using namespace analysis;
    const std::string_view verdict = !isDecided() ? "The measured interval is too wide for a verdict: use more --runs"
                                     : isInside() ? "The forecast is in the measured interval"
                                                  : "The forecast is outside of the measured interval";
    return fmt::format(
        "In every second interval of {} of {} runs, some {} calls per step took {} longer in the mean, {} in all "
        "({}).\n"
        "The step of {} grows by {} by forecast, and by {} ± {} measured (95 % interval, {} pairs of intervals).\n"
        "Each added second makes the step {:.2f} s longer by forecast, and {:.2f} s ± {:.2f} s measured.\n{}.\n",
        formatDuration(periodNs), runs, countText(callsPerStep), timeText(addedNs / std::max(callsPerStep, 1e-9)),
        timeText(addedNs), fmt::join(calls, ", "), timeText(stepNs), timeText(forecastNs), timeText(measuredNs),
        timeText(marginNs), pairs, forecastNs / addedNs, measuredNs / addedNs, marginNs / addedNs, verdict);
}

std::string VerifiedForecast::json() const {
    const nlohmann::ordered_json all{{"schema", "lanescope-verify"},
                                     {"version", 1},
                                     {"change", change.text()},
                                     {"calls", calls},
                                     {"callsPerStep", callsPerStep},
                                     {"periodNs", periodNs},
                                     {"runs", runs},
                                     {"pairs", pairs},
                                     {"stepNs", stepNs},
                                     {"addedNs", addedNs},
                                     {"forecastNs", forecastNs},
                                     {"measuredNs", measuredNs},
                                     {"marginNs", marginNs},
                                     {"isDecided", isDecided()},
                                     {"isInside", isInside()}};
    return withoutControls(all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

}  // namespace lanescope::cli
