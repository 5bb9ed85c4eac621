#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

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

std::optional<double> numberIn(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    return std::nullopt;
}

/// One unit and one number of decimals for a whole column, so that its numbers compare by eye.
struct ColumnScale {
    double factor = 1;
    std::string_view suffix;
    int decimals = 0;
};

struct ScaleStep {
    double factor;
    std::string_view suffix;
};
constexpr std::array<ScaleStep, 4> durationSteps{{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
constexpr std::array<ScaleStep, 4> byteSteps{
    {{1, "B"}, {1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}}};

ColumnScale scaleOf(const ReportTable& table, size_t column) {
    const Unit unit = table.columns[column].unit;
    double largest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    bool hasFraction = false;
    for (const std::vector<Cell>& row : table.rows) {
        const std::optional<double> number = numberIn(row[column]);
        if (!number) continue;
        const double size = std::abs(*number);
        largest = std::max(largest, size);
        if (size > 0) smallest = std::min(smallest, size);
        hasFraction = hasFraction || size != std::floor(size);
    }
    switch (unit) {
        case Unit::GigabytesPerSecond:
            return {1, "GB/s", 3};
        case Unit::Percent:
            return {1, "%", 1};
        case Unit::Count:
            return {1, "", hasFraction ? 1 : 0};
        case Unit::Text:
        case Unit::Identifier:
            return {};
        case Unit::Nanoseconds:
        case Unit::Bytes:
            break;
    }
    const auto& steps = unit == Unit::Nanoseconds ? durationSteps : byteSteps;
    const ScaleStep* step = &steps[0];
    for (const ScaleStep& candidate : steps)
        if (largest >= candidate.factor) step = &candidate;
    ColumnScale scale{step->factor, step->suffix, 0};
    if (step != &steps[0]) {
        // Enough decimals to tell the smallest number from nothing, within reason.
        const double digits = std::ceil(-std::log10(smallest / step->factor));
        scale.decimals = static_cast<int>(std::clamp(digits + 1, 3.0, 6.0));
    } else if (hasFraction) {
        scale.decimals = 1;
    }
    return scale;
}

std::string textOf(const Cell& cell, Unit unit, const ColumnScale& scale) {
    if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
    const std::optional<double> number = numberIn(cell);
    if (!number) return "-";
    if (unit == Unit::Identifier || unit == Unit::Text) return formatCell(cell, unit);
    if (const auto* whole = std::get_if<int64_t>(&cell);
        whole && scale.factor == 1 && scale.decimals == 0)
        return formatCount(*whole);
    return withThousands(fmt::format("{:.{}f}", *number / scale.factor, scale.decimals));
}

TextColumn makeColumn(const ReportTable& table, size_t column) {
    const Unit unit = table.columns[column].unit;
    const ColumnScale scale = scaleOf(table, column);
    TextColumn result;
    result.isText = unit == Unit::Text;
    result.header = scale.suffix.empty()
                        ? table.columns[column].name
                        : fmt::format("{} ({})", table.columns[column].name, scale.suffix);
    result.width = displayWidth(result.header);
    result.cells.reserve(table.rows.size());
    for (const std::vector<Cell>& row : table.rows) {
        result.cells.push_back(textOf(row[column], unit, scale));
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
