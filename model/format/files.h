// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/UniqueFd.h"

// Every file of the product is opened, created and removed here, in `OutputFile.h` or in `Sqlite.h`.
// Other users may be able to write to the same folders, so names are not trusted: a name may
// become a link, a pipe or the file of another user at any time. Any thread.
namespace lanescope {

/// Identity of a file, whatever its name.
struct FileId {
    uint64_t device = 0, number = 0;
    bool operator==(const FileId&) const = default;
};

/// Opens a regular file for reading and follows links. Never waits: a pipe, a folder and a device are refused.
Result<UniqueFd> openRegularFile(const std::filesystem::path& path);

/// Opens a regular file for reading and writing; a link is not followed. Returns -1 with errno.
UniqueFd openToChange(const std::filesystem::path& path);

/// Opens a device without contents, /dev/null, for reading and writing. Returns -1 with errno. Safe after a fork.
UniqueFd openNullDevice();

/// Returns the contents of a regular file. Fails if it is larger than `maxBytes`.
Result<std::string> readRegularFile(const std::filesystem::path& path, uint64_t maxBytes);

/// Returns the contents of a file of the kernel, below /proc or /sys, at most `maxBytes`. Returns
/// nullopt if it cannot be read.
std::optional<std::string> readSystemFile(const std::filesystem::path& path, size_t maxBytes = size_t{1} << 20);

/// Opens a folder to create and rename files in it; that need not be readable. Links are followed. Returns -1 with
/// errno.
UniqueFd openFolder(const std::filesystem::path& path);

/// Removes a file; a link is removed itself. A missing file is no failure.
Result<void> removeFile(const std::filesystem::path& path);

/// Creates the missing folders of a path for the owner only. Folders that exist keep their permissions.
Result<void> makePrivateFolders(const std::filesystem::path& path);

/// Returns the folder of that name in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`),
/// which need not exist. Returns nullopt without a cache folder.
std::optional<std::filesystem::path> cacheFolder(std::string_view name);

/// Returns true if a file may be believed next to a trace. This is the only rule of trust: a regular file of this user,
/// of root or of the owner of the trace, and no user can write to it who cannot write to the trace.
bool isTrustedNextTo(const struct stat& file, const struct stat& trace);

/// Returns the name of the user, "user 1000" without one, to whom a file or folder belongs. Returns
/// nullopt if that is this user, or if it cannot be read.
std::optional<std::string> otherOwnerOf(const std::filesystem::path& path);

/// Opens a file that may be believed next to `trace`, or a file of this user or root without one (`isTrustedNextTo`).
/// Links are not followed. Returns -1 for any other file; errno is EPERM if that is of another user, a link or a pipe.
UniqueFd openTrustedFile(const std::filesystem::path& path, const std::filesystem::path& trace = {});

/// Open folder. Names are resolved in this folder even if it is renamed or another folder or link
/// gets its name. Links in it are not followed. Movable.
class Folder {
  public:
    /// Opens a folder. The last part of `path` must be no link.
    static Result<Folder> open(const std::filesystem::path& path);
    /// Opens `cacheFolder(name)`, created if missing, and takes it from all users but its owner. Fails
    /// if another user owns it. Files in it need `openTrustedFile`: others may have written to it before.
    static Result<Folder> openCache(std::string_view name);
    /// Opens a folder to which a link may lead, as one that the user names.
    static Result<Folder> openNamed(const std::filesystem::path& path);
    /// Creates a folder with a random name in `parent`, for the owner only.
    static Result<Folder> createUnnamed(const std::filesystem::path& parent);

    /// Path for messages and for other programs. Use the functions below to access files.
    const std::filesystem::path& path() const { return path_; }
    int descriptor() const { return descriptor_; }
    /// Returns the same folder with another descriptor; nullopt without one, with errno.
    std::optional<Folder> again() const;
    FileId id() const;
    /// Returns true if `path` still leads to this folder, without a link as its last part.
    bool isAt(const std::filesystem::path& path) const;
    /// Returns `path` if that still leads to this folder, else the path to which the folder was moved, if known. For
    /// libraries that need a path: use it at once.
    std::filesystem::path presentPath() const;
    /// Renames the folder to `wanted`, in the same parent. An empty folder of this user at `wanted` is
    /// replaced. Returns 0 or an errno: EEXIST if `wanted` exists.
    int assignName(const std::filesystem::path& wanted);

    /// Returns the names in the folder, in no order. Throws `std::bad_alloc` without memory.
    std::vector<std::string> names() const;
    bool contains(const std::string& name) const;
    enum class Access { Read, Write, Append };
    /// Opens a regular file. Returns -1 with errno, ELOOP for a link, EINVAL for a pipe or device.
    UniqueFd openFile(const std::string& name, Access access = Access::Read) const;
    /// Creates a file that did not exist, for the owner only: for appending with `Append`, else for reading
    /// and writing. Returns -1 with errno.
    UniqueFd createFile(const std::string& name, Access access = Access::Write) const;
    /// Returns the target of a link; nullopt if it is none.
    std::optional<std::string> linkTarget(const std::string& name) const;
    /// Returns the size of a regular file; nullopt for anything else.
    std::optional<uint64_t> fileBytes(const std::string& name) const;
    /// Removes a name that is no folder. Returns 0 or an errno.
    int removeFile(const std::string& name) const;
    /// Removes a name; a folder with its files, which stays if it has folders. Returns 0 or an errno.
    int removeAll(const std::string& name) const;
    /// Moves a file into another folder of the same disk and replaces a file there. Returns 0 or an errno.
    int moveTo(const std::string& name, const Folder& target, const std::string& newName) const;
    /// Removes the folder itself if it is empty and still has its name. Returns 0 or an errno.
    int removeSelf() const;

  private:
    Folder(UniqueFd descriptor, std::filesystem::path path)
        : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

    UniqueFd descriptor_;
    std::filesystem::path path_;
};

}  // namespace lanescope
