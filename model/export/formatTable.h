#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/export/formatValue.h"
#include "model/format/Result.h"
#include "model/summary/ReportTable.h"

namespace lanescope {

enum class TableFormat : uint8_t { Text, Csv, Json };

/// "text", "csv" or "json"; a sentence for anything else.
Result<TableFormat> tableFormatFrom(std::string_view name);

/// Text: aligned columns for people, each value with the unit that fits its size ("12.50 us"), rates and
/// shares with the unit in the header; a long text column comes last and is never cut. CSV (RFC 4180) and
/// JSON (array of objects): plain numbers in the column's unit, units in the column names as Nsight
/// Systems writes them ("Total Time (ns)"), for programs. JSON is always valid UTF-8, whatever the trace
/// holds. Ends with a line break; linear in the cells.
std::string formatTable(const ReportTable& table, TableFormat format);

/// The three formats, one file each.
std::string formatAsText(const ReportTable& table);
std::string formatAsCsv(const ReportTable& table);
std::string formatAsJson(const ReportTable& table);

/// Name of a column with its unit, as in CSV and JSON: "Total Time (ns)", "Time (%)", "Name".
std::string headerOf(const ReportColumn& column);

}  // namespace lanescope
