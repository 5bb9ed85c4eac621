// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/NvlinkVerdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "model/analysis/StepSelection.h"
#include "model/bandwidth/LinkUse.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

/// Minimum bytes that count as use of a link. Smaller transfers give little evidence, and links carry a few bytes
/// without any use.
constexpr int64_t largeBytes = 1 << 20;
/// A transfer above this multiple of the nominal rate of PCIe used another link. It has a margin for the clocks.
constexpr double beyondPcie = 1.05;
/// Minimum share of the examined time with known counters.
constexpr int64_t maxRateIntervalNs = 100'000'000;  ///< Maximum time between readings for a valid rate.
constexpr double shareThatTells = 0.5, shareOfAll = 0.95;

/// Bytes at a time, by process: an NCCL call or a memcpy.
struct Transfer {
    int64_t startNs;
    uint32_t process;
    double bytes;
};

/// Result of one kind of evidence.
struct Found {
    std::vector<Transfer> transfers;
    double bytes = 0;
    double bestGBps = 0;  ///< Best rate of transfers large enough.
    bool isFasterThanPcie = false;

    void add(int64_t startNs, uint32_t process, double amount, double gigabytesPerSecond,
             std::optional<CopyPeak> pcie) {
        transfers.push_back({startNs, process, amount});
        bytes += amount;
        if (amount < static_cast<double>(largeBytes)) return;
        bestGBps = std::max(bestGBps, gigabytesPerSecond);
        isFasterThanPcie = isFasterThanPcie || (pcie && gigabytesPerSecond > beyondPcie * pcie->gigabytesPerSecond);
    }
};

/// Ranges at whose ends counters were read, to be found by their time.
class SampledRanges {
  public:
    explicit SampledRanges(const Trace& trace) : trace_(trace) {
        for (const SampledRange& each : trace.interconnect.sampledRanges)
            if (!each.startReading.isEmpty() && !each.endReading.isEmpty())
                ranges_.emplace(std::pair(each.globalPid, each.range.startNs), &each);
    }

    /// Times of the counter readings at the start of a step and of the next.
    struct Readings {
        TimeRange first, last;
    };
    /// Returns nullopt if they were not read then, within the precision of the clocks.
    std::optional<Readings> find(uint32_t process, const StepSpan& step) const {
        const SampledRange* const own = beginning(process, step.launches.startNs);
        if (step.launches.isEmpty() || !own) return std::nullopt;
        if (std::abs(own->range.endNs - step.launches.endNs) <= sameNs)
            return Readings{own->startReading, own->endReading};
        const SampledRange* const next = beginning(process, step.launches.endNs);
        if (!next) return std::nullopt;
        return Readings{own->startReading, next->startReading};
    }

  private:
    const SampledRange* beginning(uint32_t process, int64_t timeNs) const {
        const int64_t pid = trace_.processes[process].globalPid;
        const auto each = ranges_.lower_bound({pid, timeNs - sameNs});
        return each != ranges_.end() && each->first <= std::pair(pid, timeNs + sameNs) ? each->second : nullptr;
    }

    /// The agent reads its clock for an event and for the range one after the other.
    static constexpr int64_t sameNs = 100'000;
    const Trace& trace_;
    std::multimap<std::pair<int64_t, int64_t>, const SampledRange*> ranges_;
};

class Judge {
  public:
    /// Counters are examined in `counted`. `steps` are the relevant ones; null for all.
    Judge(const Trace& trace, TimeRange range, TimeRange counted, const RunSteps* steps)
        : trace_(trace), range_(range), counted_(counted), steps_(steps) {
        for (const Gpu& gpu : trace.gpus) {
            const std::optional<CopyPeak> peak = peakOfPcie(trace, gpu.id);
            if (peak && (!pcie_ || peak->gigabytesPerSecond > pcie_->gigabytesPerSecond)) pcie_ = peak;
        }
    }

    NvlinkVerdict judge() {
        sayWhatIsThere();
        if (byCounters()) return std::move(verdict_);
        const Found copies = peerCopies();
        const Found collectives = ncclCalls();
        if (isAbsent_) {
            verdict_.use = NvlinkVerdict::Use::Absent;
            sayPerStep(collectives, LinkEvidence::Collectives);
            return std::move(verdict_);
        }
        if (copies.isFasterThanPcie) {
            used(copies, LinkEvidence::Copies, "a copy from GPU to GPU");
        } else if (collectives.isFasterThanPcie) {
            used(collectives, LinkEvidence::Collectives, "a collective of NCCL");
        } else {
            notShown(copies, collectives);
        }
        return std::move(verdict_);
    }

  private:
    void sayWhatIsThere() {
        const bool isShown = !trace_.interconnect.connections.empty();
        for (const GpuConnection& connection : trace_.interconnect.connections)
            verdict_.activeLinks = std::max(verdict_.activeLinks, connection.nvlinks);
        for (const Gpu& gpu : trace_.gpus)
            verdict_.activeLinks = std::max<int32_t>(verdict_.activeLinks, nvlinksOf(trace_, gpu.id));
        const bool areSlices = !trace_.gpus.empty() && std::ranges::all_of(trace_.gpus, isMigDevice);
        isAbsent_ = (isShown || areSlices) && verdict_.activeLinks == 0;
        if (verdict_.activeLinks > 0)
            verdict_.sentences.push_back(
                fmt::format("NVLink is present and active: up to {} links per GPU.", verdict_.activeLinks));
        else if (areSlices)
            verdict_.sentences.emplace_back("The run used slices of GPUs (MIG), which NVLink does not join.");
        else if (isAbsent_)
            verdict_.sentences.emplace_back("No NVLink connects these GPUs.");
        else
            verdict_.sentences.emplace_back("The trace does not show whether the GPUs have NVLink.");
    }

    /// Returns false if there are none, or none with a known value for long enough.
    bool byCounters() {
        double sent = 0, best = 0, knownShare = 1;
        bool isKnown = false;
        for (const CounterSeries* const series : sentByGpu()) {
            const CounterIntegral integral = integralOf(*series, counted_);
            isKnown = isKnown || integral.hasValue();
            sent += integral.amount;
            // A mean over a long interval is no reached rate.
            if (integral.longestIntervalNs <= maxRateIntervalNs) best = std::max(best, integral.maximum / 1e9);
            knownShare = std::min(knownShare, static_cast<double>(integral.knownNs) /
                                                  static_cast<double>(std::max<int64_t>(1, integral.wholeNs)));
        }
        const bool isUsed = sent >= static_cast<double>(largeBytes);
        // A small part of the time can show use, but not its absence.
        isHardlyCounted_ = isKnown;
        if (!isKnown || (!isUsed && knownShare < shareThatTells)) return false;
        verdict_.evidence = LinkEvidence::Counters;
        verdict_.bytes = static_cast<int64_t>(sent);
        verdict_.bestGBps = best;
        verdict_.use = isUsed ? NvlinkVerdict::Use::Used : NvlinkVerdict::Use::NotSeen;
        verdict_.sentences.push_back(
            isUsed
                ? fmt::format("NVLink was used: by its counters, the GPUs sent {}{}.", formatBytes(verdict_.bytes),
                              best > 0 ? fmt::format(", at up to {:.3g} GB/s per GPU", best) : "")
                : fmt::format("NVLink was not used: by its counters, the GPUs sent {}.", formatBytes(verdict_.bytes)));
        if (knownShare < shareOfAll)
            verdict_.sentences.push_back(
                fmt::format("This covers {:.0f} % of the time; for the rest, the counters of some GPU are missing.",
                            100 * knownShare));
        perStepByCounters();
        return true;
    }

    /// Ranks a sampler by its evidence about all links of a GPU, best first: hardware counters are
    /// read a thousand times per second, but may be lost for a while; NVML's count every byte.
    int rankOf(const CounterSeries& series) const {
        if (series.source == "nvml") return 1;
        if (series.source != "pm") return 3;
        const CounterIntegral all = integralOf(series, counted_);
        return static_cast<double>(all.knownNs) >= shareOfAll * static_cast<double>(all.wholeNs) ? 0 : 2;
    }

    /// Returns the traffic of each GPU over all its links, by the best sampler; by NVML's counters
    /// if there are any and `isRead`, as these are read at the ends of ranges.
    std::vector<const CounterSeries*> sentByGpu(bool isRead = false) const {
        std::map<uint32_t, const CounterSeries*> byGpu;
        std::map<uint32_t, int> rankOfBest;
        for (const CounterSeries& series : trace_.counters) {
            if (series.key != nvlinkSentKey || series.link >= 0 || series.gpu == noIndex) continue;
            const int rank = isRead && series.source == "nvml" ? -1 : rankOf(series);
            const auto [best, isFirst] = rankOfBest.try_emplace(series.gpu, rank);
            if (!isFirst && best->second <= rank) continue;
            best->second = rank;
            byGpu[series.gpu] = &series;
        }
        return mapped(byGpu, [](const auto& each) { return each.second; });
    }

    /// Uses counters if they were read often enough for a step, or on purpose at its ends: a mean over many steps gives
    /// no evidence about one. Else uses bytes moved by NCCL or copies, and names them.
    void perStepByCounters() {
        std::vector<double> amounts;
        const std::vector<const CounterSeries*> best = sentByGpu(), counting = sentByGpu(true);
        const SampledRanges readings(trace_);
        forEachStep([&](uint32_t process, const StepSpan& step) {
            double amount = 0;
            bool isAny = false, isRead = true;
            const auto sampled = readings.find(process, step);
            for (const CounterSeries* const series : sampled ? counting : best) {
                if (!usesGpu(process, series->gpu)) continue;
                const CounterIntegral integral =
                    sampled ? integralBetween(*series, step.launches, sampled->first, sampled->last)
                            : integralOf(*series, step.range);
                isAny = true;
                isRead = isRead && integral.isComplete();
                amount += integral.amount;
            }
            if (isAny && isRead) amounts.push_back(amount);
        });
        const bool isUsed = verdict_.use == NvlinkVerdict::Use::Used;
        if (amounts.empty()) {
            if (!isUsed) return;  // the traffic used another link
            const Found copies = peerCopies(), collectives = ncclCalls();
            const bool isCollective = collectives.bytes >= copies.bytes;
            return sayPerStep(isCollective ? collectives : copies,
                              isCollective ? LinkEvidence::Collectives : LinkEvidence::Copies);
        }
        verdict_.bytesPerStep = medianOf(amounts);
        verdict_.stepEvidence = LinkEvidence::Counters;
        // The traffic is outside the steps, or in few of them.
        if (isUsed && *verdict_.bytesPerStep <= 0) return;
        verdict_.sentences.push_back(fmt::format("In the median step, the GPU of each process sent {} over NVLink.",
                                                 formatBytes(static_cast<int64_t>(*verdict_.bytesPerStep))));
    }

    bool usesGpu(uint32_t process, uint32_t gpu) const {
        return std::ranges::any_of(trace_.streams,
                                   [&](const Stream& each) { return each.process == process && each.gpu == gpu; });
    }

    Found peerCopies() const {
        Found found;
        const MemcpyTable& copies = trace_.memcpys;
        for (uint32_t row = 0; row < copies.size(); ++row) {
            const TimeRange when{copies.startNs[row], copies.endNs[row]};
            const bool isBetween =
                copies.kind[row] == MemcpyKind::PtoP && copies.sourceDevice[row] != copies.destinationDevice[row];
            if (!isBetween || when.isEmpty() || !when.overlaps(range_)) continue;
            const auto bytes = static_cast<double>(copies.bytes[row]);
            found.add(when.startNs, trace_.streams[copies.stream[row]].process, bytes,
                      bytes / static_cast<double>(when.durationNs()), pcie_);
        }
        return found;
    }

    Found ncclCalls() const {
        Found found;
        for (uint32_t row = 0; row < trace_.nccl.size(); ++row) {
            const std::optional<NcclRate> rate = ncclRate(trace_, row);
            const NcclFacts& facts = trace_.nccl.facts[row];
            if (!rate || rate->traffic.busBytes <= 0 || !facts.gpu.overlaps(range_)) continue;
            const uint32_t thread = trace_.nvtx.thread[trace_.nccl.nvtx[row]];
            // Only between ranks: a broadcast of a single rank goes nowhere.
            if (facts.rankCount == 1) continue;
            found.add(facts.gpu.startNs, trace_.threads[thread].process, rate->traffic.busBytes, rate->busGBps(),
                      pcie_);
        }
        return found;
    }

    void used(const Found& found, LinkEvidence evidence, const char* what) {
        verdict_.use = NvlinkVerdict::Use::Used;
        verdict_.evidence = evidence;
        verdict_.bytes = static_cast<int64_t>(found.bytes);
        verdict_.bestGBps = found.bestGBps;
        verdict_.sentences.push_back(
            fmt::format("NVLink was used: {} reached {:.3g} GB/s, which PCIe ({:.3g} GB/s) cannot. {}.", what,
                        found.bestGBps, pcie_->gigabytesPerSecond, whyNoCounters("The")));
        sayPerStep(found, evidence);
    }

    /// `the` begins a sentence or not.
    std::string whyNoCounters(const char* the) const {
        return isHardlyCounted_ ? fmt::format("{} counters of the links are unknown for most of the time", the)
                                : fmt::format("{} trace has no counters of the links", the);
    }

    void notShown(const Found& copies, const Found& collectives) {
        const bool isCollective = collectives.bytes >= copies.bytes;
        const Found& found = isCollective ? collectives : copies;
        const double best = std::max(copies.bestGBps, collectives.bestGBps);
        const auto evidence = isCollective ? LinkEvidence::Collectives : LinkEvidence::Copies;
        verdict_.bestGBps = best;
        if (best <= 0 || !pcie_) {
            verdict_.use = NvlinkVerdict::Use::Unknown;
            verdict_.sentences.push_back(fmt::format("NVLink use is unknown: {}, and {}.", whyNoCounters("the"),
                                                     best <= 0 ? "there is no large copy or collective between GPUs"
                                                               : "the speed of PCIe is not in the trace"));
        } else {
            verdict_.use = NvlinkVerdict::Use::NotSeen;
            verdict_.evidence = evidence;
            verdict_.bytes = static_cast<int64_t>(found.bytes);
            verdict_.sentences.push_back(
                fmt::format("Nothing shows that NVLink was used: the fastest copy or collective between GPUs reached "
                            "{:.3g} GB/s, which PCIe ({:.3g} GB/s) can carry. {}.",
                            best, pcie_->gigabytesPerSecond, whyNoCounters("The")));
        }
        sayPerStep(found, evidence);
    }

    void forEachStep(auto visit) const {
        if (steps_) return visitSteps(*steps_, visit);
        const Result<RunSteps> found = findSteps(trace_);
        if (found && found->source != StepSource::WholeRun) visitSteps(*found, visit);
    }

    void visitSteps(const RunSteps& steps, auto visit) const {
        std::set<uint32_t> processes;  // a process counts once, on however many GPUs
        for (const WorkerSteps& worker : steps.workers) {
            if (!processes.insert(worker.process).second) continue;
            for (const StepSpan& step : worker.steps)
                if (range_.startNs <= step.range.startNs && step.range.endNs <= range_.endNs)
                    visit(worker.process, step);
        }
    }

    void sayPerStep(const Found& found, LinkEvidence evidence) {
        if (found.bytes <= 0) return;
        std::map<uint32_t, std::vector<Transfer>> byProcess;
        for (const Transfer& each : found.transfers) byProcess[each.process].push_back(each);
        for (auto& [process, transfers] : byProcess)
            std::ranges::stable_sort(transfers, {}, [](const auto& each) { return each.startNs; });
        std::vector<double> amounts;
        forEachStep([&](uint32_t process, const StepSpan& span) {
            const TimeRange step = span.range;
            const std::vector<Transfer>& transfers = byProcess[process];
            auto next = std::ranges::lower_bound(transfers, step.startNs, {}, &Transfer::startNs);
            double amount = 0;
            for (; next != transfers.end() && next->startNs < step.endNs; ++next) amount += next->bytes;
            amounts.push_back(amount);
        });
        if (amounts.empty()) return;
        verdict_.bytesPerStep = medianOf(amounts);
        verdict_.stepEvidence = evidence;
        if (*verdict_.bytesPerStep <= 0) return;  // The traffic is outside the steps.
        const std::string amount = formatBytes(static_cast<int64_t>(*verdict_.bytesPerStep));
        verdict_.sentences.push_back(
            evidence == LinkEvidence::Copies
                ? fmt::format("In the median step a process copied {} from GPU to GPU.", amount)
                : fmt::format("In the median step NCCL put {} on the bus of each GPU, by the arithmetic of nccl-tests.",
                              amount));
    }

    const Trace& trace_;
    TimeRange range_, counted_;
    const RunSteps* steps_;
    std::optional<CopyPeak> pcie_;
    bool isAbsent_ = false;
    bool isHardlyCounted_ = false;  ///< There are counters, but rarely with a known value.
    NvlinkVerdict verdict_;
};

}  // namespace

NvlinkVerdict judgeNvlink(const Trace& trace, std::optional<TimeRange> range) {
    if (range) return Judge(trace, *range, *range, nullptr).judge();
    // Rarely read counters give evidence only about the whole run, including start and end.
    TimeRange counted = trace.range;
    for (const CounterSeries& series : trace.counters)
        if (series.key == nvlinkSentKey && !series.source.empty() && !series.isEmpty())
            counted = counted.united({series.timeNs(0), series.endNs()});
    return Judge(trace, trace.range, counted, nullptr).judge();
}

NvlinkVerdict judgeNvlink(const Trace& trace, const RunSteps& steps) {
    std::optional<TimeRange> range;
    for (const WorkerSteps& worker : steps.workers)
        for (const StepSpan& step : worker.steps) range = range ? range->united(step.range) : step.range;
    const TimeRange whole = range.value_or(trace.range);
    return Judge(trace, whole, whole, &steps).judge();
}

std::string_view name(NvlinkVerdict::Use use) {
    return use == NvlinkVerdict::Use::NotSeen ? "not seen" : identifier(use);
}

std::string_view name(LinkEvidence evidence) { return identifier(evidence); }

std::string_view identifier(NvlinkVerdict::Use use) { return enumText(use, {"unknown", "absent", "not_seen", "used"}); }

std::string_view identifier(LinkEvidence evidence) {
    return enumText(evidence, {"none", "counters", "copies", "collectives"});
}

}  // namespace lanescope
