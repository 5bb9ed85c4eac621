// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "model/values/formatTable.h"

namespace lanescope {

namespace {

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

void appendCell(std::string& line, const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell))
        fmt::format_to(std::back_inserter(line), "{}", *whole);
    else if (const auto* real = std::get_if<double>(&cell))
        fmt::format_to(std::back_inserter(line), "{}", *real);
    else if (const auto* text = std::get_if<std::string>(&cell))
        appendField(line, *text);
}

class CsvFormatter : public TableFormatter {
  public:
    std::string next(const ReportTable& part) override {
        std::string text;
        if (isFirst_) {
            for (size_t column = 0; column < part.columns.size(); ++column) {
                if (column > 0) text += ',';
                appendField(text, headerOf(part.columns[column]));
            }
            text += "\r\n";
        }
        isFirst_ = false;
        for (const std::vector<Cell>& row : part.rows) {
            for (size_t column = 0; column < row.size(); ++column) {
                if (column > 0) text += ',';
                appendCell(text, row[column]);
            }
            text += "\r\n";
        }
        return text;
    }

  private:
    bool isFirst_ = true;
};

}  // namespace

std::unique_ptr<TableFormatter> makeCsvFormatter() {
    return std::make_unique<CsvFormatter>();
}

}  // namespace lanescope
