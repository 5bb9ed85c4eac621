// SPDX-License-Identifier: Apache-2.0
// For systems of POSIX that are not Linux.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "model/system/missingPages.h"
#include "model/system/system.h"

namespace lanescope::system {

ClockError clockError() { return {}; }

std::filesystem::path pathOfDescriptor(int) { return {}; }

int openUnreadableFolder(const char*) {
    errno = EACCES;
    return -1;
}

int openUnnamedFile(int, mode_t) {
    errno = EOPNOTSUPP;
    return -1;
}

int linkName(int, int, const char*) { return EOPNOTSUPP; }

int renameIfFree(int folder, const char* from, const char* to) {
#ifdef __APPLE__
    return ::renameatx_np(folder, from, folder, to, RENAME_EXCL) == 0 ? 0 : errno;
#else
    static_cast<void>(folder);
    static_cast<void>(from);
    static_cast<void>(to);
    return ENOSYS;
#endif
}

int flushToDisk(int file) {
#ifdef F_FULLFSYNC
    // On macOS fsync leaves the data in the cache of the disk. Not every file system supports F_FULLFSYNC.
    if (::fcntl(file, F_FULLFSYNC) == 0) return 0;
#endif
    return ::fsync(file) == 0 ? 0 : errno;
}

namespace {
int64_t inNs(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }
}  // namespace

#ifdef __APPLE__
int64_t modifiedNs(const struct stat& status) { return inNs(status.st_mtimespec); }
int64_t changedNs(const struct stat& status) { return inNs(status.st_ctimespec); }
#else
int64_t modifiedNs(const struct stat& status) { return inNs(status.st_mtim); }
int64_t changedNs(const struct stat& status) { return inNs(status.st_ctim); }
#endif

bool reserveDiskSpace(int file, int64_t offset, int64_t bytes) {
#ifdef __APPLE__
    // F_PREALLOCATE reserves space after the end of a file, not for a hole in it.
    static_cast<void>(file);
    static_cast<void>(offset);
    static_cast<void>(bytes);
    return false;
#else
    return ::posix_fallocate(file, offset, bytes) == 0;
#endif
}

bool releaseDiskSpace(int, int64_t, int64_t) { return false; }

bool isStableFile(int) { return false; }

bool isLocalType(int64_t) { return false; }

}  // namespace lanescope::system

#ifdef __APPLE__
#include <crt_externs.h>
#include <mach-o/dyld.h>
#endif

#include <string>

#ifndef __APPLE__
extern char** environ;
#endif

namespace lanescope::system {

bool openPipe(std::array<int, 2>& ends) {
    if (::pipe(ends.data()) != 0) return false;
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    return true;
}

char** environment() {
#ifdef __APPLE__
    return *::_NSGetEnviron();  // Libraries cannot access `environ` itself.
#else
    return ::environ;
#endif
}

void endWithParent() {}

void adoptOrphans() {}

void preferLargePages(void*, size_t) {}

void separateLargeBlocks() {}

void shareHeap() {}

void returnFreeMemory() {}

void unloadPages(const void*, size_t) {}

std::filesystem::path ownProgram() {
#ifdef __APPLE__
    uint32_t length = 0;
    ::_NSGetExecutablePath(nullptr, &length);
    std::string path(length, '\0');
    if (::_NSGetExecutablePath(path.data(), &length) == 0) return path.c_str();
#endif
    return {};
}

std::optional<uint64_t> randomNumber() {
    uint64_t number = 0;
    ::arc4random_buf(&number, sizeof number);
    return number;
}

int openMissingPages() { return -1; }
void* reserveMissing(int, size_t) { return nullptr; }
std::optional<uintptr_t> nextMissingRead(int) { return std::nullopt; }
void fillPages(int, std::byte*, const std::byte*, size_t) {}

}  // namespace lanescope::system
