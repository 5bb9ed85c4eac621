// SPDX-License-Identifier: Apache-2.0
#include "model/gate/ConditionScanner.h"

#include "model/values/displayWidth.h"

#include <charconv>

#include "model/values/formatValue.h"

namespace lanescope::gate {

namespace {

// Not <cctype>: what counts as a letter must not depend on the locale.
bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isDigit(char c) {
    return c >= '0' && c <= '9';
}
bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool isWordCharacter(char c) {
    return isLetter(c) || isDigit(c) || c == '_';
}
bool endsBareName(char c) {
    return isSpace(c) || c == '.' || c == '<' || c == '>' || c == '=' || c == '"' || c == '\'';
}

/// What stands at `at`, for a sentence: the word there, or the character.
std::string_view pieceAt(std::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && isWordCharacter(text[end])) ++end;
    if (end > at) return text.substr(at, end - at);
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    return text.substr(at, end - at);
}

}  // namespace

void ConditionScanner::skipSpaces() {
    while (at_ < text_.size() && isSpace(text_[at_])) ++at_;
}

size_t ConditionScanner::position() {
    skipSpaces();
    return at_;
}

bool ConditionScanner::isAtEnd() {
    return position() == text_.size();
}

bool ConditionScanner::take(std::string_view symbol, bool isTight) {
    if (!isTight) skipSpaces();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
}

std::string_view ConditionScanner::peekWord() {
    skipSpaces();
    size_t end = at_;
    while (end < text_.size() && isWordCharacter(text_[end])) ++end;
    return text_.substr(at_, end - at_);
}

std::string_view ConditionScanner::takeWord() {
    const std::string_view word = peekWord();
    at_ += word.size();
    return word;
}

Result<std::string> ConditionScanner::takeName() {
    const size_t start = position();
    const char quote = next();
    std::string result;
    if (quote != '"' && quote != '\'') {
        while (at_ < text_.size() && !endsBareName(text_[at_])) result += text_[at_++];
        return result;
    }
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        result += text_[at_];
    }
    if (at_ >= text_.size()) return failAt(start, "this quote is not closed");
    ++at_;
    if (result.empty()) return failAt(start, "this name is empty");
    return result;
}

Result<double> ConditionScanner::takeNumber() {
    const size_t start = position();
    size_t end = start;
    while (end < text_.size() && isDigit(text_[end])) ++end;
    if (end > start && end + 1 < text_.size() && text_[end] == '.' && isDigit(text_[end + 1]))
        for (++end; end < text_.size() && isDigit(text_[end]);) ++end;
    if (end == start) return failExpecting("a number such as +3%, 2.5 ms or 1000");
    double number = 0;
    const auto [stop, error] =
        std::from_chars(text_.data() + start, text_.data() + end, number, std::chars_format::fixed);
    if (error != std::errc() || stop != text_.data() + end)
        return failAt(start, "this number is too large");
    at_ = end;
    return number;
}

std::string_view ConditionScanner::takeUnit() {
    constexpr std::string_view micro = "\u00b5";
    const size_t start = position();
    if (take("%")) return text_.substr(start, 1);
    if (text_.substr(at_).starts_with(micro)) at_ += micro.size();
    while (isLetter(next()) || (next() == '/' && at_ > start)) ++at_;
    return text_.substr(start, at_ - start);
}

tl::unexpected<Error> ConditionScanner::failAt(size_t position, std::string_view what) const {
    return fail("In the condition \"{}\", at character {}: {}.", printable(text_),
                displayWidth(text_.substr(0, position)) + 1, what);
}

tl::unexpected<Error> ConditionScanner::failExpecting(std::string_view expected) {
    const size_t at = position();
    if (at == text_.size())
        return failAt(at, fmt::format("it ends where {} is expected", expected));
    return failAt(
        at, fmt::format("expected {}, found \"{}\"", expected, printable(pieceAt(text_, at))));
}

}  // namespace lanescope::gate
