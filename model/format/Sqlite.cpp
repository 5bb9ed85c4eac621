// SPDX-License-Identifier: Apache-2.0
#include "model/format/Sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "model/format/UniqueFd.h"
#include "model/format/text.h"

namespace lanescope {

namespace {

/// Limit of a text or blob in bytes, unless the file itself is larger.
constexpr uint64_t defaultMaxCellBytes = uint64_t{16} << 20;
/// Largest limit that SQLite accepts.
constexpr uint64_t maxCellBytes = 1'000'000'000;

/// Returns true if a failure is not caused by the content of the file.
bool isTrouble(int code) {
    switch (code & 0xff) {
        case SQLITE_IOERR: return code != SQLITE_IOERR_CORRUPTFS;
        case SQLITE_NOMEM:
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_CANTOPEN:
        case SQLITE_PROTOCOL:
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_FULL: return true;
        default: return false;
    }
}

bool isWriteError(int code) {
    switch (code) {
        case SQLITE_IOERR_WRITE:
        case SQLITE_IOERR_FSYNC:
        case SQLITE_IOERR_DIR_FSYNC:
        case SQLITE_IOERR_TRUNCATE:
        case SQLITE_IOERR_SHMSIZE: return true;
        default: return false;
    }
}

/// Returns the errno of the last failed call, 0 if unknown.
int systemErrorOf(sqlite3* database) {
    if (database == nullptr) return 0;
    int number = sqlite3_system_errno(database);
    // SQLite does not keep that of a statement whose rollback succeeded; the file does.
    if (number == 0) sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

Error sqliteError(sqlite3* database, const std::string& path, int code) {
    switch (code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {
                fmt::format("The file is corrupt or truncated: {} ({}). Copy it again.", path, sqlite3_errstr(code))};
        case SQLITE_INTERRUPT: return {fmt::format("{}: reading was cancelled.", path)};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {
                fmt::format("{}: still being written. Wait for the end of the recording, then open it again.", path)};
        case SQLITE_FULL: return {fmt::format("{}: cannot write, the disk is full.", path)};
        case SQLITE_NOMEM: return {fmt::format("{}: not enough memory to read it.", path)};
        case SQLITE_READONLY:
            if (code == SQLITE_READONLY) break;
            return {fmt::format(hotJournalSentence, path)};
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
            if (const int number = systemErrorOf(database); number != 0)
                return {fmt::format("Cannot {} {}: {}.", isWriteError(code) ? "write" : "read", path,
                                    std::strerror(number))};
            break;
        default: break;
    }
    const char* message = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
    return {fmt::format("{}: SQLite failed: {}.", path, message)};
}

/// Returns the error, and keeps it in `watch` if it may be temporary.
tl::unexpected<Error> failureOf(sqlite3* database, const std::string& path, int code, ReadWatch* watch) {
    const int extended = database != nullptr ? sqlite3_extended_errcode(database) : code;
    if ((extended & 0xff) == code) code = extended;
    std::optional<Error> unread;
    if (watch != nullptr) unread = watch->logReadError(code);
    Error error = unread ? std::move(*unread) : sqliteError(database, path, code);
    if (watch != nullptr && isTrouble(code)) watch->noteError(error);
    return fail(std::move(error));
}

/// Authorizer of statements on an untrusted file: they may read tables, call functions and read pragmas.
int authorizeRead(void*, int action, const char*, const char* second, const char*, const char*) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ: return SQLITE_OK;
        case SQLITE_FUNCTION: {
            static constexpr std::array<std::string_view, 7> harmless{"count",  "max",      "min", "sum",
                                                                      "length", "coalesce", "like"};
            for (const auto name : harmless)
                if (second != nullptr && name == second) return SQLITE_OK;
            return SQLITE_DENY;
        }
        case SQLITE_PRAGMA: return SQLITE_OK;
        default: return SQLITE_DENY;
    }
}

/// Applies the limits for a file of that size. Returns the SQLite code.
int harden(sqlite3* database, uint64_t fileBytes) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH,
                  static_cast<int>(std::clamp(fileBytes, defaultMaxCellBytes, maxCellBytes)));
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    const int code =
        sqlite3_exec(database, "PRAGMA cell_size_check = ON;PRAGMA query_only = ON;PRAGMA temp_store = MEMORY;",
                     nullptr, nullptr, nullptr);
    sqlite3_set_authorizer(database, authorizeRead, nullptr);
    return code;
}

/// Returns device and inode, which identify a file whatever its name.
std::pair<uint64_t, uint64_t> fileAt(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int index, int64_t value) { bindError_ |= sqlite3_bind_int64(statement_.get(), index, value); }

void Statement::bind(int index, double value) { bindError_ |= sqlite3_bind_double(statement_.get(), index, value); }

void Statement::bind(int index, std::string_view value) {
    // A null pointer would bind NULL, but an empty text is meant.
    const char* data = value.data() != nullptr ? value.data() : "";
    bindError_ |= sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bindNull(int index) { bindError_ |= sqlite3_bind_null(statement_.get(), index); }

Result<bool> Statement::step() {
    if (bindError_ == SQLITE_NOMEM) return failure(bindError_);
    if (bindError_ != SQLITE_OK) return fail("{}: a value could not be bound to a statement.", path_);
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return failure(code);
}

tl::unexpected<Error> Statement::failure(int code) const {
    return failureOf(sqlite3_db_handle(statement_.get()), path_, code, watch_.get());
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

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    if (text == nullptr) {
        // Out of memory: the cell has a value, so it must not be read as empty.
        if (sqlite3_errcode(sqlite3_db_handle(statement_.get())) == SQLITE_NOMEM)
            static_cast<void>(failure(SQLITE_NOMEM));
        return {};
    }
    return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool Statement::isNull(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

bool Statement::isInteger(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER; }

CellView Statement::cell(int column) const {
    sqlite3_value* const value = sqlite3_column_value(statement_.get(), column);
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER: return {CellType::Integer, sqlite3_value_int64(value), {}};
        case SQLITE_FLOAT: return {CellType::Real, std::bit_cast<int64_t>(sqlite3_value_double(value)), {}};
        case SQLITE_NULL: return {};
        default: return {CellType::Text, 0, text(column)};
    }
}

int Statement::columnCount() const { return sqlite3_column_count(statement_.get()); }

std::string Statement::columnName(int column) const {
    const char* name = sqlite3_column_name(statement_.get(), column);
    return name != nullptr ? name : "";
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

int openToRead(const char* name, const char* vfs, sqlite3** connection) {
    return sqlite3_open_v2(name, connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, watchedVfs(vfs));
}

int openToWrite(const std::filesystem::path& path, sqlite3** connection) {
    std::error_code error;
    // SQLite also rejects links in the folder's path, which are the user's own.
    const std::filesystem::path folder =
        std::filesystem::canonical(std::filesystem::absolute(path, error).parent_path(), error);
    if (error) return SQLITE_CANTOPEN;
    return sqlite3_open_v2((folder / path.filename()).c_str(), connection,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nullptr);
}

Result<Database> Database::openReadOnly(const std::filesystem::path& path) {
    if (const auto header = checkSqliteHeader(path); !header) return fail(header.error());
    // Uses an absolute path, so that no file name is read as a URI or as ":memory:".
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    const uintmax_t size = error ? 0 : std::filesystem::file_size(path, error);
    if (error) return fail("Cannot open {}: {}.", path.string(), error.message());
    // Rows that are only in the log are as good: an interrupted recording may have all of them there.
    Result<Database> database = openUntrusted(absolute.c_str(), nullptr, path, size + logBytesOf(absolute));
    if (database) {
        database->absolutePath_ = absolute.string();
        database->file_ = fileAt(absolute);
    }
    return database;
}

Result<Database> Database::reopen() const {
    if (absolutePath_.empty() || fileAt(absolutePath_) != file_) return fail("{}: cannot be opened again.", path_);
    return openUntrusted(absolutePath_.c_str(), nullptr, path_, fileBytes_, watch_);
}

Result<Database> Database::openReadOnly(int descriptor, const std::filesystem::path& path) {
    std::array<unsigned char, sqliteHeaderBytes> header{};
    struct stat status {};
    const ssize_t got = ::pread(descriptor, header.data(), header.size(), 0);
    if (got < 0 || ::fstat(descriptor, &status) != 0)
        return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    const auto size = static_cast<uint64_t>(status.st_size);
    const auto checked = checkSqliteHeader(std::span(header).first(static_cast<size_t>(got)), size, path);
    if (!checked) return fail(checked.error());
    return openUntrusted(descriptorName(descriptor).c_str(), descriptorVfs(), path, size);
}

Result<Database> Database::openUntrusted(const char* name, const char* vfs, const std::filesystem::path& path,
                                         uint64_t fileBytes, const std::shared_ptr<ReadWatch>& others) {
    Database result;
    result.path_ = path.string();
    result.fileBytes_ = fileBytes;
    result.watch_ = std::make_shared<ReadWatch>(result.path_);
    sqlite3* raw = nullptr;
    const int code = openToRead(name, vfs, &raw);
    result.database_.reset(raw);
    if (code != SQLITE_OK) return result.failure(code);
    if (!watchReads(raw, result.watch_, others == nullptr)) return result.failure(SQLITE_CANTOPEN);
    // SQLite may read the file already for the pragmas.
    if (const int hardened = harden(raw, fileBytes); hardened != SQLITE_OK) return result.failure(hardened);
    // The first read shows if SQLite accepts the file as a database.
    auto schema = result.prepare("SELECT count(*) FROM sqlite_schema");
    if (!schema) return fail(schema.error());
    if (const auto row = schema->step(); !row) return fail(row.error());
    if (others) {
        // Set only once the connection is open: a failed extra connection is not an error of the file.
        result.watch_ = others;
        static_cast<void>(watchReads(raw, others, false));
    }
    return result;
}

Result<Database> Database::create(const std::filesystem::path& path) {
    Database result;
    result.path_ = path.string();
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    if (error) return fail("Cannot create {}: {}.", result.path_, error.message());
    UniqueFd file(::open(absolute.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
    if (file < 0) {
        if (errno == EEXIST) return fail("{}: the file exists. Choose another name.", result.path_);
        return fail("Cannot create {}: {}.", result.path_, std::strerror(errno));
    }
    file.reset();
    sqlite3* raw = nullptr;
    const int code = openToWrite(absolute, &raw);
    result.database_.reset(raw);
    if (code != SQLITE_OK) return result.failure(code);
    if (const auto tuned = result.execute("PRAGMA page_size = 4096;PRAGMA journal_mode = OFF;PRAGMA synchronous = "
                                          "OFF;PRAGMA locking_mode = EXCLUSIVE;PRAGMA temp_store = MEMORY;");
        !tuned)
        return fail(tuned.error());
    return result;
}

Result<Database> Database::createInMemory(const std::string& name) {
    Database result;
    result.path_ = name;
    sqlite3* raw = nullptr;
    const int code =
        sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    result.database_.reset(raw);
    if (code != SQLITE_OK) return result.failure(code);
    return result;
}

Result<Database> Database::openBytes(std::span<const std::byte> bytes, const std::filesystem::path& path) {
    Result<Database> result = createInMemory(path.string());
    if (!result) return result;
    sqlite3* const raw = result->database_.get();
    auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(std::max<size_t>(bytes.size(), 1)));
    if (copy == nullptr) return result->failure(SQLITE_NOMEM);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(copy));
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    // SQLite frees the copy, also after a failure.
    const int code = sqlite3_deserialize(raw, "main", copy, size, size,
                                         SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    if (code != SQLITE_OK) return result->failure(code);
    if (const int hardened = harden(raw, bytes.size()); hardened != SQLITE_OK) return result->failure(hardened);
    result->fileBytes_ = bytes.size();
    return result;
}

Result<std::vector<std::byte>> Database::bytes() const {
    sqlite3_int64 size = 0;
    unsigned char* const copy = sqlite3_serialize(database_.get(), "main", &size, 0);
    if (copy == nullptr) return failure(SQLITE_NOMEM);
    const auto* const from = reinterpret_cast<const std::byte*>(copy);
    std::vector<std::byte> made(from, from + size);
    sqlite3_free(copy);
    return made;
}

Database Database::adopt(sqlite3* connection, std::string path) {
    Database result;
    result.database_.reset(connection);
    result.path_ = std::move(path);
    return result;
}

void Database::keepLogOnClose() { sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

bool Database::isBusy() const {
    const int code = sqlite3_errcode(database_.get()) & 0xff;
    return code == SQLITE_BUSY || code == SQLITE_LOCKED;
}

tl::unexpected<Error> Database::failure(int code) const {
    return failureOf(database_.get(), path_, code, watch_.get());
}

std::optional<Error> Database::trouble() const { return watch_ ? watch_->trouble() : std::nullopt; }

SealState Database::sealState() const { return watch_ ? watch_->sealState() : SealState::None; }

std::optional<FileDoubt> Database::doubt() const { return watch_ ? watch_->doubt() : std::nullopt; }

std::optional<FileDoubt> Database::ignoredFiles() const { return watch_ ? watch_->ignored() : std::nullopt; }

size_t Database::readEveryPage() const {
    if (!watch_) return 0;
    static_cast<void>(lanescope::readEveryPage(database_.get()));
    return watch_->sealedPages();
}

std::vector<uint64_t> Database::differingPages() const {
    std::vector<uint64_t> pages = watch_ ? watch_->differing() : std::vector<uint64_t>();
    for (uint64_t& page : pages) ++page;
    return pages;
}

Result<Statement> Database::prepare(std::string_view sql) const {
    if (auto known = trouble()) return fail(std::move(*known));
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    if (code != SQLITE_OK) return failure(code);
    Statement statement;
    statement.statement_.reset(raw);
    statement.path_ = path_;
    statement.watch_ = watch_;
    return statement;
}

Result<void> Database::execute(const char* sql) {
    const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failure(code);
    return {};
}

bool Database::hasTable(std::string_view table) const {
    if (trouble()) return false;
    if (!tableLookup_) {
        // Only real tables have a root page, not views or virtual tables.
        auto statement =
            prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1 COLLATE NOCASE");
        if (!statement) return false;
        tableLookup_ = std::make_unique<Statement>(std::move(*statement));
    }
    tableLookup_->bind(1, table);
    const auto row = tableLookup_->step();
    const bool isThere = row && *row;
    tableLookup_->reset();
    return isThere;
}

bool Database::hasColumn(std::string_view table, std::string_view column) const {
    return hasTable(table) && std::ranges::count(columns(table), Column{lowerCase(std::string(column)), true}) > 0;
}

std::vector<Database::Column> Database::columns(std::string_view table) const {
    constexpr int nameAt = 1, hiddenAt = 6;
    std::vector<Column> columns;
    auto statement = prepare(fmt::format("PRAGMA table_xinfo({})", table));
    if (!statement) return columns;
    for (auto row = statement->step(); row && *row; row = statement->step())
        columns.push_back({lowerCase(std::string(statement->text(nameAt))), statement->integer(hiddenAt) == 0});
    return columns;
}

std::vector<std::string> Database::tables() const {
    std::vector<std::string> names;
    auto statement = prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name");
    if (!statement) return names;
    for (auto row = statement->step(); row && *row; row = statement->step()) names.emplace_back(statement->text(0));
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

int64_t Database::lastRowId() const { return sqlite3_last_insert_rowid(database_.get()); }

}  // namespace lanescope
