// SPDX-License-Identifier: Apache-2.0
#include "model/explain/Explanation.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/explain/clockLoss.h"
#include "model/explain/hostTime.h"
#include "model/explain/kernelKinds.h"
#include "model/explain/launchedWork.h"
#include "model/explain/sayExplanation.h"
#include "model/text/formatValue.h"
#include "model/trace/healthNotes.h"

namespace lanescope::explain {

/// Sorts findings by time, but a cause before its consequences: a period before the part of which
/// it is more than half, a part before the irregular pattern of which it is most, and waits before
/// launches that are late because nothing can be launched ahead of the waits.
void orderFindings(const analysis::RunSummary& run, std::vector<Finding>& findings);

using namespace analysis;

namespace {

using Findings = std::vector<Finding>;

bool isPeriod(const Finding& each) {
    return each.pattern && each.pattern->kind == PatternKind::Period;
}

bool isOfTheSame(const Finding& a, const Finding& b) {
    return a.worker == b.worker && !a.contributor.empty() && a.contributor == b.contributor;
}

/// A periodically longer step is more informative than its longer part if it is more of that part
/// than all the rest.
void putPeriodFirst(Findings& findings) {
    const auto period = std::ranges::find_if(findings, isPeriod);
    if (period == findings.end()) return;
    const auto isMostlyOfIt = [&](const Finding& each) {
        return isOfTheSame(each, *period) && period->maxGainNs > each.maxGainNs - period->maxGainNs;
    };
    const auto first = std::find_if(findings.begin(), period, isMostlyOfIt);
    std::rotate(first, period, period + 1);
}

/// Returns the part of the step that contains all of a finding about a thread; else nullopt.
std::optional<StepPart> partOf(Rule rule) {
    switch (rule) {
        case Rule::HostWaits:
        case Rule::HostWork:
        case Rule::LaunchBound:
            return StepPart::LaunchBound;
        case Rule::InputData:
            return StepPart::DataLoading;
        case Rule::HostSynchronization:
            return StepPart::Synchronization;
        default:
            return std::nullopt;
    }
}

double meanOfPart(const WorkerSummary& worker, StepPart part) {
    double sumNs = 0;
    for (const StepSummary& step : worker.steps) sumNs += static_cast<double>(step.parts[part]);
    return sumNs / static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
}

/// Returns true if more than half of a pattern's cost is time of the finding: both are about one
/// part, which has no room for both.
bool isCauseOf(const RunSummary& run, const Finding& each, const Finding& pattern) {
    const StepPattern& found = *pattern.pattern;
    if (each.worker != pattern.worker || partOf(each.rule) != found.part) return false;
    const double excessNs = static_cast<double>(found.partExcessNs) * found.share;
    const double sharedNs = static_cast<double>(each.maxGainNs) + excessNs -
                            meanOfPart(run.workers[each.worker], found.part);
    return sharedNs > static_cast<double>(pattern.maxGainNs) / 2;
}

/// The fact that some steps are longer, in no order or from one on, is less informative than the
/// cause of their excess.
void putCauseBeforePattern(const RunSummary& run, Findings& findings) {
    const auto pattern = std::ranges::find_if(
        findings, [](const Finding& each) { return each.pattern && !isPeriod(each); });
    if (pattern == findings.end()) return;
    const auto cause = std::find_if(pattern + 1, findings.end(), [&](const Finding& each) {
        return isCauseOf(run, each, *pattern) ||
               (isOfTheSame(each, *pattern) &&
                each.maxGainNs > pattern->maxGainNs - each.maxGainNs);
    });
    if (cause != findings.end()) std::rotate(pattern, pattern + 1, cause + 1);
}

void putWaitsBeforeLaunches(const RunSummary& run, Findings& findings) {
    auto launches = std::ranges::find(findings, Rule::LaunchBound, &Finding::rule);
    // Late launches too short for a rule of their own are most of all other idle time.
    if (launches == findings.end())
        launches = std::ranges::find(findings, Rule::GpuIdle, &Finding::rule);
    if (launches == findings.end() || !isDrained(run.workers[launches->worker])) return;
    const auto waits = std::find_if(launches, findings.end(), [](const Finding& each) {
        return each.rule == Rule::HostSynchronization;
    });
    if (waits != findings.end()) std::rotate(launches, waits, waits + 1);
}

}  // namespace

void orderFindings(const RunSummary& run, Findings& findings) {
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.maxGainNs > b.maxGainNs; });
    putPeriodFirst(findings);
    putCauseBeforePattern(run, findings);
    putWaitsBeforeLaunches(run, findings);
}

namespace {

/// Returns a worker's own time: without exchange with others and waiting for them.
int64_t ownNs(const WorkerParts& worker) {
    return worker.meanNs - worker.parts[StepPart::WaitingForRanks] -
           worker.parts[StepPart::ExposedCommunication];
}

/// Share of the outlier steps from which they are reported as the steps of a period.
constexpr double periodShareThreshold = 0.75;

class Explainer {
  public:
    Explainer(const RunSummary& run, const std::set<Rule>& muted) : run_(run), muted_(muted) {}

    Explanation explain() {
        if (const uint32_t critical = run_.criticalWorker(); critical != noIndex) {
            sumUp(critical);
            critical_ = std::find_if(made_.workers.begin(), made_.workers.end(),
                                     [&](const auto& each) { return each.worker == critical; });
            if (critical_->meanNs > 0) find();
        }
        reportOddStepsOnce();
        orderFindings(run_, made_.findings);
        writeExplanation(run_, made_);
        return std::move(made_);
    }

  private:
    void sumUp(uint32_t critical) {
        const WorkerSummary& one = run_.workers[critical];
        const auto steps = static_cast<int64_t>(one.steps.size());
        const int64_t quantumNs = DurationScale::ofStep(one.totalWallNs() / steps).quantumNs();
        for (uint32_t index = 0; index < run_.workers.size(); ++index) {
            if (run_.workers[index].steps.empty()) continue;
            const MeanStep mean = meanStep(run_.workers[index], quantumNs);
            made_.workers.push_back({index, mean.ns, mean.parts});
        }
    }

    void find() {
        const bool isOneLate = findLateRank();
        findOddSteps();
        findPattern();
        // Otherwise it is unknown when the GPU did nothing, or nothing else.
        if (run_.facts.producerKind != ProducerKind::NcclInspector) findWaste(isOneLate);
    }

    void findWaste(bool isOneLate) {
        if (!isOneLate) findUnbalancedRanks();
        // A late launch like others, as far as known.
        findPart(Rule::InputData, StepPart::DataLoading,
                 isDataMostlyGuessed(summary()) ? minLaunchShare : minShare);
        findCalls(Rule::Allocations, isAllocation);
        findCalls(Rule::SynchronousCopies, isSynchronousCopy);
        findCalls(Rule::SynchronousMemsets, isSynchronousMemset);
        findPageableCopies();
        findHostWaits();
        findHostWork();
        findPart(Rule::HostSynchronization, StepPart::Synchronization, minShare);
        findLaunchBound();
        findPart(Rule::QueuedIdle, StepPart::OtherIdle, minQueuedShare);
        findCopies();
        findMemsets();
        if (!findUnusedNvlink())
            findPart(Rule::ExposedCommunication, StepPart::ExposedCommunication,
                     minCommunicationShare);
        findThrottling();
        findCostlyKernels();
        // The time between requests is not the program's to change.
        if (run_.kind != StepKind::Request) findPauses();
        findOtherIdle();
    }

    const WorkerSummary& summary() const { return run_.workers[critical_->worker]; }
    double stepCount() const { return static_cast<double>(summary().steps.size()); }
    int64_t perStep(int64_t ns) const { return static_cast<int64_t>(double(ns) / stepCount()); }

    /// Adds a finding if it takes at least `least` of the mean step; returns it, or null.
    Finding* add(Rule rule, int64_t gainNs, double least, const Contributor* main) {
        const double share = static_cast<double>(gainNs) / static_cast<double>(critical_->meanNs);
        if (gainNs <= 0 || share < least) return nullptr;
        if (isOfIdleTime(rule)) idleToldNs_ += gainNs;
        if (muted_.contains(rule)) return nullptr;
        Finding& finding = made_.findings.emplace_back();
        finding.rule = rule;
        finding.worker = critical_->worker;
        finding.maxGainNs = gainNs;
        finding.share = share;
        const auto longest =
            std::max_element(summary().steps.begin(), summary().steps.end(),
                             [](const auto& a, const auto& b) { return a.wallNs < b.wallNs; });
        finding.atNs = longest->startNs;
        if (main != nullptr) name(finding, *main);
        return &finding;
    }

    void name(Finding& finding, const Contributor& main) const {
        finding.contributor = main.name;
        finding.path = main.path;
        finding.launched = main.launched;
        finding.countPerStep = static_cast<double>(main.count) / stepCount();
    }

    /// Returns the contributor with most exposed time for which `holds` is true; null if there is
    /// none.
    template <class Holds>
    const Contributor* greatest(Holds holds) const {
        return largestAmong(summary(), holds);
    }
    template <class Holds>
    static const Contributor* largestAmong(const WorkerSummary& worker, Holds holds) {
        return largestBy(worker, [&holds](const Contributor& each) {
            return holds(each) ? each.exposedNs - provedWaitNs(each) : -1;
        });
    }
    /// Returns the contributor with most time by `nsOf`, which is negative for excluded ones.
    template <class NsOf>
    static const Contributor* largestBy(const WorkerSummary& worker, NsOf nsOf) {
        const Contributor* most = nullptr;
        int64_t largestNs = -1;
        for (const Contributor& each : worker.contributors) {
            if (each.kind == ContributorKind::Others) continue;
            const int64_t ns = nsOf(each);
            if (ns <= largestNs) continue;
            largestNs = ns;
            most = &each;
        }
        return most;
    }
    template <class Holds>
    int64_t exposedNs(Holds holds) const {
        int64_t sumNs = 0;
        for (const Contributor& each : summary().contributors)
            if (holds(each)) sumNs += each.exposedNs;
        return perStep(sumNs);
    }

    /// Returns the time without a finding of its own and with a known cause; negative if there is
    /// none. Launches have no part in waits, nor in work with a finding of its own.
    int64_t unreportedNs(const Contributor& each) const {
        if (each.trait == ContributorTrait::Unknown ||
            std::ranges::any_of(reportedKinds_, [&](auto isOf) { return isOf(each); }))
            return -1;
        return each.exposedNs - provedWaitNs(each) - (isHostWorkReported_ ? each.workedNs : 0);
    }
    /// Returns the same for a part of the mean step.
    int64_t unreportedNs(StepPart part) const {
        int64_t toldNs = 0;
        for (const Contributor& each : summary().contributors)
            if (each.part == part)
                toldNs += each.exposedNs - std::max<int64_t>(unreportedNs(each), 0);
        return critical_->parts[part] - perStep(toldNs);
    }

    /// `recorderNs` of it may be profiler overhead.
    void findPart(Rule rule, StepPart part, double least, int64_t recorderNs = 0) {
        const int64_t restNs = unreportedNs(part) - recorderNs;
        if (static_cast<double>(restNs) >= least * static_cast<double>(critical_->meanNs))
            reportedParts_.insert(part);
        Finding* found = add(rule, restNs, least, largestBy(summary(), [&](const auto& each) {
                                 return each.part == part ? unreportedNs(each) : -1;
                             }));
        if (found != nullptr) found->recorderNs = recorderNs;
    }

    /// A program that launches too slowly does so in most of its steps. In steps without late work
    /// the same launches were in time, so something else disturbs the others.
    void findLaunchBound() {
        // A launch in time kept no GPU waiting, however long it took.
        recorderNs_ = std::clamp<int64_t>(unreportedNs(StepPart::LaunchBound), 0,
                                          recorderShareNs(run_, summary()));
        const auto typicalNs =
            static_cast<double>(ofTypicalStepNs(summary(), StepPart::LaunchBound) - recorderNs_);
        if (typicalNs >= minLaunchShare * static_cast<double>(critical_->meanNs))
            findPart(Rule::LaunchBound, StepPart::LaunchBound, minLaunchShare, recorderNs_);
    }

    void findMemsets() {
        const auto sets = [](const Contributor& each) {
            return each.part == StepPart::Memset || isFill(each);
        };
        add(Rule::Memsets, exposedNs(sets), minShare, greatest(sets));
    }

    /// Waits of a thread, and the time in which a thread that alternately ran and waited cannot
    /// have run.
    void findHostWaits() {
        int64_t sumNs = 0;
        for (const Contributor& each : summary().contributors)
            if (each.part == StepPart::LaunchBound)
                sumNs += isHostWaiting(each) ? each.exposedNs : provedWaitNs(each);
        const int64_t gainNs = perStep(sumNs);
        const Contributor* main = largestBy(summary(), [](const Contributor& each) {
            if (isHostWaiting(each)) return each.exposedNs;
            return each.waitedNs > 0 ? each.waitedNs : -1;
        });
        if (add(Rule::HostWaits, gainNs, minShare, main) != nullptr)
            reportedKinds_.push_back(isHostWaiting);
    }

    void findHostWork() {
        int64_t sumNs = 0;
        for (const Contributor& each : summary().contributors) sumNs += each.workedNs;
        const Contributor* main = largestBy(summary(), [](const Contributor& each) {
            return each.workedNs > 0 ? each.workedNs : -1;
        });
        isHostWorkReported_ = add(Rule::HostWork, perStep(sumNs), minShare, main) != nullptr;
    }

    /// Adds idle time of a kind, which is then reported once.
    void findCalls(Rule rule, bool (*isOf)(const Contributor&)) {
        if (add(rule, exposedNs(isOf), minShare, greatest(isOf)) != nullptr)
            reportedKinds_.push_back(isOf);
    }

    void findPageableCopies() {
        const int64_t idleNs = exposedNs(isInPageableCopy);
        if (add(Rule::PageableCopies, exposedNs(isPageable), minShare, greatest(isPageable)) ==
            nullptr)
            return;
        reportedKinds_.push_back(isInPageableCopy);
        idleToldNs_ += idleNs;
    }

    void findCopies() {
        const auto isOtherCopy = [](const Contributor& each) {
            return each.kind == ContributorKind::Copy && !isPageable(each) && !movesWithinGpu(each);
        };
        add(Rule::ExposedCopies, exposedNs(isOtherCopy), minShare, greatest(isOtherCopy));
    }

    /// A long kernel that moves values or multiplies in double precision is reported as such.
    void findCostlyKernels() {
        const bool isMovementReported = add(Rule::DataMovement, exposedNs(movesWithinGpu),
                                            minMovementShare, greatest(movesWithinGpu));
        const bool isDoubleReported =
            hasOtherProducts(summary()) && add(Rule::DoublePrecision, exposedNs(isDoubleProduct),
                                               minDoubleShare, greatest(isDoubleProduct));
        const Contributor* kernel = longKernel(summary(), critical_->meanNs);
        if (kernel != nullptr && !(isDoubleReported && isDoubleProduct(*kernel)) &&
            !(isMovementReported && movesWithinGpu(*kernel)))
            add(Rule::LongKernel, perStep(kernel->exposedNs), minShare, kernel);
    }

    bool findUnusedNvlink() {
        if (!run_.facts.isNvlinkPresent || run_.nvlink.use != NvlinkVerdict::Use::NotSeen)
            return false;
        const auto isExchange = [](const Contributor& each) {
            return each.part == StepPart::ExposedCommunication ||
                   each.part == StepPart::ExposedPtoP;
        };
        return add(Rule::NvlinkUnused, exposedNs(isExchange), minShare, greatest(isExchange)) !=
               nullptr;
    }

    /// The critical worker waits least. The excess of the least wait among all other ranks over its
    /// wait is the time that all of them could save if it were as fast as that rank.
    bool findLateRank() {
        const auto togetherNs = [](const WorkerParts& each) { return each.meanNs - ownNs(each); };
        int64_t minTogetherNs = INT64_MAX;
        for (const WorkerParts& each : made_.workers)
            if (each.worker != critical_->worker)
                minTogetherNs = std::min(minTogetherNs, togetherNs(each));
        if (minTogetherNs == INT64_MAX || !run_.workers[critical_->worker].rank) return false;
        Finding* late =
            add(Rule::LateRank, minTogetherNs - togetherNs(*critical_), minShare, nullptr);
        if (late == nullptr) return false;
        const StepPart part = partThatIsLonger();
        if (const Contributor* main =
                greatest([part](const Contributor& each) { return each.part == part; }))
            name(*late, *main);
        return true;
    }

    /// If several ranks differ, no single one is waited for by all others, yet all wait for those
    /// with most to do. With even work, a step would compute as long as their mean.
    void findUnbalancedRanks() {
        if (made_.workers.size() < 2 || !summary().rank) return;
        int64_t sumNs = 0;
        for (const WorkerParts& each : made_.workers) sumNs += each.parts[StepPart::Compute];
        const int64_t meanNs = sumNs / static_cast<int64_t>(made_.workers.size());
        const auto isCompute = [](const Contributor& each) {
            return each.part == StepPart::Compute;
        };
        add(Rule::UnbalancedRanks, critical_->parts[StepPart::Compute] - meanNs, minShare,
            greatest(isCompute));
    }

    /// Any rank: one that is late in a few steps waits for others in the rest, and is not the
    /// critical one. A pattern that all ranks have because one of them does is that rank's.
    void findPattern() {
        std::optional<StepPattern> worst;
        uint32_t where = 0;
        for (uint32_t worker = 0; worker < run_.workers.size(); ++worker) {
            auto found = patternOf(run_.workers[worker].steps, run_.workers.size());
            if (!found || groupOf(found->part) == PartGroup::Collectives || found->costNs <= 0)
                continue;
            if (run_.workers.size() == 1 && isOfBatchSize(*found, run_.workers[worker])) continue;
            if (worst && worst->costNs >= found->costNs) continue;
            worst = std::move(found);
            where = worker;
        }
        if (!worst) return;
        Finding* finding = add(Rule::StepPattern, worst->costNs, minPatternShare, nullptr);
        if (finding == nullptr) return;
        const WorkerSummary& worker = run_.workers[where];
        finding->worker = where;
        finding->atNs = worker.steps[worst->affected.front()].startNs;
        const auto isIts = [&](const Contributor& each) { return each.part == worst->part; };
        if (const Contributor* main = largestAmong(worker, isIts)) {
            finding->contributor = main->name;
            finding->path = main->path;
            finding->launched = main->launched;
        }
        finding->pattern = std::move(worst);
    }

    static bool isPeriod(const Finding& each) {
        return each.pattern && each.pattern->kind == PatternKind::Period;
    }

    /// Periodic outlier steps are reported as the period.
    void reportOddStepsOnce() {
        const auto period = std::ranges::find_if(made_.findings, isPeriod);
        if (period == made_.findings.end()) return;
        const WorkerSummary& worker = run_.workers[period->worker];
        const auto isIts = [&](const OutlierStep& odd) {
            return std::ranges::any_of(period->pattern->affected, [&](uint32_t place) {
                return worker.steps[place].number == odd.number;
            });
        };
        const uint32_t where = period->worker;
        if (static_cast<double>(std::ranges::count_if(worker.outliers, isIts)) <
            periodShareThreshold * static_cast<double>(worker.outliers.size()))
            return;
        std::erase_if(made_.findings, [where](const Finding& each) {
            return each.rule == Rule::OddSteps && each.worker == where;
        });
    }

    /// Returns the part in which the critical worker exceeds the median of the others most.
    StepPart partThatIsLonger() const {
        auto worst = StepPart::Compute;
        int64_t largestNs = INT64_MIN;
        for (size_t index = 0; index < stepPartCount; ++index) {
            const auto part = static_cast<StepPart>(index);
            if (groupOf(part) == PartGroup::Collectives) continue;
            std::vector<int64_t> others;
            for (const WorkerParts& each : made_.workers)
                if (each.worker != critical_->worker) others.push_back(each.parts[part]);
            std::nth_element(others.begin(), others.begin() + others.size() / 2, others.end());
            const int64_t excessNs = critical_->parts[part] - others[others.size() / 2];
            if (excessNs <= largestNs) continue;
            largestNs = excessNs;
            worst = part;
        }
        return worst;
    }

    void findOddSteps() {
        int64_t excessNs = 0;
        for (const OutlierStep& each : summary().outliers) excessNs += each.excessNs;
        if (excessNs == 0) return;
        Finding* odd = add(Rule::OddSteps, perStep(excessNs), minShare, nullptr);
        if (odd == nullptr) return;
        const OutlierStep& longest = summary().outliers.front();
        odd->contributor = longest.contributor;
        odd->path = longest.path;
        odd->atNs = longest.startNs;
    }

    /// Share of compute time only, as only that depends on the SM clock.
    void findThrottling() {
        const std::optional<ClockLoss> loss = clockLossOf(run_, critical_->worker);
        if (!loss) return;
        const auto computeNs = static_cast<double>(critical_->parts[StepPart::Compute]);
        Finding* found = add(Rule::GpuThrottled, static_cast<int64_t>(computeNs * loss->lostShare),
                             minShare, nullptr);
        if (found == nullptr) return;
        // The longest step may have run at full speed.
        found->atNs.reset();
        if (!loss->longest.isEmpty()) found->atNs = loss->longest.startNs;
    }

    void findPauses() {
        const StepPauses& pauses = summary().pauses;
        if (isStartUp(pauses)) return;
        Finding* found = add(Rule::IdleBetweenSteps, perStep(pauses.idleNs), minShare, nullptr);
        if (found == nullptr) return;
        // Such a pause is no part of the step, and may be longer.
        found->share = static_cast<double>(found->maxGainNs) /
                       static_cast<double>(critical_->meanNs + perStep(pauses.ns));
        found->countPerStep = static_cast<double>(pauses.count) / stepCount();
        found->atNs = pauses.longestStartNs;
    }

    /// Returns true if the only pause follows the first step: its cause, compiling or loading once,
    /// is the start-up of the run, and that step a trial.
    bool isStartUp(const StepPauses& pauses) const {
        const StepSummary& first = summary().steps.front();
        return pauses.count == 1 && first.number == 0 &&
               pauses.longestStartNs == first.startNs + first.wallNs;
    }

    /// Adds idle time of several kinds that are each too small to be reported, but large together.
    void findOtherIdle() {
        int64_t idleNs = 0;
        for (size_t index = 0; index < stepPartCount; ++index)
            if (const auto part = static_cast<StepPart>(index); isIdle(part))
                idleNs += critical_->parts[part];
        const auto isKnown = [this](const Contributor& each) {
            return isIdle(each.part) && each.trait != ContributorTrait::Unknown &&
                   std::ranges::none_of(reportedKinds_, [&](auto isOf) { return isOf(each); }) &&
                   !reportedParts_.contains(each.part);
        };
        const int64_t unknownNs = exposedNs([](const Contributor& each) {
            return isIdle(each.part) && each.trait == ContributorTrait::Unknown;
        });
        Finding* found = add(Rule::GpuIdle, idleNs - unknownNs - idleToldNs_ - recorderNs_,
                             minIdleShare, greatest(isKnown));
        if (found != nullptr && !reportedParts_.contains(StepPart::LaunchBound))
            found->recorderNs = recorderNs_;
    }

    /// Returns true for rules whose gain is all idle time of the steps.
    static bool isOfIdleTime(Rule rule) {
        switch (rule) {
            case Rule::InputData:
            case Rule::HostSynchronization:
            case Rule::LaunchBound:
            case Rule::HostWaits:
            case Rule::HostWork:
            case Rule::Allocations:
            case Rule::SynchronousCopies:
            case Rule::SynchronousMemsets:
            case Rule::QueuedIdle:
                return true;
            case Rule::LateRank:
            case Rule::PageableCopies:
            case Rule::ExposedCopies:
            case Rule::NvlinkUnused:
            case Rule::ExposedCommunication:
            case Rule::OddSteps:
            case Rule::Memsets:
            case Rule::StepPattern:
            case Rule::UnbalancedRanks:
            case Rule::GpuThrottled:
            case Rule::IdleBetweenSteps:
            case Rule::GpuIdle:
            case Rule::LongKernel:
            case Rule::DataMovement:
            case Rule::DoublePrecision:
                break;
        }
        return false;
    }

    const RunSummary& run_;
    const std::set<Rule>& muted_;
    Explanation made_;
    int64_t idleToldNs_ = 0;  ///< Idle time of the mean step covered by rules, also muted ones.
    std::set<StepPart>
        reportedParts_;  ///< Idle parts whose remainder is covered by a rule, also a muted one.
    int64_t recorderNs_ =
        0;  ///< Part of the late launches in the mean step that may be profiler overhead.
    bool isHostWorkReported_ = false;  ///< `HostWork` covers `Contributor::workedNs`.
    std::vector<bool (*)(const Contributor&)>
        reportedKinds_;  ///< Kinds of idle time that already are a finding.
    std::vector<WorkerParts>::const_iterator critical_;
};

}  // namespace

Explanation explain(const RunSummary& run, const std::set<Rule>& muted) {
    return Explainer(run, muted).explain();
}

}  // namespace lanescope::explain
