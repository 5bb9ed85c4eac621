#include "model/export/comparison/htmlText.h"

#include "model/export/formatValue.h"

namespace lanescope {

namespace {

/// U+202A to U+202E, U+2066 to U+2069, U+200E, U+200F: they reorder what stands around them.
bool turnsDirection(std::string_view three) {
    if (three.size() < 3 || three[0] != '\xe2') return false;
    const auto second = static_cast<unsigned char>(three[1]);
    const auto third = static_cast<unsigned char>(three[2]);
    if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae);
    return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

}  // namespace

std::string htmlEscaped(std::string_view text) {
    const std::string clean = printable(text);
    std::string result;
    result.reserve(clean.size());
    for (size_t at = 0; at < clean.size(); ++at) {
        switch (clean[at]) {
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
                if (turnsDirection(std::string_view(clean).substr(at))) {
                    result += "\ufffd";
                    at += 2;
                } else {
                    result += clean[at];
                }
        }
    }
    return result;
}

}  // namespace lanescope
