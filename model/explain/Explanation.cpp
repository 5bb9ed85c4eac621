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

/// Puts what takes most first, but a cause before what follows of it: a period before the part that
/// it is more than half of; a part before the pattern without a rhythm that it is most of; waits
/// before the launches that come late because nothing can be launched ahead of them.
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

/// A step that is longer every so often says more than the part in which it is longer, where that
/// is more of it than all the rest: when, and so what.
void putPeriodFirst(Findings& findings) {
    const auto period = std::ranges::find_if(findings, isPeriod);
    if (period == findings.end()) return;
    const auto isMostlyOfIt = [&](const Finding& each) {
        return isOfTheSame(each, *period) &&
               period->mostGainNs > each.mostGainNs - period->mostGainNs;
    };
    const auto first = std::find_if(findings.begin(), period, isMostlyOfIt);
    std::rotate(first, period, period + 1);
}

/// Which part of the step all of a finding is of that tells what a thread did; else nothing.
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

/// Whether more than half of what a pattern costs is time that the finding tells of: both are of
/// one part, which has no room for them beside each other.
bool isCauseOf(const RunSummary& run, const Finding& each, const Finding& pattern) {
    const StepPattern& found = *pattern.pattern;
    if (each.worker != pattern.worker || partOf(each.rule) != found.part) return false;
    const double excessNs = static_cast<double>(found.partExcessNs) * found.share;
    const double sharedNs = static_cast<double>(each.mostGainNs) + excessNs -
                            meanOfPart(run.workers[each.worker], found.part);
    return sharedNs > static_cast<double>(pattern.mostGainNs) / 2;
}

/// That some steps are longer, in no order or from one on, says less than what they are longer by.
void putCauseBeforePattern(const RunSummary& run, Findings& findings) {
    const auto pattern = std::ranges::find_if(
        findings, [](const Finding& each) { return each.pattern && !isPeriod(each); });
    if (pattern == findings.end()) return;
    const auto cause = std::find_if(pattern + 1, findings.end(), [&](const Finding& each) {
        return isCauseOf(run, each, *pattern) ||
               (isOfTheSame(each, *pattern) &&
                each.mostGainNs > pattern->mostGainNs - each.mostGainNs);
    });
    if (cause != findings.end()) std::rotate(pattern, pattern + 1, cause + 1);
}

void putWaitsBeforeLaunches(const RunSummary& run, Findings& findings) {
    auto launches = std::ranges::find(findings, Rule::LaunchBound, &Finding::rule);
    // Too little for a rule of its own, late launches are most of all other idle time.
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
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        return a.mostGainNs > b.mostGainNs;
    });
    putPeriodFirst(findings);
    putCauseBeforePattern(run, findings);
    putWaitsBeforeLaunches(run, findings);
}

namespace {

/// What a worker spends its own time on: not the exchange with others, nor waiting for them.
int64_t ownNs(const WorkerParts& worker) {
    return worker.meanNs - worker.parts[StepPart::WaitingForRanks] -
           worker.parts[StepPart::ExposedCommunication];
}

/// Of the odd steps, to be told as the steps of a period.
constexpr double mostlyOfPeriod = 0.75;

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
        tellOddStepsOnce();
        orderFindings(run_, made_.findings);
        sayExplanation(run_, made_);
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
        // Else nobody can say when the GPU did nothing, or nothing else.
        if (!knowsOnlyNccl(run_.facts.producer)) findWaste(isOneLate);
    }

    void findWaste(bool isOneLate) {
        if (!isOneLate) findUnbalancedRanks();
        // A launch that is late like others, as far as anybody knows.
        findPart(Rule::InputData, StepPart::DataLoading,
                 isDataMostlyGuessed(summary()) ? leastLaunchShare : leastShare);
        findCalls(Rule::Allocations, isAllocation);
        findCalls(Rule::SynchronousCopies, isSynchronousCopy);
        findCalls(Rule::SynchronousMemsets, isSynchronousMemset);
        findPageableCopies();
        findHostWaits();
        findHostWork();
        findPart(Rule::HostSynchronization, StepPart::Synchronization, leastShare);
        findLaunchBound();
        findPart(Rule::QueuedIdle, StepPart::OtherIdle, leastQueuedShare);
        findCopies();
        findMemsets();
        if (!findUnusedNvlink())
            findPart(Rule::ExposedCommunication, StepPart::ExposedCommunication,
                     leastCommunicationShare);
        findThrottling();
        findCostlyKernels();
        // What lies between requests is not the program's to change.
        if (run_.kind != StepKind::Request) findPauses();
        findOtherIdle();
    }

    const WorkerSummary& summary() const { return run_.workers[critical_->worker]; }
    double stepCount() const { return static_cast<double>(summary().steps.size()); }
    int64_t perStep(int64_t ns) const { return static_cast<int64_t>(double(ns) / stepCount()); }

    /// Adds what takes at least `least` of the mean step; returns it, or null.
    Finding* add(Rule rule, int64_t gainNs, double least, const Contributor* main) {
        const double share = static_cast<double>(gainNs) / static_cast<double>(critical_->meanNs);
        if (gainNs <= 0 || share < least) return nullptr;
        if (isOfIdleTime(rule)) idleToldNs_ += gainNs;
        if (muted_.contains(rule)) return nullptr;
        Finding& finding = made_.findings.emplace_back();
        finding.rule = rule;
        finding.worker = critical_->worker;
        finding.mostGainNs = gainNs;
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

    /// The contributor with most exposed time of those that `holds`; null if there is none.
    template <class Holds>
    const Contributor* greatest(Holds holds) const {
        return greatestOf(summary(), holds);
    }
    template <class Holds>
    static const Contributor* greatestOf(const WorkerSummary& worker, Holds holds) {
        return greatestBy(worker, [&holds](const Contributor& each) {
            return holds(each) ? each.exposedNs - provedWaitNs(each) : -1;
        });
    }
    /// The one with most time by `nsOf`, which gives less than 0 for those that are not meant.
    template <class NsOf>
    static const Contributor* greatestBy(const WorkerSummary& worker, NsOf nsOf) {
        const Contributor* most = nullptr;
        int64_t mostNs = -1;
        for (const Contributor& each : worker.contributors) {
            if (each.kind == ContributorKind::Others) continue;
            const int64_t ns = nsOf(each);
            if (ns <= mostNs) continue;
            mostNs = ns;
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

    /// What no finding of its own tells of, and is not only known not to be known; less than 0 if
    /// that is all. No launch takes part in waits, nor in work that is such a finding.
    int64_t untoldNs(const Contributor& each) const {
        if (each.trait == ContributorTrait::Unknown ||
            std::ranges::any_of(told_, [&](auto isOf) { return isOf(each); }))
            return -1;
        return each.exposedNs - provedWaitNs(each) - (isWorkTold_ ? each.workedNs : 0);
    }
    /// The same of a part of the mean step.
    int64_t untoldNs(StepPart part) const {
        int64_t toldNs = 0;
        for (const Contributor& each : summary().contributors)
            if (each.part == part) toldNs += each.exposedNs - std::max<int64_t>(untoldNs(each), 0);
        return critical_->parts[part] - perStep(toldNs);
    }

    /// `recorderNs` of it may be the recorder's.
    void findPart(Rule rule, StepPart part, double least, int64_t recorderNs = 0) {
        const int64_t restNs = untoldNs(part) - recorderNs;
        if (static_cast<double>(restNs) >= least * static_cast<double>(critical_->meanNs))
            partsTold_.insert(part);
        Finding* found = add(rule, restNs, least, greatestBy(summary(), [&](const auto& each) {
                                 return each.part == part ? untoldNs(each) : -1;
                             }));
        if (found != nullptr) found->recorderNs = recorderNs;
    }

    /// A program that launches too slowly does so in most of its steps. In those in which nothing
    /// came late the same launches were in time, so that others are disturbed by something else.
    void findLaunchBound() {
        // A launch that was in time kept no GPU waiting, however long it took.
        recorderNs_ = std::clamp<int64_t>(untoldNs(StepPart::LaunchBound), 0,
                                          recorderShareNs(run_, summary()));
        const auto typicalNs =
            static_cast<double>(ofTypicalStepNs(summary(), StepPart::LaunchBound) - recorderNs_);
        if (typicalNs >= leastLaunchShare * static_cast<double>(critical_->meanNs))
            findPart(Rule::LaunchBound, StepPart::LaunchBound, leastLaunchShare, recorderNs_);
    }

    void findMemsets() {
        const auto sets = [](const Contributor& each) {
            return each.part == StepPart::Memset || isFill(each);
        };
        add(Rule::Memsets, exposedNs(sets), leastShare, greatest(sets));
    }

    /// A thread that was seen to wait, and what of the time of one that by turns ran and waited it
    /// cannot have run in.
    void findHostWaits() {
        int64_t sumNs = 0;
        for (const Contributor& each : summary().contributors)
            if (each.part == StepPart::LaunchBound)
                sumNs += isHostWaiting(each) ? each.exposedNs : provedWaitNs(each);
        const int64_t gainNs = perStep(sumNs);
        const Contributor* main = greatestBy(summary(), [](const Contributor& each) {
            if (isHostWaiting(each)) return each.exposedNs;
            return each.waitedNs > 0 ? each.waitedNs : -1;
        });
        if (add(Rule::HostWaits, gainNs, leastShare, main) != nullptr)
            told_.push_back(isHostWaiting);
    }

    void findHostWork() {
        int64_t sumNs = 0;
        for (const Contributor& each : summary().contributors) sumNs += each.workedNs;
        const Contributor* main = greatestBy(summary(), [](const Contributor& each) {
            return each.workedNs > 0 ? each.workedNs : -1;
        });
        isWorkTold_ = add(Rule::HostWork, perStep(sumNs), leastShare, main) != nullptr;
    }

    /// Idle time of a kind, which is then told once.
    void findCalls(Rule rule, bool (*isOf)(const Contributor&)) {
        if (add(rule, exposedNs(isOf), leastShare, greatest(isOf)) != nullptr)
            told_.push_back(isOf);
    }

    void findPageableCopies() {
        const int64_t idleNs = exposedNs(isInPageableCopy);
        if (add(Rule::PageableCopies, exposedNs(isPageable), leastShare, greatest(isPageable)) ==
            nullptr)
            return;
        told_.push_back(isInPageableCopy);
        idleToldNs_ += idleNs;
    }

    void findCopies() {
        const auto isOtherCopy = [](const Contributor& each) {
            return each.kind == ContributorKind::Copy && !isPageable(each) && !movesWithinGpu(each);
        };
        add(Rule::ExposedCopies, exposedNs(isOtherCopy), leastShare, greatest(isOtherCopy));
    }

    /// A long kernel that moves values or multiplies in double precision is told as that.
    void findCostlyKernels() {
        const bool isMovementTold = add(Rule::DataMovement, exposedNs(movesWithinGpu),
                                        leastMovementShare, greatest(movesWithinGpu));
        const bool isDoubleTold =
            hasOtherProducts(summary()) && add(Rule::DoublePrecision, exposedNs(isDoubleProduct),
                                               leastDoubleShare, greatest(isDoubleProduct));
        const Contributor* kernel = longKernel(summary(), critical_->meanNs);
        if (kernel != nullptr && !(isDoubleTold && isDoubleProduct(*kernel)) &&
            !(isMovementTold && movesWithinGpu(*kernel)))
            add(Rule::LongKernel, perStep(kernel->exposedNs), leastShare, kernel);
    }

    bool findUnusedNvlink() {
        if (!run_.facts.isNvlinkPresent || run_.nvlink.use != NvlinkVerdict::Use::NotSeen)
            return false;
        const auto isExchange = [](const Contributor& each) {
            return each.part == StepPart::ExposedCommunication ||
                   each.part == StepPart::ExposedPtoP;
        };
        return add(Rule::NvlinkUnused, exposedNs(isExchange), leastShare, greatest(isExchange)) !=
               nullptr;
    }

    /// The critical worker is the one that waits least. What the rank that waits least of all
    /// others waits more than it is what all of them could save, were it as fast as that one.
    bool findLateRank() {
        const auto togetherNs = [](const WorkerParts& each) { return each.meanNs - ownNs(each); };
        int64_t leastNs = INT64_MAX;
        for (const WorkerParts& each : made_.workers)
            if (each.worker != critical_->worker) leastNs = std::min(leastNs, togetherNs(each));
        if (leastNs == INT64_MAX || !run_.workers[critical_->worker].rank) return false;
        Finding* late = add(Rule::LateRank, leastNs - togetherNs(*critical_), leastShare, nullptr);
        if (late == nullptr) return false;
        const StepPart part = partThatIsLonger();
        if (const Contributor* main =
                greatest([part](const Contributor& each) { return each.part == part; }))
            name(*late, *main);
        return true;
    }

    /// Where several ranks differ no single one is waited for by all others, and yet all wait for
    /// those with most to do. Spread evenly, a step would compute as long as the mean of them.
    void findUnbalancedRanks() {
        if (made_.workers.size() < 2 || !summary().rank) return;
        int64_t sumNs = 0;
        for (const WorkerParts& each : made_.workers) sumNs += each.parts[StepPart::Compute];
        const int64_t meanNs = sumNs / static_cast<int64_t>(made_.workers.size());
        const auto isCompute = [](const Contributor& each) {
            return each.part == StepPart::Compute;
        };
        add(Rule::UnbalancedRanks, critical_->parts[StepPart::Compute] - meanNs, leastShare,
            greatest(isCompute));
    }

    /// Of any rank: one that is late in a few steps waits for others in the rest, and is not the
    /// critical one. What all ranks do because one of them does is that one's.
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
        Finding* finding = add(Rule::StepPattern, worst->costNs, leastPatternShare, nullptr);
        if (finding == nullptr) return;
        const WorkerSummary& worker = run_.workers[where];
        finding->worker = where;
        finding->atNs = worker.steps[worst->affected.front()].startNs;
        const auto isIts = [&](const Contributor& each) { return each.part == worst->part; };
        if (const Contributor* main = greatestOf(worker, isIts)) {
            finding->contributor = main->name;
            finding->path = main->path;
            finding->launched = main->launched;
        }
        finding->pattern = std::move(worst);
    }

    static bool isPeriod(const Finding& each) {
        return each.pattern && each.pattern->kind == PatternKind::Period;
    }

    /// Odd steps that come in a period are that period.
    void tellOddStepsOnce() {
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
            mostlyOfPeriod * static_cast<double>(worker.outliers.size()))
            return;
        std::erase_if(made_.findings, [where](const Finding& each) {
            return each.rule == Rule::OddSteps && each.worker == where;
        });
    }

    /// In which part the critical worker exceeds the median of the others most.
    StepPart partThatIsLonger() const {
        auto worst = StepPart::Compute;
        int64_t mostNs = INT64_MIN;
        for (size_t index = 0; index < stepPartCount; ++index) {
            const auto part = static_cast<StepPart>(index);
            if (groupOf(part) == PartGroup::Collectives) continue;
            std::vector<int64_t> others;
            for (const WorkerParts& each : made_.workers)
                if (each.worker != critical_->worker) others.push_back(each.parts[part]);
            std::nth_element(others.begin(), others.begin() + others.size() / 2, others.end());
            const int64_t excessNs = critical_->parts[part] - others[others.size() / 2];
            if (excessNs <= mostNs) continue;
            mostNs = excessNs;
            worst = part;
        }
        return worst;
    }

    void findOddSteps() {
        int64_t excessNs = 0;
        for (const OutlierStep& each : summary().outliers) excessNs += each.excessNs;
        if (excessNs == 0) return;
        Finding* odd = add(Rule::OddSteps, perStep(excessNs), leastShare, nullptr);
        if (odd == nullptr) return;
        const OutlierStep& longest = summary().outliers.front();
        odd->contributor = longest.contributor;
        odd->path = longest.path;
        odd->atNs = longest.startNs;
    }

    /// Of what it computes, as that alone runs as fast as the SMs.
    void findThrottling() {
        const std::optional<ClockLoss> loss = clockLossOf(run_, critical_->worker);
        if (!loss) return;
        const auto computeNs = static_cast<double>(critical_->parts[StepPart::Compute]);
        Finding* found = add(Rule::GpuThrottled, static_cast<int64_t>(computeNs * loss->lostShare),
                             leastShare, nullptr);
        if (found == nullptr) return;
        // The longest step may be one at full speed.
        found->atNs.reset();
        if (!loss->longest.isEmpty()) found->atNs = loss->longest.startNs;
    }

    void findPauses() {
        const StepPauses& pauses = summary().pauses;
        if (isStartUp(pauses)) return;
        Finding* found = add(Rule::IdleBetweenSteps, perStep(pauses.idleNs), leastShare, nullptr);
        if (found == nullptr) return;
        // Such a pause is no part of the step, and may be longer.
        found->share = static_cast<double>(found->mostGainNs) /
                       static_cast<double>(critical_->meanNs + perStep(pauses.ns));
        found->countPerStep = static_cast<double>(pauses.count) / stepCount();
        found->atNs = pauses.longestStartNs;
    }

    /// Whether the only pause follows the very first step: what it is about, compiling or loading
    /// once, is the start-up of the run, and that step a trial.
    bool isStartUp(const StepPauses& pauses) const {
        const StepSummary& first = summary().steps.front();
        return pauses.count == 1 && first.number == 0 &&
               pauses.longestStartNs == first.startNs + first.wallNs;
    }

    /// What of the idle time is too little of each kind to be told, but much together.
    void findOtherIdle() {
        int64_t idleNs = 0;
        for (size_t index = 0; index < stepPartCount; ++index)
            if (const auto part = static_cast<StepPart>(index); isIdle(part))
                idleNs += critical_->parts[part];
        const auto isKnown = [this](const Contributor& each) {
            return isIdle(each.part) && each.trait != ContributorTrait::Unknown &&
                   std::ranges::none_of(told_, [&](auto isOf) { return isOf(each); }) &&
                   !partsTold_.contains(each.part);
        };
        const int64_t unknownNs = exposedNs([](const Contributor& each) {
            return isIdle(each.part) && each.trait == ContributorTrait::Unknown;
        });
        Finding* found = add(Rule::GpuIdle, idleNs - unknownNs - idleToldNs_ - recorderNs_,
                             leastIdleShare, greatest(isKnown));
        if (found != nullptr && !partsTold_.contains(StepPart::LaunchBound))
            found->recorderNs = recorderNs_;
    }

    /// Rules whose gain is all idle time of the steps.
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
    int64_t idleToldNs_ =
        0;  ///< Idle time of the mean step that rules tell, or would if not muted.
    std::set<StepPart> partsTold_;  ///< Idle parts whose rest a rule tells, or would.
    int64_t recorderNs_ = 0;        ///< Of late launches of the mean step, may be the recorder's.
    bool isWorkTold_ = false;       ///< Whether `HostWork` tells of `Contributor::workedNs`.
    std::vector<bool (*)(const Contributor&)> told_;  ///< Which idle time is a finding already.
    std::vector<WorkerParts>::const_iterator critical_;
};

}  // namespace

Explanation explain(const RunSummary& run, const std::set<Rule>& muted) {
    return Explainer(run, muted).explain();
}

}  // namespace lanescope::explain
