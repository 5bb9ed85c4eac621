// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/reports/reports.h"
#include "tests/support/listed.h"
#include "tests/support/orFail.h"

namespace lanescope::test {

/// Makes a report. Ends the test program if it cannot be made.
inline ReportTable report(const Trace& trace, std::string_view name, std::optional<TimeRange> range = {}) {
    return orFail(makeReport(trace, name, range));
}
inline ReportTable report(const Trace& trace, std::string_view name, std::string_view rangeName) {
    return orFail(makeReport(trace, name, {}, rangeName));
}

/// Returns the value of a cell. Ends the test program if the cell has another type.
inline int64_t whole(const Cell& cell) { return std::get<int64_t>(cell); }
inline double real(const Cell& cell) { return std::get<double>(cell); }
inline const std::string& text(const Cell& cell) { return std::get<std::string>(cell); }
inline bool isEmpty(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

/// Returns the number of a column. Ends the test program if there is none of that name.
inline size_t columnOf(const ReportTable& table, std::string_view name) {
    for (size_t column = 0; column < table.columns.size(); ++column)
        if (table.columns[column].name == name) return column;
    qFatal("no such column");
}

/// Returns a whole number in a column.
inline int64_t whole(const ReportTable& table, size_t row, size_t column) {
    return whole(table.rows.at(row).at(column));
}
inline int64_t whole(const ReportTable& table, size_t row, std::string_view column) {
    return whole(table, row, columnOf(table, column));
}

/// Returns some cells of a row, all by default, to compare at once: "'gemm' 2 0.5 -". Texts are quoted, "-" is empty,
/// and only real numbers have a point.
inline Listed cells(const std::vector<Cell>& row, std::initializer_list<size_t> columns = {}) {
    Listed all;
    const auto add = [&all](const Cell& cell) {
        if (!all.text.empty()) all.text += ' ';
        if (const auto* text = std::get_if<std::string>(&cell)) {
            all.text += '\'' + *text + '\'';
        } else if (const auto* whole = std::get_if<int64_t>(&cell)) {
            all.text += std::to_string(*whole);
        } else if (const auto* real = std::get_if<double>(&cell)) {
            const std::string digits = listed(*real).text;
            all.text += digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
        } else {
            all.text += '-';
        }
    };
    for (const size_t column : columns) add(row.at(column));
    if (columns.size() == 0)
        for (const Cell& cell : row) add(cell);
    return all;
}

/// The same of all rows, with "; " between rows.
inline Listed cells(const ReportTable& table, std::initializer_list<size_t> columns = {}) {
    Listed all;
    for (const std::vector<Cell>& row : table.rows)
        all.text += (all.text.empty() ? "" : "; ") + cells(row, columns).text;
    return all;
}

}  // namespace lanescope::test
