// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/JsonCursor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "model/format/parseNumber.h"
#include "model/format/text.h"

namespace lanescope {

namespace {

/// Larger than the exponent of any valid number.
constexpr int64_t maxExponent = 100'000;

/// Removes and returns the digits at the front of `text`.
std::string_view takeDigits(std::string_view& text) {
    size_t count = 0;
    while (count < text.size() && isDigit(text[count])) ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

bool takeSign(std::string_view& text) {
    const bool isNegative = text.starts_with('-');
    if (isNegative || text.starts_with('+')) text.remove_prefix(1);
    return isNegative;
}

std::optional<int64_t> takeExponent(std::string_view& text) {
    if (!text.starts_with('e') && !text.starts_with('E')) return 0;
    text.remove_prefix(1);
    const bool isNegative = takeSign(text);
    const std::string_view digits = takeDigits(text);
    if (digits.empty()) return std::nullopt;
    int64_t exponent = 0;
    for (const char digit : digits) exponent = std::min(exponent * 10 + (digit - '0'), maxExponent);
    return isNegative ? -exponent : exponent;
}

struct Digits {
    std::string_view whole, fraction = {};
    int64_t size() const { return static_cast<int64_t>(whole.size() + fraction.size()); }
    int at(int64_t index) const {
        const auto place = static_cast<size_t>(index);
        return (place < whole.size() ? whole[place] : fraction[place - whole.size()]) - '0';
    }
};

/// Returns true if the digits after the first `kept` ones round the last of them up.
bool roundsUp(const Digits& digits, int64_t kept, bool isOdd) {
    if (kept < 0 || kept >= digits.size()) return false;
    if (digits.at(kept) != 5) return digits.at(kept) > 5;
    for (int64_t index = kept + 1; index < digits.size(); ++index)
        if (digits.at(index) != 0) return true;
    return isOdd;
}

constexpr int maxDepth = 64;

/// The characters of a word: numbers, names of values, and texts without their quotes.
constexpr std::array<bool, 256> wordCharacters = [] {
    std::array<bool, 256> is{};
    for (int c = '0'; c <= '9'; ++c) is[static_cast<size_t>(c)] = true;
    for (int c = 'a'; c <= 'z'; ++c) is[static_cast<size_t>(c)] = true;
    for (int c = 'A'; c <= 'Z'; ++c) is[static_cast<size_t>(c)] = true;
    for (const char c : {'+', '-', '.', '_', '/'}) is[static_cast<unsigned char>(c)] = true;
    return is;
}();

/// Returns a word with the top bit of each byte of `word` that equals `byte`. Bytes after the first match may be wrong.
uint64_t bytesEqual(uint64_t word, unsigned char byte) {
    constexpr uint64_t ones = 0x0101010101010101u;
    const uint64_t different = word ^ (ones * byte);
    return (different - ones) & ~different & (ones << 7);
}

/// Returns the first quote or backslash from `at` on, or `end`.
const char* findQuote(const char* at, const char* end) {
    while (end - at >= 8) {
        uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        if ((bytesEqual(word, '"') | bytesEqual(word, '\\')) != 0) break;
        at += 8;
    }
    while (at != end && *at != '"' && *at != '\\') ++at;
    return at;
}

void appendUtf8(std::string& text, uint32_t code) {
    const auto add = [&text](uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
        add(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xe0 | code >> 12);
        } else {
            add(0xf0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3f));
        }
        add(0x80 | (code >> 6 & 0x3f));
    }
    add(0x80 | (code & 0x3f));
}

/// Returns the value of the four digits of a "\u" at the front of `text`, or -1.
int32_t codeUnit(std::string_view text) {
    if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return -1;
    const auto code = parseNumber<uint32_t>(text.substr(2, 4), 16);
    return code ? static_cast<int32_t>(*code) : -1;
}

/// Removes an escape sequence from the front of `text` and appends its meaning to `plain`.
void takeEscape(std::string_view& text, std::string& plain) {
    constexpr std::string_view letters = "bfnrt\"\\/";
    constexpr std::string_view meanings = "\b\f\n\r\t\"\\/";
    if (const int32_t first = codeUnit(text); first >= 0) {
        auto code = static_cast<uint32_t>(first);
        text.remove_prefix(6);
        const int32_t second = first >= 0xd800 && first < 0xdc00 ? codeUnit(text) : -1;
        if (second >= 0xdc00 && second < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (static_cast<uint32_t>(second) - 0xdc00);
            text.remove_prefix(6);
        }
        const bool isHalf = code >= 0xd800 && code < 0xe000;
        return appendUtf8(plain, isHalf ? 0xfffd : code);
    }
    const size_t meaning = text.size() > 1 ? letters.find(text[1]) : std::string_view::npos;
    if (meaning == std::string_view::npos) {
        plain += text[0];
        text.remove_prefix(1);
    } else {
        plain += meanings[meaning];
        text.remove_prefix(2);
    }
}

}  // namespace

std::optional<int64_t> decimalOf(std::string_view text, int places) {
    constexpr auto maxInt64 = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    const bool isNegative = takeSign(text);
    Digits digits{.whole = takeDigits(text)};
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        digits.fraction = takeDigits(text);
    }
    const std::optional<int64_t> exponent = takeExponent(text);
    if (!exponent || !text.empty() || digits.size() == 0) return std::nullopt;
    const int64_t kept = static_cast<int64_t>(digits.whole.size()) + *exponent + places;
    uint64_t value = 0;
    for (int64_t index = 0; index < kept; ++index) {
        if (index >= digits.size() && value == 0) break;
        const auto digit = static_cast<uint64_t>(index < digits.size() ? digits.at(index) : 0);
        if (value > (maxInt64 - digit) / 10) return std::nullopt;
        value = value * 10 + digit;
    }
    if (roundsUp(digits, kept, value % 2 != 0)) ++value;
    if (value > maxInt64) return std::nullopt;
    return isNegative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

std::string unescaped(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    while (!text.empty()) {
        const size_t until = std::min(text.find('\\'), text.size());
        plain += text.substr(0, until);
        text.remove_prefix(until);
        if (!text.empty()) takeEscape(text, plain);
    }
    return plain;
}

JsonStatus JsonCursor::string(JsonValue& value) {
    skipSpace();
    if (at_ == end_) return JsonStatus::Truncated;
    if (*at_ != '"') return JsonStatus::Malformed;
    const char* const begin = ++at_;
    value.kind = JsonValue::Kind::String;
    value.isEscaped = false;
    while (true) {
        at_ = findQuote(at_, end_);
        if (at_ == end_) return JsonStatus::Truncated;
        if (*at_ == '"') break;
        value.isEscaped = true;
        if (end_ - at_ < 2) return JsonStatus::Truncated;
        at_ += 2;
    }
    value.text = {begin, static_cast<size_t>(at_ - begin)};
    ++at_;
    return JsonStatus::Complete;
}

JsonStatus JsonCursor::word(JsonValue& value) {
    const char* const begin = at_;
    while (at_ != end_ && wordCharacters[static_cast<unsigned char>(*at_)]) ++at_;
    if (at_ == end_) return JsonStatus::Truncated;
    value.kind = JsonValue::Kind::Word;
    value.isEscaped = false;
    value.text = {begin, static_cast<size_t>(at_ - begin)};
    const bool isMissing = at_ == begin && *at_ != ',' && *at_ != '}' && *at_ != ']';
    return isMissing ? JsonStatus::Malformed : JsonStatus::Complete;
}

JsonStatus JsonCursor::value(JsonValue& value) {
    skipSpace();
    if (at_ == end_) return JsonStatus::Truncated;
    if (*at_ == '"') return string(value);
    if (*at_ == '{' || *at_ == '[') return nested(value);
    return word(value);
}

JsonStatus JsonCursor::keyOfMember(JsonValue& key) {
    if (const JsonStatus status = string(key); status != JsonStatus::Complete) return status;
    skipSpace();
    if (at_ == end_) return JsonStatus::Truncated;
    if (*at_ != ':') return JsonStatus::Malformed;
    ++at_;
    return JsonStatus::Complete;
}

JsonStatus JsonCursor::nested(JsonValue& value) {
    const char* const begin = at_;
    uint64_t areObjects = 0;  // a bit for each level, the innermost lowest
    int depth = 0;
    bool isAfterValue = false;
    do {
        skipSpace();
        if (at_ == end_) return JsonStatus::Truncated;
        const char c = *at_;
        const bool isInObject = (areObjects & 1) != 0;
        if (depth > 0 && c == ',') {
            ++at_;
            isAfterValue = false;
            continue;
        }
        if (depth > 0 && (c == '}' || c == ']')) {
            if (isInObject != (c == '}')) return JsonStatus::Malformed;
            ++at_;
            --depth;
            areObjects >>= 1;
            isAfterValue = true;
            continue;
        }
        if (isAfterValue) return JsonStatus::Malformed;
        JsonValue part;
        if (depth > 0 && isInObject) {
            if (const JsonStatus status = keyOfMember(part); status != JsonStatus::Complete) return status;
            skipSpace();
            if (at_ == end_) return JsonStatus::Truncated;
        }
        if (*at_ == '{' || *at_ == '[') {
            if (depth == maxDepth) return JsonStatus::Malformed;
            areObjects = areObjects << 1 | (*at_ == '{' ? 1 : 0);
            ++depth;
            ++at_;
            continue;
        }
        const JsonStatus status = *at_ == '"' ? string(part) : word(part);
        if (status != JsonStatus::Complete) return status;
        isAfterValue = true;
    } while (depth > 0);
    value.kind = JsonValue::Kind::Nested;
    value.isEscaped = false;
    value.text = {begin, static_cast<size_t>(at_ - begin)};
    return JsonStatus::Complete;
}

}  // namespace lanescope
