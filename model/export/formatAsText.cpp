#include <fmt/format.h>

#include <algorithm>

#include "model/export/formatTable.h"

namespace lanescope {

namespace {

/// A text column wider than this is printed last, where its length moves nothing else.
constexpr size_t widestInnerText = 32;

struct TextColumn {
    std::string header;
    std::vector<std::string> cells;
    size_t width = 0;
    bool isText = false;
};

std::string textOf(const Cell& cell, Unit unit) {
    if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
    const auto* real = std::get_if<double>(&cell);
    if (std::holds_alternative<std::monostate>(cell)) return "-";
    // These share one unit, which the header gives, and one number of decimals.
    if (real && unit == Unit::GigabytesPerSecond)
        return withThousands(fmt::format("{:.3f}", *real));
    if (real && unit == Unit::Percent) return withThousands(fmt::format("{:.1f}", *real));
    std::string text = formatCell(cell, unit);
    // One-letter units are set as wide as the others, so that the numbers stay in line.
    if ((unit == Unit::Nanoseconds && text.ends_with(" s")) ||
        (unit == Unit::Bytes && text.ends_with(" B")))
        text.append(unit == Unit::Bytes ? 2 : 1, ' ');
    return text;
}

TextColumn makeColumn(const ReportTable& table, size_t column) {
    const Unit unit = table.columns[column].unit;
    TextColumn result;
    result.isText = unit == Unit::Text;
    result.header = unit == Unit::GigabytesPerSecond || unit == Unit::Percent
                        ? headerOf(table.columns[column])
                        : table.columns[column].name;
    result.width = displayWidth(result.header);
    result.cells.reserve(table.rows.size());
    for (const std::vector<Cell>& row : table.rows) {
        result.cells.push_back(textOf(row[column], unit));
        result.width = std::max(result.width, displayWidth(result.cells.back()));
    }
    return result;
}

/// Appends one line; `textIn` gives a column's header or one of its cells.
template <class TextIn>
void appendLine(std::string& text, const std::vector<TextColumn>& columns, TextIn textIn) {
    for (size_t index = 0; index < columns.size(); ++index) {
        const TextColumn& column = columns[index];
        const std::string& cell = textIn(column);
        const size_t padding = column.width - displayWidth(cell);
        if (index > 0) text += "  ";
        if (!column.isText) text.append(padding, ' ');
        text += cell;
        if (column.isText && index + 1 < columns.size()) text.append(padding, ' ');
    }
    text += '\n';
}

}  // namespace

std::string formatAsText(const ReportTable& table) {
    std::vector<TextColumn> columns;
    for (size_t column = 0; column < table.columns.size(); ++column)
        columns.push_back(makeColumn(table, column));
    const auto widest = std::max_element(
        columns.begin(), columns.end(), [](const TextColumn& a, const TextColumn& b) {
            return (a.isText ? a.width : 0) < (b.isText ? b.width : 0);
        });
    if (widest != columns.end() && widest->isText && widest->width > widestInnerText)
        std::rotate(widest, widest + 1, columns.end());

    std::string text;
    appendLine(text, columns,
               [](const TextColumn& column) -> const std::string& { return column.header; });
    for (size_t index = 0; index < columns.size(); ++index) {
        if (index > 0) text += "  ";
        // A rule as long as the longest kernel name would wrap around the terminal.
        const bool isLast = index + 1 == columns.size();
        const size_t length = isLast && columns[index].isText
                                  ? std::min(columns[index].width, widestInnerText)
                                  : columns[index].width;
        text.append(length, '-');
    }
    text += '\n';
    for (size_t row = 0; row < table.rows.size(); ++row)
        appendLine(text, columns, [row](const TextColumn& column) -> const std::string& {
            return column.cells[row];
        });
    return text;
}

}  // namespace lanescope
