// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/format/Sqlite.h"
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
    RowRangeReader(const RowRangeReader&) = delete;
    RowRangeReader& operator=(const RowRangeReader&) = delete;

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

}  // namespace lanescope
