// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace lanescope {

/// Returns the number that is the whole text; nullopt for other text and for numbers that the type cannot hold.
/// `format` is the base of an integer, 10 by default. Header-only, because the agent does not link `model`.
template <class Number>
std::optional<Number> parseNumber(std::string_view text, auto... format) {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, format...);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace lanescope
