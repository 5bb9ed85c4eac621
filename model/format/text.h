// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lanescope {

// Letters are ASCII only and independent of the locale: names are code, and other characters must
// match exactly. Header-only, because the agent does not link `model`.

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool isLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool isLetter(char c) { return isUpper(c) || isLower(c); }
/// Returns true for white space of JSON: blank, tab, line feed and carriage return.
constexpr bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr char lowerCase(char c) { return isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string lowerCase(std::string text) {
    for (char& c : text) c = lowerCase(c);
    return text;
}

/// Returns true if the text is at least one digit and nothing else.
constexpr bool isNumber(std::string_view text) {
    for (const char c : text)
        if (!isDigit(c)) return false;
    return !text.empty();
}

/// Returns true if `part` is anywhere in the text.
constexpr bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}
/// Returns true if one of `parts` is.
constexpr bool containsAny(std::string_view text, std::span<const std::string_view> parts) {
    return std::ranges::any_of(parts, [text](std::string_view part) { return contains(text, part); });
}

/// Returns the text without the `spaces` at both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view spaces = " \t") {
    const size_t from = text.find_first_not_of(spaces);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(spaces) - from + 1);
}

/// Removes the text up to and including `separator` from the front of `text` and returns it without
/// the separator; all of it if there is none.
constexpr std::string_view takeUntil(std::string_view& text, char separator) {
    const std::string_view taken = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), taken.size() + 1));
    return taken;
}

/// Returns the length of the valid UTF-8 sequence at the start of `text`, which must not be empty; 0 if invalid.
size_t utf8SequenceLength(std::string_view text);

bool isUtf8(std::string_view text);

/// Returns `text` with U+FFFD in place of each invalid byte.
std::string validUtf8(std::string_view text);

/// Returns the text as a quoted JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string jsonQuoted(std::string_view text);

/// Returns the text as one word of any shell.
std::string shellQuoted(std::string_view text);

}  // namespace lanescope
