// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Sqlite.h"
#include "model/text/formatValue.h"

namespace lanescope {

/// What the readers of one load share: the file, the builder of the trace, and progress. Used by
/// the loading thread only.
class LoadContext {
  public:
    LoadContext(const Database& database, TraceBuilder& builder, unsigned threads,
                const LoadProgress& progress);

    const Database& database() const { return database_; }
    /// One for each thread but the one that loads, for one reader at a time: none while another has
    /// them. Opened when first asked for; none for a file that can be opened once only.
    std::span<const Database> borrowConnections();
    void returnConnections() { areBorrowed_ = false; }
    TraceBuilder& builder() { return builder_; }
    TraceDescription& description() { return builder_.description(); }

    /// Notes that somebody reads `table`, or says that nobody does.
    void reads(std::string_view table) { read_.insert(lowerCase(std::string(table))); }
    /// Whether somebody read it, in whatever case the file writes its name. O(log n).
    bool isRead(std::string_view table) const {
        return read_.contains(lowerCase(std::string(table)));
    }

    /// Notes that an activity of that table has no row in it, as it has no time.
    void addUntimed(std::string_view table) { ++untimed_[lowerCase(std::string(table))]; }
    /// How many. O(log n).
    int64_t untimedOf(std::string_view table) const {
        const auto found = untimed_.find(lowerCase(std::string(table)));
        return found == untimed_.end() ? 0 : found->second;
    }

    /// Rows `table` may hold, judged without counting them. O(log n).
    int64_t estimatedRows(const char* table) const;
    /// No undamaged file of this size has a table with more rows.
    int64_t possibleRows() const { return possibleRows_; }
    /// Counts the bytes of texts that were read; false once they are more than an undamaged file of
    /// this size has, however its tables share them.
    bool mayTake(size_t textBytes) { return (textBytes_ += textBytes) <= possibleTextBytes_; }
    void expectRows(int64_t rows) { expectedRows_ += rows; }
    /// Reports progress now and then; false once the load is cancelled.
    bool advance(int64_t rows, std::string_view what);
    /// Reports a fraction as it is; false once the load is cancelled.
    bool report(double fraction, std::string_view what);
    bool isCancelled() const { return isCancelled_; }

    void note(HealthNote note) { builder_.note(std::move(note)); }

  private:
    const Database& database_;
    TraceBuilder& builder_;
    const unsigned threads_;
    const LoadProgress& progress_;
    std::set<std::string> read_;  ///< Names of tables, in small letters.
    std::map<std::string, int64_t> untimed_;
    std::vector<Database> furtherConnections_;
    bool areBorrowed_ = false;
    int64_t possibleRows_ = 0;
    uint64_t possibleTextBytes_ = 0, textBytes_ = 0;
    int64_t expectedRows_ = 0;
    int64_t readRows_ = 0;
    bool isCancelled_ = false;
    std::chrono::steady_clock::time_point nextReport_;
};

}  // namespace lanescope
