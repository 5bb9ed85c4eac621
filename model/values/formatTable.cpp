// SPDX-License-Identifier: Apache-2.0
#include "model/values/formatTable.h"

#include <fmt/format.h>

#include "model/values/formatAsNvprof.h"

namespace lanescope {

Result<TableFormat> tableFormatFrom(std::string_view name) {
    if (name == "text") return TableFormat::Text;
    if (name == "csv") return TableFormat::Csv;
    if (name == "nsys-csv") return TableFormat::NsightCsv;
    if (name == "json") return TableFormat::Json;
    return fail("There is no format \"{}\"; there are: text, csv, nsys-csv, json.", name);
}

std::string headerOf(const ReportColumn& column) {
    switch (column.unit) {
        case Unit::Nanoseconds:
        case Unit::Timestamp:
            return fmt::format("{} (ns)", column.name);
        case Unit::Bytes:
            return fmt::format("{} (B)", column.name);
        case Unit::GigabytesPerSecond:
            return fmt::format("{} (GB/s)", column.name);
        case Unit::Percent:
            return fmt::format("{} (%)", column.name);
        case Unit::Text:
        case Unit::Count:
        case Unit::Identifier:
            break;
    }
    return column.name;
}

std::unique_ptr<TableFormatter> makeTableFormatter(TableFormat format, ReportStyle style) {
    switch (format) {
        case TableFormat::Text:
            return style == ReportStyle::Nvprof ? makeNvprofFormatter() : makeTextFormatter();
        case TableFormat::Csv:
            return makeCsvFormatter();
        case TableFormat::NsightCsv:
            return makeNsightCsvFormatter();
        case TableFormat::Json:
            break;
    }
    return makeJsonFormatter();
}

std::string formatTable(const ReportTable& table, TableFormat format) {
    const std::unique_ptr<TableFormatter> formatter = makeTableFormatter(format, table.style);
    std::string text = formatter->next(table);
    return text += formatter->end();
}

}  // namespace lanescope
