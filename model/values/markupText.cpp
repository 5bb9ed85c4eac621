// SPDX-License-Identifier: Apache-2.0
#include "model/values/markupText.h"

#include "model/values/formatValue.h"

namespace lanescope {

std::string markupEscaped(std::string_view text) {
    const std::string clean = printable(text);
    std::string result;
    result.reserve(clean.size());
    for (const char letter : clean) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default:
                result += letter;
        }
    }
    return result;
}

}  // namespace lanescope
