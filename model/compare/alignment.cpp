#include <algorithm>
#include <map>

#include "model/compare/Comparison.h"
#include "model/compare/rangeNames.h"
#include "model/compare/rangePattern.h"

namespace lanescope {

namespace {

/// Rows of the ranges called `name`, or like the pattern `name`, by start.
std::vector<uint32_t> rowsNamed(const Trace& trace, std::string_view name) {
    const bool isPattern = name.find('#') != std::string_view::npos;
    enum class Match : uint8_t { Unknown, No, Yes };
    std::vector<Match> matches(trace.strings.size());  // each text is looked at once
    std::vector<uint32_t> rows;
    const NvtxTable& nvtx = trace.nvtx;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.style[row] == NvtxStyle::Mark) continue;
        Match& match = matches[nvtx.text[row]];
        if (match == Match::Unknown) {
            const std::string_view text = trace.strings.at(nvtx.text[row]);
            const bool isNamed = text == name || (isPattern && rangePattern(text) == name);
            match = isNamed ? Match::Yes : Match::No;
        }
        if (match == Match::Yes) rows.push_back(row);
    }
    return rows;
}

/// From the first start to the last end of `rows[first, end)`, which must not be empty.
TimeRange spanOf(const Trace& trace, const std::vector<uint32_t>& rows, size_t first, size_t end) {
    TimeRange span{trace.nvtx.startNs[rows[first]], trace.nvtx.endNs[rows[first]]};
    for (size_t index = first + 1; index < end; ++index)
        span = span.united({trace.nvtx.startNs[rows[index]], trace.nvtx.endNs[rows[index]]});
    return span;
}

/// How many of the first `rows` took more than twice the median.
size_t slowBeginnings(const Trace& trace, const std::vector<uint32_t>& rows) {
    std::vector<int64_t> durations;
    for (const uint32_t row : rows)
        durations.push_back(trace.nvtx.endNs[row] - trace.nvtx.startNs[row]);
    std::vector<int64_t> sorted = durations;
    const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    size_t slow = 0;
    while (slow < durations.size() && durations[slow] / 2 > *middle) ++slow;
    return slow;
}

tl::unexpected<Error> noSuchNumber(const Trace& trace, std::string_view name, size_t count,
                                   int occurrence) {
    return fail("{} has {} NVTX ranges called \"{}\", so there is no number {}.", trace.title,
                count, name, int64_t{occurrence} + 1);
}

}  // namespace

Result<int64_t> alignmentTime(const Trace& trace, std::string_view name, int occurrence) {
    const std::vector<uint32_t> rows = rowsNamed(trace, name);
    if (rows.empty()) return noSuchRange(trace, name);
    if (occurrence < 0 || static_cast<size_t>(occurrence) >= rows.size())
        return noSuchNumber(trace, name, rows.size(), occurrence);
    return trace.nvtx.startNs[rows[static_cast<size_t>(occurrence)]];
}

Result<AlignedRanges> alignedRanges(const Trace& baseline, const Trace& candidate,
                                    std::string_view name, int first) {
    const std::vector<uint32_t> baselineRows = rowsNamed(baseline, name);
    if (baselineRows.empty()) return noSuchRange(baseline, name);
    const std::vector<uint32_t> candidateRows = rowsNamed(candidate, name);
    if (candidateRows.empty()) return noSuchRange(candidate, name);
    const size_t end = std::min(baselineRows.size(), candidateRows.size());
    const auto begin = static_cast<size_t>(std::max(0, first));
    if (first < 0 || begin >= end) {
        const bool isBaseline = baselineRows.size() <= candidateRows.size();
        return noSuchNumber(isBaseline ? baseline : candidate, name, end, first);
    }
    return AlignedRanges{spanOf(baseline, baselineRows, begin, end),
                         spanOf(candidate, candidateRows, begin, end),
                         static_cast<int64_t>(end - begin)};
}

int warmUpCount(const Trace& baseline, const Trace& candidate, std::string_view name) {
    const std::vector<uint32_t> baselineRows = rowsNamed(baseline, name);
    const std::vector<uint32_t> candidateRows = rowsNamed(candidate, name);
    if (baselineRows.empty() || candidateRows.empty()) return 0;
    const size_t slow =
        std::max(slowBeginnings(baseline, baselineRows), slowBeginnings(candidate, candidateRows));
    return slow < std::min(baselineRows.size(), candidateRows.size()) ? static_cast<int>(slow) : 0;
}

std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate) {
    const auto baselineCounts = rangeCounts(baseline);
    const auto candidateCounts = rangeCounts(candidate);
    std::vector<std::pair<int64_t, std::string>> common;
    for (const auto& [name, count] : baselineCounts) {
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
