// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace lanescope {

/// Whether `text` is like `pattern`, in which '*' stands for any text, also none, and '?' for one
/// character. A pattern is always like itself. Neither allocates nor recurses: time is at worst the
/// product of the two lengths. All in this header, because the agent links nothing of `model`.
inline bool matchesPattern(std::string_view text, std::string_view pattern) {
    size_t at = 0, patternAt = 0;
    // Where to go on when a character does not fit: the last star takes one more.
    size_t starAt = std::string_view::npos, takenAt = 0;
    while (at < text.size()) {
        if (patternAt < pattern.size() && pattern[patternAt] == '*') {
            starAt = patternAt++;
            takenAt = at;
        } else if (patternAt < pattern.size() &&
                   (pattern[patternAt] == '?' || pattern[patternAt] == text[at])) {
            ++patternAt;
            ++at;
        } else if (starAt != std::string_view::npos) {
            patternAt = starAt + 1;
            at = ++takenAt;
        } else {
            return false;
        }
    }
    while (patternAt < pattern.size() && pattern[patternAt] == '*') ++patternAt;
    return patternAt == pattern.size();
}

}  // namespace lanescope
