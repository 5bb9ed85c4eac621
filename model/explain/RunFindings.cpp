// SPDX-License-Identifier: Apache-2.0
#include "model/explain/RunFindings.h"

#include <algorithm>

#include "model/analysis/groupKernels.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

RunFindings::RunFindings(const RunSummary& run, Explanation& explanation) : run_(run), made_(explanation) {
    const uint32_t critical = run.criticalWorker();
    if (critical == noIndex) return;
    const WorkerSummary& one = run.workers[critical];
    const auto steps = static_cast<int64_t>(one.steps.size());
    const int64_t quantumNs = DurationScale::ofStep(one.totalWallNs() / steps).quantumNs();
    for (uint32_t index = 0; index < run.workers.size(); ++index) {
        if (run.workers[index].steps.empty()) continue;
        const MeanStep mean = meanStep(run.workers[index], quantumNs);
        made_.workers.push_back({index, mean.ns, mean.parts});
    }
    mean_ = &*std::ranges::find(made_.workers, critical, &WorkerParts::worker);
    kernels_ = kernelsOf(one);
}

void RunFindings::evaluate(const Rule& rule, bool isMuted) {
    rule_ = &rule;
    isMuted_ = isMuted;
    rule.find(*this);
}

bool RunFindings::isLargeEnough(int64_t gainNs, double least) const {
    return gainNs > 0 && static_cast<double>(gainNs) / static_cast<double>(mean_->meanNs) >= least;
}

Finding* RunFindings::add(int64_t gainNs, double least, const Contributor* main) {
    if (!isLargeEnough(gainNs, least) || isMuted_) return nullptr;
    Finding& finding = made_.findings.emplace_back();
    finding.rule = rule_;
    finding.worker = mean_->worker;
    finding.maxGainNs = gainNs;
    finding.share = static_cast<double>(gainNs) / static_cast<double>(mean_->meanNs);
    const auto longest = std::max_element(worker().steps.begin(), worker().steps.end(),
                                          [](const auto& a, const auto& b) { return a.wallNs < b.wallNs; });
    finding.atNs = longest->startNs;
    if (main != nullptr) setContributor(finding, *main);
    return &finding;
}

Finding* RunFindings::addIdleTime(int64_t gainNs, double least, const Contributor* main) {
    if (isLargeEnough(gainNs, least)) accounted.idleNs += gainNs;
    return add(gainNs, least, main);
}

void RunFindings::addPart(StepPart part, double least, int64_t overheadNs) {
    const int64_t restNs = unreportedNs(part) - overheadNs;
    if (static_cast<double>(restNs) >= least * static_cast<double>(mean_->meanNs)) accounted.parts.insert(part);
    const Contributor* main =
        largestBy(worker(), [&](const Contributor& each) { return each.part == part ? unreportedNs(each) : -1; });
    Finding* found = isIdle(part) ? addIdleTime(restNs, least, main) : add(restNs, least, main);
    if (found != nullptr) found->overheadNs = overheadNs;
}

void RunFindings::addKind(bool (*isOf)(const Contributor&)) {
    if (addIdleTime(exposedNs(isOf), minShare, greatest(isOf)) != nullptr) accounted.kinds.push_back(isOf);
}

int64_t RunFindings::kernelNs(IsOfGroup isOf) const {
    int64_t sumNs = 0;
    for (const KernelGroup& each : kernels_)
        if (isOf(each) && !isReportedWork(each)) sumNs = saturatingSum(sumNs, each.exposedNs);
    return perStep(sumNs);
}

bool RunFindings::isReportedWork(const KernelGroup& group) const {
    return std::ranges::any_of(accounted.work, [&](IsOfGroup known) { return known(group); });
}

Finding* RunFindings::addKernels(IsOfGroup isOf, double least) {
    const int64_t gainNs = kernelNs(isOf);
    const KernelGroup* most = nullptr;
    int64_t count = 0;
    for (const KernelGroup& each : kernels_) {
        if (!isOf(each) || isReportedWork(each)) continue;
        count = saturatingSum(count, each.count);
        if (most == nullptr || each.exposedNs > most->exposedNs) most = &each;
    }
    Finding* found = add(gainNs, least, nullptr);
    if (found == nullptr) return nullptr;
    accounted.work.push_back(isOf);
    const Contributor* main = greatest(
        [most](const Contributor& each) { return each.part == StepPart::Compute && each.name.work == most->name; });
    found->contributor = most->name;
    found->path = main == nullptr ? std::string() : main->path;
    found->launched = most->launched;
    found->countPerStep = static_cast<double>(count) / stepCount();
    return found;
}

bool RunFindings::isReportedWork(const Contributor& each) const {
    if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel) return false;
    const KernelClass is = kernelClass(each.name.work);
    KernelGroup group{.family = is.family, .precision = is.precision, .trait = is.trait};
    return isReportedWork(group);
}

void RunFindings::setContributor(Finding& finding, const Contributor& main) const {
    finding.contributor = main.name;
    finding.path = main.path;
    finding.launched = main.launched;
    finding.countPerStep = static_cast<double>(main.count) / stepCount();
}

bool RunFindings::has(const Rule& rule) const {
    return std::ranges::find(made_.findings, &rule, &Finding::rule) != made_.findings.end();
}

void RunFindings::remove(const Rule& rule, uint32_t worker) {
    std::erase_if(made_.findings, [&](const Finding& each) { return each.rule == &rule && each.worker == worker; });
}

bool RunFindings::isReported(const Contributor& each) const {
    return std::ranges::any_of(accounted.kinds, [&](auto isOf) { return isOf(each); });
}

/// Returns the same for a contributor; negative if none. Launches have no part in waits, nor in work that is a finding.
int64_t RunFindings::unreportedNs(const Contributor& each) const {
    if (each.trait == ContributorTrait::Unknown || isReported(each)) return -1;
    const int64_t waitedNs = std::max(provedWaitNs(each), accounted.hasGilWaits ? gilWaitNs(each) : 0);
    return each.exposedNs - waitedNs - (accounted.hasHostWork ? each.workedNs : 0);
}

int64_t RunFindings::unreportedNs(StepPart part) const {
    int64_t reportedNs = 0;
    for (const Contributor& each : worker().contributors)
        if (each.part == part) reportedNs += each.exposedNs - std::max<int64_t>(unreportedNs(each), 0);
    return mean_->parts[part] - perStep(reportedNs);
}

}  // namespace lanescope::explain
