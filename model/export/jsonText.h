// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope {

/// `text` quoted and escaped, valid UTF-8 whatever it holds.
std::string jsonString(std::string_view text);

/// Microseconds with three decimals, so that no nanosecond is lost: "1.250".
std::string microseconds(int64_t ns);

}  // namespace lanescope
