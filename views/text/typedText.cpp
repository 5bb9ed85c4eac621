// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/typedText.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "model/format/optionValues.h"
#include "model/format/text.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::views {
namespace {

constexpr std::string_view spaces = " \t";
constexpr int64_t nsPerDay = 86'400'000'000'000;

/// Reads an unsigned number and removes it from the front of `text`.
std::optional<double> takeNumber(std::string_view& text) {
    if (text.empty() || !(isDigit(text.front()) || text.front() == '.')) return std::nullopt;
    // No exponents, and no second dot: "1..2" is a range.
    size_t length = 0;
    for (bool hasDot = false; length < text.size(); ++length) {
        if (text[length] == '.' && !std::exchange(hasDot, true)) continue;
        if (!isDigit(text[length])) break;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + length, value, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return value;
}

std::optional<int64_t> takeInteger(std::string_view& text, size_t minDigits, size_t maxDigits) {
    int64_t value = 0;
    size_t length = 0;
    while (length < text.size() && isDigit(text[length])) ++length;
    if (length < minDigits || length > maxDigits) return std::nullopt;
    std::from_chars(text.data(), text.data() + length, value);
    text.remove_prefix(length);
    return value;
}

bool take(std::string_view& text, char expected) {
    if (text.empty() || text.front() != expected) return false;
    text.remove_prefix(1);
    return true;
}

/// Parses without a sign, which here selects the origin of the time.
std::optional<int64_t> parseDistance(std::string_view text) {
    if (!text.empty() && text.front() == '-') return std::nullopt;
    return parseDuration(text);
}

/// Adds with overflow check: times of a file are arbitrary.
std::optional<int64_t> sum(int64_t one, int64_t other) {
    int64_t result = 0;
    return __builtin_add_overflow(one, other, &result) ? std::nullopt : std::optional(result);
}

Error noTime(std::string_view text) {
    return Error{
        "\"" + std::string(text.substr(0, 40)) +
        "\" is no time; write 1.5 s, +350 us, 50 %, 12:34:56, step 12, slowest, or a range such as 1.2s..1.4s."};
}

/// Parses "12:34:56.7", optionally after "2026-11-21 " or "2026-11-21T"; returns nullopt for other texts.
std::optional<int64_t> parseClock(std::string_view text, int64_t startUtcNs) {
    int64_t dayNs = startUtcNs / nsPerDay * nsPerDay;
    bool hasDate = false;
    if (std::string_view rest = text; text.size() > 10 && text[4] == '-') {
        const auto year = takeInteger(rest, 4, 4);
        const bool isFirst = take(rest, '-');
        const auto month = takeInteger(rest, 2, 2);
        const bool isSecond = take(rest, '-');
        const auto day = takeInteger(rest, 2, 2);
        if (!year || !isFirst || !month || !isSecond || !day) return std::nullopt;
        if (!take(rest, 'T') && !take(rest, ' ')) return std::nullopt;
        const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                               std::chrono::month(static_cast<unsigned>(*month)),
                                               std::chrono::day(static_cast<unsigned>(*day))};
        // The range of 64-bit nanoseconds.
        if (!date.ok() || *year < 1970 || *year > 2200) return std::nullopt;
        dayNs = std::chrono::sys_days(date).time_since_epoch().count() * nsPerDay;
        hasDate = true;
        text = trimmed(rest);
    }
    const auto hours = takeInteger(text, 1, 2);
    if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
    const auto minutes = takeInteger(text, 2, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    double seconds = 0;
    if (take(text, ':')) {
        const auto number = takeNumber(text);
        if (!number || *number >= 60) return std::nullopt;
        seconds = *number;
    }
    if (!text.empty() && text != "Z") return std::nullopt;
    int64_t utcNs = dayNs + (*hours * 60 + *minutes) * 60'000'000'000 + std::llround(seconds * 1e9);
    // A run past midnight: the first such time after its start.
    if (!hasDate && utcNs < startUtcNs) utcNs += nsPerDay;
    return utcNs;
}

/// `baseNs` is the origin of a time with a sign.
Result<int64_t> parseTime(std::string_view text, const TimeContext& context, int64_t baseNs) {
    text = trimmed(text);
    if (text.empty()) return fail(noTime(text));
    if (text.front() == '+' || text.front() == '-') {
        const auto distance = parseDistance(trimmed(text.substr(1)));
        if (!distance) return fail(noTime(text));
        const auto timeNs = sum(baseNs, text.front() == '+' ? *distance : -*distance);
        if (!timeNs) return fail(noTime(text));
        return *timeNs;
    }
    if (text.find(':') != std::string_view::npos) {
        const auto utcNs = parseClock(text, context.startUtcNs);
        if (!utcNs) return fail(noTime(text));
        if (context.startUtcNs == 0) return fail("The trace does not say when it began, so it has no times of day.");
        const auto timeNs = sum(*utcNs, -context.startUtcNs);
        if (!timeNs) return fail(noTime(text));
        return *timeNs;
    }
    if (text.back() == '%') {
        std::string_view number = trimmed(text.substr(0, text.size() - 1));
        const auto percent = takeNumber(number);
        if (!percent || !number.empty() || *percent > 100) return fail(noTime(text));
        return context.trace.startNs + std::llround(double(context.trace.durationNs()) * *percent / 100);
    }
    const auto distance = parseDistance(text);
    const auto timeNs = distance ? sum(*distance, context.originNs) : std::nullopt;
    if (!timeNs) return fail(noTime(text));
    return *timeNs;
}

/// Returns true for a word, then a number: "step 12", "it 12".
bool isNamedStep(std::string_view text) {
    constexpr std::string_view noWord = "0123456789.+-#:%";
    return !text.empty() && noWord.find(text.front()) == std::string_view::npos && isDigit(text.back());
}

Result<TimeTarget> parseStep(std::string_view text) {
    std::string_view number = trimmed(text);
    const size_t last = number.find_last_not_of("0123456789");
    const size_t digits = last == std::string_view::npos ? 0 : last + 1;
    TimeTarget target{.stepName = std::string(trimmed(number.substr(0, digits)))};
    number.remove_prefix(digits);
    target.step = takeInteger(number, 1, 12);
    if (!target.step) return fail("A step is called by its number, counted from 0, as in #12 or #step 12.");
    return target;
}

constexpr int inOnePiece = 100;
constexpr int atWordStart = 40;
constexpr int atTextStart = 40;
constexpr int scattered = 20;
constexpr int perInitial = 8;
// Letters farther apart than this are a coincidence.
constexpr size_t maxLetterGap = 12;

bool isWordCharacter(char c) { return isLower(c) || isDigit(c) || static_cast<unsigned char>(c) >= 128; }

bool startsWord(std::string_view text, size_t at) { return at == 0 || !isWordCharacter(text[at - 1]); }

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
        if (at == std::string_view::npos || (i > 0 && at - from > maxLetterGap)) return 0;
        if (startsWord(text, at)) score += perInitial;
        from = at + 1;
    }
    return score;
}

}  // namespace

Result<TimeTarget> parseTimeTarget(std::string_view text, const TimeContext& context) {
    text = trimmed(text);
    if (!text.empty() && text.front() == '#') return parseStep(text.substr(1));
    if (isNamedStep(text)) return parseStep(text);
    if (text == "slowest" || text == "slowest step") return TimeTarget{.isSlowestStep = true};
    const TimeRange visible = context.visible;
    const int64_t middleNs = visible.startNs + visible.durationNs() / 2;
    const size_t dots = text.find("..");
    const auto first = parseTime(text.substr(0, dots), context, middleNs);
    if (!first) return fail(first.error());
    TimeTarget target{{*first, *first}, {}, {}, false};
    if (dots != std::string_view::npos) {
        const auto second = parseTime(text.substr(dots + 2), context, *first);
        if (!second) return fail(second.error());
        target.range.endNs = *second;
        if (*second <= *first) return fail("The range ends before it begins.");
    }
    if (target.range.endNs < context.trace.startNs || target.range.startNs > context.trace.endNs)
        return fail("That is outside the trace, which goes from {} to {}.",
                    formatTimestamp(saturatingSum(context.trace.startNs, -context.originNs)),
                    formatTimestamp(saturatingSum(context.trace.endNs, -context.originNs)));
    return target;
}

FuzzyPattern::FuzzyPattern(std::string_view typed) {
    for (const char c : typed) {
        const bool isSpace = c == ' ' || c == '\t';
        if (isSpace && (text_.empty() || text_.back() == ' ')) continue;
        text_ += isSpace ? ' ' : lowerCase(c);
    }
    if (!text_.empty() && text_.back() == ' ') text_.pop_back();
}

int FuzzyPattern::score(std::string_view lowered) const {
    int sum = 0;
    for (size_t from = 0; from < text_.size();) {
        const size_t end = std::min(text_.find(' ', from), text_.size());
        const std::string_view word = std::string_view(text_).substr(from, end - from);
        int score = scoreOfPiece(word, lowered);
        if (score == 0) score = scoreOfLetters(word, lowered);
        if (score == 0) return 0;
        sum += score;
        from = end + 1;
    }
    // The shorter of equal matches is better.
    const int length = static_cast<int>(std::min<size_t>(lowered.size(), 200));
    return std::max(1, 4 * sum - length / 4);
}

}  // namespace lanescope::views
