// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <optional>
#include <string_view>

namespace lanescope {

/// The rank that the name of a file tells: 3 of "run.rank3.json", "rank_3.sqlite", "rank-3";
/// nothing if it tells none.
inline std::optional<int> rankInName(std::string_view name) {
    constexpr std::string_view word = "rank";
    constexpr int most = 1 << 24;
    const size_t found = name.find(word);
    if (found == std::string_view::npos) return std::nullopt;
    name.remove_prefix(found + word.size());
    if (!name.empty() && (name.front() == '-' || name.front() == '_')) name.remove_prefix(1);
    int rank = 0;
    bool isNumber = false;
    for (; !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
         name.remove_prefix(1)) {
        rank = rank * 10 + (name.front() - '0');
        isNumber = true;
        if (rank >= most) return std::nullopt;
    }
    return isNumber ? std::optional(rank) : std::nullopt;
}

}  // namespace lanescope
