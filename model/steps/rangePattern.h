// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// The name with each run of digits as one '#': "step 12" is "step #". Programs number their steps,
/// so this is what the steps of a run have in common.
std::string rangePattern(std::string_view name);

}  // namespace lanescope
