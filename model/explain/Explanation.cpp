// SPDX-License-Identifier: Apache-2.0
#include "model/explain/Explanation.h"

#include <fmt/format.h>

#include <cctype>
#include <functional>
#include <iterator>
#include <utility>

#include "model/analysis/ThreadActivities.h"
#include "model/analysis/requestSteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/analysis/stepRanges.h"
#include "model/explain/RunFindings.h"
#include "model/explain/hostTime.h"
#include "model/explain/programKind.h"
#include "model/format/optionValues.h"
#include "model/format/parseNumber.h"
#include "model/format/text.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/text/nearestNames.h"
#include "model/trace/healthNotes.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// A program that computes nothing on tensor cores has no use for a number.
constexpr double minReportedMfu = 0.005;
/// Minimum difference of HFU and MFU for both to be reported.
constexpr double minHfuDifference = 0.005;

/// Sum over workers, for means.
struct UseSum {
    double mfu = 0, hfu = 0, byCounters = 0, byShapes = 0, repeated = 0;
    size_t workers = 0, withCounters = 0, withShapes = 0;
    int64_t minSteps = INT64_MAX, countedSteps = 0, knownNs = 0;
    std::set<std::string> precisions;
    bool areMeasured = true, areCounted = true, isShared = false;

    void add(const ComputeUse& use, double share) {
        mfu += share;
        hfu += use.source() == MfuSource::Shapes ? use.hfu().value_or(share) : share;
        ++workers;
        minSteps = std::min(minSteps, use.steps());
        knownNs = std::max(knownNs, use.knownNs);
        precisions.insert(use.precision);
        areMeasured = areMeasured && use.measuredPerSecond > 0;
        areCounted = areCounted && use.source() == MfuSource::Shapes;
        isShared = isShared || use.isShared;
        if (const auto shapes = use.byShapes()) {
            byShapes += *shapes;
            repeated += use.hfu().value_or(*shapes) - *shapes;
            countedSteps = std::max(countedSteps, use.countedSteps);
            ++withShapes;
        }
        if (const auto counters = use.byCounters()) {
            byCounters += *counters;
            ++withCounters;
        }
    }
    double mean(double sum, size_t count) const { return sum / static_cast<double>(count); }
};

/// Returns the MFU of the workers of an explanation as a clause: "MFU 41.2 % of the measured bf16 peak, computed from
/// counted operations in 12 steps". Empty if no worker has one, or if all are below `minReportedMfu`.
std::string useClause(const RunSummary& run, const std::vector<WorkerParts>& workers) {
    UseSum sum;
    for (const WorkerParts& each : workers) {
        const ComputeUse& use = run.workers[each.worker].use;
        if (const auto share = use.mfu()) sum.add(use, *share);
    }
    if (sum.workers == 0) return {};
    const double mfu = sum.mean(sum.mfu, sum.workers), hfu = sum.mean(sum.hfu, sum.workers);
    if (mfu < minReportedMfu) return {};
    const std::string of =
        workers.size() > sum.workers ? fmt::format(" on {} of {} GPUs", sum.workers, workers.size()) : std::string();
    const std::string precision = sum.precisions.size() == 1 ? *sum.precisions.begin() + " " : std::string();
    // Counters include repeated operations, which some steps show.
    const bool isHfu =
        !sum.areCounted && sum.withShapes > 0 && sum.mean(sum.repeated, sum.withShapes) >= minHfuDifference;
    std::string text =
        fmt::format("{} {}{} of the {}{}peak{}, {}", isHfu ? "HFU" : "MFU", shareText(mfu), of,
                    sum.areMeasured ? "measured " : "", precision, sum.areMeasured ? "" : " in the data sheet",
                    sum.areCounted ? "computed from counted operations"
                                   : "estimated from the measured activity of the tensor cores");
    std::string more;
    if (sum.areCounted && hfu - mfu >= minHfuDifference)
        more = fmt::format("HFU {} with repeated operations", shareText(hfu));
    if (sum.areCounted && sum.withCounters > 0)
        more += fmt::format("{}{} by the activity of the tensor cores", more.empty() ? "" : ", ",
                            shareText(sum.mean(sum.byCounters, sum.withCounters)));
    if (!sum.areCounted && sum.withShapes > 0)
        more = fmt::format("{}{} by operations counted in {} steps", isHfu ? "MFU " : "",
                           shareText(sum.mean(sum.byShapes, sum.withShapes)), sum.countedSteps);
    const bool isOfRun = sum.minSteps == 0 || run.source == StepSource::WholeRun;
    text += isOfRun ? fmt::format(" during {}", timeText(static_cast<double>(sum.knownNs)))
                    : fmt::format(" in {} {}{}", sum.minSteps, identifier(run.kind), sum.minSteps == 1 ? "" : "s");
    if (!more.empty()) text += fmt::format(" ({})", more);
    if (sum.isShared && sum.withCounters > 0) text += ", other processes included";
    return text;
}

constexpr size_t maxNameColumns = 40;

size_t wordCount(std::string_view text) {
    size_t words = 0;
    bool isInWord = false;
    for (const char letter : text) {
        if (letter != ' ' && !isInWord) ++words;
        isInWord = letter != ' ';
    }
    return words;
}

/// Returns "every third step is 11.8 ms longer".
std::string patternText(const StepPattern& found, const std::string& unit) {
    const std::string longer = timeText(static_cast<double>(found.excessNs)) + " longer";
    switch (found.kind) {
        case PatternKind::Period: return fmt::format("every {} {} is {}", ordinalText(found.period), unit, longer);
        case PatternKind::Level: return fmt::format("{}s from {} on are {}", unit, found.firstNumber, longer);
        case PatternKind::TwoModes:
            return fmt::format("{} % of the {}s are {}", percentText(100 * found.share), unit, longer);
        case PatternKind::Drift: return fmt::format("{}s grow, at last {}", unit, longer);
    }
    return {};
}

std::string what(const RunSummary& run, const Finding& finding) {
    const std::string unit(identifier(run.kind));
    const WorkerSummary& worker = run.workers[finding.worker];
    if (finding.pattern) return patternText(*finding.pattern, unit);
    if (finding.rule->isOfSingleSteps() && !worker.outliers.empty())
        return fmt::format("{}{} of {} {}s {} far longer", worker.outliers.size() == maxOutliers ? "at least " : "",
                           worker.outliers.size(), worker.steps.size(), unit,
                           worker.outliers.size() == 1 ? "is" : "are");
    return std::string(finding.rule->title.empty() ? finding.rule->id : finding.rule->title);
}

/// Returns the range, line or processes of only these steps or this rank, then those and the name of the contributor.
std::vector<std::string> causes(const WorkerSummary& worker, const Finding& finding) {
    std::vector<std::string> causes;
    const auto add = [&](const std::string& text) {
        if (!text.empty()) causes.push_back(elideMiddle(printable(text), maxNameColumns));
    };
    // Samples may show starts of loaders in few of the steps.
    const Distinction* only = distinctionOf(worker, finding);
    const bool isLoader = only != nullptr && only->kind == DistinctionKind::Loader;
    if (only != nullptr && (!isLoader || only->count > 0)) add(isLoader ? "data loaders start" : only->name);
    if (!finding.contributor.isIdle() && !finding.contributor.empty()) add(shortName(finding.contributor));
    if (!finding.path.empty()) add(finding.path.substr(finding.path.rfind('/') + 1));
    const std::string line = finding.written.empty() ? finding.launched.line : finding.written;
    if (finding.contributor.isIdle()) {
        const IdleCause& cause = finding.contributor.idle;
        if (!cause.activity.frame.isEmpty())
            add(cause.activity.frame.text());
        else if (cause.kind != CauseKind::OutsideCalls)
            add(cause.call);
        else if (line.empty())
            add("host code");
    }
    if (std::ranges::find(causes, line) == causes.end())
        add(line.empty() ? shortContributorName(finding.launched.text, true) : line);
    return causes;
}

/// Returns a finding in `maxBriefWords` words or less: "Rank 2: every third step is 11.8 ms longer: tokenizer hiccup".
std::string briefFinding(const RunSummary& run, const Finding& finding) {
    const WorkerSummary& worker = run.workers[finding.worker];
    std::string text = what(run, finding);
    // "GPU" and "NVLink" keep their letters.
    if (run.workers.size() > 1 && text.size() > 1 && text[1] >= 'a' && text[1] <= 'z')
        text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    if (run.workers.size() > 1)
        text = (worker.rank ? fmt::format("rank {}: ", *worker.rank) : fmt::format("GPU {}: ", worker.gpuId)) + text;
    text = capitalized(std::move(text));
    bool isFirst = true;
    for (const std::string& cause : causes(worker, finding)) {
        const std::string longer = text + (isFirst ? ": " : ", ") + cause;
        if (wordCount(longer) > maxBriefWords) continue;
        text = longer;
        isFirst = false;
    }
    return text;
}

/// Minimum share of the GPU work between the steps, of all of it, that is reported.
constexpr double minShareBetween = 0.03;

std::string spanText(int64_t ns) { return timeText(static_cast<double>(ns)); }

/// Returns the known name of the steps, or their line without its function.
std::string patternText(const RunSummary& run, const WorkerSummary& of, bool hasFunction) {
    const std::string per =
        run.rangesPerStep > 1 ? fmt::format(", each {} times", run.rangesPerStep) : std::string(", each");
    if (run.source == StepSource::KernelPattern)
        return fmt::format("{} from {} on", per, shortContributorName(run.pattern));
    if (run.source == StepSource::PythonLoop)
        return fmt::format("{} a call at {}", per,
                           printable(hasFunction ? run.pattern : lineOf({CauseKind::OutsideCalls}, {{}, run.pattern})));
    if (run.pattern.empty()) return {};
    const std::string known = knownRangeName(run.pattern);
    const std::string name = printable(known.empty() ? run.pattern : known);
    if (run.rangesPerStep > 1) return fmt::format(", each of {} \"{}\"", run.rangesPerStep, name);
    const auto isNext = [](const StepSummary& a, const StepSummary& b) { return a.startNs + a.wallNs == b.startNs; };
    if (stepNamingOf(run.pattern) == StepNaming::Nothing &&
        std::ranges::adjacent_find(of.steps, isNext) != of.steps.end())
        return fmt::format(", each from one \"{}\" to the next", name);
    return fmt::format(" \"{}\"", name);
}

/// Reports work between the steps, such as between named ranges.
std::string pausesSentence(const WorkerSummary& of) {
    const int64_t workNs = of.pauses.ns - of.pauses.idleNs;
    int64_t inStepsNs = 0;
    const StepParts parts = of.totalParts();
    for (const StepPart part : allStepParts)
        if (!isIdle(part)) inStepsNs += parts[part];
    if (workNs <= 0 || static_cast<double>(workNs) < minShareBetween * static_cast<double>(workNs + inStepsNs))
        return {};
    return fmt::format(" In the {} between the steps, the GPU worked for {}, which no step includes.",
                       spanText(of.pauses.ns), spanText(workNs));
}

/// Returns "on the main thread at serve.py:10 in take (the thread waits for input)".
std::string idleText(const IdleCause& cause) {
    const std::string state = stateText(cause.activity);
    return shortContributorName(causeText(cause.withoutState()), true) +
           (state.empty() ? "" : fmt::format(" (the thread {})", printable(state)));
}

/// Returns why steps are called requests, and the activity between them; empty for steps.
std::string requestsSentence(const RunSummary& run, const WorkerSummary& of) {
    if (run.kind != StepKind::Request) return {};
    std::string text;
    if (run.source != StepSource::NvtxRange || !isRequestName(run.pattern))
        text = " Steps count as requests, because the trace shows no training and the program waited between steps.";
    if (of.rest.ns > 0)
        text += fmt::format(" Between requests, samples show the program waiting for at least {} in all: {}.",
                            spanText(of.rest.ns), idleText(of.rest.most));
    return text;
}

constexpr size_t maxReportedUnits = 2;
/// A unit differs from the step if their counts differ by at least this factor.
constexpr double severalFactor = 1.5;

std::string unitText(const StepUnit& unit) {
    if (unit.source == StepSource::KernelPattern) return fmt::format("\"{}\"", shortContributorName(unit.pattern));
    const std::string known = knownRangeName(unit.pattern);
    return printable(fmt::format("\"{}\"", known.empty() ? unit.pattern : known));
}

/// Returns larger and smaller units of a run with so many steps; empty without any.
std::string unitsSentence(const RunSummary& run, int64_t steps) {
    std::string text;
    size_t count = 0;
    for (const StepUnit& unit : run.units) {
        const auto here = static_cast<double>(unit.count), all = static_cast<double>(steps);
        if ((here < severalFactor * all && all < severalFactor * here) || count++ >= maxReportedUnits) continue;
        text += fmt::format("{}{} ({} times)", text.empty() ? " To explain other intervals, use --range: " : ", ",
                            unitText(unit), formatCount(unit.count));
    }
    return text.empty() ? text : text + ".";
}

/// Returns the steps that an explanation covers, of its findings' worker, and the rest outside: `Explanation::steps`.
std::string stepsSentence(const RunSummary& run, const WorkerSummary& of, bool hasShare) {
    std::string text = fmt::format("Explained: {} of {} {}s{}", of.steps.size(), of.foundSteps, identifier(run.kind),
                                   patternText(run, of, true));
    if (const auto share = of.coverage(); share && hasShare)
        text += fmt::format(", in all {} of the time from the first to the last GPU work", shareText(*share));
    std::vector<std::string> skipped;
    if (of.warmUpSteps > 0) skipped.push_back(fmt::format("{} as warm-up", of.warmUpSteps));
    if (of.isLastLeftOut) skipped.push_back("the last (its end is unknown)");
    // Not by numbers, which are the program's own and may have gaps.
    const int64_t others =
        of.foundSteps - static_cast<int64_t>(of.steps.size()) - of.warmUpSteps - (of.isLastLeftOut ? 1 : 0);
    if (others > 0)
        skipped.push_back(
            fmt::format("{} more (not selected, not all recorded, no GPU work, or other work, such as an evaluation, "
                        "before the next {})",
                        others, identifier(run.kind)));
    text += skipped.empty() ? "." : fmt::format(". Skipped: {}.", fmt::join(skipped, ", "));
    if (const std::optional<int64_t> onCpuNs = of.aheadNs(); onCpuNs)
        text += fmt::format(" The CPU runs ahead of the GPU: the CPU needs {} for a {}.", spanText(*onCpuNs),
                            identifier(run.kind));
    return text + pausesSentence(of) + requestsSentence(run, of) + unitsSentence(run, of.foundSteps);
}

constexpr size_t maxReportedParts = 2;
/// Share of the compute time from which products in double precision are reported.
constexpr double minDoubleProductShare = 0.3;
/// Maximum share of kernels of unknown kind. With more, the kinds say little.
constexpr double maxOtherShare = 0.5;
constexpr double computingShareThreshold = 0.9;
constexpr size_t minSteps = 4;
/// Share of the run in its steps, below which the rest is reported; share of that rest, and number of its pieces.
constexpr double maxReportedCoverage = 0.25, minReportedRestShare = 0.05;
constexpr size_t maxReportedRest = 3;

/// Returns true if a replay forecasts no saving beyond its error.
bool savesNothing(const Finding& finding) { return finding.saving && finding.saving->ns <= finding.saving->marginNs; }

class Words {
  public:
    Words(const RunSummary& run, Explanation& explanation) : run_(run), made_(explanation) {}

    void say() {
        made_.what = isWhole() ? "run" : std::string(identifier(run_.kind));
        const std::string share = shareSentence();
        made_.sentence = (run_.facts.isStillRecorded ? "Of the run so far: " : "") + sentence() + share;
        if (const uint32_t critical = run_.criticalWorker(); critical != noIndex && !isWhole()) {
            const WorkerSummary& of = worker(critical);
            made_.covered = fmt::format("{} of {}{}", of.steps.size(), of.foundSteps, patternText(run_, of, false));
            made_.steps = stepsSentence(run_, of, share.empty());
        }
        if (!share.empty()) made_.steps += (made_.steps.empty() ? "" : " ") + restSentence();
        addFamilies();
        for (Finding& finding : made_.findings) {
            finding.sentence = withWorker(finding, finding.rule->say({run_, made_, finding})) +
                               sharedTimeSentence(finding) + sameCauseSentence(finding) +
                               (savesNothing(finding) ? " A replay forecasts no saving beyond its error." : "");
            finding.code = codeOf(finding);
            finding.brief = briefFinding(run_, finding);
            Evidence evidence{std::string(finding.rule->sql)};
            if (finding.rule->evidence != nullptr) evidence = finding.rule->evidence({run_, made_, finding});
            finding.sql = std::move(evidence.sql);
            finding.evidenceNs = evidence.sumNs;
            finding.advice = FindingText(run_, made_, finding).advice();
        }
        addCaveats();
    }

  private:
    bool isWhole() const { return run_.source == StepSource::WholeRun; }
    std::string codeOf(const Finding& finding) const {
        const FrameRef& frame = finding.contributor.idle.activity.frame;
        const FrameRef& holder = finding.contributor.idle.activity.holderFrame;
        const std::string place = !holder.isEmpty()                ? holder.text()
                                  : !frame.isEmpty()               ? frame.text()
                                  : !finding.written.empty()       ? finding.written
                                  : !finding.launched.line.empty() ? finding.launched.line
                                                                   : finding.launched.text;
        const CodeLine* line = codeAt(worker(finding.worker), place);
        return line == nullptr ? std::string() : fmt::format("{}: {}", line->line, line->code);
    }
    /// Returns the repeated unit of the run: "step", "request".
    std::string unit() const { return std::string(identifier(run_.kind)); }
    const WorkerSummary& worker(uint32_t index) const { return run_.workers[index]; }

    /// Returns the sum of all workers; its parts are shares of the time of all GPUs.
    WorkerParts together() const {
        WorkerParts all;
        for (const WorkerParts& each : made_.workers) {
            all.meanNs += each.meanNs;
            all.parts += each.parts;
        }
        return all;
    }

    /// Returns the note that GPU work was launched and not recorded; null if the trace has no such note.
    const HealthNote* missingWork() const {
        const auto& notes = run_.facts.healthWarnings;
        const auto found = std::ranges::find(notes, HealthCode::GpuWorkMissing, &HealthNote::code);
        return found == notes.end() ? nullptr : &*found;
    }

    std::string sentence() const {
        if (run_.isEmpty()) {
            const HealthNote* missing = missingWork();
            return missing == nullptr ? "This trace has no GPU work to explain."
                                      : "This trace has no GPU work to explain: " + missing->sentence;
        }
        const WorkerParts all = together();
        const auto count = static_cast<int64_t>(made_.workers.size());
        const int64_t meanNs = all.meanNs / count;
        const std::string what = isWhole() ? "run" : run_.source == StepSource::Chosen ? "interval" : "mean " + unit();
        std::string text =
            run_.facts.producerKind == ProducerKind::NcclInspector
                ? fmt::format("Only NCCL's kernels are known of the {} of {}", what, spanText(meanNs))
                : fmt::format("{} {} % of the {} of {}", count == 1 ? "The GPU computes" : "GPUs compute",
                              percentText(100 * shareOf(all.parts[StepPart::Compute], all.meanNs)), what,
                              spanText(meanNs));
        std::vector<StepPart> parts(allStepParts.begin() + 1, allStepParts.end());
        std::ranges::stable_sort(parts, std::ranges::greater(), [&](StepPart each) { return all.parts[each]; });
        std::string rest;
        size_t reported = 0;
        for (; reported < maxReportedParts; ++reported) {
            const int64_t ns = all.parts[parts[reported]];
            if (shareOf(ns, all.meanNs) < minReportedShare) break;
            rest += fmt::format("{} {} {}", rest.empty() ? ":" : ",", spanText(ns / count), partText(parts[reported]));
        }
        if (reported > 0 && run_.facts.producerKind != ProducerKind::NcclInspector)
            rest = (reported == 1 ? ". Largest other part" : ". Largest other parts") + rest;
        if (shareOf(all.parts[StepPart::Compute], all.meanNs) >= computingShareThreshold) rest += isMostlyComputing();
        const std::string use = useClause(run_, made_.workers);
        return text + rest + (use.empty() ? "." : ". " + use + ".");
    }

    /// Returns the share of the run in steps, if small; empty if the length of the run is unknown.
    std::string shareSentence() const {
        const uint32_t critical = run_.criticalWorker();
        if (critical == noIndex) return {};
        const WorkerSummary& of = worker(critical);
        const int64_t runNs = of.runNs(), stepsNs = of.totalWallNs();
        if (runNs <= 0 || shareOf(stepsNs, runNs) >= maxReportedCoverage) return {};
        for (const PhaseSummary& phase : of.phases)
            for (const Contributor& each : phase.contributors)
                if (each.name.idle.kind == CauseKind::ClocksInconsistent) return {};
        return fmt::format(" The explained {}s are {} of the {} of {}.", unit(), shareText(shareOf(stepsNs, runNs)),
                           spanText(runNs), made_.workers.size() > 1 ? of.label() : "the run");
    }

    /// Returns the largest times outside of the steps.
    std::string restSentence() const {
        const WorkerSummary& of = worker(run_.criticalWorker());
        std::vector<std::pair<RunPhase, const Contributor*>> rest;
        for (const PhaseSummary& phase : of.phases)
            for (const Contributor& each : phase.contributors)
                if (each.kind != ContributorKind::Others &&
                    shareOf(each.exposedNs, of.runNs() - of.totalWallNs()) >= minReportedRestShare)
                    rest.emplace_back(phase.phase, &each);
        std::ranges::stable_sort(rest, std::ranges::greater(), [](const auto& each) { return each.second->exposedNs; });
        std::string text;
        for (size_t index = 0; index < std::min(rest.size(), maxReportedRest); ++index) {
            const auto& [phase, each] = rest[index];
            const bool isWork = !each->name.isIdle();
            text += fmt::format("{}({}) GPU {} for {} {}", text.empty() ? "Largest times outside of the steps: " : "; ",
                                index + 1, isWork ? "at work" : "idle", spanText(each->exposedNs), phaseText(phase));
            if (each->name.idle.kind == CauseKind::NoWorkAround) continue;
            text += ", " + (isWork ? shortName(each->name) : idleText(each->name.idle));
            if (!each->path.empty()) text += fmt::format(" in the range \"{}\"", printable(each->path));
        }
        return text + (text.empty() ? "" : ".");
    }

    std::string phaseText(RunPhase phase) const {
        switch (phase) {
            case RunPhase::StartUp: return fmt::format("before the first {}", unit());
            case RunPhase::Between: return fmt::format("between {}s", unit());
            case RunPhase::End: break;
        }
        return fmt::format("after the last {}", unit());
    }

    /// Returns "waiting for rank 2" if the rank is known and hardly waits for others itself.
    std::string partText(StepPart part) const {
        if (part == StepPart::DataLoading && guessedDataShare(worker(run_.criticalWorker())) > minGuessedShare)
            return std::string(name(part)) + " (a guess)";
        if (part != StepPart::WaitingForRanks) return std::string(name(part));
        for (const Finding& finding : made_.findings) {
            const WorkerSummary& late = worker(finding.worker);
            if (finding.rule->isOfLateRank && late.rank &&
                shareOf(late.totalParts()[part], late.totalWallNs()) < minReportedShare)
                return fmt::format("waiting for rank {}", *late.rank);
        }
        return std::string(name(part));
    }

    /// Adds the kinds of kernels if compute is the largest part of the critical worker's steps.
    void addFamilies() {
        const uint32_t critical = run_.criticalWorker();
        if (critical == noIndex || run_.facts.producerKind == ProducerKind::NcclInspector) return;
        const StepParts parts = worker(critical).totalParts();
        const int64_t computeNs = parts[StepPart::Compute];
        made_.families = familySums(worker(critical));
        if (computeNs <= 0 || computeNs < std::ranges::max(parts.ns)) return;
        std::string text;
        int64_t restNs = computeNs;
        for (const FamilySum& each : made_.families) {
            const double share = shareOf(each.exposedNs, computeNs);
            if (each.family == KernelFamily::Other || share < minReportedShare) continue;
            const std::string precision = each.precision == KernelPrecision::Unknown
                                              ? std::string()
                                              : fmt::format(" ({})", identifier(each.precision));
            text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name(each.family), shareText(share), precision);
            restNs = saturatingSum(restNs, -std::max<int64_t>(each.exposedNs, 0));
        }
        const double rest = shareOf(restNs, computeNs);
        if (rest > maxOtherShare) return;
        const std::string who = made_.workers.size() > 1 ? " of " + worker(critical).label() : std::string();
        made_.compute = fmt::format("Of the compute{}: {}{}.{}", who, text,
                                    rest < minReportedShare ? "" : fmt::format(", other {}", shareText(rest)),
                                    doubleSentence(computeNs));
    }

    /// Returns a sentence about products that are all in double precision, which is a finding only next to others.
    std::string doubleSentence(int64_t computeNs) const {
        for (const FamilySum& each : made_.families)
            if (each.precision == KernelPrecision::Fp64 && shareOf(each.exposedNs, computeNs) >= minDoubleProductShare)
                return fmt::format(
                    " The {} are in double precision{}{}. If fp32 suffices, convert the data where it "
                    "is made: NumPy's arrays are float64.",
                    name(each.family), each.launched.empty() ? "" : ", ", shortContributorName(each.launched, true));
        return {};
    }

    std::string isMostlyComputing() const {
        const uint32_t critical = run_.criticalWorker();
        const auto isComputing = [](const Contributor& each) { return each.part == StepPart::Compute; };
        const Contributor* most = RunFindings::greatestOf(worker(critical), isComputing);
        if (most == nullptr) return {};
        const std::string at = most->launched.empty() ? "" : ", " + shortContributorName(most->launched.text, true);
        return fmt::format("; the largest part is {}{}, {} of the {}", shortName(most->name), at,
                           shareText(shareOf(most->exposedNs, worker(critical).totalWallNs())), made_.what);
    }

    /// Returns the sentence after the worker, if there are several and it does not name its own.
    std::string withWorker(const Finding& finding, std::string sentence) const {
        if (made_.workers.size() < 2 || finding.rule->namesWorker) return sentence;
        return capitalized(worker(finding.worker).label()) + ": " + sentence;
    }

    /// Returns a note if an earlier finding counts some of the same time: one of both is about single steps.
    std::string sharedTimeSentence(const Finding& finding) const {
        const bool isSingle = finding.rule->isOfSingleSteps();
        const auto partIn = [&](const Finding& each) {
            return each.rule->isOfSingleSteps() ? each.rule->longerPart(run_, each) : partOf(run_, each);
        };
        const std::optional<StepPart> part = partIn(finding);
        if (!part) return {};
        for (const Finding& above : made_.findings) {
            if (&above == &finding) break;
            if (above.worker == finding.worker && above.rule->isOfSingleSteps() != isSingle && partIn(above) == part)
                return fmt::format(" Part of this finding's time {} also {}in {}.", isSingle ? "may" : "is",
                                   isSingle ? "be " : "", above.rule->id);
        }
        return {};
    }

    /// Returns a note if an earlier finding about all steps has the same cause and place, or any the same line.
    std::string sameCauseSentence(const Finding& finding) const {
        if (finding.rule->isOfSingleSteps()) return {};
        const Finding* const same = FindingText(run_, made_, finding).ofSameCause();
        if (same != nullptr && same < &finding)
            return fmt::format(" Same place as finding {} ({}).", same - made_.findings.data() + 1, same->rule->id);
        const FrameRef& frame = finding.contributor.idle.activity.frame;
        for (size_t place = 0; !frame.isEmpty() && &made_.findings[place] != &finding; ++place) {
            const Finding& above = made_.findings[place];
            if (above.worker == finding.worker && above.contributor.idle.activity.frame == frame)
                return fmt::format(" Same line as finding {} ({}).", place + 1, above.rule->id);
        }
        return {};
    }

    void addCaveats() {
        const auto add = [this](std::string sentence) { made_.caveats.push_back(std::move(sentence)); };
        if (run_.facts.isStillRecorded)
            add("The run is still being recorded: results cover the run so far, and its last events may be missing.");
        if (!run_.isEmpty()) addCaveatsOfSteps(add);
        if (!run_.facts.hasApiCalls && run_.facts.kernelCount > 0)
            add("The trace has no CUDA API calls, so causes of GPU idle time are unknown.");
        if (!run_.isEmpty())
            if (std::string capped = powerCapSentence(run_, run_.criticalWorker()); !capped.empty())
                add(std::move(capped));
        if (run_.facts.isTruncated && !run_.facts.reportsAbnormalEnd())
            add("A process left no exit record; its last events may be missing.");
        // Ranks that are not drawn count all the same.
        for (const HealthNote& note : run_.facts.healthWarnings)
            if (note.code != HealthCode::EventsNotDrawn && (!run_.isEmpty() || &note != missingWork()))
                add(shownText(note));
    }

    template <class Add>
    void addCaveatsOfSteps(Add add) const {
        if (std::string timeless = timelessSentence(run_); !timeless.empty()) add(std::move(timeless));
        if (run_.source == StepSource::KernelPattern)
            add(fmt::format("No NVTX ranges mark the {}s: they were found by the rhythm of the kernels.", unit()));
        if (isWhole()) add(wholeSentence());
        const WorkerSummary& critical = worker(run_.criticalWorker());
        if (!isWhole() && run_.source != StepSource::Chosen && critical.steps.size() < minSteps)
            add(fmt::format("Only {} {}{} to go by.", critical.steps.size(), unit(),
                            critical.steps.size() == 1 ? "" : "s"));
    }

    /// Returns why the run is explained as a whole.
    std::string wholeSentence() const {
        if (!run_.deferred.empty())
            return fmt::format(
                "The work of the ranges \"{}\" ran long after them, in one piece, so steps cannot be timed by it: the "
                "run is explained as a whole.",
                printable(run_.deferred));
        if (run_.onlyCall.empty())
            return "No steps were found: the run is explained as a whole, from its first to its last event.";
        return fmt::format("All work is of one call of {}: the run is explained as a whole.{}",
                           printable(run_.onlyCall), unitsSentence(run_, 0));
    }

    const RunSummary& run_;
    Explanation& made_;
};

/// Maximum half interval of a forecast, as a share of the mean step. With a wider one, a finding shows only its bound.
constexpr double maxMargin = 0.1;

/// Sets the savings of findings about all steps of the critical worker.
void addSavings(const RunSummary& run, std::vector<Finding>& findings) {
    for (Finding& finding : findings) {
        const WorkerSummary& worker = run.workers[finding.worker];
        const auto forecast = std::ranges::find(worker.forecasts, finding.rule->subject, &StepForecast::subject);
        if (!finding.rule->subject || !finding.isOnlyOfSubject || forecast == worker.forecasts.end()) continue;
        // The saving of several findings is not that of each.
        const auto isAlike = [&](const Finding& each) {
            return each.worker == finding.worker && each.rule->subject == finding.rule->subject;
        };
        if (std::ranges::count_if(findings, isAlike) > 1) continue;
        Saving saving{forecast->savedNs, forecast->marginNs};
        const double meanNs = static_cast<double>(worker.totalWallNs()) / static_cast<double>(worker.steps.size());
        if (static_cast<double>(saving.marginNs) > maxMargin * meanNs) continue;
        saving.ns = std::clamp<int64_t>(saving.ns, 0, finding.maxGainNs);
        finding.saving = saving;
    }
}

/// Sorts findings by saving or time, but a cause before its consequences (`Rule::order`), and those that save nothing
/// last.
void orderFindings(const RunSummary& run, RuleList rules, std::vector<Finding>& findings) {
    const auto gainNs = [](const Finding& each) { return each.saving ? each.saving->ns : each.maxGainNs; };
    std::ranges::stable_sort(findings, std::ranges::greater(), [gainNs](const Finding& each) { return gainNs(each); });
    for (const Rule* rule : rules)
        if (rule->order != nullptr) rule->order(run, findings);
    std::ranges::stable_partition(findings, std::not_fn(savesNothing));
}

/// Merges rare pauses to the finding about the period of steps that contain most of them, at the same line: one cause.
/// Time that the other steps have, too, is no pause.
void mergePauses(const RunSummary& run, Explanation& made) {
    constexpr double minMergedShare = 0.75;
    const auto line = [](const Finding& each) { return lineOf(each.contributor.idle, each.launched); };
    const auto found = std::ranges::find_if(made.findings, [&](const Finding& each) {
        return each.pattern && each.pattern->kind == PatternKind::Period && !line(each).empty();
    });
    if (found == made.findings.end()) return;
    const Finding whole = *found;
    const WorkerSummary& worker = run.workers[whole.worker];
    const std::set<uint32_t> affected(whole.pattern->affected.begin(), whole.pattern->affected.end());
    const auto isOfIt = [&](const Finding& each) {
        const std::optional<StepPart> part = each.rule->part;
        if (each.worker != whole.worker || each.rule->isOfSingleSteps() || line(each) != line(whole) || !part ||
            FindingText(run, made, each).rarely().empty())
            return false;
        std::vector<int64_t> affectedNs, othersNs;
        for (uint32_t step = 0; step < worker.steps.size(); ++step)
            (affected.contains(step) ? affectedNs : othersNs).push_back(worker.steps[step].parts[*part]);
        double longerNs = -medianOf(othersNs) * static_cast<double>(affectedNs.size());
        for (const int64_t ns : affectedNs) longerNs += static_cast<double>(ns);
        return longerNs >=
               minMergedShare * static_cast<double>(each.maxGainNs) * static_cast<double>(worker.steps.size());
    };
    std::ranges::copy_if(made.findings, std::back_inserter(found->merged), isOfIt);
    std::erase_if(made.findings, isOfIt);
}

/// Gives each finding about all steps its own step as an example, the one with most of its part.
void distinguishPlaces(const RunSummary& run, std::vector<Finding>& findings) {
    const auto hasOwn = [](const Finding& each) {
        return each.rule->place != nullptr || each.rule->isOfSingleSteps() || !each.atNs;
    };
    std::set<std::pair<uint32_t, int64_t>> used;
    for (const Finding& each : findings)
        if (hasOwn(each) && each.atNs) used.emplace(each.worker, *each.atNs);
    for (Finding& each : findings) {
        if (hasOwn(each)) continue;
        const std::optional<StepPart> part = partOf(run, each);
        const StepSummary* most = nullptr;
        const auto nsOf = [&](const StepSummary& step) { return part ? step.parts[*part] : step.wallNs; };
        for (const StepSummary& step : run.workers[each.worker].steps)
            if (!used.contains({each.worker, step.startNs}) && (most == nullptr || nsOf(step) > nsOf(*most)))
                most = &step;
        if (most != nullptr) each.atNs = most->startNs;
        used.emplace(each.worker, *each.atNs);
    }
}

}  // namespace

Explanation explain(const RunSummary& run, const MutedRules& muted, RuleList rules) {
    Explanation made;
    RunFindings found(run, made);
    // With NCCL's kernels only it is unknown when the GPU did nothing, or nothing else.
    const bool isNcclOnly = run.facts.producerKind == ProducerKind::NcclInspector;
    if (found.hasTime())
        for (const Rule* rule : rules)
            if (!isNcclOnly || rule->isForNcclOnly) found.evaluate(*rule, muted.contains(rule));
    addSavings(run, made.findings);
    orderFindings(run, rules, made.findings);
    mergePauses(run, made);
    distinguishPlaces(run, made.findings);
    Words(run, made).say();
    return made;
}

std::string useText(const ComputeUse& use) {
    const auto mfu = use.mfu();
    if (!mfu || *mfu < minReportedMfu) return {};
    const auto hfu = use.source() == MfuSource::Shapes ? use.hfu() : std::nullopt;
    return shareText(*mfu) + (hfu && *hfu - *mfu >= minHfuDifference ? ", HFU " + shareText(*hfu) : std::string());
}

namespace {

std::optional<double> parsePercent(std::string_view text) {
    if (!text.ends_with('%')) return std::nullopt;
    const auto value = parseNumber<double>(trimmed(text.substr(0, text.size() - 1), " "));
    return value && *value >= 0 && *value <= 100 ? std::optional(*value / 100) : std::nullopt;
}

}  // namespace

Result<const Rule*> parseRule(std::string_view text, RuleList rules) {
    if (const Rule* rule = ruleCalled(trimmed(text, " "), rules)) return rule;
    std::vector<std::string_view> names;
    for (const Rule* rule : rules) names.push_back(rule->id);
    return fail("There is no rule \"{}\". The nearest names are {}.", printable(text), nearestNames(text, names));
}

Result<RuleCondition> parseRuleCondition(std::string_view text, RuleList rules) {
    RuleCondition condition;
    condition.text = std::string(text);
    const size_t sign = text.find('>');
    const std::string_view name = trimmed(text.substr(0, sign), " ");
    if (name != "any") {
        const Result<const Rule*> rule = parseRule(name, rules);
        if (!rule) return fail(rule.error());
        condition.rule = *rule;
    }
    if (sign == std::string_view::npos) return condition;
    const std::string_view threshold = trimmed(text.substr(sign + 1), " ");
    if (const std::optional<double> share = parsePercent(threshold)) {
        condition.aboveShare = *share;
        return condition;
    }
    // A missing unit would mean seconds and never hold, without notice.
    const bool hasUnit = !threshold.empty() && threshold.back() >= 'A';
    const std::optional<int64_t> ns = hasUnit ? parseDuration(threshold) : std::nullopt;
    if (!ns || *ns < 0)
        return fail("\"{}\" is no threshold: say a time of the mean step with its unit, as 5ms, or a share, as 10%.",
                    printable(threshold));
    condition.aboveNs = *ns;
    return condition;
}

}  // namespace lanescope::explain
