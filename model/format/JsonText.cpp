// SPDX-License-Identifier: Apache-2.0
#include "model/format/JsonText.h"

#include <fmt/format.h>

#include "model/format/utf8.h"

namespace lanescope {

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

JsonText& JsonText::begin(std::string_view key, char open, char close) {
    next(key);
    text_ += open;
    closing_ += close;
    isFirst_ = true;
    return *this;
}

JsonText& JsonText::end() {
    const char close = closing_.back();
    closing_.pop_back();
    if (!isFirst_) text_.append(1, '\n').append(2 * closing_.size(), ' ');
    text_ += close;
    isFirst_ = false;
    return *this;
}

void JsonText::next(std::string_view key) {
    if (!isFirst_) text_ += ',';
    if (!closing_.empty()) text_.append(1, '\n').append(2 * closing_.size(), ' ');
    isFirst_ = false;
    if (key.empty()) return;
    text_ += jsonQuoted(key);
    text_ += ": ";
}

JsonText& JsonText::member(std::string_view key, std::string_view value) {
    next(key);
    text_ += jsonQuoted(value);
    return *this;
}

JsonText& JsonText::word(std::string_view key, std::string_view value) {
    next(key);
    text_ += value;
    return *this;
}

}  // namespace lanescope
