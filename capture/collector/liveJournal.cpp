// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/liveJournal.h"

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
#include <thread>

#include "model/format/Sqlite.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

namespace {

using namespace std::chrono_literals;

/// Maximum wait for a reader to finish, before the trace is made again of the logs.
constexpr auto readerTimeout = 10s;
/// Maximum wait for exclusive access to the file, before it is enough that the file is complete.
constexpr auto exclusiveTimeout = 2s;
constexpr auto pause = 10ms;
constexpr std::array<const char*, 3> sideSuffixes{"-wal", "-shm", "-journal"};

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

struct CloseConnection {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;

Connection connectTo(const std::filesystem::path& path) {
    sqlite3* raw = nullptr;
    const int code = openToWrite(path, &raw);
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

}  // namespace

bool beginLiveJournal(Database& database) {
    // In sequence: the lock is only released at the next access of the file.
    return database.execute("PRAGMA locking_mode = NORMAL") && database.execute("SELECT count(*) FROM sqlite_schema") &&
           pragmaResult(database, "PRAGMA journal_mode = WAL") == "wal" &&
           database.execute("SELECT count(*) FROM sqlite_schema");
}

Result<void> checkSideFiles(const std::filesystem::path& path) {
    struct stat ofTrace {};
    if (::lstat(path.c_str(), &ofTrace) != 0) return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    for (const char* suffix : sideSuffixes) {
        const std::string name = path.string() + suffix;
        struct stat status {};
        if (::lstat(name.c_str(), &status) != 0) continue;
        constexpr mode_t forOthers = 0077;
        // Some file systems know no owners or modes: then those of the trace are the same.
        if (!S_ISREG(status.st_mode) || status.st_uid != ofTrace.st_uid ||
            (status.st_mode & forOthers & ~ofTrace.st_mode) != 0 || status.st_nlink != 1)
            return fail("{}: another user can read or change this file. Choose another folder with -o.", name);
    }
    return {};
}

Result<void> endLiveJournal(Database& database) {
    if (pragmaResult(database, "PRAGMA journal_mode") != "wal") return {};
    const auto begun = std::chrono::steady_clock::now();
    for (;;) {
        // The change of the file's mode is one write of one page, which needs no journal.
        auto ended = database.prepare("PRAGMA journal_mode = OFF");
        if (!ended) return fail(ended.error());
        const Result<bool> row = ended->step();
        if (!row && !database.isBusy()) return fail(row.error());
        if (row && *row && ended->text(0) == "off") return {};
        const auto waited = std::chrono::steady_clock::now() - begun;
        if (waited > exclusiveTimeout && isAllInFile(database)) return {};
        if (waited > readerTimeout) return {};
        std::this_thread::sleep_for(pause);
    }
}

Result<void> settleJournal(const std::filesystem::path& path) {
    UniqueFd file = openToChange(path);
    std::optional<bool> answer = file >= 0 ? usesLog(file) : std::nullopt;
    const bool hasLog = answer && *answer;
    if (hasLog) {
        file.reset();
        const Connection database = connectTo(path);
        if (!database) return fail("{}: cannot open the trace to finish it.", path.string());
        if (!copyLogToFile(database.get()))
            return fail("{}: in use by another program, cannot be finished.", path.string());
        file = openToChange(path);
        answer = file >= 0 ? usesLog(file) : std::nullopt;
    }
    const bool isSettled = answer && (!*answer || markWithoutLog(file));
    if (!isSettled) return fail("{}: cannot finish the trace: {}.", path.string(), std::strerror(errno));
    file.reset();
    return hasLog ? removeSideFiles(path) : Result<void>();
}

Result<void> removeSideFiles(const std::filesystem::path& path) {
    for (const char* suffix : sideSuffixes)
        if (auto removed = removeFile(path.string() + suffix); !removed) return removed;
    return {};
}

Result<void> checkWhole(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    if (!database) return fail(database.error());
    auto statement = database->prepare("PRAGMA quick_check(1)");
    if (!statement) return fail(statement.error());
    const Result<bool> row = statement->step();
    if (!row) return fail(row.error());
    if (*row && statement->text(0) == "ok") return {};
    return fail("{}: a part of the trace is missing, another program changed it or its log.", path.string());
}

Result<void> removeUnfinished(const std::filesystem::path& path) {
    if (auto removed = removeFile(path); !removed) return removed;
    return removeSideFiles(path);
}

}  // namespace lanescope::capture
