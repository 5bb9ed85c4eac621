// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lanescope {

/// The one of an enumeration, of which `last` is the last, that `identifier` calls `text`; nothing
/// for any other text. What leaves the process in files is identifiers: words for people may
/// change, these may not.
template <class Enumeration>
std::optional<Enumeration> fromIdentifier(std::string_view text, Enumeration last) {
    for (size_t index = 0; index <= static_cast<size_t>(last); ++index)
        if (identifier(static_cast<Enumeration>(index)) == text)
            return static_cast<Enumeration>(index);
    return std::nullopt;
}

}  // namespace lanescope
