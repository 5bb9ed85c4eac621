// SPDX-License-Identifier: Apache-2.0
#include "model/format/descriptorVfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace lanescope {

namespace {

// SQLite resolves links and refuses to open through one, so /proc/self/fd is no way in.

constexpr const char* vfsName = "lanescope-descriptor";
constexpr std::string_view prefix = "descriptor-";

struct OpenDescriptor {
    sqlite3_file base;
    int descriptor;
};

int descriptorOf(sqlite3_file* file) {
    return reinterpret_cast<OpenDescriptor*>(file)->descriptor;
}

int closeFile(sqlite3_file* file) {
    return ::close(descriptorOf(file)) == 0 ? SQLITE_OK : SQLITE_IOERR_CLOSE;
}

int readFile(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
        const ssize_t got = ::pread(descriptorOf(file), out, static_cast<size_t>(bytes),
                                    static_cast<off_t>(offset));
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

int refuseWrite(sqlite3_file*, const void*, int, sqlite3_int64) {
    return SQLITE_READONLY;
}
int refuseTruncate(sqlite3_file*, sqlite3_int64) {
    return SQLITE_READONLY;
}
int needNoSync(sqlite3_file*, int) {
    return SQLITE_OK;
}
int needNoLock(sqlite3_file*, int) {
    return SQLITE_OK;
}
int isNeverReserved(sqlite3_file*, int* isReserved) {
    *isReserved = 0;
    return SQLITE_OK;
}
int knowNoControl(sqlite3_file*, int, void*) {
    return SQLITE_NOTFOUND;
}
int sectorBytes(sqlite3_file*) {
    return 4096;
}
int characteristics(sqlite3_file*) {
    return SQLITE_IOCAP_IMMUTABLE;
}

constexpr sqlite3_io_methods methods{
    .iVersion = 1,
    .xClose = closeFile,
    .xRead = readFile,
    .xWrite = refuseWrite,
    .xTruncate = refuseTruncate,
    .xSync = needNoSync,
    .xFileSize = sizeOfFile,
    .xLock = needNoLock,
    .xUnlock = needNoLock,
    .xCheckReservedLock = isNeverReserved,
    .xFileControl = knowNoControl,
    .xSectorSize = sectorBytes,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int openFile(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flagsOut) {
    file->pMethods = nullptr;
    const std::string_view text(name != nullptr ? name : "");
    if (!text.starts_with(prefix) || (flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
    int descriptor = -1;
    const auto [end, error] =
        std::from_chars(text.data() + prefix.size(), text.data() + text.size(), descriptor);
    if (error != std::errc() || end != text.data() + text.size()) return SQLITE_CANTOPEN;
    const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return SQLITE_CANTOPEN;
    reinterpret_cast<OpenDescriptor*>(file)->descriptor = own;
    file->pMethods = &methods;
    if (flagsOut != nullptr) *flagsOut = (flags & ~SQLITE_OPEN_READWRITE) | SQLITE_OPEN_READONLY;
    return SQLITE_OK;
}

int deleteNothing(sqlite3_vfs*, const char*, int) {
    return SQLITE_OK;
}

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

/// SQLite's own, but for everything that has to do with files.
bool registerVfs() {
    const sqlite3_vfs* standard = sqlite3_vfs_find(nullptr);
    if (standard == nullptr) return false;
    static sqlite3_vfs vfs = *standard;
    vfs.pNext = nullptr;
    vfs.zName = vfsName;
    vfs.szOsFile = sizeof(OpenDescriptor);
    vfs.xOpen = openFile;
    vfs.xDelete = deleteNothing;
    vfs.xAccess = findNoFile;
    vfs.xFullPathname = keepName;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

}  // namespace

const char* descriptorVfs() {
    static const bool isRegistered = registerVfs();
    return isRegistered ? vfsName : nullptr;
}

std::string descriptorName(int descriptor) {
    return std::string(prefix) + std::to_string(descriptor);
}

}  // namespace lanescope
