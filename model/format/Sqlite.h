// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/ReadWatch.h"
#include "model/format/Result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lanescope {

enum class CellType : uint8_t {
    Null,
    Integer,
    Real,
    Text,  ///< Text or blob.
};

/// Cell as stored in the file. `text` is valid until the next step.
struct CellView {
    CellType type = CellType::Null;
    int64_t bits = 0;  ///< Value of an integer, or the bits of a real number.
    std::string_view text;
};

/// Prepared statement. Binds are 1-based and columns 0-based, as in SQLite. One thread at a time.
class Statement {
  public:
    /// Binds; `step` reports failures.
    void bind(int index, int64_t value);
    void bind(int index, double value);
    void bind(int index, std::string_view value);
    void bindNull(int index);
    template <class T>
    void bind(int index, const std::optional<T>& value) {
        value ? bind(index, *value) : bindNull(index);
    }

    /// Returns true if a row can be read; errors name the file.
    Result<bool> step();
    /// Runs to the end and resets the statement; binds become NULL again.
    Result<void> run();
    void reset();

    int64_t integer(int column) const;
    double real(int column) const;
    /// Valid until the next step; empty for NULL.
    std::string_view text(int column) const;
    bool isNull(int column) const;
    /// Returns true if the cell is a whole number; a file may contain any type in any column.
    bool isInteger(int column) const;
    /// Returns type and value in one call, faster than one call for each.
    CellView cell(int column) const;
    int columnCount() const;
    std::string columnName(int column) const;

  private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    tl::unexpected<Error> failure(int code) const;

    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    std::string path_;
    std::shared_ptr<ReadWatch> watch_;  ///< Null unless the file is read-only.
    int bindError_ = 0;
};

/// Opens an existing file read-only as `watchedVfs(vfs)` reads it. Sets `connection` also on failure.
/// Returns SQLite's code.
int openToRead(const char* name, const char* vfs, sqlite3** connection);
/// Opens an existing file for writing; a link is not followed. Sets `connection` also on failure.
/// Returns SQLite's code.
int openToWrite(const std::filesystem::path& path, sqlite3** connection);

/// SQLite connection. Not shared between threads.
class Database {
  public:
    /// Opens an existing file read-only as untrusted input: no extension, trigger or view with side
    /// effects runs, and cells are checked. Fails if the file is not SQLite.
    static Result<Database> openReadOnly(const std::filesystem::path& path);
    /// Opens a file by a descriptor that is open for reading; the file may have no name and must
    /// not change. `path` is its name in errors. The caller keeps the descriptor and may close it.
    static Result<Database> openReadOnly(int descriptor, const std::filesystem::path& path);
    /// Opens another connection to the same file for another thread; both share the watch. Fails if
    /// the file was opened by its descriptor, or if `path` now names another file.
    Result<Database> reopen() const;
    /// Creates `path`, readable by its owner only; fails if it exists. Tuned for bulk writing
    /// without a rollback journal: an unfinished file is unusable.
    static Result<Database> create(const std::filesystem::path& path);

    /// Creates an empty database in memory; `name` is its name in errors.
    static Result<Database> createInMemory(const std::string& name);
    /// Opens a copy of the bytes of a database for reading, as untrusted as a file. `path` is its name.
    static Result<Database> openBytes(std::span<const std::byte> bytes, const std::filesystem::path& path);

    /// Takes ownership of an open connection; `path` is its name in errors.
    static Database adopt(sqlite3* connection, std::string path);

    /// Prepares constant SQL. Never build `sql` from data: use `hasColumn`-checked constants as
    /// identifiers and binds for values.
    Result<Statement> prepare(std::string_view sql) const;
    Result<void> execute(const char* sql);

    /// Returns the bytes of the database as its file would have them, for `openBytes`. O(bytes).
    Result<std::vector<std::byte>> bytes() const;

    /// Leaves SQLite's log where it is when the connection is closed, for a file that is given up.
    void keepLogOnClose();
    /// Returns true if another connection's lock caused the last failure.
    bool isBusy() const;

    /// Returns the error that kept this connection, or one reopened from it, from reading: the
    /// disk, memory or a lock of another program. Later reads behave as if nothing were there, so
    /// check this before using results. Nullopt for a file that is written.
    std::optional<Error> trouble() const;
    /// Returns the state of the seal; known for a read-only file only.
    SealState sealState() const;
    /// Returns the doubt if pages read so far, by this connection or its reopened ones, differ from the seal. In a file
    /// changed by another program, pages of the schema do not count, because any change alters them.
    std::optional<FileDoubt> doubt() const;

    /// Returns a warning if another user owns the journal or write-ahead log of this file, which is then ignored.
    std::optional<FileDoubt> ignoredFiles() const;

    /// Reads every page that has a checksum, for `doubt`; failures go to `trouble`. Returns the
    /// number of pages. O(bytes).
    size_t readEveryPage() const;
    /// Returns the pages read so far that differ from the seal, counted from 1 as in SQLite.
    std::vector<uint64_t> differingPages() const;

    bool hasTable(std::string_view table) const;
    /// Returns true if the column is stored, not computed.
    bool hasColumn(std::string_view table, std::string_view column) const;
    struct Column {
        std::string name;       ///< Lower case.
        bool isStored = false;  ///< False for computed and hidden columns.
        bool operator==(const Column&) const = default;
    };
    /// Returns the columns of `table`, which must be a constant of this program; empty if the table is missing.
    std::vector<Column> columns(std::string_view table) const;
    std::vector<std::string> tables() const;
    /// Returns the number of rows of `table`, which must be a constant of this program; 0 if the table is missing.
    int64_t rowCount(std::string_view table) const;
    int64_t pragma(const char* name) const;
    int64_t lastRowId() const;
    const std::string& path() const { return path_; }
    /// Size of the file and its log when it was opened for reading.
    uint64_t fileBytes() const { return fileBytes_; }

  private:
    tl::unexpected<Error> failure(int code) const;
    /// `vfs` is null for SQLite's default.
    static Result<Database> openUntrusted(const char* name, const char* vfs, const std::filesystem::path& path,
                                          uint64_t fileBytes, const std::shared_ptr<ReadWatch>& others = nullptr);

    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::unique_ptr<sqlite3, Close> database_;
    /// Lookup of a table, prepared once because a load queries every table.
    mutable std::unique_ptr<Statement> tableLookup_;
    std::string path_;
    std::shared_ptr<ReadWatch> watch_;  ///< Null unless the file is read-only.
    uint64_t fileBytes_ = 0;
    std::string absolutePath_;            ///< Empty unless opened by its path for reading.
    std::pair<uint64_t, uint64_t> file_;  ///< Device and inode of that file.
};

}  // namespace lanescope
