// SPDX-License-Identifier: Apache-2.0
#include "model/format/watchedVfs.h"

#include <optional>

#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/format/ReadWatch.h"
#include "model/format/descriptorVfs.h"

namespace lanescope {

namespace {

/// A file of ours; that of the VFS below lies behind it in memory.
struct WatchedFile {
    sqlite3_file base{};
    bool isImmutable = false;
    bool hasLog = false;  ///< With rows in it.
    std::shared_ptr<ReadWatch> watch;
};

sqlite3_file* below(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<WatchedFile*>(file) + 1);
}

/// Calls a method of the file below.
template <auto method>
struct Pass;
template <class R, class... A, R (*sqlite3_io_methods::*method)(sqlite3_file*, A...)>
struct Pass<method> {
    static R call(sqlite3_file* file, A... arguments) {
        return (below(file)->pMethods->*method)(below(file), arguments...);
    }
};

int closeFile(sqlite3_file* file) {
    const int code = below(file)->pMethods != nullptr
                         ? Pass<&sqlite3_io_methods::xClose>::call(file)
                         : SQLITE_OK;
    std::destroy_at(reinterpret_cast<WatchedFile*>(file));
    return code;
}

bool readBelow(sqlite3_file* file, std::span<std::byte> to, uint64_t at) {
    return Pass<&sqlite3_io_methods::xRead>::call(file, static_cast<void*>(to.data()),
                                                  static_cast<int>(to.size()),
                                                  static_cast<sqlite3_int64>(at)) == SQLITE_OK;
}

/// The change counter as it is now; 0 if it cannot be read.
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
        // SQLite takes some of them for a damaged file.
        return SQLITE_IOERR_READ;
    }
    if (code != SQLITE_OK) return code;
    watch->see({static_cast<const std::byte*>(to), static_cast<size_t>(bytes)},
               static_cast<uint64_t>(offset), [file] { return counterOf(file); });
    return code;
}

int characteristics(sqlite3_file* file) {
    const int known = Pass<&sqlite3_io_methods::xDeviceCharacteristics>::call(file);
    return reinterpret_cast<WatchedFile*>(file)->isImmutable ? known | SQLITE_IOCAP_IMMUTABLE
                                                             : known;
}

/// What is mapped would be read unseen.
int fetchNothing(sqlite3_file*, sqlite3_int64, int, void** page) {
    *page = nullptr;
    return SQLITE_OK;
}
int unfetchNothing(sqlite3_file*, sqlite3_int64, void*) {
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
    .xShmMap = Pass<&sqlite3_io_methods::xShmMap>::call,
    .xShmLock = Pass<&sqlite3_io_methods::xShmLock>::call,
    .xShmBarrier = Pass<&sqlite3_io_methods::xShmBarrier>::call,
    .xShmUnmap = Pass<&sqlite3_io_methods::xShmUnmap>::call,
    .xFetch = fetchNothing,
    .xUnfetch = unfetchNothing,
};

sqlite3_vfs* vfsBelow(sqlite3_vfs* vfs) {
    return static_cast<sqlite3_vfs*>(vfs->pAppData);
}

/// Whether changes that are not in the file may lie in a log beside it; nothing if its header says
/// that it is used without one.
std::optional<bool> hasLog(sqlite3_file* file, const char* name) {
    std::array<std::byte, 2> versions{};
    constexpr std::byte withLog{2};
    if (!readBelow(file, versions, 18) || versions[1] != withLog) return std::nullopt;
    struct stat status {};
    const std::string log = std::string(name) + "-wal";
    return ::stat(log.c_str(), &status) == 0 && status.st_size > 0;
}

bool isNoRegularFile(const char* name) {
    struct stat status {};
    return ::stat(name, &status) == 0 && !S_ISREG(status.st_mode);
}

int openFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flagsOut) {
    auto* own = new (file) WatchedFile();
    below(file)->pMethods = nullptr;
    file->pMethods = nullptr;
    // Beside a trace may lie anything, and a pipe would be waited for.
    if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && name != nullptr && isNoRegularFile(name))
        return SQLITE_CANTOPEN;
    const int code = vfsBelow(vfs)->xOpen(vfsBelow(vfs), name, below(file), flags, flagsOut);
    // SQLite closes what has methods, also where it could not be opened.
    file->pMethods = below(file)->pMethods == nullptr       ? nullptr
                     : below(file)->pMethods->iVersion >= 2 ? &methodsOf<3>
                                                            : &methodsOf<1>;
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0 && name != nullptr) {
        const std::optional<bool> log = hasLog(file, name);
        own->isImmutable = log == false;
        own->hasLog = log == true;
    }
    return code;
}

/// The same of the VFS below.
template <auto method>
struct PassVfs;
template <class R, class... A, R (*sqlite3_vfs::*method)(sqlite3_vfs*, A...)>
struct PassVfs<method> {
    static R call(sqlite3_vfs* vfs, A... arguments) {
        return (vfsBelow(vfs)->*method)(vfsBelow(vfs), arguments...);
    }
};

/// One for each VFS below, for as long as the program runs, as SQLite keeps the pointer.
const char* registerAbove(sqlite3_vfs& vfs, const char* name, const char* nameBelow) {
    sqlite3_vfs* const found = sqlite3_vfs_find(nameBelow);
    if (found == nullptr) return nullptr;
    vfs = *found;
    vfs.pNext = nullptr;
    vfs.zName = name;
    vfs.pAppData = found;
    vfs.szOsFile = static_cast<int>(sizeof(WatchedFile)) + found->szOsFile;
    vfs.xOpen = openFile;
    vfs.xDelete = PassVfs<&sqlite3_vfs::xDelete>::call;
    vfs.xAccess = PassVfs<&sqlite3_vfs::xAccess>::call;
    vfs.xFullPathname = PassVfs<&sqlite3_vfs::xFullPathname>::call;
    vfs.xRandomness = PassVfs<&sqlite3_vfs::xRandomness>::call;
    vfs.xSleep = PassVfs<&sqlite3_vfs::xSleep>::call;
    vfs.xCurrentTime = PassVfs<&sqlite3_vfs::xCurrentTime>::call;
    vfs.xGetLastError = PassVfs<&sqlite3_vfs::xGetLastError>::call;
    vfs.xCurrentTimeInt64 = PassVfs<&sqlite3_vfs::xCurrentTimeInt64>::call;
    // Extensions are not loaded, and system calls are those of the VFS below.
    vfs.iVersion = 2;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? name : nullptr;
}

}  // namespace

const char* watchedVfs(const char* vfs) {
    static sqlite3_vfs aboveUsual, aboveDescriptor;
    if (vfs != nullptr) {
        static const char* const name =
            registerAbove(aboveDescriptor, "lanescope-watched-descriptor", descriptorVfs());
        return name;
    }
    static const char* const name = registerAbove(aboveUsual, "lanescope-watched", nullptr);
    return name;
}

namespace {

/// The file of a connection, if it is one of ours.
sqlite3_file* watchedFile(sqlite3* database) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        file == nullptr || (file->pMethods != &methodsOf<1> && file->pMethods != &methodsOf<3>))
        return nullptr;
    return file;
}

}  // namespace

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
        watch->setSeal(
            readSeal(static_cast<uint64_t>(bytes), [&](std::span<std::byte> to, uint64_t at) {
                const bool isRead = readBelow(file, to, at);
                if (!isRead) watch->noteFailedRead(errno);
                return isRead;
            }));
    auto* const own = reinterpret_cast<WatchedFile*>(file);
    if (own->hasLog) watch->noteLog();
    own->watch = std::move(watch);
    return true;
}

}  // namespace lanescope
