// SPDX-License-Identifier: Apache-2.0
#pragma once

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

namespace lanescope {

/// Whether a file could get this name: `path` is no folder, and its own is there and can be written
/// to.
Result<void> checkPlace(const std::filesystem::path& path);

/// A file that appears under its name when it is whole and on disk, in place of whatever had the
/// name, and never if it is not: until then it has no name, or where a file system knows no such
/// files one of its own beside it. No link is followed. What could not be written, a full disk
/// say, is told by `commit`. One thread at a time.
class AtomicFile {
  public:
    static constexpr mode_t ownersMode = 0600;
    /// As programs make files: for everybody, less what the umask of the process takes away.
    static constexpr mode_t usualMode = 0666;

    /// `mode` is who may use the file, less the umask. Fails if no file can be made in the folder
    /// or `path` is a folder.
    static Result<AtomicFile> create(const std::filesystem::path& path, mode_t mode = ownersMode);
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    /// Removes what was not committed.
    ~AtomicFile();

    /// Whoever may read or write `source` may do so with the file, its owner always; where `source`
    /// cannot be asked, or lets another group in than the file can belong to, nobody else.
    void shareLike(const std::filesystem::path& source);

    /// Whoever may use the file that has the name now may use the new one; a link, or none, has
    /// nothing to say.
    void keepAccess();

    /// Appends. After the first failure nothing more is written.
    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// How many bytes were appended.
    uint64_t offset() const { return offset_; }
    /// Overwrites the first bytes, which must have been appended before.
    void writeAtStart(std::span<const std::byte> bytes);
    /// Whether all could be written so far; what still lies in memory counts as written.
    bool isGood() const { return error_ == 0; }

    /// Brings the file to disk and gives it its name. Fails with what could not be done first.
    /// Call once.
    Result<void> commit();

  private:
    AtomicFile(int descriptor, std::string partial, std::filesystem::path path);
    void flush();
    int nameIt();

    int descriptor_ = -1;
    std::string partial_;  ///< Its name until it is committed; empty as long as it has none.
    std::filesystem::path path_;
    std::vector<std::byte> buffer_;
    uint64_t offset_ = 0;
    int error_ = 0;  ///< Of the first write that failed.
};

/// Writes a small file whole.
Result<void> writeAtomically(const std::filesystem::path& path, std::string_view text,
                             mode_t mode = AtomicFile::ownersMode);

/// What `publishFile` does with a file that has the name already.
enum class IfExists : uint8_t { Fail, Replace };

/// Waits until all of a file, which must be no link, is on disk. The error is that of the disk:
/// what the file may then not be whole.
Result<void> bringToDisk(const std::filesystem::path& path);

/// Brings `unfinished`, which lies in the same folder, to disk and gives it the name `target` in
/// one step. With `Fail` an existing `target` is left alone, also one that comes up at this moment,
/// and the call fails; `unfinished` keeps its name whenever the call fails, and the error names it.
Result<void> publishFile(const std::filesystem::path& unfinished,
                         const std::filesystem::path& target, IfExists ifExists);

/// Where a program writes what it was asked for: a file that appears under its very name once it is
/// whole, or in place a device, a pipe or stdout, which have no such moment. One thread.
class OutputFile {
  public:
    /// Fails at once if no file can get that name. A new file is its owner's only; one that is
    /// there keeps who may use it.
    static Result<OutputFile> open(const std::filesystem::path& path);
    static OutputFile standardOutput();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    /// Gives up a file that was not closed.
    ~OutputFile();

    /// Writes; a failure shows at `close`.
    void write(std::string_view text);
    /// False once nothing more can arrive: the reader has gone or the disk is full.
    bool isWanted() const { return file_ ? file_->isGood() : error_ == 0; }
    /// Flushes and puts the file in its place. A reader that has gone away, as `head` does, is no
    /// failure.
    Result<void> close();

  private:
    OutputFile() = default;

    std::optional<AtomicFile> file_;  ///< Else:
    std::FILE* stream_ = nullptr;
    std::filesystem::path path_;  ///< Of the stream; empty for stdout.
    int error_ = 0;               ///< errno of its first failure.
};

/// Fails if `path` is one of `inputs`, which are being read.
Result<void> checkIsNoInput(const std::filesystem::path& path,
                            std::span<const std::filesystem::path> inputs);

/// Where temporary files go, the first that works: in the folder that the environment variable
/// TMPDIR names, else in /var/tmp or /tmp.
std::vector<std::filesystem::path> temporaryFolders();

/// A file without a name: nobody else can open it, and it is gone with this object, or with the
/// process however that ends. One thread at a time.
class TemporaryFile {
  public:
    /// In `folder`, for the owner only; without one, in one of `temporaryFolders`.
    static Result<TemporaryFile> create(const std::filesystem::path& folder = {});
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();

    /// Appends all of `bytes`.
    Result<void> write(std::span<const unsigned char> bytes);
    /// Bytes that this user can still write beside the file.
    uint64_t freeBytes() const;
    int descriptor() const { return descriptor_; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    TemporaryFile(int descriptor, std::filesystem::path folder)
        : descriptor_(descriptor), folder_(std::move(folder)) {}

    int descriptor_ = -1;
    std::filesystem::path folder_;
};

}  // namespace lanescope
