#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/compare/Comparison.h"
#include "model/export/formatValue.h"

namespace lanescope {

namespace {

/// Runs never take exactly as long twice; less than this is not worth a verdict.
constexpr double sameWithinPercent = 0.5;
constexpr size_t namedDifferences = 3;
constexpr size_t longestName = 60;

/// "The candidate is 9.8 % slower: " and then `times`, which says what was timed.
std::string verdict(double candidateNs, double baselineNs, std::string_view times) {
    const double percent = 100.0 * (candidateNs / baselineNs - 1);
    if (std::abs(percent) < sameWithinPercent)
        return fmt::format("The candidate takes as long as the baseline: {}.", times);
    if (percent >= 100)  // no one pictures 640 %
        return fmt::format("The candidate takes {:.1f} times as long as the baseline: {}.",
                           1 + percent / 100, times);
    return fmt::format("The candidate is {:.1f} % {}: {}.", std::abs(percent),
                       percent > 0 ? "slower" : "faster", times);
}

std::string against(double candidateNs, double baselineNs) {
    return fmt::format("{} against {}", formatDuration(static_cast<int64_t>(candidateNs)),
                       formatDuration(static_cast<int64_t>(baselineNs)));
}

/// By its steps, if the runs have any: the length of a run is also that of its start-up.
std::vector<std::string> verdicts(const Comparison& comparison) {
    const auto baselineNs = static_cast<double>(comparison.baseline.wallNs);
    const auto candidateNs = static_cast<double>(comparison.candidate.wallNs);
    if (baselineNs <= 0 || candidateNs <= 0)
        return {"One of the runs is empty, so there is nothing to compare."};
    const std::string whole = against(candidateNs, baselineNs);
    if (!comparison.steps || comparison.steps->baselineMedianNs < 1 ||
        comparison.steps->candidateMedianNs < 1) {
        return {verdict(candidateNs, baselineNs, whole)};
    }
    const StepPace& steps = *comparison.steps;
    const std::string times = fmt::format(
        "\"{}\" takes {} (medians of {} and {})", printable(steps.pattern),
        against(steps.candidateMedianNs, steps.baselineMedianNs), formatCount(steps.candidateCount),
        formatCount(steps.baselineCount));
    return {verdict(steps.candidateMedianNs, steps.baselineMedianNs, times),
            fmt::format("All that was compared took {}.", whole)};
}

/// A name for a sentence: what it is, and not too long.
std::string shortName(const Difference& difference) {
    std::string text = printable(difference.name);
    if (difference.group == DifferenceGroup::Memset) return "memsets";
    if (displayWidth(text) > longestName) {
        size_t end = 0, width = 0;
        while (width < longestName - 1 && end < text.size()) {
            ++end;
            while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
                ++end;
            ++width;
        }
        text = text.substr(0, end) + "\xe2\x80\xa6";
    }
    return fmt::format("{} {}", name(difference.group), text);
}

/// "Most was lost in kernel X (+1.2 s), memcpy HtoD (+0.9 s)." Of GPU work only: API calls and
/// ranges hold the same time again. Empty if nothing changed in that direction.
std::string greatestChanges(const Comparison& comparison, int sign, std::string_view beginning) {
    std::vector<const Difference*> changes;
    for (const Difference& difference : comparison.differences) {
        const bool isGpuWork = difference.group <= DifferenceGroup::Memset;
        if (isGpuWork && difference.lostNs() * sign > 0) changes.push_back(&difference);
    }
    std::stable_sort(changes.begin(), changes.end(), [sign](const auto* a, const auto* b) {
        return a->lostNs() * sign > b->lostNs() * sign;
    });
    if (changes.empty()) return {};
    std::string sentence(beginning);
    for (size_t index = 0; index < std::min(changes.size(), namedDifferences); ++index) {
        sentence +=
            fmt::format("{} {} ({}{})", index > 0 ? "," : "", shortName(*changes[index]),
                        sign > 0 ? "+" : "-", formatDuration(changes[index]->lostNs() * sign));
    }
    return sentence + ".";
}

std::string busySentence(const Comparison& comparison) {
    if (comparison.baseline.gpuCount == 0 && comparison.candidate.gpuCount == 0) return {};
    return fmt::format("The GPUs were busy {:.1f} % of the time, against {:.1f} %.",
                       100 * comparison.candidate.busyShare(),
                       100 * comparison.baseline.busyShare());
}

}  // namespace

std::vector<std::string> summaryLines(const Comparison& comparison) {
    std::vector<std::string> lines = verdicts(comparison);
    const std::string lost = greatestChanges(comparison, 1, "Most GPU time was lost in");
    const std::string won = greatestChanges(comparison, -1, "Most GPU time was saved in");
    const bool isSlower = comparison.candidate.wallNs >= comparison.baseline.wallNs;
    for (const std::string& line :
         {isSlower ? lost : won, isSlower ? won : lost, busySentence(comparison)})
        if (!line.empty()) lines.push_back(line);
    return lines;
}

}  // namespace lanescope
