// SPDX-License-Identifier: Apache-2.0
#include "model/values/displayWidth.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope {

namespace {

constexpr std::string_view ellipsis = "\u2026";

bool isContinuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// The bytes of the code point that `text`, which is not empty, begins with.
size_t firstLetterBytes(std::string_view text) {
    size_t bytes = 1;
    while (bytes < text.size() && isContinuation(text[bytes])) ++bytes;
    return bytes;
}

/// The columns of one code point. The library knows the wide ones: it fills up what is narrower
/// than asked for.
size_t letterWidth(std::string_view letter) {
    if (letter.size() < 2) return 1;
    constexpr size_t widest = 2;
    const size_t filled = fmt::formatted_size("{:{}}", letter, widest);
    return widest - std::min(filled - letter.size(), widest - 1);
}

}  // namespace

size_t displayWidth(std::string_view text) {
    size_t width = 0;
    while (!text.empty()) {
        const size_t bytes = firstLetterBytes(text);
        width += letterWidth(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return width;
}

std::string_view prefixWithin(std::string_view text, size_t width) {
    size_t end = 0;
    while (end < text.size()) {
        const size_t bytes = firstLetterBytes(text.substr(end));
        const size_t columns = letterWidth(text.substr(end, bytes));
        if (columns > width) break;
        width -= columns;
        end += bytes;
    }
    return text.substr(0, end);
}

std::string_view suffixWithin(std::string_view text, size_t width) {
    size_t start = text.size();
    while (start > 0) {
        size_t at = start - 1;
        while (at > 0 && isContinuation(text[at])) --at;
        const size_t columns = letterWidth(text.substr(at, start - at));
        if (columns > width) break;
        width -= columns;
        start = at;
    }
    return text.substr(start);
}

std::string cutEnd(std::string_view text, size_t width) {
    if (displayWidth(text) <= width) return std::string(text);
    if (width == 0) return {};
    return std::string(prefixWithin(text, width - 1)).append(ellipsis);
}

std::string cutMiddle(std::string_view text, size_t width) {
    if (displayWidth(text) <= width) return std::string(text);
    if (width == 0) return {};
    const size_t tail = (width - 1) * 2 / 5;
    return std::string(prefixWithin(text, width - 1 - tail))
        .append(ellipsis)
        .append(suffixWithin(text, tail));
}

}  // namespace lanescope
