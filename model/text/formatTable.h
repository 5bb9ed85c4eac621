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
    NsightCsv,  ///< As `nsys stats --format csv` has it.
    Json,
};

/// "text", "csv", "nsys-csv" or "json"; a sentence for anything else.
Result<TableFormat> tableFormatFrom(std::string_view name);

/// Text: aligned columns for people, each value with the unit that fits its size ("12.50 us"),
/// rates and shares with the unit in the header; a long text column comes last and is never cut.
/// CSV (RFC 4180) and JSON (array of objects): plain numbers in the column's unit, units in the
/// column names as Nsight Systems writes them ("Total Time (ns)"), for programs. JSON is always
/// valid UTF-8, whatever the trace holds. CSV as Nsight Systems has it is for programs that read
/// the tables of its own `stats`: sizes in MB, throughput in MB/s, so many decimals as there. Ends
/// with a line break; linear in the cells.
std::string formatTable(const ReportTable& table, TableFormat format);

/// Formats a table that comes in parts, all with the same columns. Concatenated, what it returns is
/// what `formatTable` makes of the whole, but that text columns are aligned by the rows seen so
/// far.
class TableFormatter {
  public:
    virtual ~TableFormatter() = default;
    /// The rows of `part`, behind the header if it is the first.
    virtual std::string next(const ReportTable& part) = 0;
    /// What closes the table.
    virtual std::string end() { return {}; }
};

std::unique_ptr<TableFormatter> makeTableFormatter(TableFormat format,
                                                   ReportStyle style = ReportStyle::Plain);
/// The formats, a file each, but for the two kinds of CSV.
std::unique_ptr<TableFormatter> makeTextFormatter();
std::unique_ptr<TableFormatter> makeCsvFormatter();
std::unique_ptr<TableFormatter> makeNsightCsvFormatter();
std::unique_ptr<TableFormatter> makeJsonFormatter();

/// Name of a column with its unit, as in CSV and JSON: "Total Time (ns)", "Time (%)", "Name".
std::string headerOf(const ReportColumn& column);

/// A table as people read it: of `ReportStyle::Tree` without the columns that only say which row
/// lies in which, the last column set in by how deep it does; any other as it is. O(cells).
ReportTable indentedRows(ReportTable table);

// Numbers as nvprof prints them: five significant digits (six of seconds), units without a space,
// and units of 1024 for sizes and rates alike, whatever they are called.

/// "640ns", "26.016us", "335.24ms", "3.16810s".
std::string nvprofTime(double ns);
/// "4B", "256.00KB", "1.1152KB".
std::string nvprofSize(double bytes);
/// "9.3842GB/s"; takes GB/s of 10^9 bytes.
std::string nvprofThroughput(double gigabytesPerSecond);

/// Text in nvprof's columns, for tables of `ReportStyle::Nvprof`.
std::unique_ptr<TableFormatter> makeNvprofFormatter();

}  // namespace lanescope
