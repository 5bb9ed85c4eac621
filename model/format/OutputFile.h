// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope {

/// Fails if no file can get the name `path`: the path is a folder, or its folder is missing or not writable.
Result<void> checkPlace(const std::filesystem::path& path);

/// File that replaces its name atomically once it is whole and on disk. Until then it has no name,
/// or a temporary one on file systems without nameless files. It stays in the folder that `create`
/// opened, and links are not followed. Write errors, such as a full disk, are reported by `commit`.
/// One thread at a time.
class AtomicFile {
  public:
    static constexpr mode_t ownerOnlyMode = 0600;
    /// Default mode of new files: everybody, less the umask of the process.
    static constexpr mode_t defaultMode = 0666;

    /// Creates the file with `mode` less the umask. Fails if the folder is not writable or `path` is a folder.
    static Result<AtomicFile> create(const std::filesystem::path& path, mode_t mode = ownerOnlyMode);
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    ~AtomicFile();

    /// Copies the read and write permissions of `source`; the owner always keeps access. If `source` cannot be read, or
    /// allows a group that the file cannot belong to, only the owner gets access.
    void copyPermissionsOf(const std::filesystem::path& source) { copyPermissions(source, 0666); }

    /// Like `copyPermissionsOf`, but only the owner can write.
    void copyReadPermissionsOf(const std::filesystem::path& source) { copyPermissions(source, 0444); }

    /// Copies the permissions of the file that has the name now, if any. A link is ignored.
    void copyTargetPermissions();

    /// Appends. After the first failure nothing more is written.
    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    uint64_t offset() const { return offset_; }
    /// Overwrites the first bytes, which must have been appended before.
    void writeAtStart(std::span<const std::byte> bytes);
    /// Returns true if no write failed so far. Buffered bytes count as written.
    bool isGood() const { return error_ == 0; }

    /// Flushes the file to disk and gives it its name. Returns the first error. Call once.
    Result<void> commit();

  private:
    AtomicFile(UniqueFd folder, UniqueFd descriptor, std::string partial, std::filesystem::path path);
    void copyPermissions(const struct stat& wanted, mode_t copied);
    void flush();
    int linkTemporaryName();
    void copyPermissions(const std::filesystem::path& source, mode_t copied);

    UniqueFd folder_;
    UniqueFd descriptor_;
    std::string partial_;  ///< Temporary name until the commit; empty if the file is nameless.
    std::filesystem::path path_;
    std::vector<std::byte> buffer_;
    uint64_t offset_ = 0;
    int error_ = 0;  ///< errno value of the first failed write.
};

Result<void> writeAtomically(const std::filesystem::path& path, std::string_view text,
                             mode_t mode = AtomicFile::ownerOnlyMode);

/// Action of `publishFile` if the target exists.
enum class IfExists : uint8_t { Fail, Replace };

/// Flushes `unfinished`, which must be no link, to disk and renames it to `target` in the same folder in one step. With
/// `Fail` an existing `target` is never replaced and the call fails. After a failure `unfinished` keeps its name, and
/// the error names it.
Result<void> publishFile(const std::filesystem::path& unfinished, const std::filesystem::path& target,
                         IfExists ifExists);
/// Does the same with names in an open folder.
Result<void> publishFile(const Folder& folder, const std::string& unfinished, const std::string& target,
                         IfExists ifExists);

/// Output of a program: a file that gets its name once it is whole, or a device, pipe or stdout
/// that is written directly. One thread.
class OutputFile {
  public:
    /// Fails at once if no file can get that name. A new file is accessible to its owner only; an
    /// existing file keeps its permissions.
    static Result<OutputFile> open(const std::filesystem::path& path);
    static OutputFile standardOutput();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    /// Discards a file that was not closed.
    ~OutputFile();

    /// Writes; errors are reported by `close`.
    void write(std::string_view text);
    /// Returns false if no further output can arrive: the reader has closed or the disk is full.
    bool isWanted() const { return file_ ? file_->isGood() : error_ == 0; }
    /// Flushes and gives the file its name. A reader that closed early, such as `head`, is no error.
    Result<void> close();

  private:
    OutputFile() = default;

    std::optional<AtomicFile> file_;  ///< Used without an atomic file:
    std::FILE* stream_ = nullptr;
    std::filesystem::path path_;  ///< Path of the stream; empty for stdout.
    int error_ = 0;               ///< errno value of the first failure.
};

/// Fails if `path` is one of `inputs`, which are being read.
Result<void> checkIsNoInput(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs);

/// Returns the folders for temporary files in order of preference: the value of TMPDIR, /var/tmp, /tmp.
std::vector<std::filesystem::path> temporaryFolders();

/// File without a name: no other program can open it, and it disappears with this object or the
/// process. One thread at a time.
class TemporaryFile {
  public:
    /// Creates the file in `folder`, or in one of `temporaryFolders`; for the owner only.
    static Result<TemporaryFile> create(const std::filesystem::path& folder = {});

    Result<void> write(std::span<const unsigned char> bytes);
    /// Returns the bytes that this user can still write to the same file system.
    uint64_t freeBytes() const;
    int descriptor() const { return descriptor_; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    TemporaryFile(int descriptor, std::filesystem::path folder) : descriptor_(descriptor), folder_(std::move(folder)) {}

    UniqueFd descriptor_;
    std::filesystem::path folder_;
};

/// Folder for files that need a name, for the owner only. It is removed with this object, together with
/// its files.
class ScratchFolder {
  public:
    /// Creates the folder in `parent`, or in one of `temporaryFolders`.
    static Result<ScratchFolder> create(const std::filesystem::path& parent = {});
    ScratchFolder(ScratchFolder&&) = default;
    ScratchFolder& operator=(ScratchFolder&&) = delete;
    ~ScratchFolder();

    const std::filesystem::path& path() const { return folder_.path(); }
    /// Opens a file for reading. Returns -1 with errno.
    UniqueFd openFile(const std::string& name) const { return folder_.openFile(name); }
    /// Moves a file out of the folder, as `Folder::moveTo`.
    int moveTo(const std::string& name, const Folder& target, const std::string& newName) const {
        return folder_.moveTo(name, target, newName);
    }

  private:
    explicit ScratchFolder(Folder folder) : folder_(std::move(folder)) {}

    Folder folder_;
};

}  // namespace lanescope
