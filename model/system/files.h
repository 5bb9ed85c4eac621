// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>

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
