// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace/Track.h"

namespace lanescope {

/// What a stream of a GPU is for, told by what ran on it. Streams of a GPU stand in this order.
enum class StreamRole : uint8_t { Compute, Communication, Copies, Memset, UnifiedMemory };

/// The role that most of the operations on these lanes have: a graph computes, and so does whatever
/// runs one kernel for each of its copies. Counts and not times decide, so that two runs of one
/// program look alike. Without operations `Compute`. O(n).
StreamRole roleOf(const std::vector<Lane>& lanes);

/// What a stream of this role is called: "Compute".
std::string_view nameOf(StreamRole role);

}  // namespace lanescope
