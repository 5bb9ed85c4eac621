// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/format/Sqlite.h"
#include "model/format/Table.h"
#include "model/format/TimeRange.h"
#include "model/importers/sqlite/LoadContext.h"

namespace lanescope {

/// The cells of some rows of a query, so that one thread can read the file while another builds tables.
class RowBatch {
  public:
    static constexpr size_t maxRows = 2048;
    /// A batch ends when its texts reach this size. A single row may be longer.
    static constexpr size_t maxTextBytes = size_t{1} << 20;

    struct Cell {
        int64_t bits = 0;  ///< For a text: its offset.
        uint32_t length = 0;
        CellType type = CellType::Null;
    };

    /// The reason for the end of a batch.
    enum class End : uint8_t { Full, NoMoreRows, Corrupt };

    /// Replaces the rows by the next rows of a statement. If `isNumbered`, the last column is the
    /// row number and not a cell.
    End fill(Statement& statement, bool isNumbered);

    size_t rowCount() const { return rowCount_; }
    size_t textBytes() const { return text_.size(); }
    const Cell* row(size_t index) const { return cells_.data() + index * columnCount_; }
    std::string_view text(const Cell& cell) const {
        return std::string_view(text_).substr(static_cast<size_t>(cell.bits), cell.length);
    }
    int64_t lastNumber() const { return lastNumber_; }

  private:
    size_t columnCount_ = 0;
    size_t rowCount_ = 0;
    std::vector<Cell> cells_;  ///< Row by row.
    std::string text_;
    int64_t lastNumber_ = 0;
};

/// Reads a table in ranges of row numbers, some ahead of the consumer, on the threads of a load, or
/// on one thread while another table uses these. Ranges are returned in order. The consumer reads a
/// range itself if none is ready. Memory is bounded by the ranges read ahead.
class RowRangeReader {
  public:
    /// `sql` selects the rows numbered from its first to its second parameter, with the number as
    /// last column. Returns null if the statement is invalid.
    static std::unique_ptr<RowRangeReader> create(LoadContext& context, const std::string& sql, int64_t first,
                                                  int64_t last);
    /// Stops the other threads and waits for their current ranges.
    ~RowRangeReader();
    RowRangeReader& operator=(RowRangeReader&&) = delete;

    /// Returns the next rows. Null at the end and after a corrupt place. Valid until the next call.
    const RowBatch* next();
    bool isCorrupt() const { return isCorrupt_; }

  private:
    struct Slot {
        RowBatch batch;
        RowBatch::End end = RowBatch::End::NoMoreRows;
        std::exception_ptr error;  ///< Out of memory.
        bool isReady = false;
    };

    RowRangeReader(LoadContext& context, std::string sql, Statement own, int64_t first, int64_t last);
    void start();
    static RowBatch::End read(Statement& statement, int64_t from, int64_t to, RowBatch& batch);
    int64_t firstOf(int64_t range) const;
    int64_t lastOf(int64_t range) const;
    Slot& slotOf(int64_t range) { return slots_[static_cast<size_t>(range) % slots_.size()]; }
    bool mayRead() const;
    void readNext(Statement& statement, std::unique_lock<std::mutex>& lock);
    void work(Statement& statement);
    bool continueRange();

    LoadContext& context_;
    const std::string sql_;
    const int64_t firstNumber_, lastNumber_;
    const int64_t rangeCount_;
    std::vector<Statement> statements_;  ///< One per thread, the consumer's first.
    std::vector<Slot> slots_;
    bool hasStarted_ = false;
    bool hasBorrowed_ = false;  ///< The connections of the other threads.
    int64_t current_ = -1;      ///< The range that was returned last.
    bool isCorrupt_ = false;

    std::mutex mutex_;
    std::condition_variable isReady_, isWanted_;
    // Guarded by the mutex:
    int64_t unread_ = 0;  ///< The first range that is not yet started.
    int64_t wanted_ = 0;  ///< The first range that is not yet returned.
    bool isStopped_ = false;
    std::vector<std::thread> threads_;
};

/// The rows of a table in the order of the file, in batches. All threads of the load read a large
/// table with row numbers. The result does not depend on their number.
class TableRows {
  public:
    /// `columns` is the text after SELECT. `table` is a constant of this program.
    TableRows(LoadContext& context, const char* table, const std::string& columns);

    /// Returns the next rows. Null at the end and after a corrupt place. Valid until the next call.
    const RowBatch* next();
    bool isCorrupt() const { return isCorrupt_; }

  private:
    bool readByRanges(LoadContext& context, const char* table, const std::string& columns);

    std::unique_ptr<RowRangeReader> ranges_;  ///< Null if one statement reads everything.
    std::optional<Statement> statement_;
    RowBatch batch_;
    bool isCorrupt_ = false;
};

/// Reads one table row by row. Missing columns read as NULL, missing tables as empty. Cells of the
/// wrong type read as NULL and are tallied. A corrupt table ends early with a health note. Columns
/// are numbered by their place in the list. For described tables use `TableReader`.
class RowReader {
  public:
    /// `table` and `columns` are constants of this program. `what` names the rows in progress reports.
    RowReader(LoadContext& context, const char* table, const std::vector<const char*>& columns, const char* what);
    ~RowReader();
    RowReader& operator=(RowReader&&) = delete;

    /// Advances to the next row. Returns false at the end or if the load was cancelled.
    bool next();
    bool hasTable() const { return hasTable_; }

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
    /// Counts the row as skipped if it is invalid. Returns `isInvalid`.
    bool skipRowIf(bool isInvalid) {
        skippedRows_ += isInvalid ? 1 : 0;
        return isInvalid;
    }
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
    std::optional<TableRows> rows_;  ///< nullopt after the last row.
    const RowBatch* batch_ = nullptr;
    const RowBatch::Cell* row_ = nullptr;
    size_t nextInBatch_ = 0;
    std::vector<std::string> numberTexts_;  ///< By column.
    bool hasTable_ = false;
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
    using RowReader::hasTable;
    using RowReader::ignoreCell;
    using RowReader::next;
    using RowReader::rowCount;
    using RowReader::skipRow;
    using RowReader::skipRowIf;
    using RowReader::totalCount;
    using RowReader::untimedCount;

    /// `columns` may contain `tables::rowNumber<Table>`. `what` names the rows in progress reports.
    TableReader(LoadContext& context, const Table& table, const std::vector<Column>& columns, const char* what)
        : RowReader(context, table.tableName(), namesOf(table, columns), what) {
        places_.fill(unusedColumn);
        int place = 0;
        for (const Column column : columns) places_[column.number()] = place++;
    }

    /// Reads all columns of the table.
    TableReader(LoadContext& context, const Table& table, const char* what)
        : RowReader(context, table.tableName(), namesOf(table), what) {
        for (size_t column = 0; column < places_.size(); ++column)
            places_[column] = column < table.columns().size() ? static_cast<int>(column) : unusedColumn;
    }

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

    static std::vector<const char*> namesOf(const Table& table, const std::vector<Column>& columns) {
        std::vector<const char*> names;
        for (const Column column : columns)
            names.push_back(column.number() < table.columns().size() ? table.columns()[column.number()].name : "rowid");
        return names;
    }
    static std::vector<const char*> namesOf(const Table& table) {
        std::vector<const char*> names;
        for (const tables::ColumnInfo& column : table.columns()) names.push_back(column.name);
        return names;
    }
    int placeOf(Column column) const {
        const int place = places_[column.number()];
        if (place == unusedColumn) throwUnknownColumn();
        return place;
    }

    std::array<int, tables::Table::maxColumns + 1> places_;  ///< By column. The last is the row number.
};

/// Returns the enumerator of a number in a file; the first one, for unknown, if it is beyond `last`.
template <class Enum>
Enum enumeratorFrom(int64_t number, Enum last) {
    return number >= 0 && number <= static_cast<int64_t>(last) ? static_cast<Enum>(number) : Enum{};
}

/// Returns the process of a row; the only one, or one without a name, if the row names none.
template <class Table>
uint32_t ownerIn(TableReader<Table>& reader, const Table& table, Identities& identities) {
    const std::optional<int64_t> pid = reader.integer(table.globalPid);
    return pid ? identities.process(*pid) : identities.unnamedProcess();
}

/// The handling of a row without a thread.
enum class UnnamedRows : uint8_t {
    Skipped,  ///< Skipped and tallied.
    Kept,     ///< Assigned to an unnamed thread.
};

/// Reads a table of thread activity. Calls `take(thread, times)` for each valid row and tallies the
/// others. A table without an end column has points in time.
template <class Table, class Take>
void forEachThreadRow(TableReader<Table>& reader, const Table& table, Identities& identities, UnnamedRows nameless,
                      Take take) {
    while (reader.next()) {
        std::optional<TimeRange> times;
        if constexpr (requires { table.end; })
            times = reader.times(table.start, table.end);
        else if (const std::optional<int64_t> timeNs = reader.time(table.start))
            times = TimeRange{*timeNs, *timeNs};
        if (!times) continue;
        uint32_t thread = noIndex;
        if (const std::optional<int64_t> tid = reader.integer(table.globalTid))
            thread = identities.thread(*tid);
        else if (nameless == UnnamedRows::Kept)
            thread = identities.unnamedThread();
        if (!reader.skipRowIf(thread == noIndex)) take(thread, *times);
    }
}

struct GpuPlace {
    uint32_t process = noIndex;
    /// `noIndex` also for a whole context or an unknown device.
    uint32_t stream = noIndex;
};

/// Reads the place from the row. Both are `noIndex` if the maximum of processes or streams is reached.
template <class Table>
GpuPlace readGpuPlace(TableReader<Table>& reader, const Table& table, Identities& identities) {
    constexpr int64_t wholeContext = 0xffffffff;
    GpuPlace place{.process = ownerIn(reader, table, identities)};
    if (place.process == noIndex) return {};
    const int64_t stream = reader.integerOr(table.streamId, 0);
    if (stream == wholeContext || stream < 0) return place;
    const int64_t context = reader.integerOr(table.contextId, 0);
    int64_t device = reader.integerOr(table.deviceId, 0);
    // The recorder's value for unknown: it may learn the GPU of a context after the first waits in it.
    if (device < 0) device = identities.deviceOf(place.process, context);
    if (device < 0) return place;
    place.stream = identities.stream(place.process, device, context, stream);
    return place;
}

/// Returns the columns that `forEachGpuRow` reads, and more.
template <class Table>
std::vector<tables::ColumnOf<Table>> gpuRowColumns(const Table& t, std::vector<tables::ColumnOf<Table>> more) {
    more.insert(more.end(), {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId, t.correlationId});
    return more;
}

/// Reads a table of GPU activity. Calls `take(place, times, correlation)` for each valid row and tallies the others. A
/// row without a stream is invalid unless `mayBeOfContext`. Calls `tally(isUntimed)` for every row.
template <class Table, class Take, class Tally>
void forEachGpuRow(TableReader<Table>& reader, const Table& table, Identities& identities, Take take,
                   bool mayBeOfContext, Tally tally) {
    while (reader.next()) {
        const int64_t untimed = reader.untimedCount();
        const std::optional<TimeRange> times = reader.times(table.start, table.end);
        tally(reader.untimedCount() > untimed);
        if (!times) continue;
        const GpuPlace place = readGpuPlace(reader, table, identities);
        if (reader.skipRowIf(place.process == noIndex || (place.stream == noIndex && !mayBeOfContext))) continue;
        take(place, *times, reader.unsigned32(table.correlationId));
    }
}

template <class Table, class Take>
void forEachGpuRow(TableReader<Table>& reader, const Table& table, Identities& identities, Take take,
                   bool mayBeOfContext = false) {
    forEachGpuRow(reader, table, identities, take, mayBeOfContext, [](bool) {});
}

}  // namespace lanescope
