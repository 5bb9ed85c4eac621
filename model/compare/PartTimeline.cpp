// SPDX-License-Identifier: Apache-2.0
#include "model/compare/PartTimeline.h"

namespace lanescope::compare {

PartTimeline::PartTimeline(const WorkerTimeline& timeline, TimeRange range) : range_(range) {
    for (const Contributor& each : timeline.contributors()) parts_.push_back(each.part);
    if (range.isEmpty()) return;
    struct Piece {
        int64_t startNs;
        uint32_t contributor;
    };
    std::vector<Piece> pieces;
    timeline.splitInTime({range}, [&pieces](const WorkerTimeline::Piece& piece) {
        pieces.push_back({piece.range.startNs, piece.contributor});
    });
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& a, const Piece& b) { return a.startNs < b.startNs; });
    startNs_.reserve(pieces.size());
    contributors_.reserve(pieces.size());
    for (const Piece& piece : pieces) {
        startNs_.push_back(piece.startNs);
        contributors_.push_back(piece.contributor);
    }
    StepParts sum;
    for (size_t piece = 0; piece < startNs_.size(); ++piece) {
        if (piece % blockSize == 0) before_.push_back(sum);
        sum[parts_[contributors_[piece]]] += endOf(piece) - startNs_[piece];
    }
}

StepParts PartTimeline::sumBefore(int64_t timeNs) const {
    const size_t last = pieceAt(timeNs);
    StepParts sum = before_[last / blockSize];
    for (size_t piece = last / blockSize * blockSize; piece < last; ++piece)
        sum[parts_[contributors_[piece]]] += endOf(piece) - startNs_[piece];
    sum[parts_[contributors_[last]]] += timeNs - startNs_[last];
    return sum;
}

StepParts PartTimeline::sumIn(TimeRange asked) const {
    asked = asked.intersected(range_);
    if (asked.isEmpty() || startNs_.empty()) return {};
    StepParts sum = sumBefore(asked.endNs);
    const StepParts before = sumBefore(asked.startNs);
    for (size_t part = 0; part < stepPartCount; ++part) sum.ns[part] -= before.ns[part];
    return sum;
}

void PartTimeline::columns(TimeRange asked, size_t count, std::vector<StepParts>& sums) const {
    sums.assign(count, {});
    if (startNs_.empty()) return;
    const double widthNs = static_cast<double>(asked.durationNs()) / static_cast<double>(count);
    const auto edge = [&](size_t column) {
        return std::clamp(
            asked.startNs + static_cast<int64_t>(widthNs * static_cast<double>(column)),
            range_.startNs, range_.endNs);
    };
    StepParts before = sumBefore(edge(0));
    for (size_t column = 0; column < count; ++column) {
        if (edge(column + 1) <= edge(column)) continue;
        const StepParts after = sumBefore(edge(column + 1));
        for (size_t part = 0; part < stepPartCount; ++part)
            sums[column].ns[part] = after.ns[part] - before.ns[part];
        before = after;
    }
}

}  // namespace lanescope::compare
