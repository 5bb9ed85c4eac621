// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/ReadWatch.h"
#include "model/format/Result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lanescope {

/// What a cell holds; a file may hold anything in any column.
enum class CellType : uint8_t {
    Null,
    Integer,
    Real,
    Text,  ///< Or plain bytes.
};

/// One cell as it lies in the file. `text` is valid until the next step.
struct CellView {
    CellType type = CellType::Null;
    int64_t bits = 0;  ///< Of an integer its value, of a real number its bits.
    std::string_view text;
};

/// One prepared statement. Binds are 1-based and columns 0-based, as in SQLite. One thread at a
/// time.
class Statement {
  public:
    /// Binds; a failure shows at the next `step`.
    void bind(int index, int64_t value);
    void bind(int index, double value);
    void bind(int index, std::string_view value);
    void bindNull(int index);
    template <class T>
    void bind(int index, const std::optional<T>& value) {
        value ? bind(index, *value) : bindNull(index);
    }

    /// True while there is a row to read; the error names the file.
    Result<bool> step();
    /// Runs to the end and makes the statement ready for new binds; what was bound is NULL again.
    Result<void> run();
    void reset();

    int64_t integer(int column) const;
    double real(int column) const;
    /// Valid until the next step; empty for NULL.
    std::string_view text(int column) const;
    bool isNull(int column) const;
    /// True if the cell holds a whole number; a file may hold anything in any column.
    bool isInteger(int column) const;
    /// True if the cell holds a number with a fraction, or one too large to be whole.
    bool isReal(int column) const;
    /// Quicker than asking for the type and then for the value.
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
    std::shared_ptr<ReadWatch> watch_;  ///< Null unless the file is only read.
    int bindError_ = 0;
};

/// One SQLite connection. Not shared between threads.
class Database {
  public:
    /// Opens an existing file for reading, as untrusted input: no extension, no trigger, no view
    /// with side effects is run, cells are checked. Fails with a sentence for what is not SQLite.
    static Result<Database> openReadOnly(const std::filesystem::path& path);
    /// The same for a file that is open for reading and may have no name; nobody else may change
    /// it. `path` is what errors call it. The descriptor stays the caller's, who may close it.
    static Result<Database> openReadOnly(int descriptor, const std::filesystem::path& path);
    /// One more connection to the same file, for another thread; what troubles the one troubles the
    /// other. Fails for a file that was opened by its descriptor, and if `path` is by now another
    /// file.
    Result<Database> reopen() const;
    /// Creates `path`, readable by its owner only; fails if it exists. Tuned for bulk writing: no
    /// rollback journal, so a file that was not closed is unusable and must be made again.
    static Result<Database> create(const std::filesystem::path& path);

    /// Takes over an open connection, which it closes; errors call it `path`.
    static Database adopt(sqlite3* connection, std::string path);

    /// Prepares fixed SQL. Never build `sql` from data: identifiers come from `hasColumn`-checked
    /// constants, values from binds.
    Result<Statement> prepare(std::string_view sql) const;
    Result<void> execute(const char* sql);

    /// What kept this connection, or one that was reopened from it, from reading what is in the
    /// file: the disk, memory, somebody else's lock. Nothing more is asked of the file then, and
    /// what follows looks as if it were not there; who made something of a file looks here before
    /// it is used. Nothing of a file that is written.
    std::optional<Error> trouble() const;
    /// Whether the file is what it was when it was sealed; known of one that is only read.
    SealState sealState() const;
    /// Whether what was read so far, by this connection and those that were reopened from it, is
    /// what was sealed. Of a file that another program changed the pages with the names of tables
    /// do not count, which change with anything.
    std::optional<FileDoubt> doubt() const;

    /// Reads all that has a checksum, for `doubt`; what cannot be read is `trouble`. Tells how many
    /// pages that are. O(bytes).
    size_t readEveryPage() const;
    /// Of the pages that were read so far those that are not what was sealed, by their numbers
    /// from 1, as SQLite counts.
    std::vector<uint64_t> differingPages() const;

    bool hasTable(std::string_view table) const;
    /// Of a column that is stored, not computed.
    bool hasColumn(std::string_view table, std::string_view column) const;
    struct Column {
        std::string name;       ///< In small letters.
        bool isStored = false;  ///< In the rows, where others are computed or of no use.
        bool operator==(const Column&) const = default;
    };
    /// Those of `table`, which must be one of this program's constants; none if it is missing.
    std::vector<Column> columns(std::string_view table) const;
    std::vector<std::string> tables() const;
    /// Rows in `table`, 0 if it is missing. `table` must be one of this program's constants.
    int64_t rowCount(std::string_view table) const;
    int64_t pragma(const char* name) const;
    int64_t lastRowId() const;
    const std::string& path() const { return path_; }
    /// Size of the file when it was opened for reading.
    uint64_t fileBytes() const { return fileBytes_; }

  private:
    tl::unexpected<Error> failure(int code) const;
    /// `vfs` is null for SQLite's own.
    static Result<Database> openUntrusted(const char* name, const char* vfs,
                                          const std::filesystem::path& path, uint64_t fileBytes,
                                          const std::shared_ptr<ReadWatch>& others = nullptr);

    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::unique_ptr<sqlite3, Close> database_;
    /// Asks for a table; made when first asked for, and kept because a load asks for each it knows.
    mutable std::unique_ptr<Statement> tableLookup_;
    std::string path_;
    std::shared_ptr<ReadWatch> watch_;  ///< Null unless the file is only read.
    uint64_t fileBytes_ = 0;
    std::string absolutePath_;            ///< Empty unless it was opened by its path for reading.
    std::pair<uint64_t, uint64_t> file_;  ///< Device and number of the file with that path.
};

}  // namespace lanescope
