// SPDX-License-Identifier: Apache-2.0
#include "model/explain/hostTime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "model/analysis/ThreadActivities.h"
#include "model/analysis/shownNumbers.h"
#include "model/explain/RunFindings.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/CounterSeries.h"
#include "model/trace/gpuNames.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

constexpr uint64_t powerCap = 0x4;
/// Minimum share of a core, all through the steps, that is reported.
constexpr double minHeldBackShare = 0.03;
/// Minimum number of missing cores that is reported.
constexpr double minCoresMissed = 0.5;

std::string clockText(int64_t hz) { return formatCounter(static_cast<double>(hz), CounterUnit::Hertz); }

/// Computes the mean clock, weighted by duration.
class MeanClock {
  public:
    void add(const ClockState& state) {
        if (state.smClockHz <= 0) return;
        weighted_ += static_cast<double>(state.smClockHz) * static_cast<double>(state.ns);
        ns_ += static_cast<double>(state.ns);
    }
    int64_t hz() const { return ns_ > 0 ? std::llround(weighted_ / ns_) : 0; }

  private:
    double weighted_ = 0, ns_ = 0;
};

int64_t othersHz(const RunSummary& run, const WorkerSummary& worker) {
    MeanClock mean;
    for (const WorkerSummary& other : run.workers)
        if (other.gpuId != worker.gpuId && other.gpuName == worker.gpuName)
            for (const ClockState& state : other.clocks) mean.add(state);
    return mean.hz();
}

/// "power cap: it draws all the power that it may".
std::string reasonsText(uint64_t reasons) {
    std::string text;
    for (const ThrottleReason& each : throttleReasons())
        if (each.isSlowdown && (reasons & each.bit) != 0)
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", each.name, each.meaning);
    return text;
}

/// Iterates over the times in which clocks were throttled for reasons for which `holds` is true.
template <class Holds>
std::optional<ClockLoss> lossOf(const RunSummary& run, uint32_t worker, Holds holds) {
    const WorkerSummary& of = run.workers[worker];
    ClockLoss loss;
    loss.highestHz = of.highestSmClockHz;
    loss.othersHz = othersHz(run, of);
    const int64_t wallNs = of.totalWallNs();
    MeanClock mean;
    for (const ClockState& state : of.clocks) {
        const double lost = 1 - shareOf(state.smClockHz, loss.referenceHz());
        if (!holds(state.reasons) || state.smClockHz <= 0 || lost < minClockLoss) continue;
        loss.reasons |= state.reasons;
        loss.heldShare += shareOf(state.ns, wallNs);
        loss.lostShare += lost * shareOf(state.ns, wallNs);
        if (state.longestNs > loss.longest.durationNs())
            loss.longest = {state.longestStartNs, state.longestStartNs + state.longestNs};
        mean.add(state);
    }
    loss.smClockHz = mean.hz();
    return loss.lostShare > 0 ? std::optional(loss) : std::nullopt;
}

std::optional<ClockLoss> powerCapLoss(const RunSummary& run, uint32_t worker) {
    return lossOf(run, worker, [](uint64_t reasons) { return reasons == powerCap; });
}

}  // namespace

std::optional<ClockLoss> clockLossOf(const RunSummary& run, uint32_t worker) {
    return lossOf(run, worker, [](uint64_t reasons) { return reasons != 0 && reasons != powerCap; });
}

double powerCapShare(const RunSummary& run, uint32_t worker) {
    const std::optional<ClockLoss> loss = powerCapLoss(run, worker);
    return loss ? loss->lostShare : 0;
}

std::string powerCapSentence(const RunSummary& run, uint32_t worker) {
    const std::optional<ClockLoss> loss = powerCapLoss(run, worker);
    if (!loss) return {};
    return fmt::format(
        "{} is at its power cap for {} % of the time of the steps, with its SM clock at {} where {} is the highest "
        "seen. This is normal for a busy GPU, but steps of another run or GPU may be a little longer or shorter.",
        run.workers[worker].label(), percentText(100 * loss->heldShare), clockText(loss->smClockHz),
        clockText(loss->referenceHz()));
}

std::string clockSentence(const RunSummary& run, uint32_t worker, const std::string& time) {
    const std::optional<ClockLoss> loss = clockLossOf(run, worker);
    if (!loss) return {};
    std::string text = fmt::format(
        "{} has its clocks held down for {} % of the time of the steps ({}). Its SMs run at {} then, and at {} at most "
        "in this run",
        run.workers[worker].label(), percentText(100 * loss->heldShare), reasonsText(loss->reasons),
        clockText(loss->smClockHz), clockText(loss->highestHz));
    if (loss->othersHz > 0) text += fmt::format("; SMs of the other GPUs run at {}", clockText(loss->othersHz));
    text += fmt::format(
        ". Estimated cost: {}, if all its kernels are slower by as much. Kernels that wait for memory lose less.",
        time);
    return text;
}

std::string coresSentence(const RunSummary& run, uint32_t worker) {
    const WorkerSummary& of = run.workers[worker];
    if (const double cores = shareOf(of.heldBackNs.value_or(0), of.totalWallNs()); cores >= minHeldBackShare) {
        std::string limit = "the limit of the cgroup";
        if (const int64_t percent = run.facts.cpuLimitPercent; percent > 0)
            limit += fmt::format(", {:g} core{},", static_cast<double>(percent) / 100, percent == 100 ? "" : "s");
        // Threads that it holds back are also counted as runnable without a core: that is the same time.
        return fmt::format(" Meanwhile {} held processors back for {:.2f} s in each second (sum of all).", limit,
                           cores);
    }
    const CoreWaits waits = of.coreWaits.value_or(CoreWaits());
    const double cores = shareOf(waits.ns, of.totalWallNs());
    if (cores < minCoresMissed) return {};
    if (waits.threads == 1)
        return fmt::format(" Meanwhile one thread of the process waited for a core for {} of the time.",
                           shareText(cores));
    return fmt::format(
        " Meanwhile {} threads of the process waited for a core, each for {} of the time on average. Fewer threads may "
        "help, unless another program uses the cores.",
        waits.threads, shareText(cores / static_cast<double>(waits.threads)));
}

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

std::string recompiledSentence(const WorkerSummary& worker) {
    if (worker.recompiled.empty()) return {};
    return fmt::format(
        " {} was compiled {} times, for example because shapes or static arguments of its inputs change.",
        printable(worker.recompiled), worker.compilations);
}

int64_t gilWaitNs(const Contributor& each) { return each.part == StepPart::LaunchBound ? each.gilNs : 0; }

const Contributor* mainOfLine(const WorkerSummary& worker, const std::function<int64_t(const Contributor&)>& nsOf) {
    struct Line {
        int64_t ns = 0;
        const Contributor* largest = nullptr;
    };
    std::map<std::tuple<ThreadRef, std::string, size_t>, Line> lines;
    const Line* most = nullptr;
    for (size_t index = 0; index < worker.contributors.size(); ++index) {
        const Contributor& each = worker.contributors[index];
        const int64_t ns = each.kind == ContributorKind::Others ? 0 : nsOf(each);
        if (ns <= 0) continue;
        const std::string at = lineOf(each.name.idle, each.launched);
        Line& line = lines[{each.name.idle.thread, at, at.empty() ? index : 0}];
        line.ns = saturatingSum(line.ns, ns);
        if (line.largest == nullptr || each.exposedNs > line.largest->exposedNs) line.largest = &each;
        if (most == nullptr || line.ns > most->ns) most = &line;
    }
    return most == nullptr ? nullptr : most->largest;
}

namespace {

bool isInCall(const Contributor& each, CallClass wanted) {
    return each.name.idle.kind == CauseKind::InCall && each.name.idle.callClass() == wanted;
}

/// Returns true if the thread was not seen to wait for a possible source of data.
bool isGuessed(const IdleCause& cause) {
    if (cause.kind != CauseKind::BeforeBatchCopy) return false;
    const std::optional<ThreadState> state = cause.state();
    return state != ThreadState::Poll && state != ThreadState::Disk && state != ThreadState::Lock;
}

/// Returns " In its steps the 4 threads of loaders of rank 2 ran 97 % of the time, waited for a core for 3 %."
std::string loaderSentence(const WorkerSummary& worker) {
    const LoaderTimes& loaders = worker.loaders;
    if (loaders.threads == 0) return {};
    const auto share = [&](int64_t ns) { return shareOf(ns, loaders.knownNs); };
    std::string text =
        fmt::format(" In its steps the {} of {} ran {} % of the time",
                    loaders.threads == 1 ? "loader" : fmt::format("{} threads of loaders", loaders.threads),
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

double guessedDataShare(const WorkerSummary& worker) {
    int64_t guessedNs = 0, allNs = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::DataLoading || each.kind == ContributorKind::Others) continue;
        allNs += each.exposedNs;
        if (isGuessed(each.name.idle)) guessedNs += each.exposedNs;
    }
    return shareOf(guessedNs, allNs);
}

std::string inputDataSentence(const WorkerSummary& worker, const std::string& time, const std::string& mostly) {
    const double guessed = guessedDataShare(worker);
    if (guessed > minGuessedShare)
        return fmt::format(
            "The GPU waits {} for a batch, mostly {} {} is a guess that the CPU loaded data meanwhile: samples show no "
            "wait for data.{}",
            time, mostly,
            guessed >= minAllGuessedShare ? "It" : fmt::format("For {} of the GPU's wait, it", shareText(guessed)),
            loaderSentence(worker));
    std::string text = fmt::format("The GPU waits {} for the next batch: mostly {}", time, mostly);
    if (guessed >= minReportedShare)
        text += fmt::format(" For {} % of the GPU's wait, data loading is a guess: no sample shows a wait for data.",
                            percentText(100 * guessed));
    return text + loaderSentence(worker);
}

namespace {

struct Sum {
    int64_t count = 0, totalNs = 0, bytes = 0;
};

template <class Holds>
Sum sumOf(const WorkerSummary& worker, Holds holds) {
    Sum sum;
    for (const Contributor& each : worker.contributors) {
        if (!holds(each)) continue;
        sum.count = saturatingSum(sum.count, each.count);
        sum.totalNs = saturatingSum(sum.totalNs, each.totalNs);
        sum.bytes = saturatingSum(sum.bytes, each.bytes);
    }
    return sum;
}

/// Minimum waits per mean step that drain the GPU. With one, as for a loss, the thread can launch ahead for the rest.
constexpr double minDrainsPerStep = 5;

double drainsPerStep(const WorkerSummary& worker) {
    return static_cast<double>(worker.drains) / static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
}

/// Kernels per step from which it matters; their share in compiled programs; programs; mean kernels of a program.
constexpr double minSingleKernels = 20, minShareInPrograms = 0.8, maxKernelsPerProgram = 3;
constexpr size_t minPrograms = 3;
/// Ending of the known name of a range around a compiled program.
constexpr std::string_view programRange = " (XlaModule)";

/// A step with at most this number of launches, such as one of a graph or of a compiled program, has few launches.
constexpr double maxFewLaunches = 2.5;

double launchesPerStep(const WorkerSummary& worker) {
    return static_cast<double>(worker.launches.count) / static_cast<double>(worker.steps.size());
}

}  // namespace

bool hasKnownState(const WorkerSummary& worker) {
    return std::ranges::any_of(worker.contributors,
                               [](const Contributor& each) { return each.name.idle.isObserved(); });
}

std::string launchedWork(const WorkerSummary& worker, std::string_view per, bool isPlace) {
    if (worker.steps.empty()) return {};
    const auto perStep = [&](const Sum& sum) {
        return countText(static_cast<double>(sum.count) / static_cast<double>(worker.steps.size()));
    };
    const Sum kernels = sumOf(worker, [](const Contributor& each) { return each.part == StepPart::Compute; });
    const Sum copies = sumOf(worker, [](const Contributor& each) { return each.kind == ContributorKind::Copy; });
    const LaunchTimes& launches = worker.launches;
    const std::string share = shareText(shareOf(launches.placeCount, launches.count));
    const std::string line = shortContributorName(launches.place.line, true);
    const std::string place = isPlace ? fmt::format(" Place: {}, with {} of the launches.", line, share) : "";
    if (copies.count > kernels.count)
        return fmt::format(" Launched work: {} copies{}{}, more than kernels.{}", perStep(copies), per,
                           copies.bytes > 0 ? fmt::format(" of {} each", formatBytes(copies.bytes / copies.count)) : "",
                           place);
    if (kernels.count == 0) return place;
    const std::string count = perStep(kernels);
    const std::string text =
        fmt::format(" Launched work: {} kernel{}{}, {} each on the GPU", count, count == "1" ? "" : "s", per,
                    timeText(static_cast<double>(kernels.totalNs) / static_cast<double>(kernels.count)));
    if (isPlace || launches.place.empty()) return text + "." + place;
    // "of the launches" already says it.
    const bool isThere = launches.place.text == "launched at " + launches.place.line;
    return fmt::format("{}, {} of the launches {}.", text, share,
                       isThere ? "at " + line : shortContributorName(launches.place.text, true));
}

bool isDispatchedSingly(const WorkerSummary& worker) {
    struct Program {
        int64_t kernels = 0, names = 0;
    };
    std::map<std::string_view, Program> programs;
    double all = 0, within = 0, names = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.kind != ContributorKind::Kernel) continue;
        all += static_cast<double>(each.count);
        const size_t end = each.path.find(programRange);
        if (end == std::string::npos) continue;
        Program& program = programs[std::string_view(each.path).substr(0, end)];
        program.kernels = saturatingSum(program.kernels, each.count);
        ++program.names;
    }
    for (const auto& [name, program] : programs) {
        within += static_cast<double>(program.kernels);
        names += static_cast<double>(program.kernels) * static_cast<double>(program.names);
    }
    return programs.size() >= minPrograms && within >= minShareInPrograms * all &&
           all >= minSingleKernels * static_cast<double>(worker.steps.size()) && names <= maxKernelsPerProgram * within;
}

bool isDrained(const WorkerSummary& worker) { return drainsPerStep(worker) >= minDrainsPerStep; }

std::string drainedSentence(const WorkerSummary& worker, std::string_view per) {
    if (!isDrained(worker)) return {};
    const auto isWait = [](const Contributor& each) { return each.part == StepPart::Synchronization; };
    const Contributor* most = RunFindings::greatestOf(worker, isWait);
    return fmt::format(
        " {} times{} the GPU runs out of work because the launching thread waits for the GPU{}. During such a wait the "
        "thread cannot launch later work, so remove the waits first.",
        countText(drainsPerStep(worker)), per, most == nullptr ? "" : ", mostly " + most->name.text());
}

bool hasFewLaunches(const WorkerSummary& worker) {
    return worker.launches.count > 0 && launchesPerStep(worker) <= maxFewLaunches;
}

int64_t overheadShareNs(const RunSummary& run, const WorkerSummary& worker) {
    if (run.facts.producerKind != ProducerKind::Lanescope || worker.steps.empty()) return 0;
    const int64_t eachNs = std::clamp<int64_t>(worker.launches.medianNs - plainLaunchNs, 0, maxOverheadNs);
    return static_cast<int64_t>(
        std::min(launchesPerStep(worker) * static_cast<double>(eachNs), static_cast<double>(maxTimestampNs)));
}

std::string overheadSentence(const WorkerSummary& worker, int64_t ns, std::string_view per) {
    if (ns <= 0 || worker.steps.empty()) return {};
    const std::string count = countText(launchesPerStep(worker));
    const std::string launches = fmt::format("{} launch{}", count, count == "1" ? "" : "es");
    const bool isAll = worker.launches.medianNs - plainLaunchNs <= maxOverheadNs;
    return fmt::format(
        " In addition, recording may cost up to {}{}: {}.", timeText(static_cast<double>(ns)), per,
        isAll ? fmt::format("{} at {} each, where {} was measured without a profiler", launches,
                            timeText(static_cast<double>(worker.launches.medianNs)),
                            timeText(static_cast<double>(plainLaunchNs)))
              : fmt::format("at most {} for each of {}", timeText(static_cast<double>(maxOverheadNs)), launches));
}

}  // namespace lanescope::explain
