// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace lanescope {

/// The value of an environment variable; empty if it is not set. Any thread, as long as nobody sets
/// variables meanwhile.
inline std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

/// Whether `text` is like `pattern`, in which '*' stands for any text, also none, and '?' for one
/// character. A pattern is always like itself. Neither allocates nor recurses: time is at worst the
/// product of the two lengths. All in this header, because the agent links nothing of `model`.
inline bool matchesPattern(std::string_view text, std::string_view pattern) {
    size_t at = 0, patternAt = 0;
    // Where to go on when a character does not fit: the last star takes one more.
    size_t starAt = std::string_view::npos, takenAt = 0;
    while (at < text.size()) {
        if (patternAt < pattern.size() && pattern[patternAt] == '*') {
            starAt = patternAt++;
            takenAt = at;
        } else if (patternAt < pattern.size() &&
                   (pattern[patternAt] == '?' || pattern[patternAt] == text[at])) {
            ++patternAt;
            ++at;
        } else if (starAt != std::string_view::npos) {
            patternAt = starAt + 1;
            at = ++takenAt;
        } else {
            return false;
        }
    }
    while (patternAt < pattern.size() && pattern[patternAt] == '*') ++patternAt;
    return patternAt == pattern.size();
}

/// Steps by their numbers, counted from 0, both included.
struct StepRange {
    int64_t first = 0, last = 0;
    bool operator==(const StepRange&) const = default;
};

/// "5-20", or "7" for that one; nothing for anything else and for steps out of order. All in this
/// header, because the agent links nothing of `model`.
inline std::optional<StepRange> parseStepRange(std::string_view text) {
    const auto isRead = [](std::string_view digits, int64_t& number) {
        const char* const end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, number);
        return error == std::errc() && stop == end && number >= 0;
    };
    const size_t dash = text.find('-');
    StepRange steps;
    if (!isRead(text.substr(0, dash), steps.first)) return std::nullopt;
    steps.last = steps.first;
    if (dash != text.npos && !isRead(text.substr(dash + 1), steps.last)) return std::nullopt;
    if (steps.last < steps.first) return std::nullopt;
    return steps;
}

/// Nanoseconds in a unit of time: ns, us (also written with a micro sign), ms, s, min, h. Nothing
/// for other words and for none.
std::optional<double> nsPerUnit(std::string_view unit);

/// "1.5 s", "18.9875ms", "-3us", "2": a number, with a minus if need be, and a unit of `nsPerUnit`,
/// with or without spaces around it; without a unit seconds. To the nearest nanosecond. Nothing for
/// anything else, exponents among it, and for more than 285 years, which 64 bits do not hold.
std::optional<int64_t> parseDuration(std::string_view text);

}  // namespace lanescope
