#include "model/index/OutputFile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace lanescope {

namespace {

constexpr size_t bufferBytes = size_t{1} << 20;

/// 0, or what went wrong.
int writeAll(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return 0;
}

/// Lets those use the file who may use `source`.
void shareLike(const std::filesystem::path& source, int descriptor) {
    constexpr mode_t owners = 0600, groups = 0060, everybodys = 0666;
    struct stat wanted {
    }, own{};
    if (source.empty() || ::stat(source.c_str(), &wanted) != 0 || ::fstat(descriptor, &own) != 0)
        return;
    mode_t mode = (wanted.st_mode & everybodys) | owners;
    // Members of another group may not be meant.
    if (own.st_gid != wanted.st_gid &&
        ::fchown(descriptor, static_cast<uid_t>(-1), wanted.st_gid) != 0)
        mode &= ~groups;
    // Where that cannot be, it is for its owner only.
    static_cast<void>(::fchmod(descriptor, mode));
}

}  // namespace

OutputFile::OutputFile(int descriptor, std::string partial, std::filesystem::path path)
    : descriptor_(descriptor), partial_(std::move(partial)), path_(std::move(path)) {
    buffer_.reserve(bufferBytes);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      partial_(std::move(other.partial_)),
      path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      offset_(other.offset_),
      error_(other.error_) {}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (!partial_.empty()) ::unlink(partial_.c_str());
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& path,
                                      const std::filesystem::path& source) {
    // Without a name it is gone with the process, however that ends.
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const int nameless = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (nameless >= 0) {
        shareLike(source, nameless);
        return OutputFile(nameless, "", path);
    }
    // Some file systems have no such files. The name is made here and the file must be new, so
    // nobody's link is followed.
    std::string partial = path.string() + ".XXXXXX";
    const int named = ::mkostemp(partial.data(), O_CLOEXEC);
    if (named < 0) return fail("Cannot write {}: {}.", path.string(), std::strerror(errno));
    shareLike(source, named);
    return OutputFile(named, std::move(partial), path);
}

/// Gives a nameless file a name of its own.
int OutputFile::nameIt() {
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string name = fmt::format("{}.{}-{}", path_.string(), ::getpid(),
                                       std::chrono::steady_clock::now().time_since_epoch().count());
        if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            partial_ = std::move(name);
            return 0;
        }
        if (errno != EEXIST) break;
    }
    return errno;
}

void OutputFile::write(std::span<const std::byte> bytes) {
    offset_ += bytes.size();
    if (bytes.size() < bufferBytes - buffer_.size()) {
        buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
        return;
    }
    flush();
    if (error_ == 0) error_ = writeAll(descriptor_, bytes);
}

void OutputFile::flush() {
    if (error_ == 0) error_ = writeAll(descriptor_, buffer_);
    buffer_.clear();
}

void OutputFile::align() {
    constexpr std::array<std::byte, 8> zeros{};
    write(std::span(zeros).first((8 - offset_ % 8) % 8));
}

void OutputFile::writeAtStart(std::span<const std::byte> bytes) {
    flush();
    if (error_ == 0 &&
        ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        error_ = errno != 0 ? errno : EIO;
}

Result<void> OutputFile::commit() {
    flush();
    if (error_ == 0 && partial_.empty()) error_ = nameIt();
    if (error_ == 0 && ::rename(partial_.c_str(), path_.c_str()) != 0) error_ = errno;
    if (error_ != 0) return fail("Cannot write {}: {}.", path_.string(), std::strerror(error_));
    ::close(std::exchange(descriptor_, -1));
    return {};
}

}  // namespace lanescope
