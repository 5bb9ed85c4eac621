// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/values/formatTable.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

/// A text that a spreadsheet would take for a formula and run; numbers are none.
bool looksLikeFormula(std::string_view text) {
    if (text.empty() || std::string_view("=+-@").find(text[0]) == std::string_view::npos)
        return false;
    return text[0] == '=' || text[0] == '@' ||
           text.find_first_not_of("0123456789.eE+-") != std::string_view::npos;
}

/// Text as anybody may read it: valid UTF-8 without control characters, but for line ends and tabs,
/// and with an apostrophe before what looks like a formula, as spreadsheets know it.
std::string harmless(std::string_view text) {
    std::string result = looksLikeFormula(text) ? "'" : "";
    while (!text.empty()) {
        const size_t kept = std::min(text.find_first_of("\t\r\n"), text.size());
        result += printable(text.substr(0, kept));
        if (kept < text.size()) result += text[kept];
        text.remove_prefix(std::min(kept + 1, text.size()));
    }
    return result;
}

/// Quoted only where RFC 4180 asks for it; quotes inside are doubled.
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

/// How the cells of a table become fields, and the lines end.
struct PlainStyle {
    static constexpr std::string_view lineEnd = "\r\n";
    static std::string header(const ReportColumn& column) { return headerOf(column); }
    static void appendNumber(std::string& line, int64_t whole, Unit) {
        fmt::format_to(std::back_inserter(line), "{}", whole);
    }
    static void appendNumber(std::string& line, double real, Unit) {
        fmt::format_to(std::back_inserter(line), "{}", real);
    }
};

struct NsightStyle {
    static constexpr std::string_view lineEnd = "\n";
    static std::string header(const ReportColumn& column) {
        switch (column.unit) {
            case Unit::Bytes:
                return column.name + " (MB)";
            case Unit::GigabytesPerSecond:
                return column.name + " (MB/s)";
            default:
                return headerOf(column);
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

}  // namespace

std::unique_ptr<TableFormatter> makeCsvFormatter() {
    return std::make_unique<CsvFormatter<PlainStyle>>();
}

std::unique_ptr<TableFormatter> makeNsightCsvFormatter() {
    return std::make_unique<CsvFormatter<NsightStyle>>();
}

}  // namespace lanescope
