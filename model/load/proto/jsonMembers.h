// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/export/jsonText.h"

namespace lanescope {

/// Adds a member, whose value is JSON, to those of an object.
inline void addMember(std::string& object, std::string_view key, std::string_view value) {
    if (!object.empty()) object += ", ";
    object += jsonString(key);
    object += ": ";
    object += value;
}

/// A number as JSON has it.
inline std::string numberText(double value) {
    // JSON has no others, but its readers are used to these.
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return fmt::format("{}", value);
}

/// Empty for an id that was not given out.
inline const std::string& textIn(const std::unordered_map<uint64_t, std::string>& texts,
                                 uint64_t id) {
    static const std::string none;
    const auto found = texts.find(id);
    return found != texts.end() ? found->second : none;
}

}  // namespace lanescope
