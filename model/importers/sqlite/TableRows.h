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

/// The cells of some rows of a query, kept so that one thread can read them from the file and
/// another make a table of them.
class RowBatch {
  public:
    static constexpr size_t mostRows = 2048;
    /// Rows are taken until their texts together are as long; a single row may be longer.
    static constexpr size_t enoughTextBytes = size_t{1} << 20;

    struct Cell {
        int64_t bits = 0;  ///< Of a text where it begins.
        uint32_t length = 0;
        CellType type = CellType::Null;
    };

    /// Why no more rows were taken.
    enum class End : uint8_t { Full, NoMoreRows, Damaged };

    /// Takes the next rows of a statement in place of those that it had. Its last column is their
    /// number in the table and no cell, if it `isNumbered`.
    End fill(Statement& statement, bool isNumbered);

    size_t rowCount() const { return rowCount_; }
    /// Of all texts together.
    size_t textBytes() const { return text_.size(); }
    const Cell* row(size_t index) const { return cells_.data() + index * columnCount_; }
    std::string_view text(const Cell& cell) const {
        return std::string_view(text_).substr(static_cast<size_t>(cell.bits), cell.length);
    }
    /// Of the last row.
    int64_t lastNumber() const { return lastNumber_; }

  private:
    size_t columnCount_ = 0;
    size_t rowCount_ = 0;
    std::vector<Cell> cells_;  ///< Row by row.
    std::string text_;
    int64_t lastNumber_ = 0;
};

/// Reads a table in stretches of row numbers, some ahead of who takes them, on the threads of a
/// load, or on one as long as another table is read by those. They are handed out in order, and the
/// thread that takes them reads one itself when none is ready. Memory is bounded by the stretches
/// read ahead.
class StretchReader {
  public:
    /// `sql` asks for the rows numbered from its first to its second bind, with the number as last
    /// column. Null if it cannot be asked.
    static std::unique_ptr<StretchReader> create(LoadContext& context, const std::string& sql,
                                                 int64_t first, int64_t last);
    /// Stops the other threads; waits for the stretches that they are at.
    ~StretchReader();
    StretchReader(const StretchReader&) = delete;
    StretchReader& operator=(const StretchReader&) = delete;

    /// The next rows; null at the end and behind a damaged place. Valid until the next call.
    const RowBatch* next();
    bool isDamaged() const { return isDamaged_; }

  private:
    /// One of those that are read ahead.
    struct Slot {
        RowBatch batch;
        RowBatch::End end = RowBatch::End::NoMoreRows;
        std::exception_ptr error;  ///< No memory.
        bool isReady = false;
    };

    StretchReader(LoadContext& context, std::string sql, Statement own, int64_t first,
                  int64_t last);
    void start();
    static RowBatch::End read(Statement& statement, int64_t from, int64_t to, RowBatch& batch);
    int64_t firstOf(int64_t stretch) const;
    int64_t lastOf(int64_t stretch) const;
    Slot& slotOf(int64_t stretch) { return slots_[static_cast<size_t>(stretch) % slots_.size()]; }
    bool mayRead() const;
    void readNext(Statement& statement, std::unique_lock<std::mutex>& lock);
    void work(Statement& statement);
    bool continueCut();

    LoadContext& context_;
    const std::string sql_;
    const int64_t firstNumber_, lastNumber_;
    const int64_t stretchCount_;
    std::vector<Statement> statements_;  ///< One a thread, the first that of who takes the rows.
    std::vector<Slot> slots_;
    bool hasStarted_ = false;
    bool hasBorrowed_ = false;  ///< The connections of the other threads.
    int64_t current_ = -1;      ///< The stretch whose rows were handed out last.
    bool isDamaged_ = false;

    std::mutex mutex_;
    std::condition_variable isReady_, isWanted_;
    // Guarded by the mutex:
    int64_t unread_ = 0;  ///< The first stretch that nobody has begun.
    int64_t wanted_ = 0;  ///< The first that was not handed out.
    bool isStopped_ = false;
    std::vector<std::thread> threads_;
};

/// The rows of a table in the order of the file, some at a time. A large table whose rows are
/// numbered is read by all threads of the load; what comes is the same however many there are.
class TableRows {
  public:
    /// `columns` as they follow SELECT; `table` is a constant of this program.
    TableRows(LoadContext& context, const char* table, const std::string& columns);

    /// The next rows; null at the end and behind a damaged place. Valid until the next call.
    const RowBatch* next();
    bool isDamaged() const { return isDamaged_; }

  private:
    bool readByStretches(LoadContext& context, const char* table, const std::string& columns);

    std::unique_ptr<StretchReader> stretches_;  ///< Null where one statement reads all.
    std::optional<Statement> statement_;
    RowBatch batch_;
    bool isDamaged_ = false;
};

}  // namespace lanescope
