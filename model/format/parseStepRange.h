// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace lanescope {

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

}  // namespace lanescope
