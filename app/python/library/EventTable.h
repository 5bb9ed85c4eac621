// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <type_traits>

#include "app/python/library/Columns.h"
#include "model/format/Result.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/OfTable.h"

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

/// A column of events with its reader.
struct EventColumn {
    ColumnInfo info;
    std::function<ColumnValues(size_t first, size_t count)> read;
};

/// Values by row of objects that events belong to; null where `isKnown` is not set.
template <class T>
struct PerRow {
    std::vector<T> values;
    std::vector<bool> isKnown;

    void push_back(T value, bool isIt = true) {
        values.push_back(value);
        isKnown.push_back(isIt);
    }
};

template <class T>
constexpr ColumnType columnTypeOf() {
    if constexpr (std::is_floating_point_v<T>) return ColumnType::Float64;
    if constexpr (sizeof(T) == 8) return std::is_signed_v<T> ? ColumnType::Int64 : ColumnType::UInt64;
    return std::is_signed_v<T> ? ColumnType::Int32 : ColumnType::UInt32;
}

/// Passes a column in pieces that fit into a cache: `take(values, index of the first)`.
template <class T, class Take>
void readPieces(const Column<T>& column, size_t first, size_t count, const Take& take) {
    std::array<T, 2048> piece;
    for (size_t done = 0; done < count; done += piece.size()) {
        const std::span<T> values(piece.data(), std::min(piece.size(), count - done));
        column.copyTo(values, first + done);
        take(std::span<const T>(values), done);
    }
}

/// The numbers of a column, unchanged. `column` must outlive the result.
template <class T>
EventColumn asItIs(std::string name, Unit unit, const Column<T>& column) {
    return {{name, name, unit, columnTypeOf<T>()}, [&column](size_t first, size_t count) {
                ColumnValues out{Buffer(count * sizeof(T)), {}, {}, 0};
                column.copyTo({out.values.as<T>(), count}, first);
                return out;
            }};
}

/// The duration of each event.
inline EventColumn durations(const Column<int64_t>& startNs, const Column<int64_t>& endNs) {
    return {{"duration_ns", "duration_ns", Unit::Nanoseconds, ColumnType::Int64},
            [&startNs, &endNs](size_t first, size_t count) {
                ColumnValues out{Buffer(count * sizeof(int64_t)), {}, {}, 0};
                auto* values = out.values.as<int64_t>();
                endNs.copyTo({values, count}, first);
                readPieces(startNs, first, count, [values](auto starts, size_t place) {
                    for (size_t row = 0; row < starts.size(); ++row)
                        values[place + row] = TimeRange{starts[row], values[place + row]}.durationNs();
                });
                return out;
            }};
}

/// The value in `perRow` of the row in each value of `column`; null if there is no such row.
template <class T, class Key>
EventColumn resolved(ColumnInfo info, const Column<Key>& column, PerRow<T> perRow) {
    const bool areAllKnown = std::find(perRow.isKnown.begin(), perRow.isKnown.end(), false) == perRow.isKnown.end();
    return {std::move(info), [&column, areAllKnown, perRow = std::move(perRow)](size_t first, size_t count) {
                ColumnValues out{Buffer(count * sizeof(T)), {}, {}, 0};
                auto* values = out.values.template as<T>();
                ValidityBits validity(count);
                readPieces(column, first, count, [&](auto keys, size_t place) {
                    for (size_t row = 0; row < keys.size(); ++row) {
                        const auto key = static_cast<size_t>(keys[row]);
                        const bool isThere = key < perRow.values.size();
                        values[place + row] = isThere ? perRow.values[key] : T{};
                        if (!isThere || (!areAllKnown && !perRow.isKnown[key])) validity.setNull(place + row);
                    }
                });
                validity.moveTo(out);
                return out;
            }};
}

template <class T, class Key>
EventColumn resolved(std::string name, Unit unit, const Column<Key>& column, PerRow<T> perRow) {
    return resolved({name, name, unit, columnTypeOf<T>()}, column, std::move(perRow));
}

/// `nameOf(value)` of each value of `column`, which are numbers below `limit`; each name once.
template <class Key, class NameOf>
EventColumn named(std::string name, const Column<Key>& column, size_t limit, const NameOf& nameOf) {
    Names names;
    PerRow<int32_t> numbers;
    numbers.values.assign(limit, 0);
    numbers.isKnown.assign(limit, true);
    std::vector<bool> isNamed(limit);
    readPieces(column, 0, column.size(), [&](auto keys, size_t) {
        for (const Key value : keys) {
            const auto key = static_cast<size_t>(value);
            if (key >= limit || isNamed[key]) continue;
            isNamed[key] = true;
            numbers.values[key] = names.numberOf(nameOf(value));
        }
    });
    return resolved({name, name, Unit::Text, ColumnType::Name, std::make_shared<Dictionary>(names)}, column,
                    std::move(numbers));
}

/// The recorded events of one kind, by start. Stores no rows: a batch is read from the trace on
/// request, its columns on all cores.
class EventTable : public Table {
  public:
    EventTable(TracePtr trace, std::string name, uint32_t rowCount, std::vector<EventColumn> columns);

    int64_t rowCount() const override { return rowCount_; }
    Batch rows(int64_t first, int64_t maxRows) const override;

  private:
    TracePtr trace_;  // source of the columns
    uint32_t rowCount_;
    std::vector<EventColumn> read_;
};

/// Returns the events of a kind by its identifier, such as "kernel"; fails with the list of kinds
/// for another name. O(n), with a small constant.
Result<TablePtr> eventTable(const TracePtr& trace, std::string_view kind);

}  // namespace lanescope::python
