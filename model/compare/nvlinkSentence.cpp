// SPDX-License-Identifier: Apache-2.0
#include "model/compare/nvlinkSentence.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/values/formatValue.h"

namespace lanescope::compare {

namespace {

using Use = NvlinkVerdict::Use;

constexpr double alikeAmounts = 0.1;

bool hasSeveralGpus(const RunSummary& run) {
    return run.facts.gpuNames.size() > 1 || run.nvlink.use == Use::Used;
}

std::string_view originOf(LinkEvidence evidence) {
    switch (evidence) {
        case LinkEvidence::Counters:
            return "by its counters";
        case LinkEvidence::Copies:
            return "computed from copies";
        case LinkEvidence::Collectives:
            return "computed from NCCL";
        case LinkEvidence::None:
            break;
    }
    return "no evidence";
}

/// "222.4 MiB".
std::string amountOf(const NvlinkTraffic& traffic) {
    return traffic.bytesPerStep ? formatBytes(*traffic.bytesPerStep) : "an unknown amount";
}

std::string sideText(const NvlinkTraffic& traffic) {
    switch (traffic.use) {
        case Use::Used:
            if (traffic.bytesPerStep && traffic.stepEvidence != traffic.evidence)
                return fmt::format("{} ({}; used, {})", amountOf(traffic),
                                   originOf(traffic.stepEvidence), originOf(traffic.evidence));
            return fmt::format("{} (used; {})", amountOf(traffic), originOf(traffic.evidence));
        case Use::NotSeen:
            if (traffic.evidence == LinkEvidence::Counters)
                return fmt::format("{}not used{} {}{}",
                                   traffic.bytesPerStep ? amountOf(traffic) + " (" : "",
                                   traffic.bytesPerStep ? ";" : ",", originOf(traffic.evidence),
                                   traffic.bytesPerStep ? ")" : "");
            return fmt::format(
                "not seen in use ({} at up to {:.3g} GB/s, as PCIe can; {})", amountOf(traffic),
                static_cast<double>(traffic.bestBytesPerSecond) / 1e9, originOf(traffic.evidence));
        case Use::Absent:
            return "none (no NVLink joins its GPUs)";
        case Use::Unknown:
            break;
    }
    return "unknown (no counters of the links, and no transfer between GPUs that tells)";
}

}  // namespace

std::string nvlinkSentence(const RunSummary& baseline, const RunSummary& candidate) {
    if (!hasSeveralGpus(baseline) && !hasSeveralGpus(candidate)) return {};
    const bool isOneStep =
        candidate.source == StepSource::WholeRun || candidate.source == StepSource::Chosen;
    return fmt::format("NVLink, {}: baseline {}; candidate {}.",
                       isOneStep ? "from each GPU" : "from each GPU in a step",
                       sideText(baseline.nvlink), sideText(candidate.nvlink));
}

bool isNvlinkUseOther(const RunSummary& baseline, const RunSummary& candidate) {
    const NvlinkTraffic& before = baseline.nvlink;
    const NvlinkTraffic& after = candidate.nvlink;
    if ((before.use == Use::Used) != (after.use == Use::Used)) return true;
    if (before.use != Use::Used || !before.bytesPerStep || !after.bytesPerStep) return false;
    const auto [less, more] = std::minmax(*before.bytesPerStep, *after.bytesPerStep);
    return static_cast<double>(more - less) > alikeAmounts * static_cast<double>(more);
}

}  // namespace lanescope::compare
