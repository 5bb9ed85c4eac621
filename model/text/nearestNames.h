// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lanescope {

/// Returns the names that are most similar to a word, nearest first, as a list for an error: at most eight, "a, b, c".
/// O(names and the product of the lengths).
std::string nearestNames(std::string_view word, std::span<const std::string_view> names);

}  // namespace lanescope
