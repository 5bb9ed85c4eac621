// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/collector/liveJournal.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"
#include "model/format/factNames.h"
#include "model/format/health.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/TableWriter.h"

namespace lanescope::capture {

/// Calls `take(const Statement&)` for each row of a query. Returns its first error.
Result<void> forEachRow(const Database& database, const std::string& sql, auto&& take) {
    auto statement = database.prepare(sql);
    if (!statement) return fail(statement.error());
    for (;;) {
        const Result<bool> row = statement->step();
        if (!row) return fail(row.error());
        if (!*row) return {};
        take(*statement);
    }
}

/// A Python stack in the trace: its innermost frame, and the stack without that frame.
struct TraceStack {
    int64_t parent = 0;              ///< 0 if there is none.
    int64_t function = 0, file = 0;  ///< Strings of the trace; `file` 0: none.
    uint32_t line = 0;
    int64_t module = 0;  ///< As `tables::Stacks::moduleId`.
    bool operator==(const TraceStack&) const = default;
};

/// `vmId` of every row: the recorded processes share one operating system.
inline constexpr int virtualMachine = 1;

/// A trace file being written, which others may read meanwhile: rows of any of its tables, and the
/// strings that all of them share. `commit` returns the first error of a row. One thread.
class TraceWriter {
  public:
    /// Creates `path`, which must not exist, with all tables and begins a transaction. Others can read
    /// it meanwhile with `Journal::Live`, if the file system allows that.
    static Result<std::unique_ptr<TraceWriter>> create(const std::filesystem::path& path,
                                                       Journal journal = Journal::Live);

    /// Ends the transaction and begins the next. Fails with the first error of any row since creation.
    Result<void> commit();
    /// Ends the last transaction without the tables that stayed empty, calls `addition`, if not empty, and brings
    /// everything into the file itself. The destructor closes the file; call `settleJournal` then.
    Result<void> finish(const std::function<void(Database& database)>& addition = {});

    /// Adds a row, as `TableWriter` does.
    template <class... Row>
    requires requires(TableWriter& rows, const Row&... row) { rows.add(row...); }
    void add(const Row&... row) { rows_.add(row...); }
    TableWriter& rows() { return rows_; }
    /// Returns the id of a text in `StringIds`, which has each text once, whichever process it came from.
    int64_t intern(std::string_view text);
    /// Returns the id of the path of a source file in `StringIds`, shortened by `shortSourcePath`.
    int64_t internSource(std::string_view path);
    /// Sets the folders for shortening paths; before the first path.
    void setSourceFolders(SourceFolders folders) { sourceFolders_ = std::move(folders); }
    /// Returns the ids of all paths of `internSource`.
    const std::unordered_map<std::string, int64_t>& sources() const { return sources_; }
    /// Returns the id of a stack in `LANESCOPE_STACKS`, which has each stack once, whichever thread or process it came
    /// from. Ids begin at 1 and are greater than those of parents.
    int64_t intern(const TraceStack& stack);
    /// Adds a row to `ThreadNames`; the name of highest priority counts.
    void nameThread(int64_t globalTid, int64_t nameId, int64_t priority);
    bool hasName(int64_t globalTid) const { return namedThreads_.contains(globalTid); }
    /// Adds a row to `LANESCOPE_HEALTH`. `code` is for programs, `sentence` for people.
    void health(Severity severity, HealthCode code, std::string_view sentence, std::optional<int64_t> globalPid = {},
                std::optional<int64_t> timeNs = {}, std::optional<int64_t> count = {}) {
        healthOfLog(severity, identifier(code), sentence, globalPid, timeNs, count);
    }
    /// Reports a number of things, unless it is 0.
    void healthCount(Severity severity, HealthCode code, std::integral auto count, std::string_view sentence,
                     std::optional<int64_t> globalPid = {}) {
        if (count > 0) health(severity, code, sentence, globalPid, {}, static_cast<int64_t>(count));
    }
    /// Adds a note of a log, whose code may be known to a newer agent only.
    void healthOfLog(Severity severity, std::string_view code, std::string_view sentence,
                     std::optional<int64_t> globalPid, std::optional<int64_t> timeNs,
                     std::optional<int64_t> count = {});
    struct Note {
        Severity severity = Severity::Warning;
        std::string sentence;
    };
    /// Returns the errors, then the warnings, each text once and with its number.
    std::vector<Note> warnings() const;
    /// Adds a row to `LANESCOPE_PROPERTIES`; without a process it is a fact about the whole run.
    void property(std::string_view name, std::string_view value, std::optional<int64_t> globalPid = {}) {
        rows_.addProperty(globalPid, name, value);
    }
    /// Sets the average reading interval of a counter whose row was written at its announcement,
    /// and its device if not empty.
    void setCounterInterval(int64_t counterId, std::optional<int64_t> intervalNs, std::string_view hostName);
    int64_t lastRow() const { return database_.lastRowId(); }
    Database& database() { return database_; }

  private:
    TraceWriter(Database database, Journal journal) : database_(std::move(database)), journal_(journal) {}
    Result<void> endTransaction();
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
        size_t operator()(const TraceStack& stack) const;
    };

    Database database_;
    Journal journal_;
    FirstError error_;
    TableWriter rows_{database_, error_};
    std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> strings_;
    std::unordered_map<TraceStack, int64_t, Hash> stacks_;
    SourceFolders sourceFolders_;
    std::unordered_map<std::string, int64_t> sources_;  ///< Ids by full path.
    std::vector<Note> errors_, warnings_;
    std::unordered_set<int64_t> namedThreads_;
};

}  // namespace lanescope::capture
