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

/// The two times that the runs are judged by.
struct JudgedTimes {
    double baselineNs = 0;
    double candidateNs = 0;
    bool isOfSteps = false;
};

/// By its steps, if the runs have any: the length of a run is also that of its start-up.
JudgedTimes judgedTimes(const Comparison& comparison) {
    const std::optional<StepPace>& steps = comparison.steps;
    if (steps && steps->baselineMedianNs >= 1 && steps->candidateMedianNs >= 1)
        return {steps->baselineMedianNs, steps->candidateMedianNs, true};
    return {static_cast<double>(comparison.baseline.wallNs),
            static_cast<double>(comparison.candidate.wallNs), false};
}

double percentLost(const JudgedTimes& times) {
    return 100.0 * (times.candidateNs / times.baselineNs - 1);
}

/// "The candidate is 9.8 % slower: " and then `times`, which says what was timed.
std::string verdictSentence(double percent, std::string_view times) {
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

std::string judgement(const Comparison& comparison) {
    if (verdictOf(comparison) == Verdict::None)
        return "One of the runs is empty, so there is nothing to compare.";
    const JudgedTimes judged = judgedTimes(comparison);
    std::string times = against(judged.candidateNs, judged.baselineNs);
    if (judged.isOfSteps) {
        const StepPace& steps = *comparison.steps;
        times =
            fmt::format("\"{}\" takes {} (medians of {} and {})", printable(steps.pattern), times,
                        formatCount(steps.candidateCount), formatCount(steps.baselineCount));
    }
    return verdictSentence(percentLost(judged), times);
}

/// What the steps leave out. Empty if the runs were judged by their whole length anyway.
std::string wholeSentence(const Comparison& comparison) {
    if (verdictOf(comparison) == Verdict::None || !judgedTimes(comparison).isOfSteps) return {};
    return fmt::format("All that was compared took {}.",
                       against(static_cast<double>(comparison.candidate.wallNs),
                               static_cast<double>(comparison.baseline.wallNs)));
}

/// "void gemm<float>" of "void gemm<float>(float*, int)": the rest tells no two kernels apart.
std::string_view withoutParameters(std::string_view kernel) {
    if (!kernel.ends_with(')')) return kernel;
    int depth = 0;
    for (size_t at = kernel.size(); at-- > 1;) {
        if (kernel[at] == ')') ++depth;
        if (kernel[at] == '(' && --depth == 0) return kernel.substr(0, at);
    }
    return kernel;
}

/// A name for a sentence: what it is, and not too long.
std::string shortName(const Difference& difference) {
    if (difference.group == DifferenceGroup::Memset) return "memsets";
    const bool isKernel = difference.group == DifferenceGroup::Kernel;
    std::string text = printable(isKernel ? withoutParameters(difference.name) : difference.name);
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

Verdict verdictOf(const Comparison& comparison) {
    if (comparison.baseline.wallNs <= 0 || comparison.candidate.wallNs <= 0) return Verdict::None;
    const double percent = percentLost(judgedTimes(comparison));
    if (std::abs(percent) < sameWithinPercent) return Verdict::Same;
    return percent > 0 ? Verdict::Slower : Verdict::Faster;
}

std::vector<std::string> summaryLines(const Comparison& comparison) {
    std::vector<std::string> lines{judgement(comparison)};
    const std::string lost = greatestChanges(comparison, 1, "Most GPU time was lost in");
    const std::string won = greatestChanges(comparison, -1, "Most GPU time was saved in");
    const bool isFaster = verdictOf(comparison) == Verdict::Faster;
    for (const std::string& line : {isFaster ? won : lost, isFaster ? lost : won,
                                    busySentence(comparison), wholeSentence(comparison)})
        if (!line.empty()) lines.push_back(line);
    return lines;
}

}  // namespace lanescope
