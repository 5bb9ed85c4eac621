// SPDX-License-Identifier: Apache-2.0
#include "model/compare/cautions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/format/TimeRange.h"
#include "model/text/formatValue.h"
#include "model/text/programOf.h"
#include "model/trace/healthNotes.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

/// Returns the range from the start of its first compared step to the end of its last, since 1970.
TimeRange utcOf(const SummaryFacts& facts, const WorkerSummary& worker) {
    const StepSummary& last = worker.steps.back();
    return {facts.startUtcNs + worker.steps.front().startNs, facts.startUtcNs + last.startNs + last.wallNs};
}

bool overlap(TimeRange one, TimeRange other) { return one.startNs < other.endNs && other.startNs < one.endNs; }

using Use = NvlinkVerdict::Use;

constexpr double alikeAmounts = 0.1;

bool hasSeveralGpus(const RunSummary& run) { return run.facts.gpuNames.size() > 1 || run.nvlink.use == Use::Used; }

std::string_view originOf(LinkEvidence evidence) {
    return enumText(evidence, {"no evidence", "by its counters", "computed from copies", "computed from NCCL"});
}

/// "222.4 MiB".
std::string amountOf(const NvlinkTraffic& traffic) {
    return traffic.bytesPerStep ? formatBytes(*traffic.bytesPerStep) : "an unknown amount";
}

std::string sideText(const NvlinkTraffic& traffic) {
    switch (traffic.use) {
        case Use::Used:
            if (traffic.bytesPerStep && traffic.stepEvidence != traffic.evidence)
                return fmt::format("{} ({}; used, {})", amountOf(traffic), originOf(traffic.stepEvidence),
                                   originOf(traffic.evidence));
            return fmt::format("{} (used; {})", amountOf(traffic), originOf(traffic.evidence));
        case Use::NotSeen:
            if (traffic.evidence == LinkEvidence::Counters)
                return fmt::format("{}not used{} {}{}", traffic.bytesPerStep ? amountOf(traffic) + " (" : "",
                                   traffic.bytesPerStep ? ";" : ",", originOf(traffic.evidence),
                                   traffic.bytesPerStep ? ")" : "");
            return fmt::format("not seen in use ({} at up to {:.3g} GB/s, as PCIe can; {})", amountOf(traffic),
                               static_cast<double>(traffic.bestBytesPerSecond) / 1e9, originOf(traffic.evidence));
        case Use::Absent: return "none (no NVLink connects its GPUs)";
        case Use::Unknown: break;
    }
    return "unknown (no link counters, and no transfer between GPUs that shows it)";
}

constexpr size_t maxShownWarnings = 3;
constexpr double alikeKernelCount = 0.1;
constexpr double alikeClocks = 0.02;

class Cautions {
  public:
    template <class... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        sentences_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
    /// Adds a caution if both values are known and differ.
    void addIfOther(std::string_view what, const std::string& baseline, const std::string& candidate) {
        if (!baseline.empty() && !candidate.empty() && baseline != candidate)
            add("{}: {} in the baseline, {} in the candidate.", what, printable(baseline), printable(candidate));
    }
    std::vector<std::string> take() { return std::move(sentences_); }

  private:
    std::vector<std::string> sentences_;
};

std::string_view sourceText(const RunSummary& run) {
    switch (run.source) {
        case StepSource::NvtxRange: return "NVTX ranges";
        case StepSource::KernelPattern: return "the rhythm of the kernels";
        case StepSource::PythonLoop: return "a loop by its Python lines";
        case StepSource::WholeRun: return "none: the whole run counts as one";
        case StepSource::Chosen: return "a chosen interval";
    }
    return "";
}

std::string rangesText(const RunSummary& run) {
    return run.rangesPerStep == 1 ? "one range each" : fmt::format("{} ranges each", run.rangesPerStep);
}

bool areClocksOther(const SummaryFacts& before, const SummaryFacts& after) {
    const auto clock = static_cast<double>(before.smClockHz);
    return before.smClockHz > 0 && after.smClockHz > 0 &&
           std::abs(static_cast<double>(after.smClockHz) - clock) > alikeClocks * clock;
}

std::string megahertzText(int64_t hertz) {
    return withThousands(fmt::format("{:.0f}", static_cast<double>(hertz) / 1e6)) + " MHz";
}

double kernelsPerStep(const RunSummary& run) {
    int64_t kernels = 0, steps = 0;
    for (const WorkerSummary& worker : run.workers) {
        steps += static_cast<int64_t>(worker.steps.size());
        for (const Contributor& each : worker.contributors)
            if (each.part == StepPart::Compute) kernels += each.count;
    }
    return steps > 0 ? static_cast<double>(kernels) / static_cast<double>(steps) : 0;
}

void addWhatRan(const RunSummary& baseline, const RunSummary& candidate, Cautions& cautions) {
    const SummaryFacts& before = baseline.facts;
    const SummaryFacts& after = candidate.facts;
    if (isSameRecording(baseline, candidate)) cautions.add("Both sides are the same recording.");
    cautions.addIfOther("GPUs", gpusText(before), gpusText(after));
    if (before.worldSize != after.worldSize && before.worldSize > 0 && after.worldSize > 0)
        cautions.add("World size: {} in the baseline, {} in the candidate.", before.worldSize, after.worldSize);
    cautions.addIfOther("Driver", before.driver, after.driver);
    cautions.addIfOther("CUDA of the driver", before.cuda, after.cuda);
    // Arguments differ on purpose, or by run.
    cautions.addIfOther("Program", programOf(before.commandLine), programOf(after.commandLine));
    cautions.addIfOther("Recorded with", before.recordOptions, after.recordOptions);
    const double kernelsBefore = kernelsPerStep(baseline), kernelsAfter = kernelsPerStep(candidate);
    if (std::abs(kernelsAfter - kernelsBefore) > alikeKernelCount * std::max(kernelsAfter, kernelsBefore))
        cautions.add("Kernels per step: {:.0f} in the baseline, {:.0f} in the candidate.", kernelsBefore, kernelsAfter);
}

/// Adds differences of the machine's state during the runs, as opposed to its type.
void addHowItRan(const SummaryFacts& before, const SummaryFacts& after, Cautions& cautions) {
    if (areClocksOther(before, after))
        cautions.addIfOther("Mean SM clock of the GPUs", megahertzText(before.smClockHz),
                            megahertzText(after.smClockHz));
    cautions.addIfOther("Host", before.host, after.host);
    for (const auto& [side, facts] : {std::pair("baseline", &before), std::pair("candidate", &after)})
        if (!facts->otherGpuProcesses.empty())
            cautions.add("Other processes held memory of the {}'s GPUs while it ran: {}.", side,
                         printable(fmt::format("{}", fmt::join(facts->otherGpuProcesses, ", "))));
}

void addHowStepsWereFound(const RunSummary& baseline, const RunSummary& candidate, Cautions& cautions) {
    if (baseline.isEmpty() || candidate.isEmpty()) return;
    if (baseline.source != candidate.source) {
        cautions.addIfOther("Steps come from", std::string(sourceText(baseline)), std::string(sourceText(candidate)));
        return;
    }
    cautions.addIfOther("Steps begin with", baseline.pattern, candidate.pattern);
    cautions.addIfOther("Steps hold", rangesText(baseline), rangesText(candidate));
    cautions.addIfOther("What repeats is a", std::string(identifier(baseline.kind)),
                        std::string(identifier(candidate.kind)));
    if (baseline.source == StepSource::KernelPattern)
        cautions.add("Neither run marks its steps with NVTX ranges: they were found by the rhythm of the kernels.");
    if (baseline.source == StepSource::WholeRun)
        cautions.add("No steps were found in either run: each is compared as a whole, start-up included.");
}

void addLosses(std::string_view side, const SummaryFacts& facts, Cautions& cautions) {
    size_t shown = 0;
    bool isEndReported = false;
    for (const HealthNote& warning : facts.healthWarnings) {
        if (shown == maxShownWarnings) break;
        cautions.add("The {}: {}", side, printable(shownText(warning)));
        isEndReported = isEndReported || warning.code == HealthCode::ProcessEndedAbnormally;
        ++shown;
    }
    if (facts.isTruncated && !isEndReported)
        cautions.add("The {}: a process left no exit record; its last events may be missing.", side);
    if (const size_t more = facts.healthWarnings.size() - shown; more > 0)
        cautions.add("The {}: {} more warning{}; \"lanescope info\" says {}.", side, more, more == 1 ? "" : "s",
                     more == 1 ? "it" : "them");
    if (!facts.hasApiCalls && facts.kernelCount > 0)
        cautions.add("The {} has no CUDA API calls, so causes of GPU idle time are unknown.", side);
}

}  // namespace

bool isSameRecording(const RunSummary& one, const RunSummary& other) {
    const SummaryFacts &a = one.facts, &b = other.facts;
    if (a.contentHash == 0 || b.contentHash == 0) return false;
    if (a.contentHash == b.contentHash) return true;
    if (a.startUtcNs == 0 || b.startUtcNs == 0) return false;
    if (!a.host.empty() && !b.host.empty() && a.host != b.host) return false;
    for (const WorkerSummary& mine : one.workers)
        for (const WorkerSummary& theirs : other.workers)
            if (mine.pid == theirs.pid && !mine.steps.empty() && !theirs.steps.empty() &&
                overlap(utcOf(a, mine), utcOf(b, theirs)))
                return true;
    return false;
}

std::string nvlinkSentence(const RunSummary& baseline, const RunSummary& candidate) {
    if (!hasSeveralGpus(baseline) && !hasSeveralGpus(candidate)) return {};
    const bool isOneStep = candidate.source == StepSource::WholeRun || candidate.source == StepSource::Chosen;
    return fmt::format("NVLink, {}: baseline {}; candidate {}.",
                       isOneStep ? "from each GPU" : "from each GPU in a step", sideText(baseline.nvlink),
                       sideText(candidate.nvlink));
}

bool isNvlinkUseOther(const RunSummary& baseline, const RunSummary& candidate) {
    const NvlinkTraffic& before = baseline.nvlink;
    const NvlinkTraffic& after = candidate.nvlink;
    if ((before.use == Use::Used) != (after.use == Use::Used)) return true;
    if (before.use != Use::Used || !before.bytesPerStep || !after.bytesPerStep) return false;
    const auto [less, more] = std::minmax(*before.bytesPerStep, *after.bytesPerStep);
    return static_cast<double>(more - less) > alikeAmounts * static_cast<double>(more);
}

std::string gpusText(const SummaryFacts& facts) {
    std::vector<std::string> names = facts.gpuNames;
    std::ranges::sort(names);
    std::string text;
    for (size_t begin = 0; begin < names.size();) {
        size_t end = begin;
        while (end < names.size() && names[end] == names[begin]) ++end;
        text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", end - begin,
                            names[begin].empty() ? "unknown GPU" : names[begin]);
        begin = end;
    }
    return text;
}

std::vector<std::string_view> machineDifferences(const SummaryFacts& baseline, const SummaryFacts& candidate) {
    std::vector<std::string_view> differences;
    const auto addIf = [&](bool isOther, std::string_view what) {
        if (isOther) differences.push_back(what);
    };
    const auto areOther = [](const std::string& before, const std::string& after) {
        return !before.empty() && !after.empty() && before != after;
    };
    addIf(areOther(gpusText(baseline), gpusText(candidate)), "GPUs");
    addIf(areOther(baseline.driver, candidate.driver), "driver");
    addIf(areOther(baseline.host, candidate.host), "host");
    addIf(areClocksOther(baseline, candidate), "SM clock");
    addIf(baseline.otherGpuProcesses.empty() != candidate.otherGpuProcesses.empty(), "other processes on the GPUs");
    return differences;
}

std::vector<std::string> cautionsOf(const RunSummary& baseline, const RunSummary& candidate) {
    Cautions cautions;
    addWhatRan(baseline, candidate, cautions);
    addHowItRan(baseline.facts, candidate.facts, cautions);
    addHowStepsWereFound(baseline, candidate, cautions);
    if (baseline.workers.size() != candidate.workers.size() && !baseline.isEmpty() && !candidate.isEmpty())
        cautions.add("Processes on GPUs: {} in the baseline, {} in the candidate; only pairs are compared.",
                     baseline.workers.size(), candidate.workers.size());
    addLosses("baseline", baseline.facts, cautions);
    addLosses("candidate", candidate.facts, cautions);
    cautions.addIfOther("Recorded by", baseline.facts.producer, candidate.facts.producer);
    return cautions.take();
}

}  // namespace lanescope::compare
