// SPDX-License-Identifier: Apache-2.0
#include "model/steps/nameWords.h"

namespace lanescope {

namespace {

bool isLower(char letter) {
    return letter >= 'a' && letter <= 'z';
}
bool isUpper(char letter) {
    return letter >= 'A' && letter <= 'Z';
}

}  // namespace

std::vector<std::string> wordsOf(std::string_view name) {
    std::vector<std::string> words;
    char before = ' ';
    for (const char letter : name) {
        const bool isLetter = isLower(letter) || isUpper(letter);
        const bool wasLetter = isLower(before) || isUpper(before);
        if (isLetter) {
            if (!wasLetter || (isUpper(letter) && isLower(before))) words.emplace_back();
            words.back() += isUpper(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
        }
        before = letter;
    }
    return words;
}

}  // namespace lanescope
