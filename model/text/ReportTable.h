// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lanescope {

/// Unit of the numbers of a column. Cells are plain numbers in this unit. Identifiers only name something, so they are
/// never grouped or scaled. Timestamps are points on the timeline in nanoseconds, so they are never rounded.
enum class Unit : uint8_t {
    Text,
    Count,
    Nanoseconds,
    Bytes,
    GigabytesPerSecond,
    TeraflopsPerSecond,
    Percent,
    Identifier,
    Timestamp,
};

/// Empty, whole number, real number, or text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

/// Returns nullopt for an empty cell and for text.
inline std::optional<double> numberIn(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&cell);
    return real ? std::optional(*real) : std::nullopt;
}

/// Layout of a table as text.
enum class ReportStyle : uint8_t {
    Plain,
    Nvprof,  ///< With the columns, widths and number formats of nvprof.
    /// Nested rows. The first three columns are the row's number, the number of its parent (empty
    /// for a root) and its depth. For people the last column can be indented by the depth instead.
    Tree,
};

struct ReportColumn {
    std::string name;  ///< As in Nsight Systems' report of the same name, without the unit.
    Unit unit = Unit::Text;
};

/// Table with typed cells, printed by `lanescope stats` and shown in the viewer.
struct ReportTable {
    std::string name = {};   ///< "cuda_gpu_kern_sum".
    std::string title = {};  ///< "Kernels".
    std::vector<ReportColumn> columns = {};
    std::vector<std::vector<Cell>> rows = {};  ///< Each as long as `columns`.
    std::vector<std::string> notes = {};       ///< Sentences below the table, in the formats for people.
    /// Search text of each row that finds its events; empty if rows have none.
    std::vector<std::string> searches = {};
    ReportStyle style = ReportStyle::Plain;
};

}  // namespace lanescope
