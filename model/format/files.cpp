// SPDX-License-Identifier: Apache-2.0
#include "model/format/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "model/system/system.h"

namespace lanescope {

namespace {

/// Makes `file` invalid and sets errno unless it is a regular file.
UniqueFd onlyRegular(UniqueFd file) {
    if (file < 0) return file;
    struct stat status {};
    const bool isKnown = ::fstat(file, &status) == 0;
    if (isKnown && S_ISREG(status.st_mode)) return file;
    if (isKnown) errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    file.reset();
    return file;
}

FileId idOf(const struct stat& status) {
    return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino)};
}

}  // namespace

Result<UniqueFd> openRegularFile(const std::filesystem::path& path) {
    UniqueFd file = onlyRegular(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)));
    if (file >= 0) return file;
    if (errno == EINVAL) return fail("{}: not a regular file.", path.string());
    // New traces and summaries are readable by their owner only.
    return fail("Cannot read {}: {}.{}", path.string(), std::strerror(errno),
                errno == EACCES ? " Its owner can share it with chmod." : "");
}

UniqueFd openToChange(const std::filesystem::path& path) {
    return onlyRegular(UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)));
}

UniqueFd openNullDevice() { return UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)); }

Result<std::string> readRegularFile(const std::filesystem::path& path, uint64_t maxBytes) {
    const Result<UniqueFd> file = openRegularFile(path);
    if (!file) return fail(file.error());
    std::string text;
    if (!readToEnd(*file, text, maxBytes)) return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    if (text.size() > maxBytes) return fail("{}: larger than {} bytes.", path.string(), maxBytes);
    return text;
}

std::optional<std::string> readSystemFile(const std::filesystem::path& path, size_t maxBytes) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file < 0) return std::nullopt;
    std::string text;
    if (!readToEnd(file, text, maxBytes)) return std::nullopt;
    if (text.size() > maxBytes) text.resize(maxBytes);
    return text;
}

UniqueFd openFolder(const std::filesystem::path& path) {
    UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder < 0 && errno == EACCES) folder.reset(system::openUnreadableFolder(path.c_str()));
    return folder;
}

Result<void> removeFile(const std::filesystem::path& path) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    const int problem = errno;
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && status.st_uid != ::geteuid())
        return fail("{}: a file of another user, cannot be removed. Choose another name or folder with -o.",
                    path.string());
    errno = problem;
    return fail("{}: cannot remove: {}.", path.string(), std::strerror(errno));
}

Result<void> makePrivateFolders(const std::filesystem::path& path) {
    std::filesystem::path made;
    for (const std::filesystem::path& part : path) {
        made /= part;
        if (::mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
        const int problem = errno;
        std::error_code ignored;
        if (std::filesystem::is_directory(made, ignored)) continue;  // EROFS or EACCES for a folder that exists.
        return fail("{}: cannot create the folder: {}.", made.string(), std::strerror(problem));
    }
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) return fail("{}: not a folder.", path.string());
    return {};
}

std::optional<std::filesystem::path> cacheFolder(std::string_view name) {
    const auto variable = [](const char* which) -> std::filesystem::path {
        const char* value = std::getenv(which);
        return value != nullptr ? value : "";
    };
    const std::filesystem::path cache = variable("XDG_CACHE_HOME");
    const std::filesystem::path home = variable("HOME");
    if (cache.is_absolute()) return cache / "lanescope" / name;
    if (home.is_absolute()) return home / ".cache" / "lanescope" / name;
    // As for services, which have no environment.
    std::array<char, 4096> buffer{};
    passwd account{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &account, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
        account.pw_dir[0] == '/')
        return std::filesystem::path(account.pw_dir) / ".cache" / "lanescope" / name;
    return std::nullopt;
}

bool isTrustedNextTo(const struct stat& file, const struct stat& trace) {
    constexpr mode_t othersWrite = 0022;
    const bool isOfTrusted = file.st_uid == 0 || file.st_uid == ::geteuid() || file.st_uid == trace.st_uid;
    return S_ISREG(file.st_mode) && isOfTrusted && (file.st_mode & othersWrite & ~trace.st_mode) == 0;
}

std::optional<std::string> otherOwnerOf(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return std::nullopt;
    std::array<char, 4096> buffer{};
    passwd account{};
    passwd* found = nullptr;
    if (::getpwuid_r(status.st_uid, &account, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
        return std::string(account.pw_name);
    return fmt::format("user {}", status.st_uid);
}

UniqueFd openTrustedFile(const std::filesystem::path& path, const std::filesystem::path& trace) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (file < 0) {
        // ENXIO for a socket.
        if (errno == ELOOP || errno == ENXIO) errno = EPERM;
        return file;
    }
    struct stat status {
    }, ofTrace{};
    if (trace.empty() || ::stat(trace.c_str(), &ofTrace) != 0) {
        ofTrace = {};
        ofTrace.st_uid = ::geteuid();
    }
    const bool isKnown = ::fstat(file, &status) == 0;
    if (isKnown && isTrustedNextTo(status, ofTrace)) return file;
    if (isKnown) errno = EPERM;
    file.reset();
    return file;
}

Result<Folder> Folder::open(const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    // A trailing slash would follow a link.
    std::filesystem::path name = error ? path : absolute;
    while ((!name.has_filename() || name.filename() == ".") && name.has_relative_path()) name = name.parent_path();
    UniqueFd descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (descriptor >= 0) return Folder(std::move(descriptor), std::move(name));
    if (errno == ELOOP || errno == ENOTDIR) return fail("{}: not a folder, or a link. Name the folder.", path.string());
    if (errno == ENOENT) return fail("{}: no such folder.", path.string());
    return fail("{}: cannot open the folder: {}.", path.string(), std::strerror(errno));
}

Result<Folder> Folder::openCache(std::string_view name) {
    const std::optional<std::filesystem::path> path = cacheFolder(name);
    if (!path) return fail("No cache folder: set HOME or XDG_CACHE_HOME.");
    if (const Result<void> made = makePrivateFolders(*path); !made) return fail(made.error());
    Result<Folder> folder = open(*path);
    if (!folder) return folder;
    struct stat status {};
    if (::fstat(folder->descriptor_, &status) != 0 || status.st_uid != ::geteuid())
        return fail("{}: belongs to another user. Set XDG_CACHE_HOME to a folder of your own.", path->string());
    constexpr mode_t others = 0077;
    if ((status.st_mode & others) == 0 || ::fchmod(folder->descriptor_, 0700) == 0) return folder;
    return fail("{}: other users can open this folder: {}.", path->string(), std::strerror(errno));
}

Result<Folder> Folder::createUnnamed(const std::filesystem::path& parent) {
    std::string name = (parent / ".lanescope-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        return fail("{}: cannot create a folder in it: {}.", parent.string(), std::strerror(errno));
    Result<Folder> folder = open(name);
    if (!folder) return folder;
    // A user who may rename in `parent` may have replaced it.
    // Some network file systems give files another owner, so a new file is asked for it.
    struct stat status {
    }, ofNew{};
    constexpr const char* probe = "owner";
    const UniqueFd file = folder->createFile(probe);
    const bool isKnown = ::fstat(folder->descriptor_, &status) == 0 && file >= 0 && ::fstat(file, &ofNew) == 0;
    static_cast<void>(folder->removeFile(probe));
    if (isKnown && status.st_uid == ofNew.st_uid) return folder;
    static_cast<void>(folder->removeSelf());
    if (!isKnown) return fail("{}: cannot write into a folder in it: {}.", parent.string(), std::strerror(errno));
    return fail("{}: replaced by another user. Choose a folder that others cannot write to.", parent.string());
}

std::optional<Folder> Folder::again() const {
    UniqueFd descriptor(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
    if (descriptor < 0) return std::nullopt;
    return Folder(std::move(descriptor), path_);
}

Result<Folder> Folder::openNamed(const std::filesystem::path& path) {
    UniqueFd descriptor = openFolder(path.empty() ? "." : path);
    if (descriptor < 0) return fail("{}: cannot open the folder: {}.", path.string(), std::strerror(errno));
    return Folder(std::move(descriptor), path);
}

std::filesystem::path Folder::presentPath() const {
    struct stat status {};
    if (::stat(path_.empty() ? "." : path_.c_str(), &status) == 0 && idOf(status) == id()) return path_;
    std::error_code error;
    std::filesystem::path present = std::filesystem::read_symlink(system::pathOfDescriptor(descriptor_), error);
    // The kernel adds a note to the path of a folder that was removed, which then leads nowhere.
    return !error && isAt(present) ? present : path_;
}

FileId Folder::id() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 ? idOf(status) : FileId{};
}

bool Folder::isAt(const std::filesystem::path& path) const {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && idOf(status) == id();
}

int Folder::assignName(const std::filesystem::path& wanted) {
    // Both names are in one folder.
    const UniqueFd parent = openFolder(wanted.parent_path());
    if (parent < 0) return errno;
    const std::string from = path_.filename().string(), to = wanted.filename().string();
    int problem = system::renameIfFree(parent, from.c_str(), to.c_str());
    // A rename replaces at most an empty folder, as an unfinished removal leaves it.
    if (problem == EEXIST || problem == EINVAL || problem == ENOSYS) {
        problem = ::renameat(parent, from.c_str(), parent, to.c_str()) == 0 ? 0 : errno;
        if (problem == ENOTEMPTY || problem == ENOTDIR) problem = EEXIST;
    }
    if (problem == 0) path_ = wanted;
    return problem;
}

std::vector<std::string> Folder::names() const {
    struct Closer {
        void operator()(DIR* folder) const { ::closedir(folder); }
    };
    // A descriptor of its own, because reading moves its position.
    UniqueFd again(::openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, Closer> open(again < 0 ? nullptr : ::fdopendir(again));
    if (!open && errno == ENOMEM) throw std::bad_alloc();
    std::vector<std::string> names;
    if (!open) return names;
    again.release();
    while (const dirent* const entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    return names;
}

bool Folder::contains(const std::string& name) const {
    struct stat status {};
    return ::fstatat(descriptor_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

UniqueFd Folder::openFile(const std::string& name, Access access) const {
    const int direction = access == Access::Read ? O_RDONLY : access == Access::Write ? O_WRONLY : O_WRONLY | O_APPEND;
    return onlyRegular(
        UniqueFd(::openat(descriptor_, name.c_str(), direction | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)));
}

UniqueFd Folder::createFile(const std::string& name, Access access) const {
    const int direction = access == Access::Append ? O_WRONLY | O_APPEND : O_RDWR;
    return UniqueFd(
        ::openat(descriptor_, name.c_str(), direction | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t{0600}));
}

std::optional<std::string> Folder::linkTarget(const std::string& name) const {
    std::array<char, PATH_MAX> target{};
    const ssize_t bytes = ::readlinkat(descriptor_, name.c_str(), target.data(), target.size());
    if (bytes < 0) return std::nullopt;
    return std::string(target.data(), static_cast<size_t>(bytes));
}

std::optional<uint64_t> Folder::fileBytes(const std::string& name) const {
    struct stat status {};
    if (::fstatat(descriptor_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return static_cast<uint64_t>(status.st_size);
}

int Folder::removeFile(const std::string& name) const {
    return ::unlinkat(descriptor_, name.c_str(), 0) == 0 ? 0 : errno;
}

int Folder::removeAll(const std::string& name) const {
    const int problem = removeFile(name);
    if (problem != EISDIR && problem != EPERM) return problem;
    UniqueFd descriptor(::openat(descriptor_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (descriptor < 0) return errno == ENOTDIR ? problem : errno;
    const Folder inner(std::move(descriptor), path_ / name);
    for (const std::string& each : inner.names()) static_cast<void>(inner.removeFile(each));
    return ::unlinkat(descriptor_, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

int Folder::moveTo(const std::string& name, const Folder& target, const std::string& newName) const {
    return ::renameat(descriptor_, name.c_str(), target.descriptor_, newName.c_str()) == 0 ? 0 : errno;
}

int Folder::removeSelf() const {
    if (!isAt(path_)) return ENOENT;
    return ::rmdir(path_.c_str()) == 0 ? 0 : errno;
}

}  // namespace lanescope
