// SPDX-License-Identifier: Apache-2.0
#include "model/steps/rangePattern.h"

namespace lanescope {

std::string rangePattern(std::string_view name) {
    std::string pattern;
    bool wasDigit = false;
    for (const char c : name) {
        const bool isDigit = c >= '0' && c <= '9';
        if (!isDigit)
            pattern += c;
        else if (!wasDigit)
            pattern += '#';
        wasDigit = isDigit;
    }
    return pattern;
}

}  // namespace lanescope
