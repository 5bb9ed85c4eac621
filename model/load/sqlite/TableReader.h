// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <initializer_list>

#include "model/format/Table.h"
#include "model/load/sqlite/RowReader.h"

namespace lanescope {

/// Reads a table that `model/format/tables` describes, by that description:
///
///     constexpr const auto& k = tables::kernels;
///     TableReader reader(context, k, {k.start, k.end, k.gridX}, "kernels");
///     while (reader.next()) use(reader.times(k.start, k.end), reader.unsigned32(k.gridX));
///
/// A column of another table does not compile; one that is not in the list is a mistake of the
/// program and throws. Everything else is as `RowReader` says.
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

    /// `columns` may hold `tables::rowNumber<Table>`; `what` is what progress calls the rows.
    TableReader(LoadContext& context, const Table& table, std::initializer_list<Column> columns,
                const char* what)
        : RowReader(context, table.tableName(), namesOf(table, columns), what) {
        places_.fill(notAsked);
        int place = 0;
        for (const Column column : columns) places_[column.number()] = place++;
    }

    bool hasColumn(Column column) const { return RowReader::hasColumn(placeOf(column)); }
    bool isNull(Column column) const { return RowReader::isNull(placeOf(column)); }
    std::optional<int64_t> integer(Column column) { return RowReader::integer(placeOf(column)); }
    int64_t integerOr(Column column, int64_t fallback) {
        return RowReader::integerOr(placeOf(column), fallback);
    }
    uint32_t unsigned32(Column column) { return RowReader::unsigned32(placeOf(column)); }
    int64_t bytes(Column column) { return RowReader::bytes(placeOf(column)); }
    std::string_view text(Column column) { return RowReader::text(placeOf(column)); }
    double real(Column column) const { return RowReader::real(placeOf(column)); }
    long double number(Column column) { return RowReader::number(placeOf(column)); }
    std::optional<StringIndex> string(Column column, FileStrings& strings) {
        return RowReader::string(placeOf(column), strings);
    }
    std::optional<TimeRange> times(Column start, Column end) {
        return RowReader::times(placeOf(start), placeOf(end));
    }
    std::optional<int64_t> time(Column column) { return RowReader::time(placeOf(column)); }

  private:
    static constexpr int notAsked = -1;

    static std::vector<const char*> namesOf(const Table& table,
                                            std::initializer_list<Column> columns) {
        std::vector<const char*> names;
        for (const Column column : columns)
            names.push_back(column.number() < table.columns().size()
                                ? table.columns()[column.number()].name
                                : "rowid");
        return names;
    }
    int placeOf(Column column) const {
        const int place = places_[column.number()];
        if (place == notAsked) throwNotAsked();
        return place;
    }

    std::array<int, tables::Table::maxColumns + 1>
        places_;  ///< By column; the last the row number.
};

}  // namespace lanescope
