// SPDX-License-Identifier: Apache-2.0
#include "model/format/Sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include "model/format/checkSqliteHeader.h"
#include "model/format/descriptorVfs.h"

namespace lanescope {

namespace {

/// Longest text or blob taken from a file, in bytes.
constexpr int maximumCellBytes = 16 << 20;

Error sqliteError(sqlite3* database, const std::string& path, int code) {
    const int primary = code & 0xff;
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        return {
            fmt::format("The file is damaged or cut short: {} ({}).", path, sqlite3_errstr(code))};
    if (primary == SQLITE_INTERRUPT) return {fmt::format("Reading {} was stopped.", path)};
    if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
        return {fmt::format(
            "{} is still being written: wait for the recording to end, then open it again.", path)};
    if (primary == SQLITE_FULL)
        return {fmt::format("The disk is full: {} could not be written.", path)};
    const char* message = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
    return {fmt::format("SQLite could not work on {}: {}.", path, message)};
}

/// What a statement on an untrusted file may do: read tables, call functions, ask pragmas.
int authorizeRead(void*, int action, const char*, const char* second, const char*, const char*) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
            return SQLITE_OK;
        case SQLITE_FUNCTION: {
            static constexpr std::array<std::string_view, 7> harmless{
                "count", "max", "min", "sum", "length", "coalesce", "like"};
            for (const auto name : harmless)
                if (second != nullptr && name == second) return SQLITE_OK;
            return SQLITE_DENY;
        }
        case SQLITE_PRAGMA:
            return SQLITE_OK;
        default:
            return SQLITE_DENY;
    }
}

void harden(sqlite3* database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, maximumCellBytes);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_exec(database, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
    sqlite3_exec(database, "PRAGMA query_only = ON", nullptr, nullptr, nullptr);
    sqlite3_exec(database, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
    sqlite3_set_authorizer(database, authorizeRead, nullptr);
}

/// What tells a file from another that takes its name.
std::pair<uint64_t, uint64_t> fileAt(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

void Statement::bind(int index, int64_t value) {
    bindError_ |= sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::bind(int index, double value) {
    bindError_ |= sqlite3_bind_double(statement_.get(), index, value);
}

void Statement::bind(int index, std::string_view value) {
    // A null pointer would bind NULL, but an empty text is meant.
    const char* data = value.data() != nullptr ? value.data() : "";
    bindError_ |= sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_TRANSIENT,
                                      SQLITE_UTF8);
}

void Statement::bindNull(int index) {
    bindError_ |= sqlite3_bind_null(statement_.get(), index);
}

Result<bool> Statement::step() {
    if (bindError_ != SQLITE_OK)
        return fail("A value could not be bound to a statement on {}.", path_);
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return fail(sqliteError(sqlite3_db_handle(statement_.get()), path_, code));
}

Result<void> Statement::run() {
    Result<bool> row = step();
    while (row && *row) row = step();
    reset();
    sqlite3_clear_bindings(statement_.get());
    if (!row) return fail(row.error());
    return {};
}

void Statement::reset() {
    sqlite3_reset(statement_.get());
    bindError_ = SQLITE_OK;
}

int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    if (text == nullptr) return {};
    return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool Statement::isNull(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool Statement::isInteger(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool Statement::isReal(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT;
}

CellView Statement::cell(int column) const {
    sqlite3_value* const value = sqlite3_column_value(statement_.get(), column);
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER:
            return {CellType::Integer, sqlite3_value_int64(value), {}};
        case SQLITE_FLOAT:
            return {CellType::Real, std::bit_cast<int64_t>(sqlite3_value_double(value)), {}};
        case SQLITE_NULL:
            return {};
        default:
            return {CellType::Text, 0, text(column)};
    }
}

int Statement::columnCount() const {
    return sqlite3_column_count(statement_.get());
}

std::string Statement::columnName(int column) const {
    const char* name = sqlite3_column_name(statement_.get(), column);
    return name != nullptr ? name : "";
}

void Database::Close::operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
}

Result<Database> Database::openReadOnly(const std::filesystem::path& path) {
    if (const auto header = checkSqliteHeader(path); !header) return fail(header.error());
    // An absolute path, so that no file name can be taken for a URI or for ":memory:".
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    const uintmax_t size = error ? 0 : std::filesystem::file_size(path, error);
    if (error) return fail("Cannot open {}: {}.", path.string(), error.message());
    Result<Database> database = openUntrusted(absolute.c_str(), nullptr, path, size);
    if (database) {
        database->absolutePath_ = absolute.string();
        database->file_ = fileAt(absolute);
    }
    return database;
}

Result<Database> Database::reopen() const {
    if (absolutePath_.empty() || fileAt(absolutePath_) != file_)
        return fail("{} cannot be opened once more.", path_);
    return openUntrusted(absolutePath_.c_str(), nullptr, path_, fileBytes_);
}

Result<Database> Database::openReadOnly(int descriptor, const std::filesystem::path& path) {
    std::array<unsigned char, sqliteHeaderBytes> header{};
    struct stat status {};
    const ssize_t got = ::pread(descriptor, header.data(), header.size(), 0);
    if (got < 0 || ::fstat(descriptor, &status) != 0)
        return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    const auto size = static_cast<uint64_t>(status.st_size);
    const auto checked =
        checkSqliteHeader(std::span(header).first(static_cast<size_t>(got)), size, path);
    if (!checked) return fail(checked.error());
    return openUntrusted(descriptorName(descriptor).c_str(), descriptorVfs(), path, size);
}

Result<Database> Database::openUntrusted(const char* name, const char* vfs,
                                         const std::filesystem::path& path, uint64_t fileBytes) {
    Database result;
    result.path_ = path.string();
    result.fileBytes_ = fileBytes;
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(name, &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, vfs);
    result.database_.reset(raw);
    if (code != SQLITE_OK) return fail(sqliteError(raw, result.path_, code));
    harden(raw);
    // The first read finds out whether SQLite agrees that this is a database.
    auto schema = result.prepare("SELECT count(*) FROM sqlite_schema");
    if (!schema) return fail(schema.error());
    if (const auto row = schema->step(); !row) return fail(row.error());
    return result;
}

Result<Database> Database::create(const std::filesystem::path& path) {
    Database result;
    result.path_ = path.string();
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    if (error) return fail("Cannot create {}: {}.", result.path_, error.message());
    const int file = ::open(absolute.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) {
        if (errno == EEXIST)
            return fail("The file {} exists: remove it or choose another name.", result.path_);
        return fail("Cannot create {}: {}.", result.path_, std::strerror(errno));
    }
    ::close(file);
    sqlite3* raw = nullptr;
    // If somebody has put a link in its place by now, it is not followed. Those in the path of the
    // folder are the user's own.
    const std::filesystem::path folder = std::filesystem::canonical(absolute.parent_path(), error);
    if (error) return fail("Cannot create {}: {}.", result.path_, error.message());
    const int code = sqlite3_open_v2(
        (folder / absolute.filename()).c_str(), &raw,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nullptr);
    result.database_.reset(raw);
    if (code != SQLITE_OK) return fail(sqliteError(raw, result.path_, code));
    if (const auto tuned = result.execute("PRAGMA page_size = 4096;"
                                          "PRAGMA journal_mode = OFF;"
                                          "PRAGMA synchronous = OFF;"
                                          "PRAGMA locking_mode = EXCLUSIVE;"
                                          "PRAGMA temp_store = MEMORY;");
        !tuned)
        return fail(tuned.error());
    return result;
}

Database Database::adopt(sqlite3* connection, std::string path) {
    Database result;
    result.database_.reset(connection);
    result.path_ = std::move(path);
    return result;
}

Result<Statement> Database::prepare(std::string_view sql) const {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        &raw, nullptr);
    if (code != SQLITE_OK) return fail(sqliteError(database_.get(), path_, code));
    Statement statement;
    statement.statement_.reset(raw);
    statement.path_ = path_;
    return statement;
}

Result<void> Database::execute(const char* sql) {
    const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return fail(sqliteError(database_.get(), path_, code));
    return {};
}

bool Database::hasTable(std::string_view table) const {
    // A root page: real tables only, neither views nor virtual tables.
    auto statement = prepare(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
        " AND name = ?1 COLLATE NOCASE");
    if (!statement) return false;
    statement->bind(1, table);
    const auto row = statement->step();
    return row && *row;
}

bool Database::hasColumn(std::string_view table, std::string_view column) const {
    if (!hasTable(table)) return false;
    const std::string tableName(table);
    const std::string columnName(column);
    return sqlite3_table_column_metadata(database_.get(), "main", tableName.c_str(),
                                         columnName.c_str(), nullptr, nullptr, nullptr, nullptr,
                                         nullptr) == SQLITE_OK;
}

std::vector<std::string> Database::tables() const {
    std::vector<std::string> names;
    auto statement = prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name");
    if (!statement) return names;
    for (auto row = statement->step(); row && *row; row = statement->step())
        names.emplace_back(statement->text(0));
    return names;
}

int64_t Database::rowCount(std::string_view table) const {
    if (!hasTable(table)) return 0;
    auto statement = prepare(fmt::format("SELECT count(*) FROM \"{}\"", table));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row ? statement->integer(0) : 0;
}

int64_t Database::pragma(const char* name) const {
    auto statement = prepare(fmt::format("PRAGMA {}", name));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row ? statement->integer(0) : 0;
}

int64_t Database::lastRowId() const {
    return sqlite3_last_insert_rowid(database_.get());
}

}  // namespace lanescope
