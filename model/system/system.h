// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

/// What not every system says of its clock.
namespace lanescope::system {

/// How far the system believes its clock of the day off.
struct ClockError {
    std::optional<int64_t> estimatedNs;  ///< Nothing if no other clock disciplines it.
    std::optional<int64_t> mostNs;
};

/// As the system says now; nothing where it does not. Needs no permission.
ClockError clockError();

}  // namespace lanescope::system

/// Calls of the system that not every system has, about files. What one has not answers as if its
/// file system could not do it, so that callers need one way out for both. Any thread.
namespace lanescope::system {

/// An open file without a name in `folder`, which is gone with the process however that ends; or -1
/// with `errno`, EOPNOTSUPP where there are no such files.
int openNameless(const char* folder, mode_t mode);

/// Gives a name that is free to a file of `openNameless`; 0 or what went wrong.
int giveName(int nameless, const char* name);

/// Renames a file, unless another has that name: 0 or what went wrong, EEXIST if it has, ENOSYS or
/// EINVAL where that cannot be done in one.
int renameIfFree(const char* from, const char* to);

/// Brings what was written to an open file to the disk, out of its own cache, too: 0 or what went
/// wrong. Waits for the disk.
int bringToDisk(int file);

/// When the bytes of a file last changed, in nanoseconds since 1970.
int64_t modifiedNs(const struct stat& status);

/// Whether the disk has room for these bytes of a file, kept for it from now on; false where no
/// room can be kept.
bool reserveRoom(int file, int64_t offset, int64_t bytes);

/// Gives the room of these bytes back, which are zero from now on; false where holes cannot be
/// made.
bool giveRoomBack(int file, int64_t offset, int64_t bytes);

/// Whether an open file stays what it is, whatever others do by its name: on file systems of this
/// machine, not on those of others. Of what is not known it does not.
bool keepsOpenFiles(int file);

/// The same of a type of file system, as Linux numbers them (`f_type` of statfs).
bool isLocalType(int64_t fileSystemType);

}  // namespace lanescope::system

/// Calls of the system that not every system has, about processes.
namespace lanescope::system {

/// Opens a pipe, to read and to write, that programs started later do not inherit; false with
/// `errno`.
bool openPipe(std::array<int, 2>& ends);

/// Opens two sockets that are connected, which programs started later do not inherit; false with
/// `errno`.
bool openSockets(std::array<int, 2>& ends);

/// As `send`, but a socket that nobody reads from raises no signal.
ssize_t sendQuietly(int socket, const void* bytes, size_t count);

/// The variables of this process, which programs started by it get; null after the last. Belongs to
/// the system.
char** environment();

/// From now on the calling process gets no more than so much further memory, where the system can
/// do that; what it asks for beyond is refused. Another call sets another bound.
void limitFurtherMemory(uint64_t bytes);

/// Asks for these bytes of memory, which begin at a page, in few large pages, where the system can
/// do that; without them it is only slower.
void preferLargePages(void* memory, size_t bytes);

/// The file of the running program; empty if the system does not say.
std::filesystem::path ownProgram();

/// What starts the running program again, also where its file was replaced in the meantime if the
/// system can do that.
std::filesystem::path programToRestart();

/// A number that nobody can guess; nothing early in a boot. Does not block.
std::optional<uint64_t> drawNumber();

}  // namespace lanescope::system
