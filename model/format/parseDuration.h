// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope {

/// Nanoseconds in a unit of time: ns, us (also written with a micro sign), ms, s, min, h. Nothing
/// for other words and for none.
std::optional<double> nsPerUnit(std::string_view unit);

/// "1.5 s", "18.9875ms", "-3us", "2": a number, with a minus if need be, and a unit of `nsPerUnit`,
/// with or without spaces around it; without a unit seconds. To the nearest nanosecond. Nothing for
/// anything else, exponents among it, and for more than 285 years, which 64 bits do not hold.
std::optional<int64_t> parseDuration(std::string_view text);

}  // namespace lanescope
