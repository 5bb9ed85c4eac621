// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

/// Clock queries that not every operating system answers.
namespace lanescope::system {

struct ClockError {
    std::optional<int64_t> estimatedNs;  ///< Nullopt if no other clock disciplines the system clock.
    std::optional<int64_t> maxNs;
};

/// Returns the current error; both members are nullopt if the system reports none. Needs no permission.
ClockError clockError();

}  // namespace lanescope::system

/// File calls that not every operating system has. A missing call fails like an unsupported file
/// system, so callers need one fallback only. Any thread.
namespace lanescope::system {

/// Returns the name under which the system shows an open file as a link to it; empty if there is none.
std::filesystem::path pathOfDescriptor(int file);

/// Opens a folder that may be searched and written, but not read. Returns -1 with `errno` on failure, EACCES if the
/// system has no such call.
int openUnreadableFolder(const char* path);

/// Opens a file without a name in the open `folder`. The file disappears when the process ends.
/// Returns -1 with `errno` on failure, EOPNOTSUPP if such files are not supported.
int openUnnamedFile(int folder, mode_t mode);

/// Links a file from `openUnnamedFile` to a name that is free in the open `folder`. Returns 0 or an errno value.
int linkName(int nameless, int folder, const char* name);

/// Renames a file in the open `folder` unless the new name exists. Returns 0 or an errno value:
/// EEXIST if the name exists, ENOSYS or EINVAL if no atomic call exists.
int renameIfFree(int folder, const char* from, const char* to);

/// Flushes an open file to the disk, including the cache of the disk. Returns 0 or an errno value. Waits for the disk.
int flushToDisk(int file);

/// Returns the modification time of a file in nanoseconds since 1970.
int64_t modifiedNs(const struct stat& status);

/// Returns the time of the last change of contents, name or permissions in nanoseconds since 1970.
/// Programs cannot set it.
int64_t changedNs(const struct stat& status);

/// Reserves disk space for a range of a file. Returns false if the space cannot be reserved.
bool reserveDiskSpace(int file, int64_t offset, int64_t bytes);

/// Releases the disk space of a range, which then reads as zero. Returns false if holes are not supported.
bool releaseDiskSpace(int file, int64_t offset, int64_t bytes);

/// Returns true if an open file stays unchanged whatever happens to its name. That holds on local
/// file systems, not on network ones. Returns false if the type is unknown.
bool isStableFile(int file);

/// Returns true if a file system type is local; the number is `f_type` of Linux's statfs.
bool isLocalType(int64_t fileSystemType);

}  // namespace lanescope::system

/// Process calls that not every operating system has.
namespace lanescope::system {

/// Opens a pipe (read end, write end) that child processes do not inherit. Returns false with `errno` on failure.
bool openPipe(std::array<int, 2>& ends);

/// Returns the environment variables that child processes get, null-terminated. Owned by the system.
char** environment();

/// Has this process killed when its parent ends. Does nothing where the system cannot do that.
void endWithParent();

/// Makes this process the parent of descendants whose own parent ends. Does nothing where the system cannot do that.
void adoptOrphans();

/// Requests large pages for memory that begins at a page boundary, if the system supports that.
/// Without them access is only slower.
void preferLargePages(void* memory, size_t bytes);

/// Has every large block of the heap allocated on its own, so that it returns to the system when freed. By default the
/// C library stops doing so after the first one. Call at the start of a program.
void separateLargeBlocks();

/// Has all threads share one heap, which needs less memory than a heap for each. Call at the start of a program.
void shareHeap();

/// Returns freed memory of the heap to the system, where the C library keeps it for later. Other threads that allocate
/// wait for some milliseconds at most.
void returnFreeMemory();

/// Unloads the pages of a mapped file that nobody writes to; the next access loads them again, usually from the page
/// cache. Requires a shared mapping. Does nothing where the system cannot do that.
void unloadPages(const void* mapping, size_t bytes);

/// Returns the file of the running program; empty if unknown.
std::filesystem::path ownProgram();

/// Returns a random number that cannot be predicted; nullopt early in a boot. Does not block.
std::optional<uint64_t> randomNumber();

}  // namespace lanescope::system
