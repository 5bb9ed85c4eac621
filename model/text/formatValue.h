// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "model/format/text.h"
#include "model/text/ReportTable.h"

namespace lanescope {

/// Returns the enumerator whose `identifier` is `text`, up to `last`; nullopt if there is none.
/// Files store identifiers, which must not change, unlike labels for people.
template <class Enumeration>
std::optional<Enumeration> fromIdentifier(std::string_view text, Enumeration last) {
    for (size_t index = 0; index <= static_cast<size_t>(last); ++index)
        if (identifier(static_cast<Enumeration>(index)) == text) return static_cast<Enumeration>(index);
    return std::nullopt;
}

/// Returns the text of an enumerator; `texts` has one for each, in their order. Empty for a value beyond them.
std::string_view enumText(auto value, std::initializer_list<std::string_view> texts) {
    const auto index = static_cast<size_t>(value);
    return index < texts.size() ? texts.begin()[index] : std::string_view();
}

// Width of text on a terminal. Text is UTF-8 from `printable`. All functions are linear in its length.

/// Columns of a line if the terminal's width is unknown.
constexpr size_t defaultLineWidth = 100;

/// Returns the columns of `text`: two for wide characters (Chinese, Japanese, Korean) and most emoji, one for other
/// code points. Combining marks count as one, so a line is never wider than its result.
size_t displayWidth(std::string_view text);

/// Returns the longest prefix of `text` within `width` columns.
std::string_view prefixWithin(std::string_view text, size_t width);
/// Returns the longest suffix of `text` within `width` columns.
std::string_view suffixWithin(std::string_view text, size_t width);

/// Returns `text`, truncated to `width` columns with "…" at the end.
std::string elideEnd(std::string_view text, size_t width);
/// Returns `text`, truncated to `width` columns with "…" in the middle: kernels of one family
/// differ at the end of their names.
std::string elideMiddle(std::string_view text, size_t width);

/// Formats a cell for people: "12.34 ms", "4.00 MiB", "55.5 GB/s", "12,345". Empty for an empty cell.
std::string formatCell(const Cell& cell, Unit unit);

/// Returns "1.234 ms", "12.5 us", "3.2 s": three to four significant digits.
std::string formatDuration(int64_t durationNs);
/// Returns "1.234567890 s": a point in time with all nanoseconds.
std::string formatTimestamp(int64_t timeNs);
/// Returns "4.00 MiB"; powers of 1024.
std::string formatBytes(int64_t bytes);
/// Returns "1,234,567".
std::string formatCount(int64_t count);

/// Returns `text` for one line of a terminal or a table. Control characters, which could move the cursor or break the
/// line, become spaces. Bytes that are not UTF-8, and characters that change the writing direction, become U+FFFD.
std::string printable(std::string_view text);

/// Inserts commas between groups of three digits of the whole part: "1234.5" becomes "1,234.5".
std::string withThousands(std::string digits);

/// Escapes DEL, C1 controls and characters that change the writing direction in JSON texts. JSON
/// allows them, but a terminal acts upon them. The meaning stays the same.
std::string withoutControls(std::string json);

/// One unit for all times of a table or an axis, so that readers can compare and add them.
struct DurationScale {
    int64_t unitNs = 1'000'000;
    std::string_view unit = "ms";
    int decimals = 3;

    /// Returns the unit that gives the largest time one to three digits before the point.
    static DurationScale fitting(int64_t maxNs);
    /// Returns the unit for the parts of a step of this length: milliseconds up to 100 s, so that
    /// small parts of a long step remain visible.
    static DurationScale ofStep(int64_t stepNs);
    /// Returns the value of the last digit shown.
    int64_t quantumNs() const { return decimals == 0 ? unitNs : unitNs / 1000; }
    /// Returns "12.345", without the unit.
    std::string number(int64_t ns) const;
    /// Returns "+12.345" or "-12.345"; "0.000" if the value rounds to zero.
    std::string difference(int64_t ns) const;
    /// Returns "12.345 ms".
    std::string text(int64_t ns) const;
    /// Returns "+12.345 ms".
    std::string differenceText(int64_t ns) const;
    bool operator==(const DurationScale&) const = default;
};

/// Returns `text` as text or quoted attribute of HTML or SVG: `printable`, with markup escaped.
std::string markupEscaped(std::string_view text);

}  // namespace lanescope
