// SPDX-License-Identifier: Apache-2.0
#include "app/cli/VerifyForecast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "app/cli/Output.h"
#include "app/cli/RecordSupervisor.h"
#include "app/cli/measureRun.h"
#include "model/analysis/replaySteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace {

/// Minimum steps of an interval, of which half are counted.
constexpr int64_t stepsPerInterval = 24;
constexpr int64_t minPeriodNs = 200'000'000;
constexpr int64_t minPairs = 3;
/// Maximum growth of the step. At twice the step, forecasts were 10 to 15 % too low.
constexpr double maxGrowth = 0.5;
/// Maximum share of the step in which it waits for batches. A queue of batches that fills while the steps are slowed
/// lasts longer than an interval.
constexpr double maxLoadingShare = 0.02;

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
        const analysis::MeasuredGrowth measured = analysis::measuredGrowth(slowed_);
        if (measured.pairs < minPairs)
            return fail("The runs are too short: an interval of {} has {} steps, and {} pairs of intervals are needed.",
                        formatDuration(verified_.periodNs), stepsPerInterval, minPairs);
        if (measured.addedNs < verified_.addedNs / 2)
            return fail("{}: the calls did not take so much longer. Nothing was measured.", verified_.change.text());
        // A launch that follows others later takes longer itself. Other calls may wait for less.
        const bool isLaunch = verified_.change.subject == causality::Subject::Launch;
        std::vector changes{verified_.change};
        if (isLaunch) {
            changes[0].addedNs = std::llround(measured.addedNs / verified_.callsPerStep);
            verified_.addedNs = measured.addedNs;
        }
        verified_.callsForecastNs = -plain_->replay.forecast(changes).savedNs();
        verified_.hostFactor = slowed_.hostFactor();
        changes.push_back({causality::Subject::Host, "", verified_.hostFactor.value_or(1)});
        verified_.forecastNs = -plain_->replay.forecast(changes).savedNs();
        verified_.pairs = static_cast<int>(measured.pairs);
        verified_.measuredNs = measured.growthNs;
        verified_.marginNs = isLaunch ? measured.slopeMarginNs : measured.marginNs;
        return verified_;
    }

  private:
    using Use = Result<void> (Verifier::*)(const TracePtr& trace, analysis::ReplayedRun replayed,
                                           const WorkerSteps& worker);

    /// Returns the worker whose calls and steps are compared: that of the slowed rank, or the critical one.
    const WorkerSteps* workerOf(const Trace& trace, const RunSteps& steps, const analysis::RunSummary& run) const {
        const causality::Change& change = verification_.change;
        if (change.subject != causality::Subject::Rank)
            return analysis::stepsOf(trace, steps, run.workers[run.criticalWorker()]);
        const auto found = std::ranges::find_if(steps.workers, [&](const WorkerSteps& each) {
            const auto& rank = trace.processes[each.process].rank;
            return rank && std::to_string(*rank) == change.name;
        });
        return found == steps.workers.end() ? nullptr : &*found;
    }

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
        Result<analysis::ReplayedRun> replayed = analysis::replayRun(**trace, *selection, &*run);
        if (!replayed) return fail(replayed.error());
        const Result<RunSteps> steps = findSteps(**trace, *selection);
        if (!steps) return fail(steps.error());
        const WorkerSteps* worker = workerOf(**trace, *steps, *run);
        if (worker == nullptr) return fail("{}: no steps of {}.", files.trace.string(), verified_.change.partText());
        return (this->*use)(*trace, std::move(*replayed), *worker);
    }

    Result<void> forecast(const TracePtr& trace, analysis::ReplayedRun replayed, const WorkerSteps& worker) {
        trace_ = trace;
        plain_.emplace(std::move(replayed));
        const std::string file = trace->path.string();
        const causality::StepReplay& replay = plain_->replay;
        if (const std::string refusal = replay.refusal(); !refusal.empty()) return fail("No forecast. {}", refusal);
        const causality::Change& change = verified_.change;
        if (const Result<void> set = setCalls(*trace, replay, worker.process); !set) return set;
        if (verified_.calls.empty())
            return fail("{}: no such call in the steps. Run 'lanescope stats -r slopes {}' to list parts.",
                        change.partText(), file);
        verified_.stepNs = replay.recordedNs();
        int64_t pathNs = 0, batchesNs = 0;
        for (const causality::PathShare& each : replay.path()) {
            const bool isBatch = each.delay == causality::EdgeKind::Loader ||
                                 replay.graph().groups[each.group].kind == causality::NodeKind::Arrival;
            pathNs += each.ns;
            batchesNs += isBatch ? each.ns : 0;
        }
        if (static_cast<double>(batchesNs) > maxLoadingShare * static_cast<double>(pathNs))
            return fail(
                "{}: the step waits for batches, and those that are queued while it is slowed last longer than an "
                "interval. Nothing is verified.",
                file);
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

    Result<void> measure(const TracePtr& trace, analysis::ReplayedRun replayed, const WorkerSteps& worker) {
        const causality::StepReplay& replay = replayed.replay;
        analysis::addSlowedSteps(*trace, worker, replay.graph(), replay.window(),
                                 {verified_.calls.begin(), verified_.calls.end()}, verified_.periodNs, slowed_);
        return {};
    }

    Result<void> setCalls(const Trace& trace, const causality::StepReplay& replay, uint32_t process) {
        const causality::CausalGraph& graph = replay.graph();
        const causality::Scales scales = causality::scalesOf(trace, graph, {&verification_.change, 1});
        std::set<std::string> names;
        const bool isOfLine = verification_.change.subject == causality::Subject::Line;
        int64_t count = 0;
        for (causality::CausalGraph::Node node = 0; node < graph.size(); ++node) {
            const uint32_t group = graph.group[node];
            if (scales.ofGroup[group].addedNs == 0 || graph.groups[group].process != process) continue;
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
        const causality::Change& change = verified_.change;
        if (verified_.calls.empty()) return {};
        return {.ns = change.addedNs,
                .periodNs = verified_.periodNs,
                .line = change.subject == Subject::Line ? change.name : std::string(),
                .rank = change.subject == Subject::Rank ? change.name : std::string(),
                .calls = verified_.calls};
    }

    const Verification& verification_;
    const RunsFolder& folder_;
    RecordSupervisor supervisor_;
    VerifiedForecast verified_;
    TracePtr trace_;  // The run as it is.
    std::optional<analysis::ReplayedRun> plain_;
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
    const std::string percent = fmt::format("{:.1f} %", 100 * std::abs(hostFactor.value_or(1) - 1));
    const std::string host = !hostFactor          ? "Host code was not compared."
                             : percent == "0.0 %" ? "Host code took as long meanwhile."
                             : *hostFactor < 1    ? fmt::format("Host code took {} less time meanwhile.", percent)
                                                  : fmt::format(
                                                        "Host code took {} longer meanwhile, most likely because caches "
                                                           "had other contents after each wait.",
                                                        percent);
    return fmt::format(
        "In every second interval of {} of {} runs, some {} calls per step were delayed by {} in the mean, {} in all "
        "({}).\n{}\n"
        "The step of {} grows by {} by forecast for the calls, by {} for calls and host code, and by {} ± {} measured "
        "(95 % interval, {} pairs of intervals).\n"
        "Each added second makes the step {:.2f} s longer by forecast, {:.2f} s with the host code, and {:.2f} s ± "
        "{:.2f} s measured.\n{}.\n",
        formatDuration(periodNs), runs, countText(callsPerStep), timeText(addedNs / std::max(callsPerStep, 1e-9)),
        timeText(addedNs), fmt::join(calls, ", "), host, timeText(stepNs), timeText(callsForecastNs),
        timeText(forecastNs), timeText(measuredNs), timeText(marginNs), pairs, callsForecastNs / addedNs,
        forecastNs / addedNs, measuredNs / addedNs, marginNs / addedNs, verdict);
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
                                     {"hostFactor", hostFactor ? nlohmann::json(*hostFactor) : nlohmann::json()},
                                     {"callsForecastNs", callsForecastNs},
                                     {"forecastNs", forecastNs},
                                     {"measuredNs", measuredNs},
                                     {"marginNs", marginNs},
                                     {"isDecided", isDecided()},
                                     {"isInside", isInside()}};
    return withoutControls(all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

}  // namespace lanescope::cli
