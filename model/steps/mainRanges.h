// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// NVTX ranges of one name, or of names that differ in numbers only.
struct MainRanges {
    std::string name;  ///< "request #", or "load" if all are called so.
    int64_t count = 0;
    int64_t medianNs = 0, longestNs = 0;
    int64_t paceNs = 0;  ///< Median from one start to the next; 0 of one.
    TimeRange span;      ///< From the first start to the last end.
    bool operator==(const MainRanges&) const = default;
};

/// What a program without steps does again and again, such as the requests of a server: of the
/// ranges that come at least twice and of which the median is no more than half of the time that
/// they span, those that take longest together. Marks, ranges that were never closed and NCCL's own
/// do not count. Nothing if there are none. O(n log n) in the ranges and O(n) in the names.
std::optional<MainRanges> mainRanges(const Trace& trace);

/// The ranges of a name or a pattern, counted as those are. Nothing if there are none.
std::optional<MainRanges> rangesOf(const Trace& trace, std::string_view pattern);

/// From the first to the last work of any GPU; nothing without any. O(n) in it.
std::optional<TimeRange> gpuWorkSpan(const Trace& trace);

}  // namespace lanescope
