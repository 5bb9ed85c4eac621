// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope {

/// What a decimal number comes to, times ten to the power of `places`, rounded to a whole number,
/// halves to the even one: 12500 of "12.5" and of "1.25e1" with 3 places. Exact however many digits
/// it has, as no floating point is. Nothing for what is no number ("inf" is none) and for what 64
/// bits do not hold. O(length).
std::optional<int64_t> decimalOf(std::string_view text, int places);

}  // namespace lanescope
