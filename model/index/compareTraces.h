// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Compares all that an index stores of two traces, and returns the names of the parts that differ, such as "kernels".
/// O(n).
std::vector<std::string_view> differingParts(const Trace& one, const Trace& other);

}  // namespace lanescope
