// SPDX-License-Identifier: Apache-2.0
#include "model/steps/stepRanges.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "model/steps/rangePattern.h"
#include "model/trace/rangeDomains.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

constexpr int64_t fewestSteps = 3;
constexpr std::array<std::string_view, 4> stepWords{"step", "iter", "batch", "Step"};

/// Of one pattern, over the whole run.
struct Coverage {
    std::map<uint32_t, int64_t> countOf;  ///< By thread.
    std::map<uint32_t, int64_t> coveredUntilNs;
    int64_t coveredNs = 0;
    int64_t firstNs = 0;
};

bool isClosedRange(const Trace& trace, uint32_t row) {
    return trace.nvtx.style[row] != NvtxStyle::Mark && trace.nvtx.isOpen[row] == 0 &&
           trace.strings.at(trace.nvtx.domain[row]) != ncclDomain;
}

std::map<std::string, Coverage> coverageByPattern(const Trace& trace) {
    std::map<std::string, Coverage> byPattern;
    std::vector<Coverage*> known(trace.strings.size());  // a pattern is made once a name
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
        if (!isClosedRange(trace, row)) continue;
        if (tellsOfCode(trace.strings.at(trace.nvtx.domain[row]))) continue;
        const StringIndex text = trace.nvtx.text[row];
        if (text >= known.size()) continue;
        if (!known[text]) known[text] = &byPattern[rangePattern(trace.strings.at(text))];
        Coverage& coverage = *known[text];
        const uint32_t thread = trace.nvtx.thread[row];
        const auto [until, isFirst] =
            coverage.coveredUntilNs.try_emplace(thread, trace.nvtx.startNs[row]);
        if (coverage.countOf.empty()) coverage.firstNs = trace.nvtx.startNs[row];
        if (!isFirst && trace.nvtx.startNs[row] < until->second) continue;  // within another
        ++coverage.countOf[thread];
        until->second = trace.nvtx.endNs[row];
        coverage.coveredNs =
            saturatingSum(coverage.coveredNs, trace.nvtx.endNs[row] - trace.nvtx.startNs[row]);
    }
    return byPattern;
}

bool hasStepWord(std::string_view pattern) {
    return std::any_of(stepWords.begin(), stepWords.end(), [pattern](std::string_view word) {
        return pattern.find(word) != std::string_view::npos;
    });
}

bool isRepeated(const Coverage& coverage) {
    return std::any_of(coverage.countOf.begin(), coverage.countOf.end(),
                       [](const auto& count) { return count.second >= fewestSteps; });
}

}  // namespace

std::string findStepPattern(const Trace& trace) {
    const std::map<std::string, Coverage> byPattern = coverageByPattern(trace);
    int64_t mostNs = 0;
    for (const auto& [pattern, coverage] : byPattern)
        if (isRepeated(coverage)) mostNs = std::max(mostNs, coverage.coveredNs);
    std::string best;
    const Coverage* bestCoverage = nullptr;
    for (const auto& [pattern, coverage] : byPattern) {
        if (!isRepeated(coverage) || coverage.coveredNs < mostNs / 2) continue;
        const auto rank = [](std::string_view name, const Coverage& each) {
            return std::tuple(hasStepWord(name), each.coveredNs, -each.firstNs);
        };
        if (bestCoverage && rank(pattern, coverage) <= rank(best, *bestCoverage)) continue;
        best = pattern;
        bestCoverage = &coverage;
    }
    return best;
}

std::vector<StepRanges> stepRangesNamed(const Trace& trace, std::string_view name) {
    const bool isPattern = name.find('#') != std::string_view::npos;
    std::vector<std::optional<bool>> matches(trace.strings.size());  // each text is looked at once
    std::vector<std::vector<uint32_t>> rowsOf(trace.threads.size());
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
        if (!isClosedRange(trace, row) || trace.nvtx.text[row] >= matches.size()) continue;
        std::optional<bool>& isNamed = matches[trace.nvtx.text[row]];
        const std::string_view text = trace.strings.at(trace.nvtx.text[row]);
        if (!isNamed) isNamed = text == name || (isPattern && rangePattern(text) == name);
        std::vector<uint32_t>& rows = rowsOf[trace.nvtx.thread[row]];
        const bool isWithin =
            !rows.empty() && trace.nvtx.startNs[row] < trace.nvtx.endNs[rows.back()];
        if (*isNamed && !isWithin) rows.push_back(row);
    }
    std::map<uint32_t, StepRanges> byProcess;
    for (uint32_t thread = 0; thread < rowsOf.size(); ++thread) {
        if (rowsOf[thread].empty()) continue;
        const uint32_t process = trace.threads[thread].process;
        StepRanges& ranges = byProcess[process];
        if (rowsOf[thread].size() <= ranges.rows.size()) continue;
        ranges = {process, thread, std::move(rowsOf[thread])};
    }
    std::vector<StepRanges> result;
    for (auto& [process, ranges] : byProcess) result.push_back(std::move(ranges));
    return result;
}

}  // namespace lanescope
