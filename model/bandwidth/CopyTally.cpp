// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyTally.h"

#include "model/values/Statistics.h"

namespace lanescope {

namespace {

constexpr int64_t tinyBytes = 4096;
/// Copies from here on are fast enough to tell what their kind of memory is good for.
constexpr int64_t largeBytes = 1 << 20;

}  // namespace

void CopyTally::add(const CopyGroup& group, const TalliedCopy& copy) {
    ++count;
    if (copy.partNs > longestNs) {
        longestNs = copy.partNs;
        longest = copy.event;
    }
    const bool isDtoH = group.kind == MemcpyKind::DtoH;
    const bool holds = isDtoH && copy.holdsCaller;
    if (copy.bytes < tinyBytes) {
        if (!tinyExample.isValid()) tinyExample = copy.event;
        ++tinyCount;
        tinyGpuNs = saturatingSum(tinyGpuNs, copy.partNs);
        // A call that waits for the GPU takes as long as the GPU does, however small the copy.
        if (!holds) tinyCallNs = saturatingSum(tinyCallNs, copy.callNs);
    }
    // What the copy itself takes is no waiting for the work before it.
    const int64_t waitedNs = copy.callNs - copy.when.durationNs();
    if (holds && waitedNs > 0) {
        ++holdingCount;
        holdingCallNs = saturatingSum(holdingCallNs, waitedNs);
        if (waitedNs >= longestHoldNs) {
            longestHoldNs = waitedNs;
            holdingExample = copy.event;
        }
    }
    if (group.kind != MemcpyKind::HtoD && !isDtoH) return;
    const MemoryKind host = hostSideOf(group);
    if (host == MemoryKind::Pageable && copy.partNs > slowestPageableNs) {
        slowestPageableNs = copy.partNs;
        slowestPageable = copy.event;
    }
    if (host == MemoryKind::Pinned && copy.bytes >= largeBytes && copy.when.durationNs() > 0) {
        pinnedBytes = saturatingSum(pinnedBytes, copy.bytes);
        pinnedNs = saturatingSum(pinnedNs, copy.when.durationNs());
    }
}

void CopyTally::append(const CopyTally& later) {
    count += later.count;
    if (!tinyExample.isValid()) tinyExample = later.tinyExample;
    tinyCount += later.tinyCount;
    tinyGpuNs = saturatingSum(tinyGpuNs, later.tinyGpuNs);
    tinyCallNs = saturatingSum(tinyCallNs, later.tinyCallNs);
    if (later.longestNs > longestNs) {
        longestNs = later.longestNs;
        longest = later.longest;
    }
    holdingCount += later.holdingCount;
    holdingCallNs = saturatingSum(holdingCallNs, later.holdingCallNs);
    if (later.holdingCount > 0 && later.longestHoldNs >= longestHoldNs) {
        longestHoldNs = later.longestHoldNs;
        holdingExample = later.holdingExample;
    }
    if (later.slowestPageableNs > slowestPageableNs) {
        slowestPageableNs = later.slowestPageableNs;
        slowestPageable = later.slowestPageable;
    }
    pinnedBytes = saturatingSum(pinnedBytes, later.pinnedBytes);
    pinnedNs = saturatingSum(pinnedNs, later.pinnedNs);
}

}  // namespace lanescope
