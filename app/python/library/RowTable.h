// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "app/python/library/Columns.h"
#include "model/text/ReportTable.h"

namespace lanescope::python {

/// How the columns of a report are called for programs.
enum class ColumnNames : uint8_t {
    Headers,      ///< As in CSV and JSON: "Total Time (ns)".
    Identifiers,  ///< "total_time_ns".
};
/// Whether texts are kept once each.
enum class TextsAre : uint8_t { Plain, Names };

/// The rows of a report, kept as columns: some ten bytes a cell. A column is of text if a cell is,
/// else of real numbers if a cell is, else of whole numbers; where all cells are empty its unit
/// says so. A listing that comes in parts is typed by its first part and by its units.
class RowTable : public Table {
  public:
    RowTable(const ReportTable& table, ColumnNames names);
    /// `forEachPart` calls its argument with each part; the columns are the same each time.
    using Parts = std::function<void(const std::function<void(const ReportTable&)>&)>;
    RowTable(std::string name, const Parts& forEachPart, ColumnNames names, TextsAre texts);

    int64_t rowCount() const override { return rowCount_; }
    Batch rows(int64_t first, int64_t most) const override;

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
