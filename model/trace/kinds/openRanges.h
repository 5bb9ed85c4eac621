// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// The innermost range of that domain that is open on the thread at that moment; invalid if there
/// is none. Found where it is drawn: O(tracks), and O(log n) in each lane.
EventRef innermostRange(const Trace& trace, uint32_t thread, int64_t timeNs,
                        std::string_view domain);

}  // namespace lanescope
