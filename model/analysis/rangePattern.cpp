// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/rangePattern.h"

#include "model/format/text.h"
#include "model/text/knownRangeName.h"

namespace lanescope {

std::string rangePattern(std::string_view name) {
    std::string pattern;
    bool wasDigit = false;
    for (const char c : name) {
        if (!isDigit(c))
            pattern += c;
        else if (!wasDigit)
            pattern += '#';
        wasDigit = isDigit(c);
    }
    return pattern;
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
