// SPDX-License-Identifier: Apache-2.0
#include "model/steps/rangeNames.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "model/steps/rangePattern.h"
#include "model/steps/stepRanges.h"

namespace lanescope {

std::map<std::string, int64_t> rangeCounts(const Trace& trace) {
    std::vector<int64_t> countOf(trace.strings.size());
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        if (trace.nvtx.style[row] != NvtxStyle::Mark) ++countOf[trace.nvtx.text[row]];
    std::map<std::string, int64_t> result, patternCount, namesOfPattern;
    for (StringIndex text = 1; text < countOf.size(); ++text) {
        if (countOf[text] == 0) continue;
        const std::string name(trace.strings.at(text));
        const std::string pattern = rangePattern(name);
        result[name] += countOf[text];
        patternCount[pattern] += countOf[text];
        ++namesOfPattern[pattern];
    }
    for (const auto& [pattern, names] : namesOfPattern)
        if (names > 1) result[pattern] = patternCount[pattern];
    return result;
}

std::vector<std::string> rangeChoices(const Trace& trace, size_t most) {
    const auto counts = rangeCounts(trace);
    std::vector<std::pair<int64_t, std::string>> choices;
    for (const auto& [name, count] : counts) {
        const std::string pattern = rangePattern(name);
        if (pattern == name || !counts.contains(pattern)) choices.emplace_back(count, name);
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    choices.resize(std::min(most, choices.size()));
    std::vector<std::string> names;
    for (auto& [count, name] : choices) names.push_back(std::move(name));
    return names;
}

tl::unexpected<Error> noSuchRange(const Trace& trace, std::string_view name) {
    constexpr size_t enough = 12;
    std::vector<std::pair<int64_t, std::string>> similar;
    for (const auto& [other, count] : rangeCounts(trace))
        if (!name.empty() && other.starts_with(name)) similar.emplace_back(-count, other);
    std::sort(similar.begin(), similar.end());
    std::vector<std::string> offers;
    for (auto& [count, other] : similar) offers.push_back(std::move(other));
    if (offers.empty()) {
        offers = rangeChoices(trace, std::numeric_limits<size_t>::max());
        const std::string steps = findStepPattern(trace);
        std::erase(offers, steps);
        if (!steps.empty()) offers.insert(offers.begin(), steps);
    }
    if (offers.empty())
        return fail(
            "{} has no NVTX ranges at all, so none is called \"{}\"; leave the name away, or mark "
            "the steps of the training with NVTX and record again.",
            trace.title, name);
    const size_t others = offers.size() - std::min(enough, offers.size());
    offers.resize(offers.size() - others);
    return fail("{} has no NVTX range called \"{}\"; there {} \"{}\"{}.", trace.title, name,
                offers.size() == 1 ? "is" : "are", fmt::join(offers, "\", \""),
                others > 0 ? fmt::format(" and {} other{}", others, others == 1 ? "" : "s") : "");
}

std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate) {
    const auto candidateCounts = rangeCounts(candidate);
    std::vector<std::pair<int64_t, std::string>> common;
    for (const auto& [name, count] : rangeCounts(baseline)) {
        const auto other = candidateCounts.find(name);
        if (other != candidateCounts.end()) common.emplace_back(count + other->second, name);
    }
    std::stable_sort(common.begin(), common.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (auto& [count, name] : common) names.push_back(std::move(name));
    return names;
}

}  // namespace lanescope
