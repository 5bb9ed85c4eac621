// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "model/answers/Door.h"

namespace lanescope::answers {

inline constexpr size_t defaultMaxTokens = 2000, highestMaxTokens = 20'000;
/// A token of English and JSON has about four bytes.
inline constexpr size_t bytesPerToken = 4;
/// Longer names and texts of a trace are shortened.
inline constexpr size_t maxTextBytes = 600;

/// Returns the answer in one line of at most that many tokens. Shortens long texts, then the longest lists, and lists
/// in its member "truncated" what was shortened. O(size * log size).
std::string limitedAnswer(Json answer, size_t maxTokens);

}  // namespace lanescope::answers
