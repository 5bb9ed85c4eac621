// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/checksums.h"
#include "model/format/health.h"

struct sqlite3;

namespace lanescope {

/// Suffix of the name of a trace while it is recorded.
inline constexpr std::string_view unfinishedEnding = ".partial";

/// Returns the size of a file that can be opened and is not empty. Errors: missing, still under its
/// unfinished name, a folder, no regular file, empty.
Result<uint64_t> checkFile(const std::filesystem::path& path);

/// Returns true if the name exists, even as a dangling link, and if that cannot be determined.
/// Returns false for names that are too long to exist.
bool mayExist(const std::filesystem::path& path);

/// Checks a file before SQLite opens it, for specific errors: missing, a folder, empty, no SQLite
/// file, not whole yet, truncated. Reads 100 bytes.
Result<void> checkSqliteHeader(const std::filesystem::path& path);

inline constexpr size_t sqliteHeaderBytes = 100;

/// Returns the size of the write-ahead log that SQLite reads with the file; 0 if there is none or it is ignored.
uint64_t logBytesOf(const std::filesystem::path& path);

/// Checks an open file: its first `sqliteHeaderBytes` (or all it has) and its size. `path` is its name in errors.
Result<void> checkSqliteHeader(std::span<const unsigned char> header, uint64_t fileBytes,
                               const std::filesystem::path& path);

/// Returns true if the first bytes of a file, at most `sqliteHeaderBytes`, are an SQLite header.
bool isSqliteHeader(std::span<const unsigned char> header);
/// Returns the application id in a header; 0 if none.
uint32_t applicationIdOf(std::span<const unsigned char> header);
/// Application id of a `lanescope fleet` report: "LNSF".
inline constexpr uint32_t fleetReportId = 0x4c4e5346;
/// Application id of a trace that is written without a journal and not whole yet: "LNSU". Readers refuse it.
inline constexpr uint32_t unfinishedTraceId = 0x4c4e5355;
/// Returns the file size that a complete header states; 0 if unknown.
uint64_t sqliteFileBytes(std::span<const unsigned char> header);

/// Error for a file with a journal that must be rolled back, which a read-only program cannot do.
inline constexpr std::string_view hotJournalSentence =
    "{0}: a program that changed the file crashed and left a journal. Copy {0} and {0}-journal to another folder, and "
    "repair the copy with \"sqlite3 COPY .tables\".";

/// Trust in a file that SQLite reads next to a database: its journal, log or index of the log.
enum class SideFile : uint8_t {
    Missing,
    Trusted,
    Foreign,  ///< A link, pipe or file of another user, or writable by others than the database. To be ignored.
};

/// Returns the trust in `database` + `ending`, for example "-wal". `database` is a path without a link at its end.
SideFile sideFileOf(const std::string& database, std::string_view ending);

/// Reason why numbers of a file may differ from the recorded ones.
struct FileDoubt {
    Severity severity = Severity::Warning;
    HealthCode code = HealthCode::Unknown;
    std::string sentence;
};

/// Read errors and changed pages seen by all connections to one file. Some failures do not concern the file itself,
/// such as a disk error or lack of memory: then only a part of the file was read. Any thread.
class ReadWatch {
  public:
    /// `path` is the name of the file in errors.
    explicit ReadWatch(std::string path) : path_(std::move(path)) {}

    /// Keeps the first error.
    void noteError(const Error& error);
    /// Keeps a read failure with this `errno`, unless an error is kept already.
    void noteFailedRead(int number);
    std::optional<Error> trouble() const;

    /// Sets the seal; call before anything is read.
    void setSeal(PageSeal seal);
    SealState sealState() const { return hasLog_ && state_ == SealState::Whole ? SealState::Changed : state_.load(); }
    /// Checks bytes that were read from `offset` on. Calls `counterNow` for the current change
    /// counter if a page differs: the file may have been written meanwhile.
    void see(std::span<const std::byte> bytes, uint64_t offset, const std::function<uint32_t()>& counterNow);
    /// Notes that a log next to the file has rows, which have no checksum.
    void noteLog() { hasLog_ = true; }
    /// Notes a side file that is ignored.
    void noteIgnored(std::string name);
    /// Returns the sentence about ignored side files; nullopt without any.
    std::optional<FileDoubt> ignored() const;
    /// Returns the error if this SQLite code means that the log cannot be read.
    std::optional<Error> logReadError(int code) const;
    size_t differingPages() const;
    /// Returns the doubt about the file; nullopt if everything read so far is unchanged.
    std::optional<FileDoubt> doubt() const;
    /// Returns the differing pages, counted from 0, and the number of pages with a checksum.
    std::vector<uint64_t> differing() const;
    size_t sealedPages() const { return seal_.checksums.size(); }
    uint32_t pageBytes() const { return seal_.pageBytes; }

  private:
    const std::string path_;
    PageSeal seal_;  ///< Constant while pages are read.
    std::atomic<SealState> state_{SealState::None};
    std::atomic<bool> hasLog_{false};

    mutable std::mutex mutex_;
    std::optional<Error> trouble_;
    std::set<uint64_t> differing_;
    std::set<std::string> ignored_;
};

/// Returns the name of a VFS that reads files that are already open and need not have a name. It is read-only, has no
/// locks or journal, and expects an unchanging file. Null if SQLite rejects the VFS. Any thread.
const char* descriptorVfs();

/// Returns the file name to open through `descriptorVfs`. SQLite duplicates the descriptor.
std::string descriptorName(int descriptor);

/// Returns the name of a VFS that reads as `vfs` does (null: SQLite's default) and passes each page
/// to a `ReadWatch`. It never writes, creates or removes a file, and ignores foreign side files. A
/// file whose header announces a missing log is immutable; the index of a log without one is in
/// memory. Null if SQLite rejects the VFS. Any thread.
const char* watchedVfs(const char* vfs);

/// Passes later reads of a connection opened by `watchedVfs` to `watch`, and the seal of the file
/// if `readsSeal`. Returns false for any other connection.
bool watchReads(sqlite3* database, std::shared_ptr<ReadWatch> watch, bool readsSeal);

/// Reads the whole file through its watch. Returns false on failure. O(bytes).
bool readEveryPage(sqlite3* database);

}  // namespace lanescope
