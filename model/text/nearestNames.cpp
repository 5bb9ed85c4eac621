// SPDX-License-Identifier: Apache-2.0
#include "model/text/nearestNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace lanescope {

namespace {

/// Returns the length of the longest text that both contain.
size_t commonLength(std::string_view a, std::string_view b) {
    size_t longest = 0;
    std::vector<size_t> ends(b.size() + 1);
    for (const char letter : a)
        for (size_t j = b.size(); j > 0; --j) {
            ends[j] = letter == b[j - 1] ? ends[j - 1] + 1 : 0;
            longest = std::max(longest, ends[j]);
        }
    return longest;
}

/// Returns the number of letters to change, add or remove (Levenshtein's distance), less for a word that both contain.
int64_t distanceOf(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i + 1);
        for (size_t j = 0; j < b.size(); ++j) {
            const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
        }
    }
    constexpr int64_t commonWeight = 3;
    return static_cast<int64_t>(row.back()) - commonWeight * static_cast<int64_t>(commonLength(a, b));
}

}  // namespace

std::string nearestNames(std::string_view word, std::span<const std::string_view> names) {
    constexpr size_t maxNames = 8, maxWordBytes = 200;
    word = word.substr(0, maxWordBytes);
    std::vector<std::pair<int64_t, std::string_view>> nearest;
    for (const std::string_view name : names) nearest.emplace_back(distanceOf(word, name), name);
    std::ranges::stable_sort(nearest, {}, &std::pair<int64_t, std::string_view>::first);
    nearest.resize(std::min(nearest.size(), maxNames));
    std::string text;
    for (const auto& [distance, name] : nearest) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
    return text;
}

}  // namespace lanescope
