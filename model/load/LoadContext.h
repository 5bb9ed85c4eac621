#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Sqlite.h"
#include "model/load/loadTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What the readers of one load share: the file, the trace being filled, progress and the tally of
/// what had to be skipped. Used by the loading thread only.
class LoadContext {
  public:
    LoadContext(const Database& database, Trace& trace, unsigned threads,
                const LoadProgress& progress);

    const Database& database() const { return database_; }
    /// One for each thread but the one that loads, for one reader at a time: none while another has
    /// them. Opened when first asked for; none for a file that can be opened once only.
    std::span<const Database> borrowConnections();
    void returnConnections() { areBorrowed_ = false; }
    Trace& trace() { return trace_; }

    /// Rows `table` may hold, judged without counting them. O(log n).
    int64_t estimatedRows(const char* table) const;
    /// No undamaged file of this size has a table with more rows.
    int64_t possibleRows() const { return possibleRows_; }
    void expectRows(int64_t rows) { expectedRows_ += rows; }
    /// Reports progress now and then; false once the load is cancelled.
    bool advance(int64_t rows, std::string_view what);
    /// Reports a fraction as it is; false once the load is cancelled.
    bool report(double fraction, std::string_view what);
    bool isCancelled() const { return isCancelled_; }

    void note(HealthNote note) { trace_.health.push_back(std::move(note)); }
    /// Whether the recorder, or somebody before, has noted that already: of this process, or of the
    /// whole run.
    bool isNoted(HealthCode code, std::optional<int64_t> globalPid) const;
    /// Tallies for `noteSkipped`; `table` is one of this program's constants.
    void countSkippedRows(const char* table, int64_t rows) { tallies_[table].rows += rows; }
    void countIgnoredCells(const char* table, int64_t cells) { tallies_[table].cells += cells; }
    /// Turns the tallies into health notes.
    void noteSkipped();

  private:
    struct Tally {
        int64_t rows = 0;
        int64_t cells = 0;
    };

    const Database& database_;
    Trace& trace_;
    const unsigned threads_;
    const LoadProgress& progress_;
    std::vector<Database> furtherConnections_;
    bool areBorrowed_ = false;
    int64_t possibleRows_ = 0;
    int64_t expectedRows_ = 0;
    int64_t readRows_ = 0;
    bool isCancelled_ = false;
    std::chrono::steady_clock::time_point nextReport_;
    std::map<std::string, Tally> tallies_;
};

}  // namespace lanescope
