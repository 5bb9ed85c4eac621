// SPDX-License-Identifier: Apache-2.0
// For systems of POSIX that are not Linux.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "model/system/files.h"

namespace lanescope::system {

int openNameless(const char*, mode_t) {
    errno = EOPNOTSUPP;
    return -1;
}

int giveName(int, const char*) {
    return EOPNOTSUPP;
}

int renameIfFree(const char* from, const char* to) {
#ifdef __APPLE__
    return ::renamex_np(from, to, RENAME_EXCL) == 0 ? 0 : errno;
#else
    static_cast<void>(from);
    static_cast<void>(to);
    return ENOSYS;
#endif
}

int bringToDisk(int file) {
#ifdef F_FULLFSYNC
    // There fsync leaves it in the cache of the disk. Not every file system knows more.
    if (::fcntl(file, F_FULLFSYNC) == 0) return 0;
#endif
    return ::fsync(file) == 0 ? 0 : errno;
}

int64_t modifiedNs(const struct stat& status) {
#ifdef __APPLE__
    const timespec& time = status.st_mtimespec;
#else
    const timespec& time = status.st_mtim;
#endif
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool reserveRoom(int file, int64_t offset, int64_t bytes) {
#ifdef __APPLE__
    // It keeps room behind the end of a file, and none for a hole in it.
    static_cast<void>(file);
    static_cast<void>(offset);
    static_cast<void>(bytes);
    return false;
#else
    return ::posix_fallocate(file, offset, bytes) == 0;
#endif
}

bool giveRoomBack(int, int64_t, int64_t) {
    return false;
}

bool keepsOpenFiles(int) {
    return false;
}

bool isLocalType(int64_t) {
    return false;
}

}  // namespace lanescope::system
