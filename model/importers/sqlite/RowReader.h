// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Table.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/TableRows.h"

namespace lanescope {

class FileStrings;

/// Reads one table row by row. Missing columns read as NULL, missing tables as empty. Cells of the
/// wrong type read as NULL and are tallied. A corrupt table ends early with a health note. Columns
/// are numbered by their place in the list. For described tables use `TableReader`.
class RowReader {
  public:
    /// `table` and `columns` are constants of this program. `what` names the rows in progress reports.
    RowReader(LoadContext& context, const char* table, const std::vector<const char*>& columns, const char* what);
    ~RowReader();
    RowReader(const RowReader&) = delete;
    RowReader& operator=(const RowReader&) = delete;

    /// Advances to the next row. Returns false at the end or if the load was cancelled.
    bool next();
    bool hasTable() const { return hasTable_; }
    bool hasColumn(int column) const { return isPresent_[static_cast<size_t>(column)]; }
    int64_t estimatedRows() const { return estimatedRows_; }

    bool isNull(int column) const { return at(column).type == CellType::Null; }
    std::optional<int64_t> integer(int column) {
        const RowBatch::Cell& cell = at(column);
        if (cell.type == CellType::Integer) return cell.bits;
        if (cell.type != CellType::Null) ignoreCell();
        return std::nullopt;
    }
    int64_t integerOr(int column, int64_t fallback) { return integer(column).value_or(fallback); }
    /// Returns 0 for NULL and for a value out of range.
    uint32_t unsigned32(int column);
    /// Returns a size in bytes; 0 for NULL and for impossible sizes.
    int64_t bytes(int column);
    /// Returns a text, or a number as it is written. Empty for NULL. Valid until the next row.
    std::string_view text(int column);
    /// Returns 0 if the cell is not a number.
    double real(int column) const;
    /// Returns an integer or real number, exact for both. NaN for NULL and other types.
    long double number(int column);
    /// Returns a string by id, or a text if an old file contains the text itself. Returns nullopt
    /// for NULL or an unknown id.
    std::optional<StringIndex> string(int column, FileStrings& strings);
    /// Returns start and end, from columns in this order. Returns nullopt for an event without a time (tallied as
    /// untimed) or with invalid times (tallied as skipped). An end before the start is read as the start.
    std::optional<TimeRange> times(int startColumn, int endColumn);
    /// Returns a single time by the same rules.
    std::optional<int64_t> time(int column);

    void skipRow() { ++skippedRows_; }
    void ignoreCell() { ++ignoredCells_; }
    /// Counts the read rows as events of that name, if the file has the table.
    void countAs(std::string_view name) {
        if (hasTable_ || untimedElsewhere_ > 0) context_.builder().count(name, totalCount(), untimedCount());
    }
    int64_t rowCount() const { return rowCount_; }
    /// Returns the read rows plus those in `LANESCOPE_UNTIMED`.
    int64_t totalCount() const { return rowCount_ + untimedElsewhere_; }
    int64_t untimedCount() const { return untimedCount_ + untimedElsewhere_; }

  protected:
    /// Throws for a column that is not in the list.
    [[noreturn]] void throwUnknownColumn() const;

  private:
    const RowBatch::Cell& at(int column) const { return row_[column]; }
    bool isInteger(int column) const { return at(column).type == CellType::Integer; }
    void noteCorruption();
    bool stop();

    LoadContext& context_;
    const char* table_;
    const char* what_;
    std::vector<bool> isPresent_;
    std::optional<TableRows> rows_;  ///< nullopt after the last row.
    const RowBatch* batch_ = nullptr;
    const RowBatch::Cell* row_ = nullptr;
    size_t nextInBatch_ = 0;
    std::vector<std::string> numberTexts_;  ///< By column.
    bool hasTable_ = false;
    int64_t estimatedRows_ = 0;
    int64_t rowCount_ = 0;
    int64_t untimedCount_ = 0;
    int64_t untimedElsewhere_ = 0;
    int64_t skippedRows_ = 0;
    int64_t ignoredCells_ = 0;
};

/// Reads a table described in `model/format/tables`:
///
///     constexpr const auto& k = tables::kernels;
///     TableReader reader(context, k, {k.start, k.end, k.gridX}, "kernels");
///     while (reader.next()) use(reader.times(k.start, k.end), reader.unsigned32(k.gridX));
///
/// A column of another table does not compile. A column that is not in the list is a programming
/// error and throws. All else is as in `RowReader`.
template <class Table>
class TableReader : private RowReader {
  public:
    using Column = tables::ColumnOf<Table>;
    using RowReader::countAs;
    using RowReader::estimatedRows;
    using RowReader::hasTable;
    using RowReader::ignoreCell;
    using RowReader::next;
    using RowReader::rowCount;
    using RowReader::skipRow;
    using RowReader::totalCount;
    using RowReader::untimedCount;

    /// `columns` may contain `tables::rowNumber<Table>`. `what` names the rows in progress reports.
    TableReader(LoadContext& context, const Table& table, std::initializer_list<Column> columns, const char* what)
        : RowReader(context, table.tableName(), namesOf(table, columns), what) {
        places_.fill(unusedColumn);
        int place = 0;
        for (const Column column : columns) places_[column.number()] = place++;
    }

    bool hasColumn(Column column) const { return RowReader::hasColumn(placeOf(column)); }
    bool isNull(Column column) const { return RowReader::isNull(placeOf(column)); }
    std::optional<int64_t> integer(Column column) { return RowReader::integer(placeOf(column)); }
    int64_t integerOr(Column column, int64_t fallback) { return RowReader::integerOr(placeOf(column), fallback); }
    uint32_t unsigned32(Column column) { return RowReader::unsigned32(placeOf(column)); }
    int64_t bytes(Column column) { return RowReader::bytes(placeOf(column)); }
    std::string_view text(Column column) { return RowReader::text(placeOf(column)); }
    double real(Column column) const { return RowReader::real(placeOf(column)); }
    long double number(Column column) { return RowReader::number(placeOf(column)); }
    std::optional<StringIndex> string(Column column, FileStrings& strings) {
        return RowReader::string(placeOf(column), strings);
    }
    std::optional<TimeRange> times(Column start, Column end) { return RowReader::times(placeOf(start), placeOf(end)); }
    std::optional<int64_t> time(Column column) { return RowReader::time(placeOf(column)); }

  private:
    static constexpr int unusedColumn = -1;

    static std::vector<const char*> namesOf(const Table& table, std::initializer_list<Column> columns) {
        std::vector<const char*> names;
        for (const Column column : columns)
            names.push_back(column.number() < table.columns().size() ? table.columns()[column.number()].name : "rowid");
        return names;
    }
    int placeOf(Column column) const {
        const int place = places_[column.number()];
        if (place == unusedColumn) throwUnknownColumn();
        return place;
    }

    std::array<int, tables::Table::maxColumns + 1> places_;  ///< By column. The last is the row number.
};

}  // namespace lanescope
