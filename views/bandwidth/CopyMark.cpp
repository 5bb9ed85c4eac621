// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/CopyMark.h"

#include <QObject>
#include <algorithm>

#include "model/values/formatValue.h"
#include "views/bandwidth/copyTexts.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

std::vector<CopyMark> pointMarks(const BandwidthAnswer& answer) {
    const bool isTime = answer.question.chart == BandwidthChart::OverTime;
    std::vector<CopyMark> marks;
    for (const CopyCell& cell : answer.cells.cells) {
        CopyMark mark;
        mark.largest = cell.largest;
        mark.count = cell.count;
        mark.bytes = cell.largest.bytes;
        mark.low = mark.high = cell.largest.gigabytesPerSecond;
        const int64_t startNs = std::max(cell.largest.startNs, answer.shown.startNs);
        mark.x = isTime ? static_cast<double>(startNs - answer.shown.startNs)
                        : static_cast<double>(cell.largest.bytes);
        if (isTime) mark.width = static_cast<double>(cell.largest.endNs - startNs);
        marks.push_back(mark);
    }
    std::stable_sort(marks.begin(), marks.end(),
                     [](const CopyMark& a, const CopyMark& b) { return a.x < b.x; });
    return marks;
}

std::vector<CopyMark> barMarks(const RateHistogram& histogram) {
    std::vector<CopyMark> marks;
    double stackedTo = 0;
    int lastBin = -1;
    for (const RateBin& bin : histogram.bins) {
        if (bin.bin != lastBin) stackedTo = 0;
        lastBin = bin.bin;
        CopyMark mark;
        mark.largest = bin.largest;
        mark.count = bin.count;
        mark.bytes = bin.bytes;
        mark.x = histogram.binStart(bin.bin);
        mark.width = histogram.binStart(bin.bin + 1) - mark.x;
        mark.low = stackedTo;
        mark.high = stackedTo += static_cast<double>(bin.count);
        marks.push_back(mark);
    }
    return marks;
}

}  // namespace

std::vector<CopyMark> copyMarks(const BandwidthAnswer& answer) {
    return answer.question.chart == BandwidthChart::Histogram ? barMarks(answer.histogram)
                                                              : pointMarks(answer);
}

const std::vector<CopyGroup>& groupsOf(const BandwidthAnswer& answer) {
    return answer.question.chart == BandwidthChart::Histogram ? answer.histogram.groups
                                                              : answer.cells.groups;
}

QString markText(const BandwidthAnswer& answer, const CopyMark& mark) {
    const CopyGroup& group = groupsOf(answer)[mark.largest.group];
    const QString copy = copyText(*answer.trace, group, mark.largest);
    if (mark.count == 1) return copy;
    const QString count = toQString(formatCount(mark.count));
    if (answer.question.chart == BandwidthChart::Histogram)
        return QObject::tr("%1 copies, %2, at about this rate; the largest is %3")
            .arg(count, toQString(formatBytes(mark.bytes)), copy);
    return QObject::tr("%1 copies here; the largest is %2").arg(count, copy);
}

}  // namespace lanescope::views
