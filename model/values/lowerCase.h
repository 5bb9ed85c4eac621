// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanescope {

/// Of ASCII only: names are code, and whatever else is in them must match as it is.
constexpr char lowerCase(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The same of every letter.
inline std::string lowerCase(std::string text) {
    for (char& letter : text) letter = lowerCase(letter);
    return text;
}

}  // namespace lanescope
