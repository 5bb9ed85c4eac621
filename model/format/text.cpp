// SPDX-License-Identifier: Apache-2.0
#include "model/format/text.h"

#include <fmt/format.h>

namespace lanescope {

size_t utf8SequenceLength(std::string_view text) {
    const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
    for (size_t index = 1; index < length; ++index)
        if ((byte(index) & 0xc0) != 0x80) return 0;
    // The second byte reveals overlong forms, surrogates and code points beyond Unicode.
    const unsigned char second = byte(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
        return 0;
    return length;
}

bool isUtf8(std::string_view text) {
    const auto* const plainEnd = std::find_if(text.data(), text.data() + text.size(),
                                              [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    text.remove_prefix(static_cast<size_t>(plainEnd - text.data()));
    while (!text.empty()) {
        const size_t length = utf8SequenceLength(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string validUtf8(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const size_t length = utf8SequenceLength(text);
        result += length == 0 ? "\xef\xbf\xbd" : text.substr(0, length);
        text.remove_prefix(std::max<size_t>(length, 1));
    }
    return result;
}

std::string shellQuoted(std::string_view text) {
    std::string quoted = "'";
    for (const char each : text) each == '\'' ? quoted += "'\\''" : quoted += each;
    return quoted + "'";
}

std::string jsonQuoted(std::string_view text) {
    std::string json = "\"";
    for (const char c : validUtf8(text)) {
        if (c == '"' || c == '\\')
            json.append(1, '\\').append(1, c);
        else if (static_cast<unsigned char>(c) < 0x20)
            json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            json += c;
    }
    return json + '"';
}

}  // namespace lanescope
