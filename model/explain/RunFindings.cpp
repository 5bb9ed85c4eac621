// SPDX-License-Identifier: Apache-2.0
#include "model/explain/RunFindings.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/groupKernels.h"
#include "model/analysis/requestSteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/explain/programKind.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Returns the innermost ranges of a path that fit.
std::string shortPath(std::string_view path) {
    constexpr size_t maxColumns = 160;
    std::string text = printable(path);
    while (displayWidth(text) > maxColumns) {
        const size_t next = text.find('/', text.starts_with("…/") ? std::string_view("…/").size() : 0);
        if (next == std::string::npos || next + 1 == text.size()) return elideEnd(text, maxColumns);
        text = "…/" + text.substr(next + 1);
    }
    return text;
}

/// Below this number of gaps per step, a mean per step shows nothing.
constexpr double maxRarePerStep = 0.5;

}  // namespace

bool FindingText::has(const Rule& rule) const {
    const auto isIt = [&](const Finding& each) { return each.rule == &rule && each.worker == finding_.worker; };
    return std::ranges::any_of(
        made_.findings, [&](const Finding& each) { return isIt(each) || std::ranges::any_of(each.merged, isIt); });
}

std::string FindingText::unit() const { return std::string(identifier(run_.kind)); }
std::string FindingText::per() const { return isWhole() ? std::string() : " per " + unit(); }

std::string FindingText::time() const {
    return fmt::format("{} of {} ({})", timeText(static_cast<double>(finding_.maxGainNs)),
                       isWhole() ? "the run" : "a " + unit(), shareText(finding_.share));
}

std::string FindingText::what() const { return shortName(finding_.contributor); }

std::string FindingText::where() const {
    const std::string in = finding_.contributor.idle.isObserved() ? ", within " : " in ";
    return (finding_.path.empty() ? "" : in + shortPath(finding_.path)) +
           (finding_.launched.empty() ? "" : ", " + shortContributorName(finding_.launched.text, true)) +
           (finding_.written.empty() || finding_.launched.text.ends_with(finding_.written)
                ? ""
                : fmt::format(" (outside of the backward pass: {})", printable(finding_.written)));
}

std::string FindingText::main() const {
    if (!finding_.contributor.isIdle()) return what() + where();
    IdleCause cause = finding_.contributor.idle;
    cause.activity = {.work = cause.activity.work};
    const std::string onThread = cause.thread.isEmpty() ? "" : "on " + printable(cause.thread.textWithArticle());
    const std::string range = finding_.path.empty() ? "" : fmt::format("\"{}\"", shortPath(finding_.path));
    if (cause.kind == CauseKind::LoadingRange && !range.empty())
        return fmt::format("in the NVTX range {} (data loading){}{}", range, onThread.empty() ? "" : " ", onThread);
    return (cause.kind == CauseKind::LoadingThread ? onThread : shortName(cause)) +
           (range.empty() ? "" : " in the range " + range);
}

std::string FindingText::place(bool hasState) const {
    if (!finding_.contributor.isIdle()) return {};
    const ThreadRef& thread = finding_.contributor.idle.thread;
    const ThreadActivity& activity = finding_.contributor.idle.activity;
    std::string at = activity.frame.isEmpty() ? "" : activity.frame.text();
    if (!finding_.launched.empty()) at += (at.empty() ? "" : ", ") + finding_.launched.text;
    const std::string state = hasState ? stateText(activity) : "";
    const bool isNamed = thread.role == ThreadRole::Main || thread.role == ThreadRole::Named;
    const std::string_view label = lineOfLaunches().empty() ? "Place" : "Wait";
    return (at.empty() ? "" : fmt::format(" {}: {}.", label, shortContributorName(at, true))) +
           (state.empty()
                ? ""
                : fmt::format(" {} {} {}.", activity.frame.isEmpty() ? "Meanwhile" : "There",
                              printable(isNamed ? thread.textWithArticle() : "the thread"), printable(state)));
}

std::string FindingText::lineOfLaunches() const {
    const LaunchTimes& launches = worker().launches;
    const bool isPlace = finding_.rule->isOfLaunches && finding_.contributor.idle.activity.frame.isEmpty() &&
                         finding_.launched.line.empty() && !launches.place.line.empty() &&
                         2 * launches.placeCount > launches.count;
    return isPlace ? launches.place.line : std::string();
}

std::string FindingText::times() const {
    return fmt::format("{} {}", countText(finding_.countPerStep), isWhole() ? "in all" : "per " + unit());
}

std::string FindingText::taking(std::string_view subject) const {
    return fmt::format("{} {}: mostly {}, {}.{}", subject, time(), main(), times(), place());
}

std::string FindingText::gaps() const {
    if (const std::string rare = rarely(); !rare.empty()) return rare.substr(std::string_view(", ").size());
    const std::string count = countText(finding_.countPerStep);
    return fmt::format("in {} gap{} {}", count, count == "1" ? "" : "s", isWhole() ? "in all" : "per " + unit());
}

std::string FindingText::rarely() const {
    const Contributor* main = mainOf(run_, finding_);
    const auto steps = static_cast<double>(worker().steps.size());
    if (isWhole() || main == nullptr || main->kind != ContributorKind::Idle || main->count <= 0 ||
        static_cast<double>(main->count) > maxRarePerStep * steps)
        return {};
    const auto count = static_cast<double>(main->count);
    const std::string time = timeText(static_cast<double>(main->exposedNs) / count);
    if (main->count == 1) return fmt::format(", in one pause of {}", time);
    return fmt::format(", in {} pauses of {}, one every {:.0f} {}s", main->count, time, steps / count, unit());
}

const Finding* FindingText::ofSameCause() const {
    // Idle time without a place may have any cause.
    const ContributorName& name = finding_.contributor;
    if (name.isIdle() && finding_.path.empty() && name.idle.activity.frame.isEmpty()) return nullptr;
    const auto found = std::ranges::find_if(made_.findings, [&](const Finding& each) {
        return &each != &finding_ && each.worker == finding_.worker && !each.rule->isOfSingleSteps() &&
               !each.contributor.empty() && each.contributor == finding_.contributor && each.path == finding_.path;
    });
    return found == made_.findings.end() ? nullptr : &*found;
}

const Distinction* distinctionOf(const WorkerSummary& worker, const Finding& finding) {
    const DistinctionOf of = finding.rule->isOfLateRank ? DistinctionOf::Rank
                             : finding.pattern          ? DistinctionOf::Pattern
                                                        : DistinctionOf::Outliers;
    if (of == DistinctionOf::Outliers && !finding.rule->isOfSingleSteps()) return nullptr;
    const auto found = std::ranges::find(worker.distinctions, of, &Distinction::of);
    return found == worker.distinctions.end() ? nullptr : &*found;
}

namespace {

/// Returns "8 data loaders" or "2 child processes "python3.12"".
std::string startedText(const Distinction& found) {
    const std::string count = countText(static_cast<double>(found.count) / static_cast<double>(found.steps));
    if (found.kind == DistinctionKind::Loader) return count + " worker processes of data loaders";
    return count + " child processes" + (found.name.empty() ? "" : fmt::format(" \"{}\"", printable(found.name)));
}

/// Below this share of a finding, a cause explains only a part of it.
constexpr double maxPartShare = 0.75;

}  // namespace

std::string FindingText::onlyThere() const {
    const Distinction* const found = distinction();
    if (found == nullptr) return {};
    const bool isOfRank = found->of == DistinctionOf::Rank;
    const std::string name = shortContributorName(found->name, true);
    const bool isOne = isOfRank || found->steps == 1;
    const std::string who = isOfRank ? "this rank" : isOne ? "this " + unit() : fmt::format("these {}s", unit());
    const std::string where = (!isOfRank && found->others > 0 ? "Nearly only " : "Only ") + who;
    const std::string time =
        timeText(static_cast<double>(found->ns)) +
        (found->steps == 1 && !isOfRank ? "" : fmt::format(" in each of {} {}s", found->steps, unit()));
    switch (found->kind) {
        case DistinctionKind::Range:
            return fmt::format(" {} {} the range \"{}\", {}.", where, isOne ? "has" : "have", name, time);
        case DistinctionKind::Line:
            return fmt::format(" {} {} time at {}, {}.", where, isOne ? "spends" : "spend", name, time);
        case DistinctionKind::Process:
        case DistinctionKind::Loader:
            if (found->count == 0)
                return fmt::format(" In {} of these {}s, and in {} others, samples show that data loaders start.",
                                   found->steps, unit(), found->others > 0 ? "hardly any" : "no");
            return fmt::format(" In each of {} {}s, or up to a second later, about {} start.", found->steps, unit(),
                               startedText(*found));
        case DistinctionKind::Thread: break;
    }
    return fmt::format(" {} {} calls of the {}, {}.", where, isOne ? "has" : "have", name, time);
}

std::string FindingText::advice() const {
    return finding_.rule->advise != nullptr ? finding_.rule->advise(*this) : adviceOf(run_, *finding_.rule);
}

std::string FindingText::adviseCause(std::string_view otherwise) const {
    const Distinction* const found = distinction();
    if (found != nullptr && found->kind == DistinctionKind::Loader)
        return "Keep the data loaders: DataLoader(persistent_workers=True), made once before the epochs. Each new one "
               "starts Python, opens the data and fills its queue while the GPU waits.";
    if (found != nullptr && found->kind == DistinctionKind::Process)
        return "Start these processes once, before the steps, and keep them.";
    if (!finding_.merged.empty()) return FindingText(run_, made_, finding_.merged.front()).advice();
    if (found != nullptr) {
        // It may be a part of the time only.
        const double ownNs = static_cast<double>(found->ns) * static_cast<double>(found->steps) / stepCount();
        const bool isPart = ownNs < maxPartShare * static_cast<double>(finding_.maxGainNs);
        return fmt::format(
            "Look at {} first{}: do less there, do it on another thread or process, or do it before the GPU needs it.",
            found->kind == DistinctionKind::Range ? fmt::format("\"{}\"", printable(found->name))
                                                  : printable(found->name),
            isPart ? fmt::format(", which takes {} of this", timeText(ownNs)) : "");
    }
    if (const Finding* const other = ofSameCause(); other != nullptr && finding_.rule->isOfSingleSteps())
        return other < &finding_ ? fmt::format("Same cause as {}, of which these {}s have more: start with that.",
                                               other->rule->id, unit())
                                 : FindingText(run_, made_, *other).advice();
    return std::string(otherwise);
}

const Contributor* mainOf(const RunSummary& run, const Finding& finding) {
    const std::vector<Contributor>& all = run.workers[finding.worker].contributors;
    const auto main = std::ranges::find_if(all, [&](const Contributor& each) {
        return !each.name.empty() && each.name == finding.contributor && each.path == finding.path;
    });
    return main == all.end() ? nullptr : &*main;
}

std::optional<StepPart> partOf(const RunSummary& run, const Finding& finding) {
    const Contributor* main = mainOf(run, finding);
    return main == nullptr ? finding.rule->part : main->part;
}

double shareOf(int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string shareText(double share) { return percentText(100 * share) + " %"; }

std::string capitalized(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
    return text;
}

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

Finding* RunFindings::addPart(StepPart part, double least, int64_t overheadNs) {
    const int64_t restNs = unreportedNs(part) - overheadNs;
    if (static_cast<double>(restNs) >= least * static_cast<double>(mean_->meanNs)) accounted.parts.insert(part);
    const Contributor* main =
        largestBy(worker(), [&](const Contributor& each) { return each.part == part ? unreportedNs(each) : -1; });
    Finding* found = isIdle(part) ? addIdleTime(restNs, least, main) : add(restNs, least, main);
    if (found == nullptr) return nullptr;
    found->overheadNs = overheadNs;
    found->mainNs = main == nullptr ? 0 : std::max<int64_t>(perStep(unreportedNs(*main)), 0);
    return found;
}

void RunFindings::addKind(bool (*isOf)(const Contributor&)) {
    if (addIdleTime(exposedNs(isOf), minShare, greatest(isOf)) != nullptr) accounted.kinds.push_back(isOf);
}

int64_t RunFindings::kernelNs(IsOfGroup isOf, int64_t KernelGroup::*time) const {
    int64_t sumNs = 0;
    for (const KernelGroup& each : kernels_)
        if (isOf(each) && !isReportedWork(each)) sumNs = saturatingSum(sumNs, each.*time);
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
    found->launched = {most->launched};
    found->written = most->written;
    found->countPerStep = static_cast<double>(count) / stepCount();
    return found;
}

bool RunFindings::isReportedWork(const Contributor& each) const {
    if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel) return false;
    const KernelClass is = kernelClass(each.name.work);
    KernelGroup group{.family = is.family, .precision = is.precision, .trait = is.trait};
    return accounted.contributors.contains(&each) || isReportedWork(group);
}

void RunFindings::account(const Contributor& each) {
    accounted.contributors.insert(&each);
    if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel) return;
    const KernelClass is = kernelClass(each.name.work);
    int64_t restNs = each.exposedNs;
    for (KernelGroup& group : kernels_) {
        if (group.family != is.family || group.precision != is.precision || group.trait != is.trait) continue;
        const int64_t ns = std::clamp<int64_t>(restNs, 0, std::max<int64_t>(group.exposedNs, 0));
        group.exposedNs -= ns;
        restNs -= ns;
    }
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
    return accounted.contributors.contains(&each) ||
           std::ranges::any_of(accounted.kinds, [&](auto isOf) { return isOf(each); });
}

/// Returns the same for a contributor; negative if none. Launches have no part in waits, nor in work that is a finding.
int64_t RunFindings::unreportedNs(const Contributor& each) const {
    if (each.trait == ContributorTrait::Unknown || isReported(each)) return -1;
    return each.exposedNs - waitNs(each) - (accounted.hasHostWork ? hostWorkNs(each) : 0);
}

int64_t RunFindings::waitNs(const Contributor& each) const {
    return std::max(provedWaitNs(each), accounted.hasGilWaits ? gilWaitNs(each) : 0);
}

int64_t RunFindings::hostWorkNs(const Contributor& each) const {
    return std::min(each.workedNs, each.exposedNs - waitNs(each));
}

int64_t RunFindings::unreportedNs(StepPart part) const {
    int64_t reportedNs = 0;
    for (const Contributor& each : worker().contributors)
        if (each.part == part) reportedNs += each.exposedNs - std::max<int64_t>(unreportedNs(each), 0);
    return mean_->parts[part] - perStep(reportedNs);
}

}  // namespace lanescope::explain
