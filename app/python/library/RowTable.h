// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "app/python/library/Columns.h"
#include "model/text/ReportTable.h"

namespace lanescope::python {

/// The names of a report's columns.
enum class ColumnNames : uint8_t {
    Headers,      ///< As in CSV and JSON: "Total Time (ns)".
    Identifiers,  ///< "total_time_ns".
};
/// Stores each distinct text only once if `Names`.
enum class TextsAre : uint8_t { Plain, Names };

/// The rows of a report, stored as columns: some ten bytes per cell. A column is text if any cell
/// is, else real numbers if any cell is, else whole numbers; if all cells are empty, its unit
/// decides. A listing that arrives in parts is typed by its first part and by its units.
class RowTable : public Table {
  public:
    RowTable(const ReportTable& table, ColumnNames names);
    /// `forEachPart` calls its argument with each part; the columns are the same each time.
    using Parts = std::function<void(const std::function<void(const ReportTable&)>&)>;
    RowTable(std::string name, const Parts& forEachPart, ColumnNames names, TextsAre texts);

    int64_t rowCount() const override { return rowCount_; }
    Batch rows(int64_t first, int64_t maxRows) const override;

  private:
    struct Part {
        int64_t firstRow = 0;
        size_t rows = 0;
        std::vector<std::shared_ptr<const ColumnValues>> columns;
    };
    void describeColumns(const ReportTable& part, ColumnNames names, TextsAre texts);
    void add(const ReportTable& part, std::vector<Names>& names);

    std::vector<Part> parts_;
    int64_t rowCount_ = 0;
};

}  // namespace lanescope::python
