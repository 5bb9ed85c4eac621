// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Titles from the outermost track down to `track`, by which a mark finds it again in the same
/// trace.
std::vector<std::string> trackPath(const Trace& trace, uint32_t track);

/// The track with these titles, or `noIndex`. Linear in the tracks.
uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path);

}  // namespace lanescope
