// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/text/ReportTable.h"
#include "model/text/formatValue.h"

namespace lanescope {

enum class TableFormat : uint8_t {
    Text,
    Csv,
    NsightCsv,  ///< As `nsys stats --format csv`.
    Json,
};

/// Parses "text", "csv", "nsys-csv" or "json"; fails for other names.
Result<TableFormat> tableFormatFrom(std::string_view name);

/// Returns the table as text that ends with a line break. Linear in the cells.
/// - Text: aligned columns for people, each value with a fitting unit ("12.50 us"), rates and
///   shares with the unit in the header. A long text column comes last and is never truncated.
/// - CSV (RFC 4180) and JSON (array of objects): plain numbers in the column's unit, units in the
///   column names as in Nsight Systems ("Total Time (ns)"), for programs. JSON is always valid
///   UTF-8.
/// - Nsight's CSV, for programs that read tables of `nsys stats`: sizes in MB, throughput in MB/s,
///   with the same decimals.
std::string formatTable(const ReportTable& table, TableFormat format);

/// Formats a table that comes in parts with the same columns. The concatenated output equals
/// `formatTable` of the whole, except that text columns are aligned by the rows so far.
class TableFormatter {
  public:
    virtual ~TableFormatter() = default;
    /// Returns the rows of `part`, after the header if it is the first part.
    virtual std::string next(const ReportTable& part) = 0;
    /// Returns the text that closes the table.
    virtual std::string end() { return {}; }
};

/// `ReportStyle::Nvprof` changes text only: it gets nvprof's columns.
std::unique_ptr<TableFormatter> makeTableFormatter(TableFormat format, ReportStyle style = ReportStyle::Plain);

/// Returns the column name with its unit, as in CSV and JSON: "Total Time (ns)", "Time (%)", "Name".
std::string headerOf(const ReportColumn& column);

/// Returns a table for people: for `ReportStyle::Tree` without the columns of the nesting, and with
/// the last column indented by the depth. Other tables are returned unchanged. O(cells).
ReportTable indentedRows(ReportTable table);

// Numbers in nvprof's format: five significant digits (six for seconds), units without a space, and
// units of 1024 for sizes and rates, whatever their name.

/// Returns "640ns", "26.016us", "335.24ms", "3.16810s".
std::string nvprofTime(double ns);
/// Returns "4B", "256.00KB", "1.1152KB".
std::string nvprofSize(double bytes);
/// Returns "9.3842GB/s" of a rate in GB/s of 10^9 bytes.
std::string nvprofThroughput(double gigabytesPerSecond);

}  // namespace lanescope
