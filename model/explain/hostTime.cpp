// SPDX-License-Identifier: Apache-2.0
#include "model/explain/hostTime.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "model/analysis/shownNumbers.h"
#include "model/explain/FindingText.h"
#include "model/text/knownRangeName.h"

namespace lanescope::explain {

using namespace analysis;

bool isHostWaiting(const Contributor& each) {
    if (each.part != StepPart::LaunchBound || each.kind != ContributorKind::Idle) return false;
    const std::optional<ThreadState> state = each.name.idle.state();
    return state && (isWaiting(*state) || *state == ThreadState::Runnable);
}

int64_t provedWaitNs(const Contributor& each) { return isHostWaiting(each) ? 0 : each.waitedNs; }

int64_t ranNs(const Contributor& each) { return isHostWaiting(each) ? 0 : each.exposedNs - each.waitedNs; }

bool isCompilation(const Contributor& each) {
    return each.kind == ContributorKind::Idle && each.part == StepPart::LaunchBound &&
           (isCompiling(each.name.idle.activity.work) || isWithinCompiler(each.path));
}

int64_t gilWaitNs(const Contributor& each) { return each.part == StepPart::LaunchBound ? each.gilNs : 0; }

std::string hostWorkPlace(const WorkerSummary& worker) {
    // With the thread, which may be another than the first named one.
    std::map<std::string, int64_t> spentAt;
    std::string most;
    for (const Contributor& each : worker.contributors) {
        if (each.workedNs <= 0) continue;
        const std::string place = placeText(each.name.idle);
        if (place.empty()) continue;
        int64_t& ns = spentAt[place];
        ns += each.workedNs;
        if (most.empty() || ns > spentAt[most]) most = place;
    }
    return most;
}

namespace {

bool isInCall(const Contributor& each, CallClass wanted) {
    return each.name.idle.kind == CauseKind::InCall && each.name.idle.callClass() == wanted;
}

/// Share of the time in which the GPU waits for data from which nothing else is reported.
constexpr double guessedShareThreshold = 0.9;

/// Returns true if the thread was not seen to wait for a possible source of data.
bool isGuessed(const IdleCause& cause) {
    if (cause.kind != CauseKind::BeforeBatchCopy) return false;
    const std::optional<ThreadState> state = cause.state();
    return state != ThreadState::Poll && state != ThreadState::Disk && state != ThreadState::Lock;
}

/// Returns the guessed share of that time, as far as its cause is known.
double guessedShare(const WorkerSummary& worker) {
    int64_t guessedNs = 0, allNs = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::DataLoading || each.kind == ContributorKind::Others) continue;
        allNs += each.exposedNs;
        if (isGuessed(each.name.idle)) guessedNs += each.exposedNs;
    }
    return shareOf(guessedNs, allNs);
}

/// Returns " In its steps the 4 loaders of rank 2 ran 97 % of the time, waited for a core for 3 %."
std::string loaderSentence(const WorkerSummary& worker) {
    const LoaderTimes& loaders = worker.loaders;
    if (loaders.threads == 0) return {};
    const auto share = [&](int64_t ns) { return shareOf(ns, loaders.knownNs); };
    std::string text =
        fmt::format(" In its steps the {} of {} ran {} % of the time",
                    loaders.threads == 1 ? "loader" : fmt::format("{} loaders", loaders.threads),
                    worker.rank ? fmt::format("rank {}", *worker.rank) : fmt::format("PID {}", worker.pid),
                    percentText(100 * share(loaders.ranNs)));
    if (share(loaders.noCoreNs) >= minReportedShare)
        text += fmt::format(", waited for a core for {} %", percentText(100 * share(loaders.noCoreNs)));
    if (share(loaders.inputNs) >= minReportedShare)
        text += fmt::format(", waited for input or a disk for {} %", percentText(100 * share(loaders.inputNs)));
    return text + ".";
}

}  // namespace

bool isAllocation(const Contributor& each) { return each.trait == ContributorTrait::Allocation; }

bool isSynchronousCopy(const Contributor& each) { return isInCall(each, CallClass::Copy); }

bool isSynchronousMemset(const Contributor& each) { return isInCall(each, CallClass::Memset); }

bool isPageable(const Contributor& each) { return each.trait == ContributorTrait::Pageable; }

bool isInPageableCopy(const Contributor& each) { return isPageable(each) && each.kind == ContributorKind::Idle; }

bool isDataMostlyGuessed(const WorkerSummary& worker) { return guessedShare(worker) >= guessedShareThreshold; }

std::string inputDataSentence(const WorkerSummary& worker, const std::string& time, const std::string& mostly) {
    const double guessed = guessedShare(worker);
    if (isDataMostlyGuessed(worker))
        return fmt::format(
            "The GPU waits {} for the batch copy, mostly {}. It is a guess that the CPU loaded data meanwhile: samples "
            "show no wait for data.{}",
            time, mostly, loaderSentence(worker));
    std::string text = fmt::format("The GPU waits {} for the next batch: mostly {}.", time, mostly);
    if (guessed >= minReportedShare)
        text += fmt::format(" For {} % of this time, this is a guess: no sample shows the wait.",
                            percentText(100 * guessed));
    return text + loaderSentence(worker);
}

}  // namespace lanescope::explain
