// SPDX-License-Identifier: Apache-2.0
// Rules about idle time: of the thread that launches the work of a GPU, and without another rule.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "model/analysis/ThreadActivities.h"
#include "model/analysis/groupKernels.h"
#include "model/analysis/shownNumbers.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/hostTime.h"
#include "model/explain/programKind.h"
#include "model/explain/rules.h"
#include "model/numbers/Statistics.h"
#include "model/text/kernelFamilies.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Minimum share of launch-bound time in which the thread alternated, or its activity is unknown, for a caveat.
constexpr double alternatingShareThreshold = 0.5;

/// A guess of data loading is a late launch like others, as far as known.
void findInputData(RunFindings& run) {
    run.addPart(StepPart::DataLoading,
                guessedDataShare(run.worker()) >= minAllGuessedShare ? minLaunchShare : minShare);
}

std::string sayInputData(const FindingText& text) {
    return inputDataSentence(text.worker(), text.time(), text.main() + text.rarely() + "." + text.place()) +
           coresSentence(text.run(), text.finding().worker);
}

/// Loaders that hardly run, and a wait that may be no wait for data, have advice of their own.
std::string adviseInputData(const FindingText& text) {
    const LoaderTimes& loaders = text.worker().loaders;
    constexpr double maxBusyShare = 0.2;
    if (loaders.threads > 0 && shareOf(loaders.ranNs + loaders.noCoreNs, loaders.knownNs) <= maxBusyShare)
        return "The loaders hardly ran: more of them help only if they wait for a disk. If each epoch starts new ones: "
               "DataLoader(persistent_workers=True). Else make the code of the waiting thread cheaper.";
    const IdleCause& cause = text.finding().contributor.idle;
    const bool isUnclear = guessedDataShare(text.worker()) > minGuessedShare || cause.state() == ThreadState::Lock;
    if (lineOf(cause, text.finding().launched).empty() || loaders.threads > 0 || !isUnclear)
        return adviceOf(text.run(), inputDataRule);
    return "Check the line first. A wait for requests is normal. If the thread waits for a batch to fill, shorten this "
           "wait. If the thread loads data: " +
           adviceFor(text.run(), {inputDataRule.otherAdvice, inputDataRule.jaxAdvice, inputDataRule.otherAdvice});
}

bool isWithinGraph(const Contributor& each) { return each.name.idle.kind == CauseKind::WithinGraph; }
bool isInLoadingRange(const Contributor& each) { return each.name.idle.kind == CauseKind::LoadingRange; }
bool isBeforeBatchCopy(const Contributor& each) { return each.name.idle.kind == CauseKind::BeforeBatchCopy; }

/// Returns the innermost ranges of data loading.
std::vector<std::string> loadingRanges(const WorkerSummary& worker) {
    std::vector<std::string> names;
    for (const Contributor& each : worker.contributors) {
        if (!isInLoadingRange(each)) continue;
        std::string name = each.path.substr(each.path.rfind('/') + 1);
        if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    return names;
}

/// Share of the time of a finding from which the copies of batches decide.
constexpr double minBatchShare = 0.1;

/// Adds the layer "loading" and returns the condition that the GPU waits for data; empty if `ofNs` has no such time.
std::string addLoading(const WorkerSummary& worker, int64_t ofNs, EvidenceQuery& query) {
    const std::vector<std::string> ranges = loadingRanges(worker);
    std::string isLoading;
    if (!ranges.empty()) {
        query.addRanges("loading", ranges);
        isLoading = "p.loading > 0";
    }
    if (static_cast<double>(sumNs(worker, isBeforeBatchCopy)) >= minBatchShare * static_cast<double>(ofNs))
        isLoading += fmt::format("{}(g.late AND g.next = 'HtoD')", isLoading.empty() ? "" : " OR ");
    return isLoading.empty() ? isLoading : "(" + isLoading + ")";
}

Evidence inputDataEvidence(const FindingText& text) {
    EvidenceQuery query(text);
    const int64_t ns = sumNs(text.worker(), [](const Contributor& each) { return each.part == StepPart::DataLoading; });
    const std::string isLoading = addLoading(text.worker(), ns, query);
    return {query.gaps(isLoading.empty() ? "g.late" : isLoading), ns};
}

/// Returns the gaps that end with late launches, without those of earlier rules. `only` is a condition of layers.
Evidence lateLaunches(const FindingText& text, EvidenceQuery query, const std::string& only) {
    int64_t ns = sumNs(text.worker(), [](const Contributor& each) { return each.part == StepPart::LaunchBound; });
    std::string where = "g.late" + only;
    query.addWaits();
    if (const std::string isLoading = addLoading(text.worker(), ns, query); !isLoading.empty())
        where += " AND NOT " + isLoading;
    std::vector<std::string> calls;
    const auto exclude = [&](const Rule& rule, IsOf isOf) {
        if (!text.has(rule)) return;
        const std::vector<std::string> names = callsOf(text.worker(), isOf);
        calls.insert(calls.end(), names.begin(), names.end());
        for (const Contributor& each : text.worker().contributors)
            if (each.part == StepPart::LaunchBound && isOf(each)) ns -= each.exposedNs;
    };
    exclude(allocationsRule, isAllocation);
    exclude(syncCopiesRule, isSynchronousCopy);
    exclude(syncMemsetsRule, isSynchronousMemset);
    exclude(pageableCopiesRule, isInPageableCopy);
    if (!calls.empty()) {
        query.addCalls("calls", calls);
        where += " AND p.calls = 0";
    }
    return {query.gapsByWaits(where, false), ns};
}

Evidence launchEvidence(const FindingText& text) { return lateLaunches(text, EvidenceQuery(text), {}); }

/// Returns the part of the gaps of late launches in which the launching thread waited, by samples. The kernel also
/// counts time between samples, so the rows do not sum to the finding.
Evidence hostWaitsEvidence(const FindingText& text) {
    if (text.run().facts.producerKind != ProducerKind::Lanescope) return {launchEvidence(text).sql};
    std::vector<ThreadState> states{ThreadState::Runnable};
    for (size_t number = 0; number < threadStateCount; ++number)
        if (const auto state = static_cast<ThreadState>(number); isWaiting(state)) states.push_back(state);
    EvidenceQuery query(text);
    query.addStates("state", states, text.finding().contributor.idle.thread.role == ThreadRole::Main);
    return {lateLaunches(text, std::move(query), " AND p.state > 0").sql};
}

/// Returns the long gaps of late launches. Calls and waits divide them, so the rows do not sum to the finding.
Evidence hostWorkEvidence(const FindingText& text) {
    return {lateLaunches(text, EvidenceQuery(text), fmt::format(" AND g.e - g.s >= {}", minWorkNs)).sql};
}

/// Minimum copies of one byte per step for checks of gradients. A gradient scaler has one.
constexpr double minChecksPerStep = 10;

/// Returns the copies by which a backward pass itself, without a line of the program, reads single bytes after as many
/// reductions by "any"; null if there are none. Anomaly detection checks each gradient for NaN in this way.
const Contributor* gradientChecks(const WorkerSummary& worker) {
    int64_t reductions = 0;
    for (const Contributor& each : worker.contributors)
        if (each.isOfCaller && isAnyReduction(each.name.work)) reductions = saturatingSum(reductions, each.count);
    const auto found = std::ranges::find_if(worker.contributors, [&](const Contributor& each) {
        const auto count = static_cast<double>(each.count);
        // A step may also read a loss.
        return each.kind == ContributorKind::Copy && each.part == StepPart::ExposedDtoH && each.isOfCaller &&
               static_cast<double>(each.bytes) < 1.5 * count && 2 * static_cast<double>(reductions) >= count &&
               count >= minChecksPerStep * static_cast<double>(worker.steps.size());
    });
    return found == worker.contributors.end() ? nullptr : &*found;
}

Evidence hostSyncEvidence(const FindingText& text) {
    EvidenceQuery query(text);
    query.addWaits();
    std::string where = "COALESCE(g.queued, 0) = 0";
    if (const std::vector<std::string> calls = callsOf(text.worker(), isAllocation); !calls.empty()) {
        query.addCalls("calls", calls);
        where += " AND p.calls = 0";
    }
    const auto isWait = [](const Contributor& each) { return each.part == StepPart::Synchronization; };
    const bool areAll = gradientChecks(text.worker()) == nullptr;
    return {query.gapsByWaits(where, true), areAll ? sumNs(text.worker(), isWait) : 0};
}

Evidence queuedEvidence(const FindingText& text) {
    const bool isWithoutGraphs = text.has(graphGapsRule);
    int64_t ns = sumNs(text.worker(), [](const Contributor& each) {
        return each.part == StepPart::OtherIdle && each.trait != ContributorTrait::Unknown;
    });
    if (isWithoutGraphs) ns -= sumNs(text.worker(), isWithinGraph);
    return {EvidenceQuery(text).gaps(isWithoutGraphs ? "g.queued AND NOT g.within" : "g.queued"), ns};
}

Evidence idleEvidence(const FindingText& text) {
    return {EvidenceQuery(text).gaps(""),
            sumNs(text.worker(), [](const Contributor& each) { return isIdle(each.part); })};
}

/// Returns ", in 12 intervals per step, each of 500.0 us or more" by the long gaps of contributors, which samples and
/// ranges do not divide, or the pauses of a rare main cause; empty without either.
template <class IsOf>
std::string longGaps(const FindingText& text, IsOf isOf) {
    double count = 0;
    for (const Contributor& each : text.worker().contributors)
        if (isOf(each)) count += static_cast<double>(each.longCount);
    if (const std::string rare = text.rarely(); !rare.empty() || 2 * count < text.stepCount()) return rare;
    const double times = count / text.stepCount();
    const std::string often = times < 1
                                  ? fmt::format("{:.0f} intervals in {:.0f} {}s", count, text.stepCount(), text.unit())
                                  : countText(times) + (times == 1 ? " interval" : " intervals") + text.per();
    return fmt::format(", in {}, each of {} or more", often, timeText(static_cast<double>(minWorkNs)));
}

/// Waits of a thread, and the time in which a thread that alternately ran and waited cannot have run.
void findHostWaits(RunFindings& run) {
    const auto waitNs = [&run](const Contributor& each) {
        if (each.part != StepPart::LaunchBound) return int64_t{0};
        const int64_t ns = isHostWaiting(each) ? each.exposedNs : provedWaitNs(each);
        return std::max<int64_t>(0, ns - (run.accounted.hasGilWaits ? gilWaitNs(each) : 0));
    };
    if (run.addIdleTimeOf(waitNs, minShare) != nullptr) run.accounted.kinds.push_back(isHostWaiting);
}

/// Returns the thread's activity instead of launching, in short; the contributor has the details.
std::string_view notLaunching(const Finding& finding) {
    const IdleCause& cause = finding.contributor.idle;
    if (cause.isMostlyWithoutCore()) return "waits for a core for most of that time";
    if (cause.runsAndWaits()) return "cannot have run meanwhile, by the kernel's count of its CPU time";
    const std::optional<ThreadState> state = cause.state();
    if (state == ThreadState::Sleep) return "sleeps of its own accord";
    return state == ThreadState::Runnable ? "waits for a core" : "itself waits";
}

std::string sayHostWaits(const FindingText& text) {
    const auto isOfMain = [&](const Contributor& each) {
        return isHostWaiting(each) && each.name == text.finding().contributor;
    };
    const IdleCause& cause = text.finding().contributor.idle;
    return fmt::format("The GPU waits {} for work to be launched. Mostly, the launching thread {}: {}{}.{}",
                       text.time(), notLaunching(text.finding()), text.main(), longGaps(text, isOfMain),
                       text.place(!cause.runsAndWaits())) +
           coresSentence(text.run(), text.finding().worker);
}

/// Returns " The main thread has that lock meanwhile, at data.py:88 in load: ..." if the holder of a lock is known.
std::string adviseHolder(const FindingText& text) {
    const ThreadActivity& activity = text.finding().contributor.idle.activity;
    if (activity.holder.isEmpty()) return {};
    const bool isGil = activity.state == ThreadState::Gil;
    return fmt::format(" {} has {} meanwhile{}: {}", capitalized(activity.holder.textWithArticle()),
                       isGil ? "the GIL" : "that lock",
                       activity.holderFrame.isEmpty() ? "" : ", at " + activity.holderFrame.text(),
                       isGil ? "move that work to another process, or into code that releases the GIL."
                             : "hold it for a shorter time.");
}

std::string adviseHostWaits(const FindingText& text) {
    return adviceOf(text.run(), hostWaitsRule) + adviseHolder(text);
}

/// Returns true if a thread's activity in host code is unknown.
bool isUnseen(const IdleCause& cause) { return cause.kind == CauseKind::OutsideCalls && !cause.isObserved(); }
/// Returns a caveat if most of the launch-bound time, by `nsOf` of each contributor, is of threads
/// that also waited by `alternates`, or may have: fewer launches may not help, which `consequence` reports.
template <class NsOf>
std::string alternatingSentence(const WorkerSummary& worker, NsOf nsOf, bool (IdleCause::*alternates)() const,
                                std::string_view consequence = {}) {
    int64_t alternatingNs = 0, unknownNs = 0, allNs = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::LaunchBound || each.kind == ContributorKind::Others) continue;
        const int64_t ns = nsOf(each);
        allNs += ns;
        if ((each.name.idle.*alternates)()) alternatingNs += ns;
        if (isUnseen(each.name.idle)) unknownNs += ns;
    }
    if (!hasKnownState(worker) && shareOf(unknownNs, allNs) >= alternatingShareThreshold)
        return fmt::format(
            " For {} of the GPU's wait, it is unknown whether the launching thread ran or waited. If the thread "
            "waited, fewer launches will not help.",
            shareText(shareOf(unknownNs, allNs)));
    if (shareOf(alternatingNs, allNs) < alternatingShareThreshold) return {};
    return fmt::format(
        " For {} of the GPU's wait, the thread alternately ran and waited. Whether running or waiting kept the GPU "
        "idle is unknown{}.",
        shareText(shareOf(alternatingNs, allNs)), consequence);
}

void findHostWork(RunFindings& run) {
    const auto ownNs = [&run](const Contributor& each) {
        return run.isReported(each) ? int64_t{0} : run.hostWorkNs(each);
    };
    Finding* found = run.addIdleTimeOf(ownNs, minShare);
    run.accounted.hasHostWork = found != nullptr;
    if (found == nullptr) return;
    if (const Contributor* main = mainOfLine(run.worker(), ownNs)) run.setContributor(*found, *main);
}

std::string sayHostWork(const FindingText& text) {
    const IdleCause& cause = text.finding().contributor.idle;
    const auto workedNs = [isReported = text.has(compilingRule)](const Contributor& each) {
        return isReported && isCompilation(each) ? int64_t{0} : each.workedNs;
    };
    const std::string gaps = longGaps(text, [&](const Contributor& each) { return workedNs(each) > 0; });
    std::string said =
        fmt::format("The GPU waits {}{}. The launching thread then {}{}, mostly {}.{}", text.time(),
                    gaps.empty() ? " in long intervals" : gaps,
                    cause.isSeenRunning() ? "is busy with something else on the CPU" : "runs something else or waits",
                    cause.isInPython() ? " (Python, or code called by Python)" : "", text.main(), text.place());
    const Contributor* seen = mainOfLine(text.worker(), [&](const Contributor& each) {
        return placeText(each.name.idle).empty() ? int64_t{0} : workedNs(each);
    });
    if (seen != nullptr && cause.activity.frame.isEmpty() && text.finding().launched.empty())
        said += fmt::format(" Running was seen mostly {}.", shortContributorName(placeText(seen->name.idle), true));
    return said + alternatingSentence(text.worker(), workedNs, &IdleCause::runsAndWaits) +
           coresSentence(text.run(), text.finding().worker);
}

/// Returns true if the thread is busy at a line that launches cuDNN's attention, and no product: not a whole model.
bool mayPlanAttention(const FindingText& text) {
    const FrameRef& frame = text.finding().contributor.idle.activity.frame;
    bool isThere = false;
    for (const Contributor& each : text.worker().contributors) {
        const std::optional<KernelClass> is = classOf(each);
        if (!is || frame.isEmpty() || each.launched.line != frame.text()) continue;
        if (is->family == KernelFamily::MatrixProduct) return false;
        isThere = isThere || isCudnnAttention(each.name.work);
    }
    return isThere;
}

/// A known line with most of the time of late launches outside calls is a cause; late launches are a fact.
void putLineBeforeLaunches(const RunSummary& run, std::vector<Finding>& findings) {
    const auto launches = std::ranges::find(findings, &launchBoundRule, &Finding::rule);
    const auto work = std::ranges::find(launches, findings.end(), &hostWorkRule, &Finding::rule);
    if (work == findings.end()) return;
    const Contributor* most = mainOfLine(run.workers[work->worker], [](const Contributor& each) {
        return each.name.idle.kind == CauseKind::OutsideCalls ? ranNs(each) : int64_t{0};
    });
    const std::string line = lineOf(work->contributor.idle, {});
    if (most != nullptr && !line.empty() && lineOf(most->name.idle, most->launched) == line)
        std::rotate(launches, work, work + 1);
}

/// Checks of gradients cost their kernels and copies, too: a NaN is not equal to itself.
void findHostSync(RunFindings& run) {
    Finding* const found = run.addPart(StepPart::Synchronization, minShare);
    const Contributor* const checks = gradientChecks(run.worker());
    if (found == nullptr || checks == nullptr) return;
    int64_t workNs = 0;
    for (const Contributor& each : run.worker().contributors) {
        const bool isTest = each.isOfCaller && (isAnyReduction(each.name.work) || isEqualityTest(each.name.work));
        if ((&each != checks && !isTest) || run.isReported(each) || run.isReportedWork(each)) continue;
        workNs = saturatingSum(workNs, each.exposedNs);
        run.account(each);
    }
    found->maxGainNs += run.perStep(workNs);
    found->share = shareOf(found->maxGainNs, run.mean().meanNs);
    found->isOnlyOfSubject = false;
}

std::string sayHostSync(const FindingText& text) {
    if (const Contributor* const checks = gradientChecks(text.worker())) {
        const bool isCopyReported = isPageable(*checks) && text.has(pageableCopiesRule);
        return fmt::format(
            "Checks of gradients cost {}. The cost is the GPU time of the checks' kernels{}, and idle time of the GPU "
            "because the CPU waited for the GPU before the next launch: mostly {}, {}.{} {} copies{} of one "
            "byte read results of \"any\" within the backward pass {}; no line of the program itself reads these "
            "results. The cost excludes GPU idle time between the checks by late launches.",
            text.time(), isCopyReported ? "" : " and copies", text.main(), text.gaps(), text.place(),
            countText(static_cast<double>(checks->count) / text.stepCount()), text.per(),
            shortContributorName(checks->launched.text, true));
    }
    return fmt::format("The GPU is idle {} because the CPU waited for the GPU before the next launch: mostly {}, {}.{}",
                       text.time(), text.main(), text.gaps(), text.place());
}

std::string adviseHostSync(const FindingText& text) {
    if (gradientChecks(text.worker()) == nullptr) return adviceOf(text.run(), hostSyncRule);
    return "Look for torch.autograd.set_detect_anomaly(True) or detect_anomaly(): with check_nan, it checks each "
           "gradient for NaN and waits for the result. Keep it off except for debugging. Otherwise look for hooks that "
           "read gradients.";
}

/// Waits precede launches that are late because nothing can be launched ahead of the waits.
void putWaitsBeforeLaunches(const RunSummary& run, std::vector<Finding>& findings) {
    auto launches = std::ranges::find(findings, &launchBoundRule, &Finding::rule);
    // Late launches too short for a rule of their own are most of all other idle time.
    if (launches == findings.end()) launches = std::ranges::find(findings, &gpuIdleRule, &Finding::rule);
    if (launches == findings.end() || !isDrained(run.workers[launches->worker])) return;
    const auto waits = std::ranges::find(launches, findings.end(), &hostSyncRule, &Finding::rule);
    if (waits != findings.end()) std::rotate(launches, waits, waits + 1);
}

/// A program that launches too slowly does so in most of its steps. In steps without late work the
/// same launches were in time, so something else disturbs the others.
void findLaunchBound(RunFindings& run) {
    if (!run.run().deferred.empty()) return;  // Work that was kept back was launched in time.
    // A launch in time kept no GPU waiting, however long it took.
    const int64_t overheadNs =
        std::clamp<int64_t>(run.unreportedNs(StepPart::LaunchBound), 0, overheadShareNs(run.run(), run.worker()));
    run.accounted.overheadNs = overheadNs;
    const auto typicalNs = static_cast<double>(ofTypicalStepNs(run.worker(), StepPart::LaunchBound) - overheadNs);
    if (typicalNs >= minLaunchShare * static_cast<double>(run.mean().meanNs))
        run.addPart(StepPart::LaunchBound, minLaunchShare, overheadNs);
}

std::string sayLaunchBound(const FindingText& text) {
    const auto ofLaunches = [isReported = text.has(hostWorkRule)](const Contributor& each) {
        return ranNs(each) - (isReported ? each.workedNs : 0);
    };
    const Finding& found = text.finding();
    const double share = shareOf(found.mainNs, saturatingSum(found.maxGainNs, found.overheadNs));
    const std::string work = launchedWork(text.worker(), text.per(), !text.lineOfLaunches().empty());
    std::string said = fmt::format("The GPU waits {} for work to be launched", text.time());
    if (share > 0.5)
        said += fmt::format(": mostly {}{}.{}{}", text.main(), text.rarely(), text.place(), work);
    else
        said += text.rarely() + "." + work;
    if (share > 0 && share <= 0.5)
        said += fmt::format(" {} of the GPU's wait is {}.{}", shareText(share), text.main(), text.place());
    return said +
           (isDispatchedSingly(text.worker()) ? " JAX launches each operation as a compiled program of its own." : "") +
           alternatingSentence(text.worker(), ofLaunches, &IdleCause::runsAndWaitsAlternately,
                               ", so fewer launches may not help") +
           drainedSentence(text.worker(), text.per()) +
           overheadSentence(text.worker(), text.finding().overheadNs, text.per()) +
           coresSentence(text.run(), text.finding().worker);
}

std::string adviseLaunchBound(const FindingText& text) {
    if (isDispatchedSingly(text.worker()))
        return "Compile the whole step: jax.jit around the step function, so that it launches one program." +
               adviseHolder(text);
    if (hasFewLaunches(text.worker()))
        return adviceFor(text.run(), {"A step has hardly any launches, so do less between them: reading results, "
                                      "logging, Python. Or launch several steps before reading a result.",
                                      "A step is one program, so do less between its calls: reading results, logging, "
                                      "Python. Or run several steps in one program (jax.lax.scan).",
                                      "A step has hardly any launches, so do less on the CPU between them, or launch "
                                      "several steps before reading a result."}) +
               adviseHolder(text);
    int64_t launches = 0, ofOptimizer = 0;
    for (const KernelGroup& each : kernelsOf(text.worker())) {
        launches += each.count;
        ofOptimizer += each.purpose == LaunchPurpose::Optimizer ? each.count : 0;
    }
    if (2 * ofOptimizer > launches)
        return adviceFor(text.run(),
                         {"Most launches are the optimizer's: fused=True, torch._foreach_* functions for all "
                          "parameters at once, or torch.compile of its step need few.",
                          "Most launches are the optimizer's: update all parameters within jax.jit.",
                          "Most launches are the optimizer's: update all parameters in few kernels."}) +
               adviseHolder(text);
    return adviceOf(text.run(), launchBoundRule) + adviseHolder(text);
}

/// Minimum share of the step idle between work that was launched in time. Switching between kernels takes some of it.
constexpr double minQueuedShare = 0.10;
/// Minimum share of the step idle without another rule. In good programs, this time is mostly launches.
constexpr double minIdleShare = minLaunchShare;

void findGraphGaps(RunFindings& run) {
    if (run.addIdleTime(run.exposedNs(isWithinGraph), minQueuedShare, run.greatest(isWithinGraph)) != nullptr)
        run.accounted.kinds.push_back(isWithinGraph);
}

std::string sayGraphGaps(const FindingText& text) {
    return fmt::format("The GPU is idle {} between the operations of {} graphs, {}.", text.time(),
                       name(text.finding().contributor.idle.api), text.gaps());
}

Evidence graphGapsEvidence(const FindingText& text) {
    return {EvidenceQuery(text).gaps("g.within"), sumNs(text.worker(), isWithinGraph)};
}

std::string sayQueuedIdle(const FindingText& text) {
    return fmt::format("The GPU is idle {} though its work was launched in time: mostly {}.{}", text.time(),
                       text.main(), text.place());
}

/// Adds idle time of several kinds that are each too small to be reported, but large together.
void findGpuIdle(RunFindings& run) {
    int64_t idleNs = 0;
    for (const StepPart part : allStepParts)
        if (isIdle(part)) idleNs += run.mean().parts[part];
    const AccountedTime& accounted = run.accounted;
    const auto isKnown = [&](const Contributor& each) {
        return isIdle(each.part) && each.trait != ContributorTrait::Unknown && !run.isReported(each) &&
               !accounted.parts.contains(each.part);
    };
    const int64_t unknownNs = run.exposedNs(
        [](const Contributor& each) { return isIdle(each.part) && each.trait == ContributorTrait::Unknown; });
    Finding* found =
        run.add(idleNs - unknownNs - accounted.idleNs - accounted.overheadNs, minIdleShare, run.greatest(isKnown));
    if (found != nullptr && !accounted.parts.contains(StepPart::LaunchBound)) found->overheadNs = accounted.overheadNs;
}

std::string sayGpuIdle(const FindingText& text) {
    return fmt::format("The GPU has no work for {} for causes that are each too small for a rule of their own{}.{}",
                       text.time(), text.what().empty() ? "" : ": mostly " + text.main(), text.place()) +
           overheadSentence(text.worker(), text.finding().overheadNs, text.per());
}

}  // namespace

const Rule inputDataRule{
    .id = "input_data",
    .title = "GPU waits for the next batch",
    .finds = "The GPU waits at least 3 % of the step for the next batch.",
    .advice = "More loader workers, pinned batches, prefetching, or cheaper preprocessing.",
    .jaxAdvice =
        "Prepare batches in other processes, prefetch them, and call jax.device_put for the next one before this step "
        "ends; or cheaper preprocessing.",
    .otherAdvice = "Prepare batches on other threads, copy them from pinned memory, prefetch, or preprocess less.",
    .find = findInputData,
    .say = sayInputData,
    .evidence = inputDataEvidence,
    .advise = adviseInputData,
    .part = StepPart::DataLoading,
};

const Rule hostWaitsRule{
    .id = "host_waits",
    .title = "GPU waits for a thread that itself waits",
    .finds =
        "The GPU is idle at least 3 % of the step because the thread that launches its work sleeps, waits for "
        "something other than the GPU, or waits for a core.",
    .advice =
        "Find out what the thread waits for; waiting for requests from outside is no loss. If it is something else, "
        "move the wait out of the step or to another thread, or launch earlier. A thread that waits for a core needs "
        "more cores, a higher cgroup limit, or fewer threads.",
    .find = findHostWaits,
    .say = sayHostWaits,
    .evidence = hostWaitsEvidence,
    .advise = adviseHostWaits,
    .part = StepPart::LaunchBound,
};

const Rule hostWorkRule{
    .id = "host_work",
    .title = "GPU waits for a thread that is busy",
    .finds =
        "The GPU is idle at least 3 % of the step, half a millisecond and more at a time, because the thread that "
        "launches its work runs something else, or may do so.",
    .advice =
        "Do less there, do it on another thread or process (batches are made in loader workers), or launch the next "
        "work first, so that the GPU works meanwhile. If it compiles, do so once, not for each shape. Fewer launches "
        "do not shorten this time.",
    .jaxAdvice =
        "Do less there, do it in another process, or call the next step first, so that the GPU works meanwhile. If it "
        "compiles, do so once, not for each shape. Fewer launches do not shorten this time.",
    .otherAdvice =
        "Do less there, use another thread, or launch the next work first. Fewer launches do not shorten this time.",
    .find = findHostWork,
    .say = sayHostWork,
    .evidence = hostWorkEvidence,
    .advise =
        [](const FindingText& text) {
            const IdleCause& cause = text.finding().contributor.idle;
            if (cause.activity.work == ThreadWork::Importing)
                return std::string(
                    "Import these modules before the first step: each is loaded once, at its first use.");
            if (text.has(gilWaitsRule) && cause.activity.state == ThreadState::Gil)
                return std::string("Start with the finding about the GIL: the thread waits for it meanwhile.");
            if (mayPlanAttention(text))
                return std::string(
                    "If the lengths vary, cuDNN plans its attention for each new one there: pad them to a few, or use "
                    "another backend (torch.nn.attention.sdpa_kernel).");
            const bool isUnclear = cause.runsAndWaits();
            return (isUnclear ? "Record with --cpu-samples perf to see whether the thread runs or waits there. If it "
                                "waits for a lock or "
                                "another thread, avoid that wait. If it runs: "
                              : "") +
                   adviceOf(text.run(), hostWorkRule);
        },
    .order = putLineBeforeLaunches,
    .part = StepPart::LaunchBound,
};

const Rule hostSyncRule{
    .id = "host_sync",
    .title = "GPU idle after the CPU waited for it",
    .finds = "The GPU is idle at least 3 % of the step because the CPU waits for the GPU instead of launching ahead.",
    .advice =
        "Read results less often and without waiting (.item(), .cpu(), printing a loss); copy much at once, from "
        "pinned memory and with non_blocking=True; let the CPU run ahead.",
    .jaxAdvice =
        "Read results less often (float(), np.asarray, block_until_ready), and those of an earlier step, so that the "
        "CPU runs ahead.",
    .otherAdvice =
        "Wait less often ({prefix}StreamSynchronize, {prefix}DeviceSynchronize): streams and events order work without "
        "the CPU. Copy much at once, from pinned memory with {prefix}MemcpyAsync.",
    .subject = causality::Subject::Sync,
    .find = findHostSync,
    .say = sayHostSync,
    .evidence = hostSyncEvidence,
    .advise = adviseHostSync,
    .order = putWaitsBeforeLaunches,
    .part = StepPart::Synchronization,
};

const Rule launchBoundRule{
    .id = "launch_bound",
    .title = "GPU waits for launches",
    .finds = "The GPU is idle at least 15 % of the mean and of the median step, because work was launched too late.",
    .advice =
        "Fused or larger kernels, a larger batch, less Python between launches; {api} graphs (torch.compile with "
        "mode=\"reduce-overhead\") for operations not yet in a graph.",
    .jaxAdvice =
        "Compile more of the step into one program (jax.jit around the whole step, jax.lax.scan over its parts), a "
        "larger batch, less Python between its calls.",
    .otherAdvice =
        "Fused or larger kernels, a larger batch, less work on the CPU between launches; {api} graphs for operations "
        "not yet in a graph.",
    .find = findLaunchBound,
    .say = sayLaunchBound,
    .evidence = launchEvidence,
    .advise = adviseLaunchBound,
    .part = StepPart::LaunchBound,
    .isOfLaunches = true,
};

const Rule graphGapsRule{
    .id = "graph_gaps",
    .title = "GPU waits within CUDA graphs",
    .finds = "The GPU is idle at least 10 % of the step between the operations of CUDA graphs.",
    .advice =
        "Capture fewer and larger kernels: fuse operations, use a larger batch. Operations that do not depend on each "
        "other can run in parallel if they are captured on several streams.",
    .find = findGraphGaps,
    .say = sayGraphGaps,
    .evidence = graphGapsEvidence,
};

const Rule queuedIdleRule{
    .id = "queued_idle",
    .title = "GPU idle between queued work",
    .finds = "The GPU is idle at least 10 % of the step though work was launched in time.",
    .advice =
        "Streams wait for each other, tiny kernels follow each other, or launches have too little work: fuse, or use "
        "{api} graphs.",
    .jaxAdvice =
        "Streams wait for each other, tiny kernels follow each other, or programs have too little work: let jax.jit "
        "fuse more of the step.",
    .find = [](RunFindings& run) { run.addPart(StepPart::OtherIdle, minQueuedShare); },
    .say = sayQueuedIdle,
    .evidence = queuedEvidence,
};

const Rule gpuIdleRule{
    .id = "gpu_idle",
    .title = "GPU idle for many small causes",
    .finds =
        "The GPU has no work for at least 15 % of the step, for known causes that are each too small for a rule of "
        "their own.",
    .advice = "No single cause stands out: try a larger batch, fewer and larger kernels and copies, or {api} graphs.",
    .jaxAdvice = "No single cause stands out: try a larger batch, or more of it within jax.jit.",
    .find = findGpuIdle,
    .say = sayGpuIdle,
    .evidence = idleEvidence,
    .advise =
        [](const FindingText& text) {
            if (!text.has(graphGapsRule) && sumNs(text.worker(), isWithinGraph) == 0)
                return adviceOf(text.run(), gpuIdleRule);
            return adviceFor(text.run(),
                             {"No single cause stands out: try a larger batch, or fewer and larger kernels and copies.",
                              gpuIdleRule.jaxAdvice,
                              {}});
        },
};

}  // namespace lanescope::explain
