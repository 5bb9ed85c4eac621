#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/summary/ReportTable.h"

namespace lanescope {

enum class TableFormat : uint8_t { Text, Csv, Json };

/// "text", "csv" or "json"; a sentence for anything else.
Result<TableFormat> tableFormatFrom(std::string_view name);

/// Text: aligned columns, units in the header, for people. CSV (RFC 4180) and JSON (array of objects):
/// plain numbers in the column's unit, units in the column names, for programs.
std::string formatTable(const ReportTable& table, TableFormat format);

/// One cell as people read it: "12.34 ms", "4.00 MiB", "55.5 GB/s", "12,345".
std::string formatCell(const Cell& cell, Unit unit);

/// "1.234 ms", "12.5 us", "3.2 s": three to four significant digits.
std::string formatDuration(int64_t durationNs);
/// "4.00 MiB"; powers of 1024.
std::string formatBytes(int64_t bytes);
/// "1,234,567".
std::string formatCount(int64_t count);

}  // namespace lanescope
