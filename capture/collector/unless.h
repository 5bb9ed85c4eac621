// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope::capture {

// What is nothing in a record becomes NULL in the file.

/// NULL for 0.
template <class T>
std::optional<T> unlessZero(T value) {
    return value != 0 ? std::optional<T>(value) : std::nullopt;
}

/// NULL below 0.
inline std::optional<int64_t> unlessNegative(int64_t value) {
    return value >= 0 ? std::optional<int64_t>(value) : std::nullopt;
}

/// NULL for an empty text, which must outlive what is returned.
inline std::optional<std::string_view> unlessEmpty(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace lanescope::capture
