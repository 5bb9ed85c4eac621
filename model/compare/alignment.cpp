#include <algorithm>
#include <map>

#include "model/compare/Comparison.h"
#include "model/compare/rangePattern.h"

namespace lanescope {

namespace {

bool isRange(const NvtxTable& nvtx, uint32_t row) {
    return nvtx.style[row] != NvtxStyle::Mark;
}

/// Rows of the ranges called `name`, or like the pattern `name`, by start.
std::vector<uint32_t> rowsNamed(const Trace& trace, std::string_view name) {
    const bool isPattern = name.find('#') != std::string_view::npos;
    std::map<StringIndex, bool> isNamed;  // each text is looked at once
    std::vector<uint32_t> rows;
    const NvtxTable& nvtx = trace.nvtx;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (!isRange(nvtx, row)) continue;
        const auto [known, isNew] = isNamed.try_emplace(nvtx.text[row], false);
        if (isNew) {
            const std::string_view text = trace.strings.at(nvtx.text[row]);
            known->second = text == name || (isPattern && rangePattern(text) == name);
        }
        if (known->second) rows.push_back(row);
    }
    return rows;
}

/// From the first start to the last end of the first `count` of `rows`.
TimeRange spanOf(const Trace& trace, const std::vector<uint32_t>& rows, size_t count) {
    TimeRange span{trace.nvtx.startNs[rows[0]], trace.nvtx.endNs[rows[0]]};
    for (size_t index = 1; index < count; ++index)
        span = span.united({trace.nvtx.startNs[rows[index]], trace.nvtx.endNs[rows[index]]});
    return span;
}

/// How often each name occurs, and each pattern that several names share.
std::map<std::string, int64_t> rangeCounts(const Trace& trace) {
    std::map<StringIndex, int64_t> countOf;
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        if (isRange(trace.nvtx, row)) ++countOf[trace.nvtx.text[row]];
    std::map<std::string, int64_t> result, patternCount, namesOfPattern;
    for (const auto& [text, count] : countOf) {
        if (text == 0) continue;
        const std::string name(trace.strings.at(text));
        result[name] += count;
        patternCount[rangePattern(name)] += count;
        ++namesOfPattern[rangePattern(name)];
    }
    for (const auto& [pattern, names] : namesOfPattern)
        if (names > 1) result[pattern] = patternCount[pattern];
    return result;
}

tl::unexpected<Error> noSuchRange(const Trace& trace, std::string_view name) {
    return fail("{} has no NVTX range called \"{}\".", trace.title, name);
}

}  // namespace

Result<int64_t> alignmentTime(const Trace& trace, std::string_view name, int occurrence) {
    const std::vector<uint32_t> rows = rowsNamed(trace, name);
    if (rows.empty()) return noSuchRange(trace, name);
    if (occurrence < 0 || static_cast<size_t>(occurrence) >= rows.size())
        return fail("{} has {} NVTX ranges called \"{}\", so there is no number {}.", trace.title,
                    rows.size(), name, occurrence);
    return trace.nvtx.startNs[rows[static_cast<size_t>(occurrence)]];
}

Result<AlignedRanges> alignedRanges(const Trace& baseline, const Trace& candidate,
                                    std::string_view name) {
    const std::vector<uint32_t> baselineRows = rowsNamed(baseline, name);
    if (baselineRows.empty()) return noSuchRange(baseline, name);
    const std::vector<uint32_t> candidateRows = rowsNamed(candidate, name);
    if (candidateRows.empty()) return noSuchRange(candidate, name);
    const size_t count = std::min(baselineRows.size(), candidateRows.size());
    return AlignedRanges{spanOf(baseline, baselineRows, count),
                         spanOf(candidate, candidateRows, count), static_cast<int64_t>(count)};
}

std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate) {
    const auto baselineCounts = rangeCounts(baseline);
    const auto candidateCounts = rangeCounts(candidate);
    std::vector<std::pair<int64_t, std::string>> common;
    for (const auto& [name, count] : baselineCounts) {
        const auto other = candidateCounts.find(name);
        if (other != candidateCounts.end())
            common.emplace_back(count + other->second, name);
    }
    std::stable_sort(common.begin(), common.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (auto& [count, name] : common) names.push_back(std::move(name));
    return names;
}

}  // namespace lanescope
