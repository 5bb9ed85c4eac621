// SPDX-License-Identifier: Apache-2.0
#include "model/text/formatTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace lanescope {

Result<TableFormat> tableFormatFrom(std::string_view name) {
    if (name == "text") return TableFormat::Text;
    if (name == "csv") return TableFormat::Csv;
    if (name == "nsys-csv") return TableFormat::NsightCsv;
    if (name == "json") return TableFormat::Json;
    return fail("Unknown format \"{}\"; choose from: text, csv, nsys-csv, json.", name);
}

std::string headerOf(const ReportColumn& column) {
    switch (column.unit) {
        case Unit::Nanoseconds:
        case Unit::Timestamp: return fmt::format("{} (ns)", column.name);
        case Unit::Bytes: return fmt::format("{} (B)", column.name);
        case Unit::GigabytesPerSecond: return fmt::format("{} (GB/s)", column.name);
        case Unit::TeraflopsPerSecond: return fmt::format("{} (TFLOP/s)", column.name);
        case Unit::Percent: return fmt::format("{} (%)", column.name);
        case Unit::Text:
        case Unit::Count:
        case Unit::Identifier: break;
    }
    return column.name;
}

std::string formatTable(const ReportTable& table, TableFormat format) {
    const std::unique_ptr<TableFormatter> formatter = makeTableFormatter(format, table.style);
    std::string text = formatter->next(table);
    return text += formatter->end();
}

namespace {

/// Columns of the row's number, its parent's number, and its depth.
constexpr size_t placeColumns = 3;
constexpr size_t blanksPerLevel = 2;
/// Deeper indentation does not help readers.
constexpr int64_t maxLevels = 32;

/// Threshold in columns: a wider text column is printed last, so that it shifts no other column.
constexpr size_t maxInnerTextWidth = 32;

std::string textOf(const Cell& cell, Unit unit) {
    if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
    const auto* real = std::get_if<double>(&cell);
    if (std::holds_alternative<std::monostate>(cell)) return "-";
    // Rates share one unit, given in the header, and one number of decimals.
    if (real && unit == Unit::GigabytesPerSecond) return withThousands(fmt::format("{:.3f}", *real));
    if (real && (unit == Unit::Percent || unit == Unit::TeraflopsPerSecond))
        return withThousands(fmt::format("{:.1f}", *real));
    std::string text = formatCell(cell, unit);
    // Pads one-letter units, so that the numbers stay aligned.
    const bool hasShortUnit = text.size() >= 2 && text[text.size() - 2] == ' ';
    if (hasShortUnit && (unit == Unit::Nanoseconds || unit == Unit::Bytes))
        text.append(unit == Unit::Bytes ? 2 : 1, ' ');
    return text;
}

std::string headingOf(const ReportColumn& column) {
    const bool hasFixedUnit = column.unit == Unit::GigabytesPerSecond || column.unit == Unit::TeraflopsPerSecond ||
                              column.unit == Unit::Percent;
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
            lines.emplace_back(columns.size());  // The rules get the final widths below.
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
            for (size_t column = 0; column < columns.size(); ++column) lines[1][column] = rule(columns, column);
        }
        isFirst_ = false;
        std::string text;
        for (const std::vector<std::string>& line : lines) appendLine(text, columns, line);
        return text;
    }

    /// Moves the widest text column to the end if it is long.
    void chooseOrder(const std::vector<ReportColumn>& columns) {
        for (size_t column = 0; column < columns.size(); ++column) order_.push_back(column);
        const auto textWidth = [&](size_t column) { return columns[column].unit == Unit::Text ? widths_[column] : 0; };
        const auto widest = std::ranges::max_element(order_, {}, textWidth);
        if (widest != order_.end() && textWidth(*widest) > maxInnerTextWidth)
            std::rotate(widest, widest + 1, order_.end());
    }

    std::string rule(const std::vector<ReportColumn>& columns, size_t column) const {
        // A rule as long as the longest kernel name would wrap on the terminal.
        const bool isLastText = column == order_.back() && columns[column].unit == Unit::Text;
        return std::string(isLastText ? std::min(widths_[column], maxInnerTextWidth) : widths_[column], '-');
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

/// Returns true if a spreadsheet would run the text as a formula. Numbers are no formulas.
bool resemblesFormula(std::string_view text) {
    if (text.empty() || std::string_view("=+-@").find(text[0]) == std::string_view::npos) return false;
    return text[0] == '=' || text[0] == '@' || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos;
}

/// Returns valid UTF-8 without control characters except line ends and tabs. An apostrophe, as
/// spreadsheets expect, precedes text that is like a formula.
std::string harmless(std::string_view text) {
    std::string result = resemblesFormula(text) ? "'" : "";
    while (!text.empty()) {
        const size_t kept = std::min(text.find_first_of("\t\r\n"), text.size());
        result += printable(text.substr(0, kept));
        if (kept < text.size()) result += text[kept];
        text.remove_prefix(std::min(kept + 1, text.size()));
    }
    return result;
}

/// Appends a field, quoted only where RFC 4180 requires it; quotes inside are doubled.
void appendField(std::string& line, std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
        line += field;
        return;
    }
    line += '"';
    for (const char letter : field) {
        if (letter == '"') line += '"';
        line += letter;
    }
    line += '"';
}

/// Format of cells and line ends.
struct PlainStyle {
    static constexpr std::string_view lineEnd = "\r\n";
    static std::string header(const ReportColumn& column) { return headerOf(column); }
    static void appendNumber(std::string& line, auto number, Unit) {
        fmt::format_to(std::back_inserter(line), "{}", number);
    }
};

struct NsightStyle {
    static constexpr std::string_view lineEnd = "\n";
    static std::string header(const ReportColumn& column) {
        switch (column.unit) {
            case Unit::Bytes: return column.name + " (MB)";
            case Unit::GigabytesPerSecond: return column.name + " (MB/s)";
            default: return headerOf(column);
        }
    }
    static void appendNumber(std::string& line, int64_t whole, Unit unit) {
        if (unit == Unit::Bytes || unit == Unit::GigabytesPerSecond || unit == Unit::Percent)
            return appendNumber(line, static_cast<double>(whole), unit);
        fmt::format_to(std::back_inserter(line), "{}", whole);
    }
    static void appendNumber(std::string& line, double real, Unit unit) {
        const auto to = std::back_inserter(line);
        if (unit == Unit::Bytes)
            fmt::format_to(to, "{:.3f}", real / 1e6);
        else if (unit == Unit::GigabytesPerSecond)
            fmt::format_to(to, "{:.3f}", real * 1e3);
        else
            fmt::format_to(to, "{:.1f}", real);
    }
};

template <class Style>
void appendCell(std::string& line, const Cell& cell, Unit unit) {
    if (const auto* whole = std::get_if<int64_t>(&cell))
        Style::appendNumber(line, *whole, unit);
    else if (const auto* real = std::get_if<double>(&cell))
        Style::appendNumber(line, *real, unit);
    else if (const auto* text = std::get_if<std::string>(&cell))
        appendField(line, harmless(*text));
}

template <class Style>
class CsvFormatter : public TableFormatter {
  public:
    std::string next(const ReportTable& part) override {
        std::string text;
        if (isFirst_) {
            for (size_t column = 0; column < part.columns.size(); ++column) {
                if (column > 0) text += ',';
                appendField(text, harmless(Style::header(part.columns[column])));
            }
            text += Style::lineEnd;
        }
        isFirst_ = false;
        for (const std::vector<Cell>& row : part.rows) {
            for (size_t column = 0; column < row.size(); ++column) {
                if (column > 0) text += ',';
                appendCell<Style>(text, row[column], part.columns[column].unit);
            }
            text += Style::lineEnd;
        }
        return text;
    }

  private:
    bool isFirst_ = true;
};

using Json = nlohmann::ordered_json;

Json toJson(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return *whole;
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return nullptr;
}

std::string dumped(const Json& json) {
    // Names in a trace may be any bytes; otherwise dump() would throw.
    return withoutControls(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// Formats one row at a time, so that a long table is not copied as a document.
class JsonFormatter : public TableFormatter {
  public:
    std::string next(const ReportTable& part) override {
        std::vector<std::string> keys;
        for (const ReportColumn& column : part.columns) keys.push_back(headerOf(column));
        std::string text;
        for (const std::vector<Cell>& row : part.rows) {
            Json object = Json::object();
            for (size_t column = 0; column < row.size() && column < keys.size(); ++column)
                object[keys[column]] = toJson(row[column]);
            text += (isEmpty_ ? "[\n  " : ",\n  ") + dumped(object);
            isEmpty_ = false;
        }
        return text;
    }

    std::string end() override { return isEmpty_ ? "[]\n" : "\n]\n"; }

  private:
    bool isEmpty_ = true;
};

std::string fiveDigits(double value) {
    const double size = std::abs(value);
    if (size < 10) return fmt::format("{:.4f}", value);
    if (size < 100) return fmt::format("{:.3f}", value);
    if (size < 1000) return fmt::format("{:.2f}", value);
    return fmt::format("{:.1f}", value);
}

/// Scales by units of 1024; prints a whole number below the first unit.
std::string scaled(double value, std::string_view suffix) {
    static constexpr std::array<std::string_view, 5> units{"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    while (std::abs(value) >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    const std::string number =
        unit == 0 && value == std::floor(value) ? fmt::format("{:.0f}", value) : fiveDigits(value);
    return fmt::format("{}{}{}", number, units[unit], suffix);
}

std::string nvprofText(const Cell& cell, Unit unit) {
    if (std::holds_alternative<std::monostate>(cell)) return "-";
    if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
    const double value = numberIn(cell).value_or(0);
    switch (unit) {
        case Unit::Nanoseconds:
        case Unit::Timestamp: return nvprofTime(value);
        case Unit::Bytes: return nvprofSize(value);
        case Unit::GigabytesPerSecond: return nvprofThroughput(value);
        case Unit::Percent: return fmt::format("{:.2f}%", value);
        default: return fmt::format("{:.0f}", value);
    }
}

/// Returns nvprof's width of the column; other columns get nvprof's most frequent width.
size_t widthOf(const std::string& name) {
    static constexpr size_t defaultColumnWidth = 8;
    static constexpr std::array<std::pair<std::string_view, size_t>, 9> wider{{{"Type", 16},
                                                                               {"Grid Size", 19},
                                                                               {"Block Size", 14},
                                                                               {"Throughput", 10},
                                                                               {"SrcMemType", 10},
                                                                               {"DstMemType", 10},
                                                                               {"Device", 15},
                                                                               {"Src Dev", 15},
                                                                               {"Dst Dev", 15}}};
    for (const auto& [column, width] : wider)
        if (name == column) return width;
    return defaultColumnWidth;
}

bool isDevice(const std::string& name) { return name == "Device" || name == "Src Dev" || name == "Dst Dev"; }

class NvprofFormatter : public TableFormatter {
  public:
    std::string next(const ReportTable& part) override {
        std::string text;
        if (isFirst_)
            for (size_t column = 0; column < part.columns.size(); ++column)
                append(text, part, column, headingOf(part.columns[column]));
        if (isFirst_) text += '\n';
        isFirst_ = false;
        for (const std::vector<Cell>& row : part.rows) {
            for (size_t column = 0; column < part.columns.size(); ++column)
                append(text, part, column, cellText(part, row, column));
            text += '\n';
        }
        return text;
    }

  private:
    static std::string headingOf(const ReportColumn& column) {
        return column.unit == Unit::Percent ? column.name + "(%)" : column.name;
    }

    /// The type is printed once, in the first row of its kind.
    std::string cellText(const ReportTable& part, const std::vector<Cell>& row, size_t column) {
        const std::string& name = part.columns[column].name;
        std::string text = nvprofText(row[column], part.columns[column].unit);
        if (name == "Type") {
            if (text == lastType_) return {};
            lastType_ = text;
            return text + ":";
        }
        if (isDevice(name)) text.resize(std::min(text.size(), widthOf(name)));
        return text;
    }

    static void append(std::string& line, const ReportTable& part, size_t column, const std::string& text) {
        if (column > 0) line += "  ";
        // The percentage column is one digit narrower.
        const size_t width = part.columns[column].unit == Unit::Percent ? 7 : widthOf(part.columns[column].name);
        const bool isLast = column + 1 == part.columns.size();
        if (!isLast && displayWidth(text) < width) line.append(width - displayWidth(text), ' ');
        line += text;
    }

    std::string lastType_;
    bool isFirst_ = true;
};

}  // namespace

ReportTable indentedRows(ReportTable table) {
    if (table.style != ReportStyle::Tree || table.columns.size() <= placeColumns) return table;
    const auto removePlace = [](auto& cells) { cells.erase(cells.begin(), std::next(cells.begin(), placeColumns)); };
    for (std::vector<Cell>& row : table.rows) {
        if (row.size() <= placeColumns) continue;
        const auto* depth = std::get_if<int64_t>(&row[placeColumns - 1]);
        auto* name = std::get_if<std::string>(&row.back());
        if (depth != nullptr && name != nullptr)
            name->insert(0, blanksPerLevel * static_cast<size_t>(std::clamp<int64_t>(*depth, 0, maxLevels)), ' ');
        removePlace(row);
    }
    removePlace(table.columns);
    table.style = ReportStyle::Plain;
    return table;
}

std::unique_ptr<TableFormatter> makeTableFormatter(TableFormat format, ReportStyle style) {
    switch (format) {
        case TableFormat::Text:
            if (style == ReportStyle::Nvprof) return std::make_unique<NvprofFormatter>();
            return std::make_unique<TextFormatter>();
        case TableFormat::Csv: return std::make_unique<CsvFormatter<PlainStyle>>();
        case TableFormat::NsightCsv: return std::make_unique<CsvFormatter<NsightStyle>>();
        case TableFormat::Json: break;
    }
    return std::make_unique<JsonFormatter>();
}

std::string nvprofTime(double ns) {
    const double size = std::abs(ns);
    if (size < 1e3) return fmt::format("{:.0f}ns", ns);
    if (size < 1e6) return fiveDigits(ns / 1e3) + "us";
    if (size < 1e9) return fiveDigits(ns / 1e6) + "ms";
    const double seconds = ns / 1e9;
    const int decimals = size < 1e10 ? 5 : size < 1e11 ? 4 : size < 1e12 ? 3 : 2;
    return fmt::format("{:.{}f}s", seconds, decimals);
}

std::string nvprofSize(double bytes) { return scaled(bytes, ""); }

std::string nvprofThroughput(double gigabytesPerSecond) { return scaled(gigabytesPerSecond * 1e9, "/s"); }

}  // namespace lanescope
