// SPDX-License-Identifier: Apache-2.0
// What people see of a table without any other library.
#include <fmt/format.h>

#include "app/python/library/makeTable.h"
#include "model/values/formatValue.h"
#include "model/values/markupText.h"

namespace lanescope::python {

namespace {

bool isNull(const ColumnValues& column, size_t row) {
    const auto* bits = column.validity.as<uint8_t>();
    return bits != nullptr && (bits[row / 8] >> row % 8 & 1) == 0;
}

Cell cellOf(const ColumnInfo& info, const ColumnValues& column, size_t row) {
    if (isNull(column, row)) return {};
    const Buffer& values = column.values;
    switch (info.type) {
        case ColumnType::Int32:
            return int64_t{values.as<int32_t>()[row]};
        case ColumnType::UInt32:
            return int64_t{values.as<uint32_t>()[row]};
        case ColumnType::Int64:
            return values.as<int64_t>()[row];
        case ColumnType::UInt64:
            return fmt::format("{}", values.as<uint64_t>()[row]);
        case ColumnType::Float64:
            return values.as<double>()[row];
        case ColumnType::Name:
            return info.dictionary->texts[static_cast<size_t>(values.as<int32_t>()[row])];
        case ColumnType::Text:
            break;
    }
    const auto* ends = values.as<int32_t>() + row;
    return std::string(column.text.as<char>() + ends[0], column.text.as<char>() + ends[1]);
}

}  // namespace

ReportTable previewOf(const Table& table, int64_t most) {
    ReportTable shown;
    shown.name = table.name();
    shown.notes = table.notes();
    for (const ColumnInfo& column : table.columns())
        shown.columns.push_back({column.title, column.unit});
    for (int64_t first = 0; first < std::min(most, table.rowCount());) {
        const Batch batch = table.rows(first, most - first);
        for (size_t row = 0; row < batch.rows; ++row) {
            std::vector<Cell>& cells = shown.rows.emplace_back();
            for (size_t column = 0; column < shown.columns.size(); ++column)
                cells.push_back(
                    cellOf(table.columns()[column], *batch.columns[column], batch.offset + row));
        }
        first += static_cast<int64_t>(batch.rows);
    }
    return shown;
}

std::string asHtml(const ReportTable& table, int64_t rowCount) {
    std::string html = "<table><thead><tr>";
    for (const ReportColumn& column : table.columns)
        html += fmt::format("<th>{}</th>", markupEscaped(column.name));
    html += "</tr></thead><tbody>";
    for (const std::vector<Cell>& row : table.rows) {
        html += "<tr>";
        for (size_t column = 0; column < row.size(); ++column)
            html += fmt::format("<td>{}</td>",
                                markupEscaped(formatCell(row[column], table.columns[column].unit)));
        html += "</tr>";
    }
    html +=
        fmt::format("</tbody></table><p>{} of {} rows</p>",
                    formatCount(static_cast<int64_t>(table.rows.size())), formatCount(rowCount));
    for (const std::string& note : table.notes)
        html += fmt::format("<p>{}</p>", markupEscaped(note));
    return html;
}

}  // namespace lanescope::python
