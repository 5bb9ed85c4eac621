// SPDX-License-Identifier: Apache-2.0
#include "model/steps/mainRanges.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "model/steps/rangePattern.h"
#include "model/trace/rangeDomains.h"
#include "model/values/Statistics.h"

namespace lanescope {
namespace {

struct Family {
    std::string pattern;
    StringIndex name = 0;  ///< Of the first.
    bool hasSeveralNames = false;
    int64_t totalNs = 0;
    std::vector<int64_t> durationsNs;
    std::vector<int64_t> startsNs;
    TimeRange span;
};

class Families {
  public:
    explicit Families(const Trace& trace) : trace_(trace), familyOf_(trace.strings.size(), none) {
        for (uint32_t row = 0; row < trace.nvtx.size(); ++row) add(row);
    }

    std::vector<Family>& all() { return families_; }

  private:
    static constexpr uint32_t none = UINT32_MAX;

    void add(uint32_t row) {
        const NvtxTable& ranges = trace_.nvtx;
        const StringIndex name = ranges.text[row];
        const TimeRange range{ranges.startNs[row], ranges.endNs[row]};
        const bool counts = ranges.style[row] != NvtxStyle::Mark && ranges.isOpen[row] == 0 &&
                            !isOfNccl(trace_.strings.at(ranges.domain[row]));
        if (!counts || name == 0 || range.isEmpty()) return;
        Family& family = families_[indexOf(name)];
        family.hasSeveralNames = family.hasSeveralNames || family.name != name;
        family.span = family.durationsNs.empty() ? range : family.span.united(range);
        family.startsNs.push_back(range.startNs);
        family.totalNs = saturatingSum(family.totalNs, range.durationNs());
        family.durationsNs.push_back(range.durationNs());
    }

    uint32_t indexOf(StringIndex name) {
        uint32_t& index = familyOf_[name];
        if (index != none) return index;
        std::string pattern = rangePattern(trace_.strings.at(name));
        const auto next = static_cast<uint32_t>(families_.size());
        const auto [known, isNew] = ofPattern_.try_emplace(pattern, next);
        if (isNew) {
            families_.push_back({});
            families_.back().pattern = std::move(pattern);
            families_.back().name = name;
        }
        return index = known->second;
    }

    const Trace& trace_;
    std::vector<uint32_t> familyOf_;  ///< By the name.
    std::unordered_map<std::string, uint32_t> ofPattern_;
    std::vector<Family> families_;
};

/// The first of a run may take a thousand times as long as the others.
int64_t usualDistance(std::vector<int64_t>& ns) {
    if (ns.size() < 2) return 0;
    std::ranges::sort(ns);
    for (size_t index = 0; index + 1 < ns.size(); ++index) ns[index] = ns[index + 1] - ns[index];
    return static_cast<int64_t>(medianOf({ns.data(), ns.size() - 1}));
}

MainRanges summed(const Trace& trace, Family& family) {
    const Statistics durations = statisticsOf(family.durationsNs);
    return {family.hasSeveralNames ? family.pattern : std::string(trace.strings.at(family.name)),
            durations.count,
            static_cast<int64_t>(durations.median),
            durations.maximum,
            usualDistance(family.startsNs),
            family.span};
}

template <class Table>
void unite(std::optional<TimeRange>& span, const Table& table) {
    for (uint32_t row = 0; row < table.size(); ++row) {
        const TimeRange range{table.startNs[row], table.endNs[row]};
        span = span ? span->united(range) : range;
    }
}

}  // namespace

std::optional<MainRanges> mainRanges(const Trace& trace) {
    Families families(trace);
    std::optional<MainRanges> best;
    int64_t mostNs = 0;
    for (Family& each : families.all()) {
        if (each.durationsNs.size() < 2 || each.totalNs <= mostNs) continue;
        const MainRanges ranges = summed(trace, each);
        // A range around all that a thread does says nothing of what that is.
        if (ranges.medianNs > ranges.span.durationNs() / 2) continue;
        mostNs = each.totalNs;
        best = ranges;
    }
    return best;
}

std::optional<MainRanges> rangesOf(const Trace& trace, std::string_view pattern) {
    Families families(trace);
    const std::string wanted = rangePattern(pattern);
    for (Family& each : families.all())
        if (each.pattern == wanted) return summed(trace, each);
    return std::nullopt;
}

std::optional<TimeRange> gpuWorkSpan(const Trace& trace) {
    std::optional<TimeRange> span;
    unite(span, trace.kernels);
    unite(span, trace.memcpys);
    unite(span, trace.memsets);
    return span;
}

}  // namespace lanescope
