// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lanescope::report {

/// A table for a terminal: numbers right-aligned, names left, two spaces between. Cells must be printable UTF-8.
class TextGrid {
  public:
    enum class Side { Left, Right };
    /// Treatment of the last, left-aligned cell of a line if it has no room.
    enum class Overlong {
        Elide,  ///< `elideMiddle`.
        Wrap,   ///< It continues in lines below, `wrapped`.
    };
    explicit TextGrid(std::vector<Side> sides) : sides_(std::move(sides)) {}

    /// Adds a line; missing cells at the end are empty.
    void add(std::vector<std::string> cells, Overlong overlong = Overlong::Elide);
    /// Adds a line of dashes under every column.
    void addRule() { lines_.push_back({true, {}}); }
    /// Returns all lines. A left-aligned last column has at most the remaining `width`; others are as wide as needed.
    std::string text(size_t width) const;
    /// Returns true if no line of `text(width)` is wider than that, except for a single word.
    bool fits(size_t width) const;

  private:
    struct Line {
        bool isRule = false;
        std::vector<std::string> cells;
        Overlong overlong = Overlong::Elide;
    };
    std::vector<size_t> columnWidths(size_t width) const;
    std::string textOf(const Line& line, const std::vector<size_t>& widths) const;

    std::vector<Side> sides_;
    std::vector<Line> lines_;
};

/// Breaks a sentence into lines of at most `width` characters; all but the first begin with `indent` spaces.
std::string wrapped(const std::string& sentence, size_t indent, size_t width);

}  // namespace lanescope::report
