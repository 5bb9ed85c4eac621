// SPDX-License-Identifier: Apache-2.0
#include "model/explain/sayExplanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/IdleCauses.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/requestSteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/explain/clockLoss.h"
#include "model/explain/findingPlace.h"
#include "model/explain/hostTime.h"
#include "model/explain/kernelKinds.h"
#include "model/explain/launchedWork.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/healthNotes.h"

namespace lanescope::explain {

/// Returns the steps that an explanation covers, of the worker of its findings, and the rest
/// outside them: `Explanation::steps`.
std::string stepsSentence(const analysis::RunSummary& run);

using namespace analysis;

namespace {

/// Minimum share of the GPU work between the steps, of all of it, that is reported.
constexpr double minShareBetween = 0.03;

std::string percent(double share) {
    return percentText(100 * share) + " %";
}

std::string spanText(int64_t ns) {
    return timeText(static_cast<double>(ns));
}

/// Returns the known name of the steps.
std::string patternText(const RunSummary& run) {
    if (run.source == StepSource::KernelPattern)
        return fmt::format(", each from {} on", shortContributorName(run.pattern));
    if (run.pattern.empty()) return {};
    const std::string known = knownRangeName(run.pattern);
    const std::string name = printable(known.empty() ? run.pattern : known);
    if (run.rangesPerStep > 1)
        return fmt::format(", each of {} \"{}\" up to an update of the weights", run.rangesPerStep,
                           name);
    return fmt::format(" \"{}\"", name);
}

/// Reports work between the steps, such as between named ranges.
std::string pausesSentence(const WorkerSummary& of) {
    const int64_t workNs = of.pauses.ns - of.pauses.idleNs;
    int64_t inStepsNs = 0;
    const StepParts parts = of.totalParts();
    for (size_t index = 0; index < stepPartCount; ++index)
        if (const auto part = static_cast<StepPart>(index); !isIdle(part)) inStepsNs += parts[part];
    if (workNs <= 0 ||
        static_cast<double>(workNs) < minShareBetween * static_cast<double>(workNs + inStepsNs))
        return {};
    return fmt::format(
        " Between them, in {} in all, the GPU worked for {} that count for none of them.",
        spanText(of.pauses.ns), spanText(workNs));
}

/// Returns why steps are called requests, and the activity between them; empty for steps.
std::string requestsSentence(const RunSummary& run, const WorkerSummary& of) {
    if (run.kind != StepKind::Request) return {};
    std::string text;
    if (run.source == StepSource::KernelPattern || !isRequestName(run.pattern))
        text =
            " They count as requests since nothing of a training was seen and the program waited "
            "between them.";
    if (of.rest.ns > 0)
        text += fmt::format(" Between two of them it was seen to wait {}: for {} in all at least.",
                            printable(causeText(of.rest.most)), spanText(of.rest.ns));
    return text;
}

}  // namespace

std::string stepsSentence(const RunSummary& run) {
    const uint32_t critical = run.criticalWorker();
    if (critical == noIndex || run.source == StepSource::WholeRun) return {};
    const WorkerSummary& of = run.workers[critical];
    std::string text =
        fmt::format("{} of {} {}s", of.steps.size(), of.foundSteps, identifier(run.kind));
    text += patternText(run);
    if (const auto share = of.coverage(); share)
        text +=
            fmt::format(", {} of the time from the first to the last GPU work", percent(*share));
    if (of.warmUpSteps > 0) text += fmt::format(", {} left out as warm-up", of.warmUpSteps);
    if (of.isLastLeftOut) text += ", the last since no next one ends it";
    if (const std::string ahead = of.aheadText(); !ahead.empty()) text += ", " + ahead;
    return text + "." + pausesSentence(of) + requestsSentence(run, of);
}

namespace {

constexpr size_t maxReportedParts = 2;
constexpr double computingShareThreshold = 0.9;
constexpr double alternatingShareThreshold = 0.5;
constexpr size_t minSteps = 4;

class Words {
  public:
    Words(const RunSummary& run, Explanation& explanation) : run_(run), made_(explanation) {}

    void say() {
        made_.what = isWhole() ? "run" : std::string(identifier(run_.kind));
        made_.sentence = (run_.facts.isStillRecorded ? "Of the run so far: " : "") + sentence();
        made_.steps = stepsSentence(run_);
        for (Finding& finding : made_.findings) {
            finding.sentence = sentenceOf(finding) + sharedTimeSentence(finding);
            finding.sql = queryOf(run_, finding);
        }
        addDoubts();
    }

  private:
    bool isWhole() const { return run_.source == StepSource::WholeRun; }
    /// Returns " a step", or nothing for a run without steps.
    std::string per() const { return isWhole() ? std::string() : " a " + unit(); }
    /// Returns the repeated unit of the run: "step", "request".
    std::string unit() const { return std::string(identifier(run_.kind)); }
    const WorkerSummary& worker(uint32_t index) const { return run_.workers[index]; }
    static double shareOf(int64_t ns, int64_t wholeNs) {
        return wholeNs > 0 ? static_cast<double>(ns) / static_cast<double>(wholeNs) : 0;
    }
    std::string percent(double share) const { return percentText(100 * share) + " %"; }

    /// Returns the sum of all workers; its parts are shares of the time of all GPUs.
    WorkerParts together() const {
        WorkerParts all;
        for (const WorkerParts& each : made_.workers) {
            all.meanNs += each.meanNs;
            all.parts += each.parts;
        }
        return all;
    }

    std::string sentence() const {
        if (run_.isEmpty()) return "This trace holds no work of a GPU to explain.";
        const WorkerParts all = together();
        const auto count = static_cast<int64_t>(made_.workers.size());
        const int64_t meanNs = all.meanNs / count;
        const DurationScale scale = DurationScale::ofStep(meanNs);
        const std::string what = isWhole()                           ? "run"
                                 : run_.source == StepSource::Chosen ? "stretch"
                                                                     : "mean " + unit();
        std::string text =
            run_.facts.producerKind == ProducerKind::NcclInspector
                ? fmt::format("Only NCCL's kernels are known of the {} of {}", what,
                              scale.text(meanNs))
                : fmt::format("{} {} % of the {} of {}",
                              count == 1 ? "The GPU computes" : "GPUs compute",
                              percentText(100 * shareOf(all.parts[StepPart::Compute], all.meanNs)),
                              what, scale.text(meanNs));
        std::vector<StepPart> parts;
        for (size_t index = 1; index < stepPartCount; ++index)
            parts.push_back(static_cast<StepPart>(index));
        std::stable_sort(parts.begin(), parts.end(),
                         [&](StepPart a, StepPart b) { return all.parts[a] > all.parts[b]; });
        std::string rest;
        for (size_t index = 0; index < maxReportedParts; ++index) {
            const int64_t ns = all.parts[parts[index]];
            if (shareOf(ns, all.meanNs) < minReportedShare) break;
            rest += fmt::format("{} {} {}", rest.empty() ? ":" : ",", scale.text(ns / count),
                                partText(parts[index]));
        }
        if (shareOf(all.parts[StepPart::Compute], all.meanNs) >= computingShareThreshold)
            rest += isMostlyComputing();
        return text + rest + ".";
    }

    /// Returns "waiting for rank 2" if the rank is known.
    std::string partText(StepPart part) const {
        if (part == StepPart::WaitingForRanks)
            for (const Finding& finding : made_.findings)
                if (finding.rule == Rule::LateRank && worker(finding.worker).rank)
                    return fmt::format("waiting for rank {}", *worker(finding.worker).rank);
        return std::string(name(part));
    }

    std::string isMostlyComputing() const {
        const uint32_t critical = run_.criticalWorker();
        const Contributor* most = nullptr;
        for (const Contributor& each : worker(critical).contributors)
            if (each.part == StepPart::Compute && each.kind != ContributorKind::Others &&
                (most == nullptr || each.exposedNs > most->exposedNs))
                most = &each;
        if (most == nullptr) return {};
        const std::string at =
            most->launched.empty() ? "" : ", " + shortContributorName(most->launched, true);
        return fmt::format("; what takes most is {}{}, {}", shortName(most->name), at,
                           percent(shareOf(most->exposedNs, worker(critical).totalWallNs())));
    }

    std::string where(const Finding& finding) const {
        return (finding.path.empty() ? "" : " in " + printable(finding.path)) +
               (finding.launched.empty() ? ""
                                         : ", " + shortContributorName(finding.launched, true));
    }
    /// The name of idle time already contains its place.
    static std::string inText(const Finding& finding) {
        return finding.contributor.isIdle() ? "" : "in ";
    }
    static std::string contributorText(const Finding& finding) {
        return shortName(finding.contributor);
    }
    /// Returns the thread's activity instead of launching, in short; the contributor has the
    /// details.
    static std::string_view notLaunching(const Finding& finding) {
        const IdleCause& cause = finding.contributor.idle;
        if (cause.isMostlyWithoutCore()) return "gets no core for most of it";
        if (cause.runsAndWaits())
            return "cannot have run meanwhile, as the kernel counts no more of its time on a core";
        const std::optional<ThreadState> state = cause.state();
        if (state == ThreadState::Sleep) return "sleeps of its own accord";
        return state == ThreadState::Runnable ? "gets no core" : "itself waits";
    }
    /// Returns true if a thread's activity is known for any cause.
    bool hasKnownState(uint32_t index) const {
        const auto& all = worker(index).contributors;
        return std::any_of(all.begin(), all.end(),
                           [](const Contributor& each) { return each.name.idle.isObserved(); });
    }
    /// Returns true if a thread's activity in host code is unknown.
    static bool isUnseen(const IdleCause& cause) {
        return cause.kind == CauseKind::OutsideCalls && !cause.isObserved();
    }
    /// Returns a caveat if most of the launch-bound time, by `nsOf` of each contributor, is of
    /// threads that also waited, or may have: fewer launches may not help.
    template <class NsOf>
    std::string byTurnsSentence(const Finding& finding, NsOf nsOf) const {
        int64_t byTurnsNs = 0, unknownNs = 0, allNs = 0;
        for (const Contributor& each : worker(finding.worker).contributors) {
            if (each.part != StepPart::LaunchBound || each.kind == ContributorKind::Others)
                continue;
            const int64_t ns = nsOf(each);
            allNs += ns;
            if (each.name.idle.runsAndWaitsAlternately()) byTurnsNs += ns;
            if (isUnseen(each.name.idle)) unknownNs += ns;
        }
        if (!hasKnownState(finding.worker) &&
            shareOf(unknownNs, allNs) >= alternatingShareThreshold)
            return fmt::format(
                " What the thread did in {} of it is not known: if it waited, less to launch does "
                "not help.",
                percent(shareOf(unknownNs, allNs)));
        if (shareOf(byTurnsNs, allNs) < alternatingShareThreshold) return {};
        return fmt::format(
            " For {} of it the thread was seen to run and to wait by turns; which of both kept the "
            "GPU waiting is not known{}: see what it waits for first.",
            percent(shareOf(byTurnsNs, allNs)),
            finding.rule == Rule::LaunchBound ? ", so less to launch may not help" : "");
    }
    /// Returns true if host work has a finding of its own.
    bool isHostWorkReported(uint32_t index) const {
        return std::ranges::any_of(made_.findings, [index](const Finding& each) {
            return each.rule == Rule::HostWork && each.worker == index;
        });
    }
    /// Returns the launch-bound time attributed to launches.
    auto ofLaunches(const Finding& finding) const {
        return [isReported = isHostWorkReported(finding.worker)](const Contributor& each) {
            return ranNs(each) - (isReported ? each.workedNs : 0);
        };
    }
    std::string hostWork(const Finding& finding, const std::string& time,
                         const std::string& what) const {
        std::string text = fmt::format(
            "The GPU waits {} while the thread that launches its work is busy with something else "
            "on the CPU{}, for long at a time: mostly {}{}",
            time, finding.contributor.idle.isInPython() ? " (Python, or what that calls)" : "",
            what, where(finding));
        const std::string place = hostWorkPlace(worker(finding.worker));
        if (!place.empty() && place != placeText(finding.contributor.idle))
            text += fmt::format("; where it was seen to run, that was most {}", place);
        return text + "." +
               byTurnsSentence(finding, [](const Contributor& each) { return each.workedNs; }) +
               coresSentence(run_, finding.worker);
    }

    /// Returns "12.1 a step", or "12 in all" for a run without steps.
    std::string times(const Finding& finding) const {
        return fmt::format("{} {}", countText(finding.countPerStep),
                           isWhole() ? "in all" : "a " + unit());
    }

    /// Returns "in 12.1 gaps a step": idle time is in gaps, of which one call may make several.
    std::string gaps(const Finding& finding) const {
        const std::string count = countText(finding.countPerStep);
        return fmt::format("in {} gap{} {}", count, count == "1" ? "" : "s",
                           isWhole() ? "in all" : "a " + unit());
    }

    std::string sentenceOf(const Finding& finding) const {
        const auto whole =
            std::find_if(made_.workers.begin(), made_.workers.end(),
                         [&](const WorkerParts& each) { return each.worker == finding.worker; });
        const DurationScale scale = DurationScale::ofStep(whole->meanNs);
        const std::string time =
            fmt::format("{} of {} ({})", scale.text(finding.maxGainNs),
                        isWhole() ? "the run" : "a " + unit(), percent(finding.share));
        const std::string what = contributorText(finding);
        switch (finding.rule) {
            case Rule::LateRank:
                return fmt::format(
                    "The other ranks wait and exchange data for at least {} more "
                    "than {}, which comes last{}.",
                    time, worker(finding.worker).label(),
                    what.empty() ? ""
                                 : ", mostly because of more time " + inText(finding) + what +
                                       where(finding));
            case Rule::InputData:
                return inputDataSentence(worker(finding.worker), time, what + where(finding)) +
                       coresSentence(run_, finding.worker);
            case Rule::HostSynchronization:
                return fmt::format(
                    "The GPU is idle {} because the CPU waited for it before it went on: mostly "
                    "{}{}, {}.",
                    time, what, where(finding), gaps(finding));
            case Rule::LaunchBound:
                return fmt::format("The GPU waits {} for work to be launched: mostly {}{}{}.", time,
                                   what, where(finding),
                                   launchedWork(worker(finding.worker), per())) +
                       recorderSentence(worker(finding.worker), finding.recorderNs, per()) +
                       drainedSentence(worker(finding.worker), unit()) +
                       byTurnsSentence(finding, ofLaunches(finding)) +
                       coresSentence(run_, finding.worker);
            case Rule::HostWork:
                return hostWork(finding, time, what);
            case Rule::HostWaits:
                return fmt::format(
                           "The GPU waits {} for work to be launched, mostly for a thread that {}: "
                           "{}{}.",
                           time, notLaunching(finding), what, where(finding)) +
                       coresSentence(run_, finding.worker);
            case Rule::Allocations:
                return fmt::format(
                    "The GPU waits {} while memory is allocated or freed: mostly {}{}, {}.", time,
                    what, where(finding), gaps(finding));
            case Rule::SynchronousCopies:
                return fmt::format(
                    "The GPU is idle {} while the CPU is in copies that wait for it: mostly {}{}, "
                    "{}.",
                    time, what, where(finding), gaps(finding));
            case Rule::SynchronousMemsets:
                return fmt::format(
                    "The GPU is idle {} while the CPU is in memsets that wait for it: mostly {}{}, "
                    "{}.",
                    time, what, where(finding), gaps(finding));
            case Rule::PageableCopies:
                return fmt::format("Copies of pageable memory take {}: mostly {}{}, {}.", time,
                                   what, where(finding), times(finding));
            case Rule::GpuThrottled:
                return clockSentence(run_, finding.worker, time);
            case Rule::IdleBetweenSteps:
                return pauses(finding, time);
            case Rule::GpuIdle:
                return fmt::format(
                           "The GPU has no work for {} for causes that are each too small for a "
                           "rule of their own{}.",
                           time, what.empty() ? "" : ": mostly " + what + where(finding)) +
                       recorderSentence(worker(finding.worker), finding.recorderNs, per());
            case Rule::ExposedCopies:
                return fmt::format("Copies that nothing hides take {}: mostly {}{}, {}.", time,
                                   what, where(finding), times(finding));
            case Rule::NvlinkUnused:
                return fmt::format(
                    "NVLink joins these GPUs and carried nothing; {} they only exchange data over "
                    "something slower, mostly in {}.",
                    time, what);
            case Rule::ExposedCommunication:
                return fmt::format("GPUs do nothing but exchange data for {}: mostly {}{}, {}.",
                                   time, what, where(finding), times(finding));
            case Rule::OddSteps:
                return oddSteps(finding, time);
            case Rule::Memsets:
                return fmt::format("Setting memory that nothing hides takes {}: mostly {}{}, {}.",
                                   time, what, where(finding), times(finding));
            case Rule::QueuedIdle:
                return fmt::format(
                    "The GPU is idle {} though its work was launched in time: mostly {}{}.", time,
                    what, where(finding));
            case Rule::StepPattern:
                return pattern(finding);
            case Rule::LongKernel:
                return longKernelSentence(finding, time, what);
            case Rule::DataMovement:
                return fmt::format(
                    "Copies within the GPU and kernels that only move values take {}: mostly {}{}, "
                    "{}.",
                    time, what, where(finding), times(finding));
            case Rule::DoublePrecision:
                return fmt::format(
                    "Products in double precision take {}, beside others in less: mostly {}{}, {}.",
                    time, what, where(finding), times(finding));
            case Rule::UnbalancedRanks:
                return fmt::format("{} computes {} longer than the mean of all ranks: mostly {}{}.",
                                   worker(finding.worker).label(), time, what, where(finding));
        }
        return {};
    }

    /// Returns the longer part of the steps of a finding about single steps.
    std::optional<StepPart> partOfOddSteps(const Finding& finding) const {
        if (finding.pattern && finding.pattern->kind == PatternKind::Period)
            return finding.pattern->part;
        if (finding.rule != Rule::OddSteps) return std::nullopt;
        return worker(finding.worker).outliers.front().part;
    }
    /// Returns a note if an earlier finding about single steps counts some of the same time.
    std::string sharedTimeSentence(const Finding& finding) const {
        if (partOfOddSteps(finding) || finding.rule == Rule::StepPattern) return {};
        const auto& all = worker(finding.worker).contributors;
        const auto main = std::ranges::find_if(all, [&](const Contributor& each) {
            return each.name == finding.contributor && each.path == finding.path;
        });
        if (main == all.end()) return {};
        for (const Finding& above : made_.findings) {
            if (&above == &finding) break;
            if (above.worker == finding.worker && partOfOddSteps(above) == main->part)
                return fmt::format(" {} tells some of the same time.",
                                   factsOf(above.rule).identifier);
        }
        return {};
    }

    std::string longKernelSentence(const Finding& finding, const std::string& time,
                                   const std::string& what) const {
        const auto& all = worker(finding.worker).contributors;
        const auto kernel = std::ranges::find_if(all, [&](const Contributor& each) {
            return each.kind == ContributorKind::Kernel && each.name == finding.contributor &&
                   each.path == finding.path;
        });
        return fmt::format("One kernel takes {}: {}{}{}", time, what, where(finding),
                           longKernelText(worker(finding.worker), *kernel, unit()));
    }

    std::string pauses(const Finding& finding, const std::string& time) const {
        const StepPauses& all = worker(finding.worker).pauses;
        const std::string longest = timeText(static_cast<double>(all.longestNs));
        if (all.count == 1)
            return fmt::format("The GPU has no work for {} between steps, in one pause of {}.",
                               time, longest);
        return fmt::format(
            "The GPU has no work for {} between steps, in {} pauses that belong to none; that with "
            "most of it takes {}.",
            time, all.count, longest);
    }

    /// "rank 2, GPU 2: every third step takes 13.900 ms longer ...".
    std::string pattern(const Finding& finding) const {
        const StepPattern& found = *finding.pattern;
        std::string which;
        switch (found.kind) {
            case PatternKind::Period:
                which = fmt::format("every {} {}, from {} on, takes", ordinalText(found.period),
                                    unit(), found.firstNumber);
                break;
            case PatternKind::Level:
                which = fmt::format("{}s from {} on take", unit(), found.firstNumber);
                break;
            case PatternKind::TwoModes:
                which =
                    fmt::format("{} of the {}s, in no order, take", percent(found.share), unit());
                break;
            case PatternKind::Drift:
                which = unit() + "s grow all the way, at the end they take";
                break;
        }
        std::string text =
            fmt::format("{}: {} {} longer, {} in the mean: {}", worker(finding.worker).label(),
                        which, timeText(static_cast<double>(found.excessNs)),
                        timeText(static_cast<double>(finding.maxGainNs)), name(found.part));
        if (!finding.contributor.empty())
            text += fmt::format(", mostly {}{}", contributorText(finding), where(finding));
        return text + ".";
    }

    std::string oddSteps(const Finding& finding, const std::string& time) const {
        const WorkerSummary& odd = worker(finding.worker);
        const OutlierStep& longest = odd.outliers.front();
        std::string text = fmt::format(
            "{} of {} {}s take{} far longer than the others, {} in the mean; {} {} by {}: {}",
            odd.outliers.size(), odd.steps.size(), unit(), odd.outliers.size() == 1 ? "s" : "",
            time, unit(), longest.number, timeText(static_cast<double>(longest.excessNs)),
            name(longest.part));
        if (!finding.contributor.empty())
            text += fmt::format(", {}{}", contributorText(finding), where(finding));
        if (const int64_t every = distanceOf(odd.outliers); every > 1)
            text += fmt::format(". They are every {} {}", ordinalText(every), unit());
        return text + ".";
    }
    /// Returns the number of steps from each outlier to the next if constant; else 0.
    static int64_t distanceOf(const std::vector<OutlierStep>& odd) {
        constexpr size_t fewest = 4;
        if (odd.size() < fewest) return 0;
        std::vector<int64_t> numbers;
        for (const OutlierStep& each : odd) numbers.push_back(each.number);
        std::ranges::sort(numbers);
        for (size_t index = 2; index < numbers.size(); ++index)
            if (numbers[index] - numbers[index - 1] != numbers[1] - numbers[0]) return 0;
        return numbers[1] - numbers[0];
    }

    void addDoubts() {
        const auto add = [this](std::string sentence) {
            made_.caveats.push_back(std::move(sentence));
        };
        if (run_.facts.isStillRecorded)
            add("The run is still being recorded: what is said is of the run so far, and of its "
                "last moments not all is written yet.");
        if (!run_.isEmpty()) addDoubtsOfSteps(add);
        if (!run_.facts.hasApiCalls && run_.facts.kernelCount > 0)
            add("The trace has no CUDA API calls, so why its GPUs were idle is not known.");
        if (!run_.isEmpty())
            if (std::string capped = powerCapSentence(run_, run_.criticalWorker()); !capped.empty())
                add(std::move(capped));
        if (run_.facts.isTruncated && !run_.facts.reportsAbnormalEnd())
            add("A process ended abnormally; its last events may be missing.");
        // Ranks that are not drawn count all the same.
        for (const HealthNote& note : run_.facts.healthWarnings)
            if (note.code != HealthCode::EventsNotDrawn) add(shownText(note));
    }

    template <class Add>
    void addDoubtsOfSteps(Add add) const {
        if (std::string timeless = timelessSentence(run_); !timeless.empty())
            add(std::move(timeless));
        if (run_.source == StepSource::KernelPattern)
            add(fmt::format(
                "No NVTX ranges mark the {}s: they were found by the rhythm of the kernels.",
                unit()));
        if (isWhole())
            add("No steps were found: the run is explained as a whole, from its first to its last "
                "event.");
        const WorkerSummary& critical = worker(run_.criticalWorker());
        if (!isWhole() && run_.source != StepSource::Chosen && critical.steps.size() < minSteps)
            add(fmt::format("Only {} {}{} to go by.", critical.steps.size(), unit(),
                            critical.steps.size() == 1 ? "" : "s"));
    }

    const RunSummary& run_;
    Explanation& made_;
};

}  // namespace

void writeExplanation(const RunSummary& run, Explanation& explanation) {
    Words(run, explanation).say();
}

}  // namespace lanescope::explain
