// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanescope {

/// The words of a name in small letters, parted by anything but letters and by a capital after a
/// small letter: "ProfilerStep#12" are "profiler" and "step". O(n).
std::vector<std::string> wordsOf(std::string_view name);

}  // namespace lanescope
