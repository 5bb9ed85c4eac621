// SPDX-License-Identifier: Apache-2.0
#include "model/index/MappedFile.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "model/system/files.h"

namespace lanescope {

namespace {

/// Null if the file is shorter than `bytes`, or cannot be read.
void* copyOf(int descriptor, size_t bytes) {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    for (size_t done = 0; done < bytes;) {
        const ssize_t count = ::pread(descriptor, static_cast<std::byte*>(memory) + done,
                                      bytes - done, static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            ::munmap(memory, bytes);
            return nullptr;
        }
        done += static_cast<size_t>(count);
    }
    return memory;
}

void* mapped(int descriptor, size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

std::optional<MappedFile> MappedFile::open(const std::filesystem::path& path, Access access) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return std::nullopt;
    struct stat status {};
    void* memory = nullptr;
    size_t bytes = 0;
    bool maps = false;
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        bytes = static_cast<size_t>(status.st_size);
        const bool isFit = bytes > mostCopiedBytes || system::keepsOpenFiles(descriptor);
        maps = access == Access::Mapped || (access == Access::Fitting && isFit);
        memory = maps ? mapped(descriptor, bytes) : copyOf(descriptor, bytes);
    }
    ::close(descriptor);
    if (memory == nullptr) return std::nullopt;
    const std::span<const std::byte> content(static_cast<const std::byte*>(memory), bytes);
    return MappedFile(content, maps ? MappingGuard::of(content) : std::nullopt);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), guard_(std::move(other.guard_)) {}

MappedFile::~MappedFile() {
    guard_.reset();
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace lanescope
