// SPDX-License-Identifier: Apache-2.0
#include "model/format/TemporaryFile.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/system/files.h"

namespace lanescope {

namespace {

/// An open file without a name in `folder`, or -1 with `errno`.
int openNameless(const std::filesystem::path& folder) {
    const int file = system::openNameless(folder.c_str(), 0600);
    // Some file systems have no such files, some network ones among them.
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    std::string name = (folder / "lanescope-XXXXXX").string();
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(name.c_str());
    return named;
}

}  // namespace

std::vector<std::filesystem::path> temporaryFolders() {
    std::vector<std::filesystem::path> folders;
    if (const char* chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen != '\0')
        folders.emplace_back(chosen);
    // Before /tmp, which is often in memory and too small for a trace.
    folders.emplace_back("/var/tmp");
    folders.emplace_back("/tmp");
    return folders;
}

Result<TemporaryFile> TemporaryFile::create(const std::filesystem::path& folder) {
    const auto folders = folder.empty() ? temporaryFolders() : std::vector{folder};
    int firstError = 0;
    for (const auto& candidate : folders) {
        const int file = openNameless(candidate);
        if (file >= 0) return TemporaryFile(file, candidate);
        if (firstError == 0) firstError = errno;
    }
    return fail("No temporary file can be made in {}: {}. Set TMPDIR to a folder where one can.",
                folders.front().string(), std::strerror(firstError));
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), folder_(std::move(other.folder_)) {}

TemporaryFile::~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> TemporaryFile::write(std::span<const unsigned char> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0)
            return fail("A temporary file in {} could not be written: {}.", folder_.string(),
                        std::strerror(errno));
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return {};
}

uint64_t TemporaryFile::freeBytes() const {
    struct statvfs status {};
    // Where nobody knows, writing will tell.
    if (::fstatvfs(descriptor_, &status) != 0) return std::numeric_limits<uint64_t>::max();
    return uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace lanescope
