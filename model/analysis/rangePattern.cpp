// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/rangePattern.h"

#include <algorithm>
#include <array>

#include "model/format/text.h"
#include "model/text/knownRangeName.h"

namespace lanescope {

std::string rangePattern(std::string_view name) {
    std::string pattern;
    for (size_t at = 0; at < name.size();) {
        size_t end = at;
        while (end < name.size() && isDigit(name[end])) ++end;
        const bool isInWord = end < name.size() && isLetter(name[end]);
        if (end == at)
            pattern += name[at++];
        else if (isInWord)
            pattern += name.substr(at, end - at);
        else
            pattern += '#';
        at = std::max(at, end);
    }
    return pattern;
}

namespace {

/// Returns the numbers in a name; one that is too large for a step number is -1.
std::vector<int64_t> numbersIn(std::string_view name) {
    constexpr int64_t maxNumber = 1'000'000'000'000'000;
    std::vector<int64_t> numbers;
    bool wasDigit = false;
    for (const char c : name) {
        if (isDigit(c)) {
            if (!wasDigit) numbers.push_back(0);
            int64_t& number = numbers.back();
            number = number < 0 || number > maxNumber ? -1 : 10 * number + (c - '0');
        }
        wasDigit = isDigit(c);
    }
    return numbers;
}

}  // namespace

std::optional<std::vector<int64_t>> ownNumbers(std::span<const std::string_view> names) {
    if (names.empty()) return std::nullopt;
    std::vector<std::vector<int64_t>> all;
    for (const std::string_view name : names) {
        all.push_back(numbersIn(name));
        if (all.back().empty() || all.back().size() != all.front().size()) return std::nullopt;
    }
    std::optional<size_t> place;
    for (size_t number = 0; number < all.front().size(); ++number) {
        const bool varies =
            std::ranges::any_of(all, [&](const auto& each) { return each[number] != all.front()[number]; });
        if (!varies && (all.size() > 1 || all.front().size() > 1)) continue;
        if (place) return std::nullopt;
        place = number;
    }
    if (!place) return std::nullopt;
    std::vector<int64_t> own;
    for (const std::vector<int64_t>& each : all) {
        if (each[*place] < 0 || (!own.empty() && each[*place] <= own.back())) return std::nullopt;
        own.push_back(each[*place]);
    }
    return own;
}

std::vector<std::string> wordsOf(std::string_view name) {
    std::vector<std::string> words;
    char before = ' ';
    for (const char letter : name) {
        if (isLetter(letter)) {
            if (!isLetter(before) || (isUpper(letter) && isLower(before))) words.emplace_back();
            words.back() += lowerCase(letter);
        }
        before = letter;
    }
    return words;
}

bool hasWord(std::string_view name, std::span<const std::string_view> words) {
    return std::ranges::any_of(
        wordsOf(name), [words](const std::string& word) { return std::ranges::find(words, word) != words.end(); });
}

bool namesEvaluation(std::string_view name, bool isWithoutGradients) {
    static constexpr std::array<std::string_view, 10> certain{
        "validate", "validation", "metric", "metrics", "accuracy", "nan", "nans", "isnan", "isfinite", "finite"};
    static constexpr std::array<std::string_view, 4> likely{"eval", "evaluate", "evaluation", "valid"};
    return hasWord(name, certain) || (isWithoutGradients && hasWord(name, likely));
}

uint32_t RangeFamilies::of(StringIndex text) {
    const auto [known, isNew] = ofText_.try_emplace(text, 0);
    if (!isNew) return known->second;
    const std::string_view whole = trace_.strings.at(text);
    std::string name = knownRangeName(whole);
    if (name.empty()) name = whole;
    std::string pattern = rangePattern(name);
    const auto [family, isFirst] = byPattern_.try_emplace(pattern, static_cast<uint32_t>(families_.size()));
    if (isFirst) families_.push_back({std::move(pattern), {}, {}});
    Family& one = families_[family->second];
    one.texts.insert(text);
    if (one.names.size() < 2) one.names.insert(std::move(name));
    return known->second = family->second;
}

void RangeFamilies::addAll() {
    for (uint32_t row = 0; row < trace_.nvtx.size(); ++row) of(trace_.nvtx.text[row]);
}

std::string RangeFamilies::nameOf(uint32_t family) const {
    const Family& one = families_[family];
    return one.names.size() == 1 ? *one.names.begin() : one.pattern;
}

std::string RangeFamilies::searchFor(uint32_t family) const {
    const Family& one = families_[family];
    if (one.texts.size() == 1) return std::string(trace_.strings.at(*one.texts.begin()));
    const std::string name = nameOf(family);
    return std::string(searchedPart(name));
}

}  // namespace lanescope
