// SPDX-License-Identifier: Apache-2.0
#include "model/format/OutputFile.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "model/system/system.h"

namespace lanescope {

namespace {

constexpr size_t bufferBytes = size_t{1} << 20;

/// Returns 0 or an errno value. A file system without fsync is no failure.
int syncToDisk(int descriptor) {
    const int problem = system::flushToDisk(descriptor);
    return problem == EINVAL || problem == EROFS || problem == ENOSYS ? 0 : problem;
}

std::filesystem::path folderOf(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Renames a file in an open folder. Returns 0 or an errno value.
int rename(int folder, const char* unfinished, const char* target, IfExists ifExists) {
    const auto replace = [&] { return ::renameat(folder, unfinished, folder, target) == 0 ? 0 : errno; };
    if (ifExists == IfExists::Replace) return replace();
    const int problem = system::renameIfFree(folder, unfinished, target);
    if (problem != EINVAL && problem != ENOSYS) return problem;
    // A link fails if the target exists, a rename does not.
    if (::linkat(folder, unfinished, folder, target, 0) == 0) {
        ::unlinkat(folder, unfinished, 0);
        return 0;
    }
    // The file system supports neither call: a gap remains between the check and the rename.
    struct stat status {};
    if (errno == EEXIST || ::fstatat(folder, target, &status, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
    return replace();
}

/// Returns an unpredictable temporary name. If the name of `path` is already as long as a name can be, it is
/// not part of the temporary name.
std::string temporaryName(const std::filesystem::path& path) {
    static std::atomic<uint64_t> count = 0;
    const uint64_t random = system::randomNumber().value_or(
        static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    const std::string ending = fmt::format(".{}-{:016x}", ++count, random);
    const std::string name = path.filename().string();
    return (name.size() + ending.size() <= NAME_MAX ? name : "lanescope") + ending;
}

bool isOfUserOrRoot(const struct stat& status) { return status.st_uid == ::geteuid() || status.st_uid == 0; }

/// Returns true if only this user and root can create names in the folder of a file, unlike in /tmp.
bool isPrivatePlace(const std::filesystem::path& path) {
    constexpr mode_t othersWrite = 0022;
    struct stat folder {};
    return ::stat(folderOf(path).c_str(), &folder) == 0 && isOfUserOrRoot(folder) &&
           (folder.st_mode & othersWrite) == 0;
}

/// Returns true if the name leads to a device or pipe. A link of another user does not count; it is replaced.
bool isDeviceOrPipe(const std::filesystem::path& path) {
    struct stat name {
    }, status{};
    if (::lstat(path.c_str(), &name) != 0 || ::stat(path.c_str(), &status) != 0) return false;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return false;
    return !S_ISLNK(name.st_mode) || isOfUserOrRoot(name) || isPrivatePlace(path);
}

/// Opens a device or pipe for writing. Where others can create names, it must belong to this user or to root: others
/// would read the output, or could replace it by a link meanwhile.
Result<UniqueFd> openInPlace(const std::filesystem::path& path) {
    const auto isTrusted = [&path](const struct stat& status) {
        return isOfUserOrRoot(status) || isPrivatePlace(path);
    };
    struct stat status {};
    UniqueFd file;
    if (::stat(path.c_str(), &status) == 0 && isTrusted(status)) {
        file.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
        if (file < 0 || ::fstat(file, &status) != 0)
            return fail("Cannot write {}: {}.", path.string(), std::strerror(errno));
    }
    if (file < 0 || !isTrusted(status) || S_ISREG(status.st_mode))
        return fail("{}: a pipe or device of another user. Choose another name or folder.", path.string());
    return file;
}

/// Opens a file without a name in `folder`; returns -1 with `errno` on failure.
int openUnnamedFile(const std::filesystem::path& folder) {
    const UniqueFd opened = openFolder(folder);
    const int file = opened < 0 ? -1 : system::openUnnamedFile(opened, 0600);
    // Some file systems, such as network ones, do not support nameless files.
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    std::string name = (folder / "lanescope-XXXXXX").string();
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(name.c_str());
    return named;
}

}  // namespace

Result<void> checkPlace(const std::filesystem::path& path) {
    if (path.empty()) return fail("The output name is empty. Name a file with --output.");
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return fail("{}: this is a folder, cannot write to it.", path.string());
    const size_t length = path.filename().string().size();
    if (length > NAME_MAX)
        return fail("{}: cannot write, the name is {} byte{} too long. Choose a shorter one.", path.string(),
                    length - NAME_MAX, length - NAME_MAX == 1 ? "" : "s");
    const std::filesystem::path folder = folderOf(path);
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(folder, error);
    if (status.type() == std::filesystem::file_type::not_found)
        return fail("{}: cannot write, the folder {} does not exist. Create it.", path.string(), folder.string());
    if (status.type() == std::filesystem::file_type::none)
        return fail("Cannot write {}: {}.", path.string(), error.message());
    if (!std::filesystem::is_directory(status))
        return fail("{}: cannot write, {} is not a folder.", path.string(), folder.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return fail("Cannot write {}: {}.", path.string(), std::strerror(errno));
    return {};
}

AtomicFile::AtomicFile(UniqueFd folder, UniqueFd descriptor, std::string partial, std::filesystem::path path)
    : folder_(std::move(folder)),
      descriptor_(std::move(descriptor)),
      partial_(std::move(partial)),
      path_(std::move(path)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::move(other.descriptor_)),
      partial_(std::exchange(other.partial_, {})),
      path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      offset_(other.offset_),
      error_(other.error_) {}

AtomicFile::~AtomicFile() {
    if (!partial_.empty()) ::unlinkat(folder_, partial_.c_str(), 0);
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path, mode_t mode) {
    if (const Result<void> place = checkPlace(path); !place) return fail(place.error());
    UniqueFd folder = openFolder(folderOf(path));
    // A nameless file disappears with the process, however the process ends.
    UniqueFd file(folder < 0 ? -1 : system::openUnnamedFile(folder, mode));
    if (file >= 0) return AtomicFile(std::move(folder), std::move(file), "", path);
    // Some file systems have no nameless files. The file must be new, so no link is followed.
    std::string partial = temporaryName(path);
    if (folder >= 0) file.reset(::openat(folder, partial.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file < 0) return fail("Cannot write {}: {}.", path.string(), std::strerror(errno));
    return AtomicFile(std::move(folder), std::move(file), std::move(partial), path);
}

void AtomicFile::copyPermissions(const std::filesystem::path& source, mode_t copied) {
    struct stat wanted {};
    if (!source.empty() && ::stat(source.c_str(), &wanted) == 0) copyPermissions(wanted, copied);
}

void AtomicFile::copyPermissions(const struct stat& wanted, mode_t copied) {
    constexpr mode_t owners = 0600, groups = 0060;
    struct stat own {};
    if (::fstat(descriptor_, &own) != 0) return;
    mode_t mode = (wanted.st_mode & copied) | owners;
    // The mode may not mean members of another group.
    if (own.st_gid != wanted.st_gid && ::fchown(descriptor_, static_cast<uid_t>(-1), wanted.st_gid) != 0)
        mode &= ~groups;
    // On failure only the owner can access the file.
    static_cast<void>(::fchmod(descriptor_, mode));
}

void AtomicFile::copyTargetPermissions() {
    struct stat status {};
    const bool isFile =
        ::fstatat(folder_, path_.filename().c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    if (isFile) copyPermissions(status, 0666);
}

int AtomicFile::linkTemporaryName() {
    int problem = 0;
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string name = temporaryName(path_);
        problem = system::linkName(descriptor_, folder_, name.c_str());
        if (problem == 0) {
            partial_ = std::move(name);
            return 0;
        }
        if (problem != EEXIST) break;
    }
    return problem;
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    offset_ += bytes.size();
    if (error_ != 0) return;
    if (buffer_.size() + bytes.size() < bufferBytes) {
        buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
        return;
    }
    flush();
    if (error_ == 0 && !writeAll(descriptor_, bytes.data(), bytes.size())) error_ = errno;
}

void AtomicFile::flush() {
    if (error_ == 0 && !writeAll(descriptor_, buffer_.data(), buffer_.size())) error_ = errno;
    buffer_.clear();
}

void AtomicFile::writeAtStart(std::span<const std::byte> bytes) {
    flush();
    if (error_ == 0 && !writeAllAt(descriptor_, bytes.data(), bytes.size(), 0)) error_ = errno;
}

Result<void> AtomicFile::commit() {
    flush();
    if (error_ == 0) error_ = syncToDisk(descriptor_);
    if (error_ == 0 && partial_.empty()) error_ = linkTemporaryName();
    if (error_ == 0) error_ = rename(folder_, partial_.c_str(), path_.filename().c_str(), IfExists::Replace);
    if (error_ != 0) return fail("Cannot write {}: {}.", path_.string(), std::strerror(error_));
    partial_.clear();
    descriptor_.reset();
    // So that the name survives a power failure.
    static_cast<void>(system::flushToDisk(folder_));
    return {};
}

Result<void> writeAtomically(const std::filesystem::path& path, std::string_view text, mode_t mode) {
    Result<AtomicFile> file = AtomicFile::create(path, mode);
    if (!file) return fail(file.error());
    file->write(text);
    return file->commit();
}

Result<void> publishFile(const std::filesystem::path& unfinished, const std::filesystem::path& target,
                         IfExists ifExists) {
    const Result<Folder> folder = Folder::openNamed(folderOf(target));
    if (!folder) return fail("{}: cannot write to disk: {}", unfinished.string(), folder.error().sentence);
    return publishFile(*folder, unfinished.filename().string(), target.filename().string(), ifExists);
}

Result<void> publishFile(const Folder& folder, const std::string& unfinished, const std::string& target,
                         IfExists ifExists) {
    const std::filesystem::path from = folder.path() / unfinished, to = folder.path() / target;
    // A link would become the trace, and could later lead elsewhere.
    const UniqueFd file = folder.openFile(unfinished);
    int problem = file < 0 ? errno : syncToDisk(file);
    if (problem != 0) return fail("{}: cannot write to disk: {}.", from.string(), std::strerror(problem));
    problem = rename(folder.descriptor(), unfinished.c_str(), target.c_str(), ifExists);
    if (problem == EEXIST && ifExists == IfExists::Fail)
        return fail("{}: another program created the file in the meantime. The trace is in {}. Rename it.", to.string(),
                    from.string());
    if (problem != 0)
        return fail("{}: cannot rename the trace to {}: {}.", from.string(), to.string(), std::strerror(problem));
    static_cast<void>(system::flushToDisk(folder.descriptor()));
    return {};
}

Result<OutputFile> OutputFile::open(const std::filesystem::path& path) {
    OutputFile output;
    if (!isDeviceOrPipe(path)) {
        Result<AtomicFile> file = AtomicFile::create(path);
        if (!file) return fail(file.error());
        file->copyTargetPermissions();
        output.file_.emplace(std::move(*file));
        return output;
    }
    output.path_ = path;
    Result<UniqueFd> opened = openInPlace(path);
    if (!opened) return fail(opened.error());
    output.stream_ = ::fdopen(*opened, "wb");
    if (!output.stream_) return fail("Cannot write {}: {}.", path.string(), std::strerror(errno));
    opened->release();
    return output;
}

OutputFile OutputFile::standardOutput() {
    OutputFile output;
    output.stream_ = stdout;
    return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::move(other.file_)),
      stream_(std::exchange(other.stream_, nullptr)),
      path_(std::move(other.path_)),
      error_(other.error_) {}

OutputFile::~OutputFile() {
    if (stream_ && stream_ != stdout) std::fclose(stream_);
}

void OutputFile::write(std::string_view text) {
    if (file_) return file_->write(text);
    if (!stream_ || error_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) error_ = errno;
}

Result<void> OutputFile::close() {
    if (file_) return file_->commit();
    if (stream_ && error_ == 0 && std::fflush(stream_) != 0) error_ = errno;
    if (stream_ && stream_ != stdout && std::fclose(stream_) != 0 && error_ == 0) error_ = errno;
    stream_ = nullptr;
    if (error_ == 0 || error_ == EPIPE) return {};
    return fail("Cannot write {}: {}.", path_.empty() ? "the output" : path_.string(), std::strerror(error_));
}

Result<void> checkIsNoInput(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs) {
    std::error_code ignored;
    for (const std::filesystem::path& input : inputs)
        if (std::filesystem::equivalent(path, input, ignored))
            return fail("{}: this file is being read, will not be overwritten. Choose another output file.",
                        path.string());
    return {};
}

std::vector<std::filesystem::path> temporaryFolders() {
    std::vector<std::filesystem::path> folders;
    if (const char* chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen != '\0') folders.emplace_back(chosen);
    // Preferred to /tmp, which is often in memory and too small for a trace.
    folders.emplace_back("/var/tmp");
    folders.emplace_back("/tmp");
    return folders;
}

Result<TemporaryFile> TemporaryFile::create(const std::filesystem::path& folder) {
    const auto folders = folder.empty() ? temporaryFolders() : std::vector{folder};
    int firstError = 0;
    for (const auto& candidate : folders) {
        const int file = openUnnamedFile(candidate);
        if (file >= 0) return TemporaryFile(file, candidate);
        if (firstError == 0) firstError = errno;
    }
    return fail("{}: cannot create a temporary file: {}. Set TMPDIR to a writable folder.", folders.front().string(),
                std::strerror(firstError));
}

Result<ScratchFolder> ScratchFolder::create(const std::filesystem::path& parent) {
    std::optional<Error> firstError;
    for (const auto& candidate : parent.empty() ? temporaryFolders() : std::vector{parent}) {
        Result<Folder> folder = Folder::createUnnamed(candidate);
        if (folder) return ScratchFolder(std::move(*folder));
        if (!firstError) firstError = folder.error();
    }
    if (!parent.empty()) return fail(*firstError);
    return fail("{} Set TMPDIR to a writable folder.", firstError->sentence);
}

ScratchFolder::~ScratchFolder() {
    if (folder_.descriptor() < 0) return;
    try {
        for (const std::string& name : folder_.names()) static_cast<void>(folder_.removeFile(name));
    } catch (const std::bad_alloc&) {
        // The folder stays; only its owner can open it.
    }
    static_cast<void>(folder_.removeSelf());
}

Result<void> TemporaryFile::write(std::span<const unsigned char> bytes) {
    if (writeAll(descriptor_, bytes.data(), bytes.size())) return {};
    return fail("{}: cannot write a temporary file: {}.", folder_.string(), std::strerror(errno));
}

uint64_t TemporaryFile::freeBytes() const {
    struct statvfs status {};
    // Free space is unknown: a write will fail if there is none.
    if (::fstatvfs(descriptor_, &status) != 0) return std::numeric_limits<uint64_t>::max();
    return uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace lanescope
