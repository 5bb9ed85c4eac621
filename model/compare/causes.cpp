#include "model/compare/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/values/formatValue.h"

namespace lanescope {

namespace {

constexpr size_t mostCauses = 3;
constexpr int64_t smallestCauseShare = 6;  ///< One part in so many.
constexpr size_t longestName = 60;
/// What PCIe 5 x16 can carry in one direction, the fastest link between GPUs but NVLink.
constexpr double fastestPcieGBps = 64;
/// Bandwidths that differ by less are the same, for a sentence.
constexpr double bandwidthTolerance = 0.1;

std::string signedDuration(int64_t ns) {
    return fmt::format("{}{}", ns < 0 ? "-" : "+", formatDuration(std::abs(ns)));
}

/// The contributor of a part that changed most in the direction of `sign`; null if none did at
/// least a third of it.
const ContributorDifference* mainContributor(const WorkerComparison& pair, StepPart part,
                                             int64_t lostNs) {
    const int64_t sign = lostNs < 0 ? -1 : 1;
    const ContributorDifference* main = nullptr;
    for (const ContributorDifference& each : pair.contributors)
        if (each.part == part && each.kind != ContributorKind::Others &&
            (!main || each.lostNs() * sign > main->lostNs() * sign))
            main = &each;
    return main && main->lostNs() * sign * 3 >= lostNs * sign ? main : nullptr;
}

bool isOtherBandwidth(double before, double after) {
    return before > 0 && after > 0 &&
           std::abs(after - before) > bandwidthTolerance * std::max(before, after);
}

std::string bandwidthText(const ContributorDifference& main) {
    const double before = main.baseline.gigabytesPerSecond;
    const double after = main.candidate.gigabytesPerSecond;
    if (!isOtherBandwidth(before, after)) return {};
    const auto text = [](double rate) {
        return rate < 9.95 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate);
    };
    return fmt::format(", {}bandwidth {} \u2192 {} GB/s",
                       main.kind == ContributorKind::Collective ? "bus " : "", text(before),
                       text(after));
}

std::string matchText(const ContributorDifference& main) {
    if (main.match == MatchKind::OnlyCandidate) return ", which the baseline does not have";
    if (main.match == MatchKind::OnlyBaseline) return ", which the candidate does not have";
    if (main.match == MatchKind::SamePosition)
        return fmt::format(", in the place of {}", shortContributorName(main.baseline.name));
    const double before = main.baseline.count, after = main.candidate.count;
    const bool isWork = main.kind == ContributorKind::Kernel ||
                        main.kind == ContributorKind::Copy ||
                        main.kind == ContributorKind::Collective;
    if (isWork && std::abs(after - before) > 0.1 * std::max(before, after))
        return fmt::format(", {:.3g} instead of {:.3g} a step", after, before);
    return {};
}

/// "+7.1 ms exposed NCCL AllReduce in the mean step, bus bandwidth 210 → 27 GB/s".
std::string causeText(StepPart part, int64_t lostNs, const ContributorDifference* main) {
    const std::string time = signedDuration(lostNs);
    if (!main) return fmt::format("{} {} in the mean step", time, name(part));
    const std::string which = shortContributorName(main->name());
    if (main->kind == ContributorKind::Collective)
        return fmt::format("{} exposed NCCL {} in the mean step{}{}", time, which,
                           bandwidthText(*main), matchText(*main));
    if (main->kind == ContributorKind::Idle)
        return fmt::format(
            "{} {} in the mean step, {} {}{}", time, name(part), signedDuration(main->lostNs()),
            which,
            main->path.empty() ? std::string() : fmt::format(" in {}", printable(main->path)));
    const bool isKernel = main->kind == ContributorKind::Kernel;
    return fmt::format("{} {} in the mean step, {} in {}{}{}{}", time, name(part),
                       signedDuration(main->lostNs()), isKernel ? "kernel " : "", which,
                       bandwidthText(*main), matchText(*main));
}

/// GPUs that are joined by NVLink, which carried data between them and does no longer: by the
/// counters of both runs, else by the pace of something slower.
bool hasLostNvlink(const Cause& cause, const RunSummary& baseline, const RunSummary& candidate) {
    const bool isBetweenGpus =
        cause.part == StepPart::ExposedCommunication || cause.part == StepPart::ExposedPtoP;
    if (!isBetweenGpus || !candidate.facts.isNvlinkPresent) return false;
    if (baseline.nvlink.evidence == LinkEvidence::Counters &&
        candidate.nvlink.evidence == LinkEvidence::Counters)
        return baseline.nvlink.use == NvlinkVerdict::Use::Used &&
               candidate.nvlink.use == NvlinkVerdict::Use::NotSeen;
    return cause.baselineGBps > fastestPcieGBps && cause.candidateGBps > 0 &&
           cause.candidateGBps < fastestPcieGBps;
}

Cause causeOf(const WorkerComparison& pair, const PartDifference& part, const RunSummary& baseline,
              const RunSummary& candidate) {
    Cause cause;
    cause.part = part.part;
    cause.lostNs = part.lostNs();
    const ContributorDifference* main = mainContributor(pair, part.part, part.lostNs());
    if (main) {
        cause.contributor = main->name();
        cause.path = main->path;
        cause.baselineGBps = main->baseline.gigabytesPerSecond;
        cause.candidateGBps = main->candidate.gigabytesPerSecond;
    }
    cause.text = causeText(part.part, part.lostNs(), main);
    if (hasLostNvlink(cause, baseline, candidate))
        cause.text += ", no longer over the NVLink that joins these GPUs";
    return cause;
}

}  // namespace

std::vector<Cause> causesOf(const WorkerComparison& pair, const RunSummary& baseline,
                            const RunSummary& candidate) {
    const bool isSlower = pair.claim.differenceNs > 0;
    std::vector<const PartDifference*> changed;
    int64_t allNs = 0;
    for (const PartDifference& part : pair.parts) {
        if (part.lostNs() == 0 || (part.lostNs() > 0) != isSlower) continue;
        changed.push_back(&part);
        allNs += std::abs(part.lostNs());
    }
    std::stable_sort(changed.begin(), changed.end(), [](const auto* a, const auto* b) {
        return std::abs(a->lostNs()) > std::abs(b->lostNs());
    });
    std::vector<Cause> causes;
    for (const PartDifference* part : changed)
        if (causes.size() < mostCauses && std::abs(part->lostNs()) * smallestCauseShare >= allNs)
            causes.push_back(causeOf(pair, *part, baseline, candidate));
    return causes;
}

std::string shortContributorName(std::string_view name) {
    // "void gemm<float>(float*, int)": what is in the parentheses tells no two kernels apart.
    std::string_view kept = name;
    if (kept.ends_with(')')) {
        int depth = 0;
        for (size_t at = kept.size(); at-- > 1;) {
            if (kept[at] == ')') ++depth;
            if (kept[at] != '(' || --depth > 0) continue;
            kept = kept.substr(0, at);
            break;
        }
    }
    if (kept.starts_with("void ")) kept.remove_prefix(5);
    std::string text = printable(kept);
    if (displayWidth(text) <= longestName) return text;
    size_t end = 0;
    for (size_t width = 0; width < longestName - 1 && end < text.size(); ++width) {
        ++end;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    }
    return text.substr(0, end) + "\xe2\x80\xa6";
}

}  // namespace lanescope
