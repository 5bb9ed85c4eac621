// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "model/bandwidth/CopyGroup.h"
#include "model/format/TimeRange.h"

namespace lanescope {

/// What a single copy tells beside its place and size.
struct TalliedCopy {
    EventRef event;
    TimeRange when;            ///< As a whole.
    int64_t partNs = 0;        ///< Of its time, in the range that is looked at.
    int64_t bytes = 0;         ///< As a whole.
    uint32_t callNs = 0;       ///< How long the call that launched it took; 0 if unknown.
    bool holdsCaller = false;  ///< That call returned after the copy had ended.
};

/// What copies of one kind tell together, from which follows what could be better.
struct CopyTally {
    int64_t count = 0;
    int64_t tinyCount = 0, tinyGpuNs = 0, tinyCallNs = 0;
    /// Of calls that returned after their copies: how long they waited for what came before.
    int64_t holdingCount = 0, holdingCallNs = 0, longestHoldNs = 0;
    int64_t slowestPageableNs = 0, longestNs = 0;
    int64_t pinnedBytes = 0, pinnedNs = 0;  ///< Of pinned copies large enough to be fast.
    EventRef tinyExample, holdingExample, slowestPageable, longest;

    /// `group` is that of the copy, of the same kind each time.
    void add(const CopyGroup& group, const TalliedCopy& copy);
    /// Adds those of copies that began later.
    void append(const CopyTally& later);
};

/// By `MemcpyKind`.
using CopyTallies = std::array<CopyTally, memcpyKindCount>;

}  // namespace lanescope
