#include "capture/collector/liveJournal.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "model/format/Sqlite.h"

namespace lanescope {

namespace {

using namespace std::chrono_literals;

/// Readers look for this long at most at a time; the SQL page stops its queries after it.
constexpr auto patience = 35s;
/// How long to try for a file that no one else has open, before it is enough that all is in it.
constexpr auto patienceForAlone = 2s;
constexpr auto pause = 10ms;

/// The one text that a pragma answers with; empty if it fails.
std::string answerOf(Database& database, const char* sql) {
    auto statement = database.prepare(sql);
    if (!statement) return {};
    const auto row = statement->step();
    return row && *row ? std::string(statement->text(0)) : std::string();
}

/// Whether everything in the log has been copied to the file.
bool isAllInFile(Database& database) {
    auto statement = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    if (!statement) return false;
    const auto row = statement->step();
    return row && *row && statement->integer(0) == 0 &&
           statement->integer(1) == statement->integer(2);
}

/// Where SQLite's header says which kind of journal the file has.
constexpr off_t versionsOffset = 18;

}  // namespace

void beginLiveJournal(Database& database) {
    // One after the other: the lock is only let go of when the file is next looked at.
    static_cast<void>(database.execute("PRAGMA locking_mode = NORMAL"));
    static_cast<void>(database.execute("SELECT count(*) FROM sqlite_schema"));
    if (answerOf(database, "PRAGMA journal_mode = WAL") == "wal") return;
    static_cast<void>(
        database.execute("PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE"));
}

Result<void> endLiveJournal(Database& database) {
    if (answerOf(database, "PRAGMA journal_mode") != "wal") return {};
    const auto begun = std::chrono::steady_clock::now();
    for (;;) {
        if (answerOf(database, "PRAGMA journal_mode = DELETE") == "delete") return {};
        const auto waited = std::chrono::steady_clock::now() - begun;
        if (waited > patienceForAlone && isAllInFile(database)) return {};
        if (waited > patience)
            return fail(
                "{} is being read by another program and cannot be finished: close that, "
                "then make the trace with 'lanescope recover'.",
                database.path());
        std::this_thread::sleep_for(pause);
    }
}

Result<void> settleJournal(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::array<unsigned char, 2> versions{};
    const bool isRead =
        file >= 0 && ::pread(file, versions.data(), versions.size(), versionsOffset) == 2;
    bool isSettled = isRead && versions[0] != 2 && versions[1] != 2;
    if (isRead && !isSettled) {
        versions = {1, 1};
        isSettled = ::pwrite(file, versions.data(), versions.size(), versionsOffset) == 2;
        if (isSettled) removeJournal(path);
    }
    const int problem = errno;
    if (file >= 0) ::close(file);
    if (isSettled) return {};
    return fail("The trace {} could not be finished: {}.", path.string(), std::strerror(problem));
}

void removeJournal(const std::filesystem::path& path) {
    for (const char* suffix : {"-wal", "-shm"}) ::unlink((path.string() + suffix).c_str());
}

}  // namespace lanescope
