// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/liveJournal.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "model/format/OutputFile.h"
#include "model/format/Sqlite.h"
#include "model/format/UniqueFd.h"

namespace lanescope::capture {

namespace {

using namespace std::chrono_literals;

/// Maximum wait for a reader to finish, before the trace is copied without it.
constexpr auto readerTimeout = 10s;
/// Maximum wait for exclusive access to the file, before it is enough that the file is complete.
constexpr auto exclusiveTimeout = 2s;
constexpr auto pause = 10ms;

/// Returns the text of a pragma's result; empty on failure.
std::string pragmaResult(Database& database, const char* sql) {
    auto statement = database.prepare(sql);
    if (!statement) return {};
    const auto row = statement->step();
    return row && *row ? std::string(statement->text(0)) : std::string();
}

/// Returns true if everything in the log has been copied to the file.
bool isAllInFile(Database& database) {
    auto statement = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    if (!statement) return false;
    const auto row = statement->step();
    return row && *row && statement->integer(0) == 0 && statement->integer(1) == statement->integer(2);
}

/// Offset in SQLite's header of the journal kind.
constexpr off_t versionsOffset = 18;

/// Returns true if the file uses a log. Returns nullopt and sets errno if it cannot be read: the
/// contents of the log would be lost with the log.
std::optional<bool> usesLog(int file) {
    std::array<unsigned char, 2> versions{};
    const ssize_t got = ::pread(file, versions.data(), versions.size(), versionsOffset);
    if (got >= 0 && got < static_cast<ssize_t>(versions.size())) errno = EIO;
    if (got != static_cast<ssize_t>(versions.size())) return std::nullopt;
    return versions[0] == 2 || versions[1] == 2;
}

bool markWithoutLog(int file) {
    constexpr std::array<unsigned char, 2> versions = {1, 1};
    return ::pwrite(file, versions.data(), versions.size(), versionsOffset) == 2;
}

std::filesystem::path copyOf(const std::filesystem::path& path) { return path.string() + "-copy"; }

struct CloseConnection {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;

/// Opens a file as SQLite does, but does not follow a link.
int openUnlinked(const std::filesystem::path& path, sqlite3** database) {
    std::error_code error;
    // SQLite also rejects links in the folder's path, which are the user's own.
    const std::filesystem::path folder =
        std::filesystem::canonical(std::filesystem::absolute(path, error).parent_path(), error);
    return error ? SQLITE_CANTOPEN
                 : sqlite3_open_v2((folder / path.filename()).c_str(), database,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, nullptr);
}

Connection connectTo(const std::filesystem::path& path) {
    sqlite3* raw = nullptr;
    const int code = openUnlinked(path, &raw);
    Connection connection(raw);
    if (code != SQLITE_OK) connection.reset();
    return connection;
}

/// Copies the log to the file. Returns true if everything could be copied. A reader of an earlier
/// state keeps newer pages from being copied.
bool copyLogToFile(sqlite3* database) {
    int inLog = -1, copied = -1;
    // Only a connection that has read uses the log.
    return sqlite3_exec(database, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) == SQLITE_OK &&
           sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_PASSIVE, &inLog, &copied) == SQLITE_OK &&
           inLog >= 0 && inLog == copied;
}

/// Copies all pages, including those in the log, into a new file of the owner's.
bool copyTo(const std::filesystem::path& path, sqlite3* source) {
    // Ensures a new file and no link, whatever has the name.
    ::unlink(path.c_str());
    UniqueFd made(::open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600));
    if (made < 0) return false;
    made.reset();
    const Connection target = connectTo(path);
    if (!target) return false;
    sqlite3_exec(target.get(), "PRAGMA journal_mode = OFF; PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
    sqlite3_backup* backup = sqlite3_backup_init(target.get(), "main", source, "main");
    if (backup == nullptr) return false;
    constexpr int allPages = -1;
    const int code = sqlite3_backup_step(backup, allPages);
    return sqlite3_backup_finish(backup) == SQLITE_OK && code == SQLITE_DONE;
}

/// Replaces a file that a reader has open by a copy; the reader keeps its open file.
Result<void> replaceByCopy(const std::filesystem::path& path, sqlite3* source) {
    const std::filesystem::path copy = copyOf(path);
    bool isDone = copyTo(copy, source);
    if (isDone) {
        const UniqueFd file(::open(copy.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
        isDone = file >= 0 && markWithoutLog(file);
    }
    if (isDone && publishFile(copy, path, IfExists::Replace)) return {};
    ::unlink(copy.c_str());
    return fail(
        "{}: in use by another program, cannot be finished or copied. Close that program or free "
        "disk space, then build the trace with 'lanescope recover'.",
        path.string());
}

}  // namespace

void beginLiveJournal(Database& database) {
    // In sequence: the lock is only released at the next access of the file. If one of these fails,
    // there is no such journal afterwards, as requested.
    static_cast<void>(database.execute("PRAGMA locking_mode = NORMAL"));
    static_cast<void>(database.execute("SELECT count(*) FROM sqlite_schema"));
    if (pragmaResult(database, "PRAGMA journal_mode = WAL") == "wal") return;
    // If this fails too, SQLite's default is only slower.
    static_cast<void>(database.execute("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE"));
}

Result<void> endLiveJournal(Database& database) {
    if (pragmaResult(database, "PRAGMA journal_mode") != "wal") return {};
    const auto begun = std::chrono::steady_clock::now();
    for (;;) {
        if (pragmaResult(database, "PRAGMA journal_mode = DELETE") == "delete") return {};
        const auto waited = std::chrono::steady_clock::now() - begun;
        if (waited > exclusiveTimeout && isAllInFile(database)) return {};
        if (waited > readerTimeout) return {};  // `settleJournal` makes a copy.
        std::this_thread::sleep_for(pause);
    }
}

Result<void> settleJournal(const std::filesystem::path& path) {
    const auto open = [&] { return ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC); };
    UniqueFd file(open());
    std::optional<bool> answer = file >= 0 ? usesLog(file) : std::nullopt;
    const bool hasLog = answer && *answer;
    if (hasLog) {
        file.reset();
        const Connection database = connectTo(path);
        if (!database) return fail("{}: cannot open the trace to finish it.", path.string());
        if (!copyLogToFile(database.get()))
            if (auto replaced = replaceByCopy(path, database.get()); !replaced) return replaced;
        file.reset(open());
        answer = file >= 0 ? usesLog(file) : std::nullopt;
    }
    const bool isSettled = answer && (!*answer || markWithoutLog(file));
    if (!isSettled) return fail("{}: cannot finish the trace: {}.", path.string(), std::strerror(errno));
    file.reset();
    if (hasLog) removeJournal(path);
    return {};
}

void removeJournal(const std::filesystem::path& path) {
    for (const char* suffix : {"-wal", "-shm", "-copy"}) ::unlink((path.string() + suffix).c_str());
}

}  // namespace lanescope::capture
