// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/fuzzyMatch.h"

#include <algorithm>

namespace lanescope::views {
namespace {

constexpr int inOnePiece = 100;
constexpr int atWordStart = 40;
constexpr int atTextStart = 40;
constexpr int scattered = 20;
constexpr int perInitial = 8;
// Letters farther apart than this are a coincidence.
constexpr size_t widestGap = 12;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isWordCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 128;
}

bool startsWord(std::string_view text, size_t at) {
    return at == 0 || !isWordCharacter(text[at - 1]);
}

int scoreOfPiece(std::string_view word, std::string_view text) {
    int best = 0;
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        if (at == 0) return inOnePiece + atWordStart + atTextStart;
        if (startsWord(text, at)) return inOnePiece + atWordStart;
        best = inOnePiece;
    }
    return best;
}

int scoreOfLetters(std::string_view word, std::string_view text) {
    int score = scattered;
    size_t from = 0;
    for (size_t i = 0; i < word.size(); ++i) {
        const size_t at = text.find(word[i], from);
        if (at == std::string_view::npos || (i > 0 && at - from > widestGap)) return 0;
        if (startsWord(text, at)) score += perInitial;
        from = at + 1;
    }
    return score;
}

}  // namespace

std::string lowerAscii(std::string_view text) {
    std::string lowered(text);
    std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
    return lowered;
}

FuzzyPattern::FuzzyPattern(std::string_view typed) {
    for (const char c : typed) {
        const bool isSpace = c == ' ' || c == '\t';
        if (isSpace && (words_.empty() || words_.back() == ' ')) continue;
        words_ += isSpace ? ' ' : lower(c);
    }
    if (!words_.empty() && words_.back() == ' ') words_.pop_back();
}

int FuzzyPattern::score(std::string_view lowered) const {
    int sum = 0;
    for (size_t from = 0; from < words_.size();) {
        const size_t end = std::min(words_.find(' ', from), words_.size());
        const std::string_view word = std::string_view(words_).substr(from, end - from);
        int score = scoreOfPiece(word, lowered);
        if (score == 0) score = scoreOfLetters(word, lowered);
        if (score == 0) return 0;
        sum += score;
        from = end + 1;
    }
    // Of equals the shorter name is the better answer.
    const int length = static_cast<int>(std::min<size_t>(lowered.size(), 200));
    return std::max(1, 4 * sum - length / 4);
}

}  // namespace lanescope::views
