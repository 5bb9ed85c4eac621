// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lanescope {

/// What the numbers of a column are. Cells hold plain numbers in this unit. An identifier is a
/// number that only names something, so it is never grouped by thousands or scaled; a timestamp is
/// a point on the timeline in nanoseconds, so it is never rounded.
enum class Unit : uint8_t {
    Text,
    Count,
    Nanoseconds,
    Bytes,
    GigabytesPerSecond,
    Percent,
    Identifier,
    Timestamp,
};

/// Empty, whole number, real number, or text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

/// How a table looks as text.
enum class ReportStyle : uint8_t {
    Plain,
    Nvprof,  ///< With the columns, widths and number formats of nvprof.
    /// Rows lie within each other. The first three columns are the row's number, that of the row
    /// around it (empty for the first) and how deep it lies; whoever shows it to people may set in
    /// the last column by that instead.
    Tree,
};

struct ReportColumn {
    std::string name;  ///< As Nsight Systems' report of the same name prints it, without the unit.
    Unit unit = Unit::Text;
};

/// A table with typed cells: what `lanescope stats` prints and the viewer's tables show.
struct ReportTable {
    std::string name;   ///< "cuda_gpu_kern_sum".
    std::string title;  ///< "Kernels".
    std::vector<ReportColumn> columns;
    std::vector<std::vector<Cell>> rows;  ///< Each as long as `columns`.
    std::vector<std::string> notes = {};  ///< Sentences below the table, where people read it.
    /// For each row the name by which a search finds what it sums up; empty if rows have none.
    std::vector<std::string> searches = {};
    ReportStyle style = ReportStyle::Plain;
};

}  // namespace lanescope
