// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model/load/sqlite/LoadContext.h"
#include "model/load/sqlite/RowBatch.h"

namespace lanescope {

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

}  // namespace lanescope
