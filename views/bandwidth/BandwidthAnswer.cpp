// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/BandwidthAnswer.h"

#include <algorithm>

#include "model/steps/rangeNames.h"

namespace lanescope::views {
namespace {

constexpr size_t mostRangeNames = 500;

CopyGrouping groupingOf(BandwidthRows rows) {
    switch (rows) {
        case BandwidthRows::Size:
            return CopyGrouping::Size;
        case BandwidthRows::Device:
            return CopyGrouping::Device;
        case BandwidthRows::Memory:
        case BandwidthRows::Range:
        case BandwidthRows::Instance:
            break;
    }
    return CopyGrouping::Memory;
}

std::vector<CopyPeak> distinctPeaks(const std::vector<CopyStatistics>& rows) {
    std::vector<CopyPeak> peaks;
    for (const CopyStatistics& row : rows) {
        if (!row.peak || !row.rates) continue;
        const auto same = [&](const CopyPeak& peak) {
            return peak.link == row.peak->link && peak.origin == row.peak->origin &&
                   peak.gigabytesPerSecond == row.peak->gigabytesPerSecond;
        };
        if (std::none_of(peaks.begin(), peaks.end(), same)) peaks.push_back(*row.peak);
    }
    return peaks;
}

}  // namespace

const CopyIndex& SharedCopyIndex::get() {
    std::call_once(once_, [this] { index_ = std::make_unique<CopyIndex>(trace_); });
    return *index_;
}

const std::vector<std::string>& SharedCopyIndex::rangeNames() {
    std::call_once(namesOnce_, [this] { rangeNames_ = rangeChoices(*trace_, mostRangeNames); });
    return rangeNames_;
}

std::shared_ptr<const BandwidthAnswer> answerBandwidth(SharedCopyIndex& copies,
                                                       const BandwidthQuestion& question) {
    const CopyIndex& index = copies.get();
    auto answer = std::make_shared<BandwidthAnswer>();
    answer->trace = copies.trace();
    answer->question = question;
    answer->shown = question.range.value_or(answer->trace->range);
    CopyIndex::Query byMemory;
    byMemory.grouping = CopyGrouping::Memory;
    byMemory.range = question.range;
    if (question.rows == BandwidthRows::Range || question.rows == BandwidthRows::Instance) {
        const bool isEach = question.rows == BandwidthRows::Instance;
        const CopyGrouping grouping = isEach ? CopyGrouping::Kind : CopyGrouping::Memory;
        answer->rangeNames = copies.rangeNames();
        answer->instances = copiesByRange(index, rangeInstances(*answer->trace, question.rangeName),
                                          grouping, question.range);
        if (!isEach) {
            answer->ranges =
                copiesOfAllInstances(index, answer->instances, grouping, question.range);
            answer->instances.clear();
        }
        answer->peaks = distinctPeaks(index.statistics(byMemory));
    } else {
        CopyIndex::Query query = byMemory;
        query.grouping = groupingOf(question.rows);
        answer->rows = index.statistics(query);
        answer->peaks = distinctPeaks(answer->rows);
    }
    answer->advice = index.advice(question.range);
    if (question.chart == BandwidthChart::Histogram)
        answer->histogram = rateHistogram(index, byMemory, question.binCount);
    else
        answer->cells = copyCells(index, byMemory, question.grid);
    return answer;
}

}  // namespace lanescope::views
