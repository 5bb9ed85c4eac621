// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/text/ReportTable.h"

namespace lanescope {

/// Of ASCII only: names are code, and whatever else is in them must match as it is.
constexpr char lowerCase(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The same of every letter.
inline std::string lowerCase(std::string text) {
    for (char& letter : text) letter = lowerCase(letter);
    return text;
}

/// The one of an enumeration, of which `last` is the last, that `identifier` calls `text`; nothing
/// for any other text. What leaves the process in files is identifiers: words for people may
/// change, these may not.
template <class Enumeration>
std::optional<Enumeration> fromIdentifier(std::string_view text, Enumeration last) {
    for (size_t index = 0; index <= static_cast<size_t>(last); ++index)
        if (identifier(static_cast<Enumeration>(index)) == text)
            return static_cast<Enumeration>(index);
    return std::nullopt;
}

// How much room text takes on a terminal. Text is UTF-8 that `printable` has seen; everything is
// linear in its length.

/// How many columns a line of text may have where nothing tells.
constexpr size_t usualLineWidth = 100;

/// How many columns `text` takes: two for each wide character, as of Chinese, Japanese and Korean,
/// and for most emoji, one for every other code point. Combining marks, which take none, count,
/// too, so no line gets wider than its width says.
size_t displayWidth(std::string_view text);

/// As much of the beginning of `text` as takes at most `width` columns.
std::string_view prefixWithin(std::string_view text, size_t width);
/// As much of its end.
std::string_view suffixWithin(std::string_view text, size_t width);

/// `text`, or as much of its beginning as fits into `width` columns with "…" behind.
std::string cutEnd(std::string_view text, size_t width);
/// The same with as much of its beginning and of its end with "…" between: kernels of one family
/// differ at the end of their names.
std::string cutMiddle(std::string_view text, size_t width);

/// One cell as people read it: "12.34 ms", "4.00 MiB", "55.5 GB/s", "12,345". Empty for an empty
/// cell.
std::string formatCell(const Cell& cell, Unit unit);

/// "1.234 ms", "12.5 us", "3.2 s": three to four significant digits.
std::string formatDuration(int64_t durationNs);
/// "1.234567890 s": a point in time, of which no nanosecond may be lost.
std::string formatTimestamp(int64_t timeNs);
/// "4.00 MiB"; powers of 1024.
std::string formatBytes(int64_t bytes);
/// "1,234,567".
std::string formatCount(int64_t count);

/// `text` for one line of a terminal or a table: control characters, which could move the cursor or
/// break the line, become spaces; bytes that are not UTF-8, and characters that turn the direction
/// of writing, become U+FFFD.
std::string printable(std::string_view text);

/// Puts a comma between groups of three digits of the whole part: "1234.5" becomes "1,234.5".
std::string withThousands(std::string digits);

/// JSON whose texts hold no DEL, no control character of C1 and none that turns the direction of
/// writing as it is, which JSON allows and a terminal acts upon, but escaped: it says the same.
std::string withoutControls(std::string json);

/// One unit for all times of a table or an axis, so that they can be compared and added by eye.
struct DurationScale {
    int64_t unitNs = 1'000'000;
    std::string_view unit = "ms";
    int decimals = 3;

    /// The unit in which the greatest time has one to three digits before the point.
    static DurationScale fitting(int64_t greatestNs);
    /// The same for the parts of a step of this length; but milliseconds up to 100 s, so that what
    /// is small beside a long step can still be seen.
    static DurationScale ofStep(int64_t stepNs);
    /// The last digit that is shown.
    int64_t quantumNs() const { return decimals == 0 ? unitNs : unitNs / 1000; }
    /// "12.345", without the unit.
    std::string number(int64_t ns) const;
    /// "+12.345" or "-12.345"; "0.000" for what rounds to zero.
    std::string difference(int64_t ns) const;
    /// "12.345 ms".
    std::string text(int64_t ns) const;
    /// "+12.345 ms".
    std::string differenceText(int64_t ns) const;
    bool operator==(const DurationScale&) const = default;
};

/// `text` as text or as an attribute in quotes of an HTML page or an SVG picture, whatever it
/// holds: what `printable` makes of it, with markup escaped.
std::string markupEscaped(std::string_view text);

}  // namespace lanescope
