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

/// Returns the value of an environment variable; empty if unset. Any thread, as long as no thread sets variables.
inline std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

/// Returns true if `text` matches `pattern`: '*' stands for any text, also none, '?' for one
/// character. A pattern always matches itself. No allocation or recursion; worst case O(product of
/// the lengths). Header-only, because the agent does not link `model`.
inline bool matchesPattern(std::string_view text, std::string_view pattern) {
    size_t at = 0, patternAt = 0;
    // Restart positions after a mismatch: the last star consumes one more character.
    size_t starAt = std::string_view::npos, takenAt = 0;
    while (at < text.size()) {
        if (patternAt < pattern.size() && pattern[patternAt] == '*') {
            starAt = patternAt++;
            takenAt = at;
        } else if (patternAt < pattern.size() && (pattern[patternAt] == '?' || pattern[patternAt] == text[at])) {
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

/// Range of step numbers, counted from 0, inclusive.
struct StepRange {
    int64_t first = 0, last = 0;
    bool operator==(const StepRange&) const = default;
};

/// Parses "5-20", or "7" for a single step. Returns nullopt for other text and reversed ranges.
/// Header-only, because the agent does not link `model`.
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

/// Returns the nanoseconds in a unit: ns, us (also with a micro sign), ms, s, min, h. Returns
/// nullopt for other or empty units.
std::optional<double> nsPerUnit(std::string_view unit);

/// Parses "1.5 s", "18.9875ms", "-3us", "2": a number with an optional minus and a unit of
/// `nsPerUnit`, default seconds, with optional spaces. Rounds to nanoseconds. Returns nullopt for
/// other text, exponents, and more than 285 years (64 bits).
std::optional<int64_t> parseDuration(std::string_view text);

}  // namespace lanescope
