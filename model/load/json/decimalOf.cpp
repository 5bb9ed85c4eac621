// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/decimalOf.h"

#include <algorithm>
#include <limits>

namespace lanescope {

namespace {

/// Larger exponents than any number that counts has.
constexpr int64_t greatestExponent = 100'000;

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Digits and no more, taken off the front of `text`.
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
    for (const char digit : digits)
        exponent = std::min(exponent * 10 + (digit - '0'), greatestExponent);
    return isNegative ? -exponent : exponent;
}

/// The digits of a number without its point.
struct Digits {
    std::string_view whole, fraction;
    int64_t size() const { return static_cast<int64_t>(whole.size() + fraction.size()); }
    int at(int64_t index) const {
        const auto place = static_cast<size_t>(index);
        return (place < whole.size() ? whole[place] : fraction[place - whole.size()]) - '0';
    }
};

/// Whether what stands behind the first `kept` digits makes the last of them one more.
bool roundsUp(const Digits& digits, int64_t kept, bool isOdd) {
    if (kept < 0 || kept >= digits.size()) return false;
    if (digits.at(kept) != 5) return digits.at(kept) > 5;
    for (int64_t index = kept + 1; index < digits.size(); ++index)
        if (digits.at(index) != 0) return true;
    return isOdd;
}

}  // namespace

std::optional<int64_t> decimalOf(std::string_view text, int places) {
    constexpr auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    const bool isNegative = takeSign(text);
    Digits digits;
    digits.whole = takeDigits(text);
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
        if (value > (most - digit) / 10) return std::nullopt;
        value = value * 10 + digit;
    }
    if (roundsUp(digits, kept, value % 2 != 0)) ++value;
    if (value > most) return std::nullopt;
    return isNegative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

}  // namespace lanescope
