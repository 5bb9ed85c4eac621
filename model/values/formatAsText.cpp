// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "model/values/displayWidth.h"
#include "model/values/formatTable.h"
#include "model/values/indentedRows.h"

namespace lanescope {

namespace {

/// A text column wider than this is printed last, where its length moves nothing else.
constexpr size_t widestInnerText = 32;

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

std::string headingOf(const ReportColumn& column) {
    const bool hasFixedUnit =
        column.unit == Unit::GigabytesPerSecond || column.unit == Unit::Percent;
    return hasFixedUnit ? headerOf(column) : column.name;
}

class TextFormatter : public TableFormatter {
  public:
    std::string next(const ReportTable& part) override {
        return part.style == ReportStyle::Tree ? nextRows(indentedRows(part)) : nextRows(part);
    }

  private:
    std::string nextRows(const ReportTable& part) {
        const std::vector<ReportColumn>& columns = part.columns;
        if (columns.empty()) return {};
        std::vector<std::vector<std::string>> lines;
        if (isFirst_) {
            lines.emplace_back();
            for (const ReportColumn& column : columns) lines[0].push_back(headingOf(column));
            lines.emplace_back(columns.size());  // the rules, as wide as all below turns out
            widths_.resize(columns.size());
        }
        for (const std::vector<Cell>& row : part.rows) {
            lines.emplace_back();
            for (size_t column = 0; column < columns.size(); ++column)
                lines.back().push_back(textOf(row[column], columns[column].unit));
        }
        for (const std::vector<std::string>& line : lines)
            for (size_t column = 0; column < columns.size(); ++column)
                widths_[column] = std::max(widths_[column], displayWidth(line[column]));
        if (isFirst_) {
            chooseOrder(columns);
            for (size_t column = 0; column < columns.size(); ++column)
                lines[1][column] = rule(columns, column);
        }
        isFirst_ = false;
        std::string text;
        for (const std::vector<std::string>& line : lines) appendLine(text, columns, line);
        return text;
    }

    /// The widest text column goes last if it is long.
    void chooseOrder(const std::vector<ReportColumn>& columns) {
        for (size_t column = 0; column < columns.size(); ++column) order_.push_back(column);
        const auto textWidth = [&](size_t column) {
            return columns[column].unit == Unit::Text ? widths_[column] : 0;
        };
        const auto widest = std::max_element(order_.begin(), order_.end(), [&](size_t a, size_t b) {
            return textWidth(a) < textWidth(b);
        });
        if (widest != order_.end() && textWidth(*widest) > widestInnerText)
            std::rotate(widest, widest + 1, order_.end());
    }

    std::string rule(const std::vector<ReportColumn>& columns, size_t column) const {
        // A rule as long as the longest kernel name would wrap around the terminal.
        const bool isLastText = column == order_.back() && columns[column].unit == Unit::Text;
        return std::string(
            isLastText ? std::min(widths_[column], widestInnerText) : widths_[column], '-');
    }

    void appendLine(std::string& text, const std::vector<ReportColumn>& columns,
                    const std::vector<std::string>& line) const {
        for (const size_t column : order_) {
            const bool isText = columns[column].unit == Unit::Text;
            const size_t padding = widths_[column] - displayWidth(line[column]);
            if (column != order_.front()) text += "  ";
            if (!isText) text.append(padding, ' ');
            text += line[column];
            if (isText && column != order_.back()) text.append(padding, ' ');
        }
        text += '\n';
    }

    std::vector<size_t> widths_;
    std::vector<size_t> order_;
    bool isFirst_ = true;
};

}  // namespace

std::unique_ptr<TableFormatter> makeTextFormatter() {
    return std::make_unique<TextFormatter>();
}

}  // namespace lanescope
