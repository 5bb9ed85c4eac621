// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lanescope::report {

/// A table for a terminal: numbers to the right, names to the left, two spaces between columns.
/// Cells must be printable UTF-8.
class TextGrid {
  public:
    enum class Side { Left, Right };
    /// What becomes of the last cell of a line, on the left side, that has no room.
    enum class Overlong {
        Cut,   ///< `cutMiddle`.
        Wrap,  ///< It goes on in lines below, `wrapped`.
    };
    explicit TextGrid(std::vector<Side> sides) : sides_(std::move(sides)) {}

    /// A line; cells that are missing at the end are empty.
    void add(std::vector<std::string> cells, Overlong overlong = Overlong::Cut);
    /// A line of dashes under every column.
    void addRule();
    /// All lines. A last column on the left side gets no wider than `width` leaves room for; others
    /// are as wide as what stands in them.
    std::string text(size_t width) const;
    /// Whether no line of `text(width)` is wider than that, but for a word that is alone.
    bool fits(size_t width) const;

  private:
    struct Line {
        bool isRule = false;
        std::vector<std::string> cells;
        Overlong overlong = Overlong::Cut;
    };
    std::vector<size_t> columnWidths(size_t width) const;
    std::string textOf(const Line& line, const std::vector<size_t>& widths) const;

    std::vector<Side> sides_;
    std::vector<Line> lines_;
};

/// Breaks a sentence into lines of at most `width` characters between words; lines after the first
/// begin with `indent` spaces. Ends with a line break.
std::string wrapped(const std::string& sentence, size_t indent, size_t width);

}  // namespace lanescope::report
