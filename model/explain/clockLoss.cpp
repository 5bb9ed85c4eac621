// SPDX-License-Identifier: Apache-2.0
#include "model/explain/clockLoss.h"

#include <fmt/format.h>

#include <cmath>

#include "model/analysis/shownNumbers.h"
#include "model/explain/RunFindings.h"
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
        "{} stands at its power cap for {} % of the time of the steps, at {} where {} is the highest seen: usual of a "
        "GPU that works hard, and the reason why steps of another run or GPU may be a little longer or shorter.",
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
        std::string limit = "the limit of the control group";
        if (const int64_t percent = run.facts.cpuLimitPercent; percent > 0)
            limit += fmt::format(", {:g} core{},", static_cast<double>(percent) / 100, percent == 100 ? "" : "s");
        // Threads that it holds back are also counted as runnable without a core: that is the same time.
        return fmt::format(" Meanwhile {} held processors back for {:.2f} s in each second, summed over them.", limit,
                           cores);
    }
    const CoreWaits waits = of.coreWaits.value_or(CoreWaits());
    const double cores = shareOf(waits.ns, of.totalWallNs());
    if (cores < minCoresMissed) return {};
    if (waits.threads == 1)
        return fmt::format(" Meanwhile one of its threads waited for a core for {:.2f} s in each second.", cores);
    return fmt::format(
        " Meanwhile {} of its threads waited for a core for {:.2f} s in each second, summed over them. With more "
        "threads than cores, fewer threads (OMP_NUM_THREADS) may be faster; otherwise another program uses the cores.",
        waits.threads, cores);
}

}  // namespace lanescope::explain
