// SPDX-License-Identifier: Apache-2.0
#pragma once

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

#include "model/format/Inserter.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"
#include "model/format/health.h"
#include "model/format/sourceNames.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Threads.h"

namespace lanescope::capture {

// What is nothing in a record becomes NULL in the file.

/// NULL for 0.
template <class T>
std::optional<T> unlessZero(T value) {
    return value != 0 ? std::optional<T>(value) : std::nullopt;
}

/// NULL below 0.
inline std::optional<int64_t> unlessNegative(int64_t value) {
    return value >= 0 ? std::optional<int64_t>(value) : std::nullopt;
}

/// NULL for an empty text, which must outlive what is returned.
inline std::optional<std::string_view> unlessEmpty(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

/// Writes `StringIds`: each text once, whichever process it came from.
class StringTableWriter {
  public:
    StringTableWriter(const Database& database, FirstError& error);

    /// The id of `text`, written down when it is new. Ids begin at 1. O(length).
    int64_t intern(std::string_view text);

  private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    Inserter<tables::Strings> rows_;
    std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> ids_;
};

/// A Python stack as the trace has it: its innermost frame, and the stack without that.
struct TraceStack {
    int64_t parent = 0;              ///< 0 if there is none.
    int64_t function = 0, file = 0;  ///< Strings of the trace; `file` 0: none.
    uint32_t line = 0;
    bool operator==(const TraceStack&) const = default;
};

/// Writes `LANESCOPE_STACKS`: each stack once, whichever thread or process it came from.
class StackTableWriter {
  public:
    StackTableWriter(const Database& database, FirstError& error);

    /// The id of `stack`, written down when it is new. Ids begin at 1 and are greater than those of
    /// parents.
    int64_t intern(const TraceStack& stack);

  private:
    struct Hash {
        size_t operator()(const TraceStack& stack) const;
    };

    Inserter<tables::Stacks> rows_;
    std::unordered_map<TraceStack, int64_t, Hash> ids_;
};

/// The `vmId` of every row: the processes we record share one operating system.
inline constexpr int virtualMachine = 1;

/// A trace file being written, which others may read meanwhile: rows of any of its tables, and the
/// strings all of them share. Rows that cannot be written leave an error behind, which `commit`
/// returns. One thread.
class TraceWriter {
  public:
    /// Creates `path`, which must not exist, with all tables and begins a transaction.
    static Result<std::unique_ptr<TraceWriter>> create(const std::filesystem::path& path);

    /// Ends the transaction and begins the next. Fails with the first error of any row since
    /// creation.
    Result<void> commit();
    /// Ends the last transaction without the tables that stayed empty, lets `addition` add to what
    /// is there, if it is not empty, and brings everything into the file itself. The file is closed
    /// by the destructor; call `settleJournal` then.
    Result<void> finish(const std::function<void(Database& database)>& addition = {});

    /// Adds a row to a table of a trace, as `Inserter` does.
    template <class Table, class... Cells>
    requires tables::RowOf<Table, Cells...>
    void add(const Table& table, const Cells&... cells) { inserterOf(table).write(cells...); }
    /// The id of a text in `StringIds`, where it is written when it is new.
    int64_t intern(std::string_view text) { return strings_.intern(text); }
    /// The id of the path of a source file in `StringIds`, short as `shortSourcePath` makes it.
    int64_t internSource(std::string_view path);
    /// Which folders such paths are told from; before the first of them.
    void tellSourcesFrom(SourceFolders folders) { sourceFolders_ = std::move(folders); }
    /// The id of a stack in `LANESCOPE_STACKS`, where it is written when it is new.
    int64_t intern(const TraceStack& stack) { return stacks_.intern(stack); }
    /// Adds a row to `ThreadNames`; of several names of a thread the one of highest priority is
    /// its.
    void nameThread(int64_t globalTid, int64_t nameId, int64_t priority);
    /// Whether any name of that thread was written.
    bool hasName(int64_t globalTid) const { return namedThreads_.contains(globalTid); }
    /// Adds a row to `LANESCOPE_HEALTH`. `code` is for programs, `sentence` for people.
    void health(Severity severity, HealthCode code, std::string_view sentence,
                std::optional<int64_t> globalPid = {}, std::optional<int64_t> timeNs = {},
                std::optional<int64_t> count = {}) {
        healthOfLog(severity, identifier(code), sentence, globalPid, timeNs, count);
    }
    /// The same for a note of a log, whose code may be one that only a newer agent knows.
    void healthOfLog(Severity severity, std::string_view code, std::string_view sentence,
                     std::optional<int64_t> globalPid, std::optional<int64_t> timeNs,
                     std::optional<int64_t> count = {});
    /// The sentences of warnings and errors written so far, errors first.
    std::vector<std::string> healthSentences() const;
    /// Adds a row to `LANESCOPE_PROPERTIES`; without a process it is a fact about the whole run.
    void property(std::string_view name, std::string_view value,
                  std::optional<int64_t> globalPid = {});
    /// Says of a counter, whose row was written when it was announced, how often it is read on
    /// average, and where if that is not empty.
    void tellOfCounter(int64_t counterId, std::optional<int64_t> intervalNs,
                       std::string_view hostName);
    /// Row number of the row that was written last.
    int64_t lastRow() const { return database_.lastRowId(); }
    /// For statements that look at what was written.
    Database& database() { return database_; }

  private:
    explicit TraceWriter(Database database);
    Result<void> endTransaction();
    RowInserter& inserterOf(const tables::Table& table);

    Database database_;
    FirstError error_;
    std::unordered_map<const tables::Table*, RowInserter>
        inserters_;  ///< Of what was written so far.
    StringTableWriter strings_;
    StackTableWriter stacks_;
    SourceFolders sourceFolders_;
    std::unordered_map<std::string, int64_t> sources_;  ///< Ids, by the whole path.
    std::vector<std::string> errors_, warnings_;
    std::unordered_set<int64_t> namedThreads_;
};

}  // namespace lanescope::capture
