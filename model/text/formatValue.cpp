// SPDX-License-Identifier: Apache-2.0
#include "model/text/formatValue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace lanescope {

namespace {

constexpr std::string_view ellipsis = "\u2026";

bool isContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// Returns the bytes of the first code point of `text`, which must not be empty.
size_t firstLetterBytes(std::string_view text) {
    size_t bytes = 1;
    while (bytes < text.size() && isContinuation(text[bytes])) ++bytes;
    return bytes;
}

/// Returns the columns of a code point. fmt knows the wide ones: it pads text that is narrower than requested.
size_t letterWidth(std::string_view letter) {
    if (letter.size() < 2) return 1;
    constexpr size_t widest = 2;
    const size_t filled = fmt::formatted_size("{:{}}", letter, widest);
    return widest - std::min(filled - letter.size(), widest - 1);
}

struct Scale {
    double factor;
    std::string_view suffix;
};

constexpr std::array<Scale, 4> durationScales{{{1, "ns"}, {1e3, "\u00b5s"}, {1e6, "ms"}, {1e9, "s"}}};
constexpr double kibi = 1024;
constexpr std::array<Scale, 5> byteScales{
    {{1, "B"}, {kibi, "KiB"}, {kibi * kibi, "MiB"}, {kibi * kibi * kibi, "GiB"}, {kibi * kibi * kibi * kibi, "TiB"}}};

/// Formats a number with up to three decimals and at most four digits in all.
std::string shortNumber(double value) {
    const double size = std::abs(value);
    if (size < 9.9995) return fmt::format("{:.3f}", value);
    if (size < 99.995) return fmt::format("{:.2f}", value);
    if (size < 999.95) return fmt::format("{:.1f}", value);
    return withThousands(fmt::format("{:.0f}", value));
}

std::string durationOf(double ns) {
    size_t index = 0;
    // 999.95 us would print as "1000.0 us", so the next unit begins slightly earlier.
    while (index + 1 < durationScales.size() && std::abs(ns) >= durationScales[index + 1].factor * 0.99995) ++index;
    const Scale& scale = durationScales[index];
    if (index == 0 && ns == std::floor(ns)) return fmt::format("{:.0f} ns", ns);
    return fmt::format("{} {}", shortNumber(ns / scale.factor), scale.suffix);
}

std::string bytesOf(double bytes) {
    size_t index = 0;
    while (index + 1 < byteScales.size() && std::abs(bytes) >= byteScales[index + 1].factor * 0.99995) ++index;
    const Scale& scale = byteScales[index];
    if (index == 0) return fmt::format("{:.0f} B", bytes);
    return fmt::format("{} {}", withThousands(fmt::format("{:.2f}", bytes / scale.factor)), scale.suffix);
}

std::string countOf(double count) {
    return withThousands(count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count));
}

/// Formats a rate in GB/s if three decimals suffice, else in a smaller unit.
std::string rateOf(double gigabytesPerSecond) {
    const double size = std::abs(gigabytesPerSecond);
    if (size >= 0.0005 || size == 0) return fmt::format("{} GB/s", shortNumber(gigabytesPerSecond));
    return size >= 1e-6 ? fmt::format("{} kB/s", shortNumber(gigabytesPerSecond * 1e6))
                        : fmt::format("{} B/s", shortNumber(gigabytesPerSecond * 1e9));
}

std::string numberAs(double value, Unit unit) {
    switch (unit) {
        case Unit::Count: return countOf(value);
        case Unit::Nanoseconds: return durationOf(value);
        case Unit::Bytes: return bytesOf(value);
        case Unit::GigabytesPerSecond: return rateOf(value);
        case Unit::TeraflopsPerSecond: return fmt::format("{:.1f} TFLOP/s", value);
        case Unit::Percent: return fmt::format("{:.1f} %", value);
        case Unit::Identifier:
        case Unit::Timestamp:
        case Unit::Text: break;
    }
    return fmt::format("{}", value);
}

/// Returns true for U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069. They change the writing
/// direction of the text around them, so one name could look like another.
bool turnsDirection(std::string_view sequence) {
    if (sequence.size() != 3 || sequence[0] != '\xe2') return false;
    const auto second = static_cast<unsigned char>(sequence[1]);
    const auto third = static_cast<unsigned char>(sequence[2]);
    if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae);
    return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

/// Returns true for U+FFFE and U+FFFF, which XML forbids.
bool isNoCharacter(std::string_view sequence) { return sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf"; }

}  // namespace

size_t displayWidth(std::string_view text) {
    size_t width = 0;
    while (!text.empty()) {
        const size_t bytes = firstLetterBytes(text);
        width += letterWidth(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return width;
}

std::string_view prefixWithin(std::string_view text, size_t width) {
    size_t end = 0;
    while (end < text.size()) {
        const size_t bytes = firstLetterBytes(text.substr(end));
        const size_t columns = letterWidth(text.substr(end, bytes));
        if (columns > width) break;
        width -= columns;
        end += bytes;
    }
    return text.substr(0, end);
}

std::string_view suffixWithin(std::string_view text, size_t width) {
    size_t start = text.size();
    while (start > 0) {
        size_t at = start - 1;
        while (at > 0 && isContinuation(text[at])) --at;
        const size_t columns = letterWidth(text.substr(at, start - at));
        if (columns > width) break;
        width -= columns;
        start = at;
    }
    return text.substr(start);
}

std::string elideEnd(std::string_view text, size_t width) {
    if (displayWidth(text) <= width) return std::string(text);
    if (width == 0) return {};
    return std::string(prefixWithin(text, width - 1)).append(ellipsis);
}

std::string elideMiddle(std::string_view text, size_t width) {
    if (displayWidth(text) <= width) return std::string(text);
    if (width == 0) return {};
    const size_t tail = (width - 1) * 2 / 5;
    return std::string(prefixWithin(text, width - 1 - tail)).append(ellipsis).append(suffixWithin(text, tail));
}

std::string withThousands(std::string digits) {
    const size_t first = !digits.empty() && digits[0] == '-' ? 1 : 0;
    size_t end = digits.find('.');
    if (end == std::string::npos) end = digits.size();
    for (size_t place = end; place > first + 3;) {
        place -= 3;
        digits.insert(place, 1, ',');
    }
    return digits;
}

std::string formatDuration(int64_t durationNs) { return durationOf(static_cast<double>(durationNs)); }

std::string formatTimestamp(int64_t timeNs) {
    const uint64_t size = timeNs < 0 ? -static_cast<uint64_t>(timeNs) : static_cast<uint64_t>(timeNs);
    constexpr uint64_t nsPerSecond = 1'000'000'000;
    return fmt::format("{}{}.{:09} s", timeNs < 0 ? "-" : "", size / nsPerSecond, size % nsPerSecond);
}

std::string formatBytes(int64_t bytes) { return bytesOf(static_cast<double>(bytes)); }

std::string formatCount(int64_t count) { return withThousands(fmt::format("{}", count)); }

std::string formatCell(const Cell& cell, Unit unit) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* whole = std::get_if<int64_t>(&cell)) {
        if (unit == Unit::Count) return formatCount(*whole);
        if (unit == Unit::Timestamp) return formatTimestamp(*whole);
        if (unit == Unit::Identifier || unit == Unit::Text) return fmt::format("{}", *whole);
        return numberAs(static_cast<double>(*whole), unit);
    }
    if (const auto* real = std::get_if<double>(&cell)) return numberAs(*real, unit);
    return {};
}

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const size_t length = utf8SequenceLength(text);
        const auto first = static_cast<unsigned char>(text[0]);
        const std::string_view sequence = text.substr(0, length);
        if (length == 0 || turnsDirection(sequence) || isNoCharacter(sequence)) {
            result += "\xef\xbf\xbd";
        } else if (first < 0x20 || first == 0x7f || (first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0)) {
            result += ' ';  // C0, DEL and C1
        } else {
            result += sequence;
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result;
}

std::string withoutControls(std::string json) {
    std::string result;
    result.reserve(json.size());
    for (std::string_view rest = json; !rest.empty();) {
        const std::string_view letter = rest.substr(0, std::max<size_t>(utf8SequenceLength(rest), 1));
        const auto byte = [letter](size_t at) { return static_cast<unsigned char>(letter[at]); };
        if (letter == "\x7f")
            result += "\\u007f";
        else if (letter.size() == 2 && byte(0) == 0xc2 && byte(1) < 0xa0)
            result += fmt::format("\\u{:04x}", byte(1));
        else if (turnsDirection(letter))
            result += fmt::format("\\u{:04x}", 0x2000 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f));
        else
            result += letter;
        rest.remove_prefix(letter.size());
    }
    return result;
}

DurationScale DurationScale::fitting(int64_t maxNs) {
    const int64_t size = std::abs(maxNs);
    if (size >= 1'000'000'000) return {1'000'000'000, "s", 3};
    if (size >= 1'000'000) return {1'000'000, "ms", 3};
    if (size >= 1'000) return {1'000, "\u00b5s", 3};
    return {1, "ns", 0};
}

DurationScale DurationScale::ofStep(int64_t stepNs) {
    constexpr int64_t maxStepInMsNs = 100'000'000'000;
    return fitting(stepNs < maxStepInMsNs ? std::min<int64_t>(stepNs, 999'999'999) : stepNs);
}

std::string DurationScale::number(int64_t ns) const {
    // Counts whole quanta, so that a number never rounds to "-0.000".
    const int64_t quantum = quantumNs();
    const auto quanta = std::llround(static_cast<double>(ns) / static_cast<double>(quantum));
    if (decimals == 0) return withThousands(fmt::format("{}", quanta));
    return withThousands(
        fmt::format("{}{}.{:03}", quanta < 0 ? "-" : "", std::abs(quanta) / 1000, std::abs(quanta) % 1000));
}

std::string DurationScale::difference(int64_t ns) const {
    const std::string text = number(ns);
    const bool isNothing = text.find_first_not_of("0.") == std::string::npos;
    if (text.starts_with('-')) return "\u2212" + text.substr(1);
    return ns > 0 && !isNothing ? "+" + text : text;
}

std::string DurationScale::text(int64_t ns) const { return fmt::format("{} {}", number(ns), unit); }

std::string DurationScale::differenceText(int64_t ns) const { return fmt::format("{} {}", difference(ns), unit); }

std::string markupEscaped(std::string_view text) {
    const std::string clean = printable(text);
    std::string result;
    result.reserve(clean.size());
    for (const char letter : clean) {
        switch (letter) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            case '\'': result += "&#39;"; break;
            default: result += letter;
        }
    }
    return result;
}

}  // namespace lanescope
