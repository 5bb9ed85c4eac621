// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopySweep.h"

#include <algorithm>
#include <cmath>

#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

std::optional<CopyPeak> peakOnGpu(const Trace& trace, const CopyGroup& group, uint32_t gpu, uint32_t peer) {
    const int64_t id = trace.gpus[gpu].id;
    if (group.isMemset) return peakOfMemset(trace, id);
    return peakOfCopy(trace, group.kind, hostSideOf(group), id, peer == gpu ? noGpuId : trace.gpus[peer].id);
}

}  // namespace

int64_t partOfBytes(int64_t bytes, int64_t partNs, int64_t wholeNs) {
    const long double part =
        static_cast<long double>(bytes) * static_cast<long double>(partNs) / static_cast<long double>(wholeNs);
    return static_cast<int64_t>(std::llround(part));
}

std::optional<CopyPeak> peakOfGroup(const Trace& trace, const CopyGroup& group) {
    if (group.gpu != noIndex) return peakOnGpu(trace, group, group.gpu, group.peer == noIndex ? group.gpu : group.peer);
    std::optional<CopyPeak> common;
    for (uint32_t gpu = 0; gpu < trace.gpus.size(); ++gpu) {
        const std::optional<CopyPeak> peak = peakOnGpu(trace, group, gpu, gpu);
        if (!peak) return std::nullopt;
        // GPUs of a machine are measured one by one and differ a little; the best one counts.
        const bool isLike = !common || (common->origin == peak->origin &&
                                        std::abs(common->gigabytesPerSecond - peak->gigabytesPerSecond) <=
                                            0.1 * peak->gigabytesPerSecond);
        if (!isLike) return std::nullopt;
        if (!common || peak->gigabytesPerSecond > common->gigabytesPerSecond) common = peak;
    }
    return common;
}

bool CopySweep::Stretch::extend(const Piece& piece) {
    if (!isBusy || piece.startNs > endNs) return false;
    if (piece.endNs > endNs) {
        endNs = piece.endNs;
        coveredAtEnd = piece.coveredAtEnd;
    }
    return true;
}

void CopySweep::Stretch::begin(const Piece& piece) {
    *this = {piece.startNs, piece.endNs, piece.coveredAtStart, piece.coveredAtEnd, true};
}

CopySweep::CopySweep(size_t groupCount, size_t gpuCount, bool bySize)
    : bucketCount_(bySize ? sizeBucketCount : 1),
      gpuCount_(gpuCount),
      slots_(groupCount * bucketCount_),
      intervals_(slots_.size() * (gpuCount + 1)) {}

void CopySweep::add(uint32_t group, int bucket, const Piece& piece) {
    const size_t index = group * bucketCount_ + static_cast<size_t>(bucket);
    Slot& slot = slots_[index];
    CopyStatistics& sum = slot.sum;
    ++sum.count;
    if (piece.isClipped) ++sum.clippedCount;
    sum.bytes = saturatingSum(sum.bytes, piece.bytes);
    const int64_t ns = piece.endNs - piece.startNs;
    if (ns <= 0) {
        ++sum.unratedCount;
        return;
    }
    Stretch& all = intervalsOf(index)[0];
    if (!all.extend(piece)) {
        closeAll(sum, all);
        all.begin(piece);
    }
    Stretch& ofGpu = intervalsOf(index)[piece.gpu + 1];
    if (!ofGpu.extend(piece)) {
        closeGpu(sum, ofGpu);
        ofGpu.begin(piece);
    }
    sum.summedNs = saturatingSum(sum.summedNs, ns);
    if (piece.bytes <= 0) {
        ++sum.unratedCount;
        return;
    }
    sum.ratedNs = saturatingSum(sum.ratedNs, ns);
    sum.ratedBytes = saturatingSum(sum.ratedBytes, piece.bytes);
    slot.rates.push_back(static_cast<double>(piece.bytes) / static_cast<double>(ns));
}

void CopySweep::closeAll(CopyStatistics& sum, const Stretch& stretch) {
    if (stretch.isBusy) sum.busyNs += stretch.endNs - stretch.startNs;
}

void CopySweep::closeGpu(CopyStatistics& sum, const Stretch& stretch) {
    if (!stretch.isBusy) return;
    sum.gpuBusyNs = saturatingSum(sum.gpuBusyNs, stretch.endNs - stretch.startNs);
    sum.overlappedNs = saturatingSum(sum.overlappedNs, stretch.coveredAtEnd - stretch.coveredAtStart);
}

std::vector<CopyStatistics> CopySweep::finish(const std::vector<CopyGroup>& groups) {
    std::vector<CopyStatistics> rows;
    for (size_t index = 0; index < slots_.size(); ++index) {
        Slot& slot = slots_[index];
        if (slot.sum.count == 0) continue;
        closeAll(slot.sum, intervalsOf(index)[0]);
        for (size_t gpu = 0; gpu < gpuCount_; ++gpu) closeGpu(slot.sum, intervalsOf(index)[gpu + 1]);
        if (!slot.rates.empty()) slot.sum.rates = ratesOf(slot.rates);
        slot.sum.group = groups[index / bucketCount_];
        if (bucketCount_ > 1) slot.sum.group.sizeBucket = static_cast<int>(index % bucketCount_);
        rows.push_back(std::move(slot.sum));
    }
    return rows;
}

}  // namespace lanescope
