// SPDX-License-Identifier: Apache-2.0
#include "model/format/ReadWatch.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

#include "model/format/files.h"
#include "model/format/parseNumber.h"

namespace lanescope {

namespace {

uint32_t bigEndian32(const unsigned char* bytes) {
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

/// Returns true if SQLite reads a file with this header together with a log.
bool usesLog(std::span<const unsigned char> header) {
    constexpr size_t readVersionAt = 19;
    constexpr unsigned char withLog = 2;
    return header.size() > readVersionAt && header[readVersionAt] == withLog;
}

// SQLite refuses to open through a link, so /proc/self/fd cannot be used.

constexpr const char* vfsName = "lanescope-descriptor";
constexpr std::string_view prefix = "descriptor-";

struct OpenDescriptor {
    sqlite3_file base;
    int descriptor;
};

int descriptorOf(sqlite3_file* file) { return reinterpret_cast<OpenDescriptor*>(file)->descriptor; }

int closeDescriptor(sqlite3_file* file) { return ::close(descriptorOf(file)) == 0 ? SQLITE_OK : SQLITE_IOERR_CLOSE; }

int readDescriptor(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
        const ssize_t got = ::pread(descriptorOf(file), out, static_cast<size_t>(bytes), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return SQLITE_IOERR_READ;
        if (got == 0) {
            std::memset(out, 0, static_cast<size_t>(bytes));
            return SQLITE_IOERR_SHORT_READ;
        }
        out += got;
        offset += got;
        bytes -= static_cast<int>(got);
    }
    return SQLITE_OK;
}

int sizeOfFile(sqlite3_file* file, sqlite3_int64* bytes) {
    struct stat status {};
    if (::fstat(descriptorOf(file), &status) != 0) return SQLITE_IOERR_FSTAT;
    *bytes = status.st_size;
    return SQLITE_OK;
}

int refuseWrite(sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; }
int refuseTruncate(sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; }
int needNoSync(sqlite3_file*, int) { return SQLITE_OK; }
int needNoLock(sqlite3_file*, int) { return SQLITE_OK; }
int isNeverReserved(sqlite3_file*, int* isReserved) {
    *isReserved = 0;
    return SQLITE_OK;
}
int knowNoControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sectorBytes(sqlite3_file*) { return 4096; }
int descriptorCharacteristics(sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; }

constexpr sqlite3_io_methods descriptorMethods{
    .iVersion = 1,
    .xClose = closeDescriptor,
    .xRead = readDescriptor,
    .xWrite = refuseWrite,
    .xTruncate = refuseTruncate,
    .xSync = needNoSync,
    .xFileSize = sizeOfFile,
    .xLock = needNoLock,
    .xUnlock = needNoLock,
    .xCheckReservedLock = isNeverReserved,
    .xFileControl = knowNoControl,
    .xSectorSize = sectorBytes,
    .xDeviceCharacteristics = descriptorCharacteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int openDescriptor(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flagsOut) {
    file->pMethods = nullptr;
    const std::string_view text(name != nullptr ? name : "");
    if (!text.starts_with(prefix) || (flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
    const auto descriptor = parseNumber<int>(text.substr(prefix.size()));
    if (!descriptor) return SQLITE_CANTOPEN;
    const int own = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return SQLITE_CANTOPEN;
    reinterpret_cast<OpenDescriptor*>(file)->descriptor = own;
    file->pMethods = &descriptorMethods;
    if (flagsOut != nullptr) *flagsOut = (flags & ~SQLITE_OPEN_READWRITE) | SQLITE_OPEN_READONLY;
    return SQLITE_OK;
}

int deleteNothing(sqlite3_vfs*, const char*, int) { return SQLITE_OK; }

int findNoFile(sqlite3_vfs*, const char*, int, int* isThere) {
    *isThere = 0;
    return SQLITE_OK;
}

int keepName(sqlite3_vfs*, const char* name, int outBytes, char* out) {
    const std::string_view text(name);
    if (outBytes <= 0 || text.size() >= static_cast<size_t>(outBytes)) return SQLITE_CANTOPEN;
    std::copy(text.begin(), text.end(), out);
    out[text.size()] = '\0';
    return SQLITE_OK;
}

/// Copies SQLite's default VFS, with other file functions.
bool registerDescriptorVfs() {
    const sqlite3_vfs* standard = sqlite3_vfs_find(nullptr);
    if (standard == nullptr) return false;
    static sqlite3_vfs vfs = *standard;
    vfs.pNext = nullptr;
    vfs.zName = vfsName;
    vfs.szOsFile = sizeof(OpenDescriptor);
    vfs.xOpen = openDescriptor;
    vfs.xDelete = deleteNothing;
    vfs.xAccess = findNoFile;
    vfs.xFullPathname = keepName;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

/// File of this VFS; the file of the underlying VFS follows it in memory.
struct WatchedFile {
    sqlite3_file base{};
    bool isImmutable = false;
    bool hasLog = false;       ///< The log has rows.
    bool hasOwnIndex = false;  ///< The index of the log is `logIndex`, not a file.
    std::vector<std::unique_ptr<std::byte[]>> logIndex;
    std::vector<std::string> ignored;  ///< Foreign side files.
    std::shared_ptr<ReadWatch> watch;
};

sqlite3_file* below(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<WatchedFile*>(file) + 1);
}

/// Calls a method of the underlying file.
template <auto method>
struct Pass;
template <class R, class... A, R (*sqlite3_io_methods::*method)(sqlite3_file*, A...)>
struct Pass<method> {
    static R call(sqlite3_file* file, A... arguments) {
        return (below(file)->pMethods->*method)(below(file), arguments...);
    }
};

int closeFile(sqlite3_file* file) {
    const int code = below(file)->pMethods != nullptr ? Pass<&sqlite3_io_methods::xClose>::call(file) : SQLITE_OK;
    std::destroy_at(reinterpret_cast<WatchedFile*>(file));
    return code;
}

bool readBelow(sqlite3_file* file, std::span<std::byte> to, uint64_t at) {
    return Pass<&sqlite3_io_methods::xRead>::call(file, static_cast<void*>(to.data()), static_cast<int>(to.size()),
                                                  static_cast<sqlite3_int64>(at)) == SQLITE_OK;
}

/// Returns the current change counter; 0 if it cannot be read.
uint32_t counterOf(sqlite3_file* file) {
    std::array<std::byte, 28> header{};
    return readBelow(file, header, 0) ? changeCounterIn(header) : 0;
}

int readFile(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
    const int code = Pass<&sqlite3_io_methods::xRead>::call(file, to, bytes, offset);
    const auto& watch = reinterpret_cast<WatchedFile*>(file)->watch;
    if (!watch) return code;
    if ((code & 0xff) == SQLITE_IOERR && code != SQLITE_IOERR_SHORT_READ) {
        watch->noteFailedRead(errno);
        // SQLite reports some I/O errors as a corrupt file.
        return SQLITE_IOERR_READ;
    }
    if (code != SQLITE_OK) return code;
    watch->see({static_cast<const std::byte*>(to), static_cast<size_t>(bytes)}, static_cast<uint64_t>(offset),
               [file] { return counterOf(file); });
    return code;
}

int characteristics(sqlite3_file* file) {
    const int known = Pass<&sqlite3_io_methods::xDeviceCharacteristics>::call(file);
    return reinterpret_cast<WatchedFile*>(file)->isImmutable ? known | SQLITE_IOCAP_IMMUTABLE : known;
}

/// Mapped pages would bypass the watch.
int fetchNothing(sqlite3_file*, sqlite3_int64, int, void** page) {
    *page = nullptr;
    return SQLITE_OK;
}
int unfetchNothing(sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; }

WatchedFile* ownOf(sqlite3_file* file) { return reinterpret_cast<WatchedFile*>(file); }

// No other program uses an index in memory, so it needs no locks.

int mapIndex(sqlite3_file* file, int page, int bytes, int extends, void volatile** to) {
    WatchedFile* const own = ownOf(file);
    if (!own->hasOwnIndex) return Pass<&sqlite3_io_methods::xShmMap>::call(file, page, bytes, extends, to);
    const auto wanted = static_cast<size_t>(page);
    while (extends != 0 && own->logIndex.size() <= wanted) {
        std::unique_ptr<std::byte[]> part(new (std::nothrow) std::byte[static_cast<size_t>(bytes)]());
        if (!part) return SQLITE_NOMEM;
        own->logIndex.push_back(std::move(part));
    }
    *to = wanted < own->logIndex.size() ? own->logIndex[wanted].get() : nullptr;
    return SQLITE_OK;
}
int lockIndex(sqlite3_file* file, int first, int count, int flags) {
    return ownOf(file)->hasOwnIndex ? SQLITE_OK : Pass<&sqlite3_io_methods::xShmLock>::call(file, first, count, flags);
}
void orderIndex(sqlite3_file* file) {
    if (!ownOf(file)->hasOwnIndex) Pass<&sqlite3_io_methods::xShmBarrier>::call(file);
}
int unmapIndex(sqlite3_file* file, int) {
    // The file is never removed.
    if (!ownOf(file)->hasOwnIndex) return Pass<&sqlite3_io_methods::xShmUnmap>::call(file, 0);
    ownOf(file)->logIndex.clear();
    return SQLITE_OK;
}

template <int version>
constexpr sqlite3_io_methods methodsOf{
    .iVersion = version,
    .xClose = closeFile,
    .xRead = readFile,
    .xWrite = Pass<&sqlite3_io_methods::xWrite>::call,
    .xTruncate = Pass<&sqlite3_io_methods::xTruncate>::call,
    .xSync = Pass<&sqlite3_io_methods::xSync>::call,
    .xFileSize = Pass<&sqlite3_io_methods::xFileSize>::call,
    .xLock = Pass<&sqlite3_io_methods::xLock>::call,
    .xUnlock = Pass<&sqlite3_io_methods::xUnlock>::call,
    .xCheckReservedLock = Pass<&sqlite3_io_methods::xCheckReservedLock>::call,
    .xFileControl = Pass<&sqlite3_io_methods::xFileControl>::call,
    .xSectorSize = Pass<&sqlite3_io_methods::xSectorSize>::call,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = mapIndex,
    .xShmLock = lockIndex,
    .xShmBarrier = orderIndex,
    .xShmUnmap = unmapIndex,
    .xFetch = fetchNothing,
    .xUnfetch = unfetchNothing,
};

sqlite3_vfs* vfsBelow(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

constexpr std::array<std::string_view, 3> sideEndings{"-journal", "-wal", "-shm"};

/// Decides how to read a database next to which others may have files.
void findSideFiles(WatchedFile& own, sqlite3_file* file, const std::string& name) {
    for (const std::string_view ending : sideEndings)
        if (sideFileOf(name, ending) == SideFile::Foreign)
            own.ignored.push_back(name.substr(name.rfind('/') + 1) + std::string(ending));
    std::array<std::byte, 2> versions{};
    constexpr std::byte withLog{2};
    if (!readBelow(file, versions, 18) || versions[1] != withLog) return;
    struct stat status {};
    const std::string index = name + "-shm";
    const bool isLogThere =
        sideFileOf(name, "-wal") == SideFile::Trusted && ::stat((name + "-wal").c_str(), &status) == 0;
    const bool isIndexThere = sideFileOf(name, "-shm") == SideFile::Trusted;
    own.hasLog = isLogThere && status.st_size > 0;
    own.hasOwnIndex = own.hasLog && !isIndexThere;
    // A writer may be about to write the first row.
    const bool isWritten = isLogThere && isIndexThere && ::access(index.c_str(), W_OK) == 0;
    own.isImmutable = !own.hasLog && !isWritten;
}

/// Returns true if a name that SQLite looks up is a side file to be ignored.
bool isIgnored(const char* name) {
    const std::string_view text(name != nullptr ? name : "");
    for (const std::string_view ending : sideEndings)
        if (text.ends_with(ending))
            return sideFileOf(std::string(text.substr(0, text.size() - ending.size())), ending) != SideFile::Trusted;
    return false;
}

int openFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flagsOut) {
    auto* own = new (file) WatchedFile();
    below(file)->pMethods = nullptr;
    file->pMethods = nullptr;
    constexpr int sideFiles = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
    if ((flags & sideFiles) != 0) {
        if (isIgnored(name)) return SQLITE_CANTOPEN;
        flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    }
    const int code = vfsBelow(vfs)->xOpen(vfsBelow(vfs), name, below(file), flags, flagsOut);
    // SQLite closes every file that has methods, even after a failed open.
    file->pMethods = below(file)->pMethods == nullptr       ? nullptr
                     : below(file)->pMethods->iVersion >= 2 ? &methodsOf<3>
                                                            : &methodsOf<1>;
    // A descriptor has no side files.
    const bool hasPath = name != nullptr && *name == '/';
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0 && hasPath) findSideFiles(*own, file, name);
    return code;
}

int findFile(sqlite3_vfs* vfs, const char* name, int flags, int* isThere) {
    *isThere = 0;
    return isIgnored(name) ? SQLITE_OK : vfsBelow(vfs)->xAccess(vfsBelow(vfs), name, flags, isThere);
}

/// Calls a function of the underlying VFS.
template <auto method>
struct PassVfs;
template <class R, class... A, R (*sqlite3_vfs::*method)(sqlite3_vfs*, A...)>
struct PassVfs<method> {
    static R call(sqlite3_vfs* vfs, A... arguments) { return (vfsBelow(vfs)->*method)(vfsBelow(vfs), arguments...); }
};

/// Registers a VFS above another one. `vfs` must live until the program ends, because SQLite keeps the pointer.
const char* registerAbove(sqlite3_vfs& vfs, const char* name, const char* nameBelow) {
    sqlite3_vfs* const found = sqlite3_vfs_find(nameBelow);
    if (found == nullptr) return nullptr;
    vfs = *found;
    vfs.pNext = nullptr;
    vfs.zName = name;
    vfs.pAppData = found;
    vfs.szOsFile = static_cast<int>(sizeof(WatchedFile)) + found->szOsFile;
    vfs.xOpen = openFile;
    vfs.xDelete = deleteNothing;
    vfs.xAccess = findFile;
    vfs.xFullPathname = PassVfs<&sqlite3_vfs::xFullPathname>::call;
    vfs.xRandomness = PassVfs<&sqlite3_vfs::xRandomness>::call;
    vfs.xSleep = PassVfs<&sqlite3_vfs::xSleep>::call;
    vfs.xCurrentTime = PassVfs<&sqlite3_vfs::xCurrentTime>::call;
    vfs.xGetLastError = PassVfs<&sqlite3_vfs::xGetLastError>::call;
    vfs.xCurrentTimeInt64 = PassVfs<&sqlite3_vfs::xCurrentTimeInt64>::call;
    // Version 2 excludes the system calls; extensions are never loaded.
    vfs.iVersion = 2;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? name : nullptr;
}

/// Returns the file of a connection if it was opened by this VFS, else null.
sqlite3_file* watchedFile(sqlite3* database) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == nullptr ||
        (file->pMethods != &methodsOf<1> && file->pMethods != &methodsOf<3>))
        return nullptr;
    return file;
}

}  // namespace

Result<uint64_t> checkFile(const std::filesystem::path& path) {
    const std::string shown = path.string();
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    const std::string partial = shown + std::string(unfinishedEnding);
    if (status.type() == std::filesystem::file_type::not_found && std::filesystem::exists(partial, error))
        return fail("{}: not there yet. It is being written, or writing was interrupted; {} has the data so far.",
                    shown, partial);
    if (status.type() == std::filesystem::file_type::not_found) return fail("{}: no such file. Check the path.", shown);
    if (error) return fail("{}: cannot be opened: {}.", shown, error.message());
    if (status.type() == std::filesystem::file_type::directory)
        return fail("{}: this is a folder. Name a trace file in it.", shown);
    if (status.type() != std::filesystem::file_type::regular)
        return fail("{}: not a regular file. Name a trace file.", shown);
    const uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return fail("{}: cannot be opened: {}.", shown, error.message());
    if (size == 0) return fail("{}: the file is empty, nothing was recorded into it.", shown);
    return static_cast<uint64_t>(size);
}

bool mayExist(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found &&
           error != std::errc::filename_too_long;
}

uint64_t logBytesOf(const std::filesystem::path& path) {
    std::error_code error;
    // SQLite follows a link before it looks for the log.
    const std::string name = std::filesystem::canonical(path, error).string();
    if (error || sideFileOf(name, "-wal") != SideFile::Trusted) return 0;
    const uintmax_t bytes = std::filesystem::file_size(name + "-wal", error);
    return error ? 0 : bytes;
}

Result<void> checkSqliteHeader(const std::filesystem::path& path) {
    const Result<uint64_t> size = checkFile(path);
    if (!size) return fail(size.error());
    const Result<UniqueFd> file = openRegularFile(path);
    if (!file) return fail(file.error());
    std::array<unsigned char, sqliteHeaderBytes> header{};
    const ssize_t got = ::pread(*file, header.data(), header.size(), 0);
    if (got < 0) return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    const auto bytes = std::span(header).first(static_cast<size_t>(got));
    // Page 1 is copied first from a log to the file, which is then shorter than it states.
    const bool hasLog = usesLog(bytes) && logBytesOf(path) > 0;
    return checkSqliteHeader(bytes, hasLog ? std::numeric_limits<uint64_t>::max() : *size, path);
}

bool isSqliteHeader(std::span<const unsigned char> header) {
    static constexpr std::string_view magic("SQLite format 3\0", 16);
    return !header.empty() && std::memcmp(header.data(), magic.data(), std::min(header.size(), magic.size())) == 0;
}

uint32_t applicationIdOf(std::span<const unsigned char> header) {
    if (header.size() < sqliteHeaderBytes || !isSqliteHeader(header.first(sqliteHeaderBytes))) return 0;
    return bigEndian32(&header[68]);
}

uint64_t sqliteFileBytes(std::span<const unsigned char> header) {
    if (header.size() < sqliteHeaderBytes) return 0;
    uint64_t pageBytes = uint64_t{header[16]} << 8 | header[17];
    if (pageBytes == 1) pageBytes = 65536;
    // The page count is valid only if these two counters are equal.
    const bool countIsValid = bigEndian32(&header[24]) == bigEndian32(&header[92]);
    return countIsValid ? pageBytes * bigEndian32(&header[28]) : 0;
}

Result<void> checkSqliteHeader(std::span<const unsigned char> header, uint64_t fileBytes,
                               const std::filesystem::path& path) {
    const std::string shown = path.string();
    if (!isSqliteHeader(header)) {
        if (path.extension() == ".nsys-rep" || path.extension() == ".qdrep")
            return fail("{}: a report of Nsight Systems. Convert it with \"nsys export --type sqlite {}\".", shown,
                        path.filename().string());
        return fail("{}: not a trace, not an SQLite file.", shown);
    }
    if (header.size() < sqliteHeaderBytes) return fail("{}: truncated inside its header. Copy it again.", shown);
    if (applicationIdOf(header) == unfinishedTraceId)
        return fail(
            "{}: incomplete. If no program writes it any more, make it again: a recording with 'lanescope recover', "
            "another trace with the command that wrote it.",
            shown);
    // SQLite knows four schema formats, and does not report a higher number as corruption.
    constexpr size_t schemaFormatAt = 44;
    constexpr uint32_t lastSchemaFormat = 4;
    if (bigEndian32(&header[schemaFormatAt]) > lastSchemaFormat)
        return fail("{}: corrupt, its header is invalid. Copy it again.", shown);
    if (const uint64_t expected = sqliteFileBytes(header); expected > fileBytes)
        return fail("{}: truncated, only {} of {} bytes are there. Copy it again.", shown, fileBytes, expected);
    return {};
}

void ReadWatch::noteError(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!trouble_) trouble_ = error;
}

void ReadWatch::noteFailedRead(int number) {
    noteError({fmt::format("Cannot read {}: {}.", path_, std::strerror(number))});
}

std::optional<Error> ReadWatch::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

std::optional<Error> ReadWatch::logReadError(int code) const {
    // SQLite needs a second file next to the log; these codes mean that it is missing.
    if (!hasLog_ || ((code & 0xff) != SQLITE_CANTOPEN && code != SQLITE_READONLY_CANTINIT)) return std::nullopt;
    const std::string log = path_ + "-wal";
    if (::access(log.c_str(), R_OK) != 0)
        return Error{fmt::format("{0}: cannot be read, but has rows of {1}: {2}.", log, path_, std::strerror(errno))};
    return Error{fmt::format(
        "{1}: has rows of {0}, which can be read only in a writable folder. Copy both files to a writable folder.",
        path_, log)};
}

void ReadWatch::noteIgnored(std::string name) {
    const std::lock_guard lock(mutex_);
    ignored_.insert(std::move(name));
}

std::optional<FileDoubt> ReadWatch::ignored() const {
    const std::lock_guard lock(mutex_);
    if (ignored_.empty()) return std::nullopt;
    return FileDoubt{Severity::Warning, HealthCode::ForeignFiles,
                     fmt::format("Ignored next to the trace: {}. Another user can write to it, or it is no regular "
                                 "file. Copy the trace to a folder of your own.",
                                 fmt::join(ignored_, ", "))};
}

SideFile sideFileOf(const std::string& database, std::string_view ending) {
    struct stat side {
    }, main{};
    if (::lstat((database + std::string(ending)).c_str(), &side) != 0) return SideFile::Missing;
    const bool isTrusted = ::stat(database.c_str(), &main) == 0 && isTrustedNextTo(side, main);
    return isTrusted ? SideFile::Trusted : SideFile::Foreign;
}

void ReadWatch::setSeal(PageSeal seal) {
    seal_ = std::move(seal);
    state_ = seal_.state;
}

void ReadWatch::see(std::span<const std::byte> bytes, uint64_t offset, const std::function<uint32_t()>& counterNow) {
    if (seal_.checksums.empty() || bytes.size() != seal_.pageBytes || offset % seal_.pageBytes != 0) return;
    const uint64_t page = offset / seal_.pageBytes;
    if (seal_.isAsSealed(static_cast<size_t>(page), bytes)) return;
    if (state_ == SealState::Whole && counterNow() != seal_.changeCounter) state_ = SealState::Changed;
    const std::lock_guard lock(mutex_);
    differing_.insert(page);
}

size_t ReadWatch::differingPages() const {
    const std::lock_guard lock(mutex_);
    return differing_.size();
}

std::vector<uint64_t> ReadWatch::differing() const {
    const std::lock_guard lock(mutex_);
    return {differing_.begin(), differing_.end()};
}

std::optional<FileDoubt> ReadWatch::doubt() const {
    const size_t pages = differingPages();
    if (state_ == SealState::Broken)
        return FileDoubt{Severity::Warning, HealthCode::ChecksumsDamaged,
                         "The checksums of the file are corrupt or were overwritten; the rest cannot be verified."};
    // The recorder seals a trace when no process writes to it any more.
    if (hasLog_ && state_ != SealState::None)
        return FileDoubt{Severity::Warning, HealthCode::TraceChanged,
                         "Another program modifies the trace, or left rows in its write-ahead log; events are shown as "
                         "they are now."};
    // Another program wrote: the pages read so far do not show which others changed.
    if (state_ == SealState::Changed)
        return FileDoubt{
            Severity::Warning, HealthCode::TraceChanged,
            "Another program modified the trace. Events are shown as they are now; stored summaries are ignored."};
    if (pages == 0) return std::nullopt;
    return FileDoubt{Severity::Error, HealthCode::PagesDamaged,
                     fmt::format("The file is corrupt: {} of the pages that were read {} changed since the recording, "
                                 "and numbers may be wrong. Copy it again.",
                                 pages, pages == 1 ? "is" : "are")};
}

const char* descriptorVfs() {
    static const bool isRegistered = registerDescriptorVfs();
    return isRegistered ? vfsName : nullptr;
}

std::string descriptorName(int descriptor) { return std::string(prefix) + std::to_string(descriptor); }

const char* watchedVfs(const char* vfs) {
    static sqlite3_vfs aboveUsual, aboveDescriptor;
    if (vfs != nullptr) {
        static const char* const name = registerAbove(aboveDescriptor, "lanescope-watched-descriptor", descriptorVfs());
        return name;
    }
    static const char* const name = registerAbove(aboveUsual, "lanescope-watched", nullptr);
    return name;
}

bool readEveryPage(sqlite3* database) {
    sqlite3_file* const file = watchedFile(database);
    if (file == nullptr || !reinterpret_cast<WatchedFile*>(file)->watch) return false;
    const ReadWatch& watch = *reinterpret_cast<WatchedFile*>(file)->watch;
    std::vector<std::byte> page(watch.pageBytes());
    for (size_t number = 0; number < watch.sealedPages(); ++number) {
        const int code = readFile(file, page.data(), static_cast<int>(page.size()),
                                  static_cast<sqlite3_int64>(number * page.size()));
        if (code != SQLITE_OK) return false;
    }
    return true;
}

bool watchReads(sqlite3* database, std::shared_ptr<ReadWatch> watch, bool readsSeal) {
    sqlite3_file* const file = watchedFile(database);
    if (file == nullptr) return false;
    sqlite3_int64 bytes = 0;
    if (readsSeal && Pass<&sqlite3_io_methods::xFileSize>::call(file, &bytes) == SQLITE_OK)
        watch->setSeal(readSeal(static_cast<uint64_t>(bytes), [&](std::span<std::byte> to, uint64_t at) {
            const bool isRead = readBelow(file, to, at);
            if (!isRead) watch->noteFailedRead(errno);
            return isRead;
        }));
    auto* const own = reinterpret_cast<WatchedFile*>(file);
    if (own->hasLog) watch->noteLog();
    for (const std::string& name : own->ignored) watch->noteIgnored(name);
    own->watch = std::move(watch);
    return true;
}

}  // namespace lanescope
