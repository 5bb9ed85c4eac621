// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets/Scratch.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <system_error>

#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

Scratch::Scratch() {
    std::error_code error;
    const bool hasMemory = std::filesystem::is_directory("/dev/shm", error);
    std::string name = (hasMemory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/fuzz-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "There is no room for a folder.");
    path_ = name;
}

Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Scratch::write(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path path = path_ / name;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    require(file.flush().good(), "There is no room for a file.");
    return path;
}

void Scratch::clear() const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
        std::filesystem::remove_all(entry.path(), ignored);
}

void giveFile(const std::filesystem::path& path, OtherUser user, unsigned mode) {
    const auto id = static_cast<uid_t>(user);
    require(::lchown(path.c_str(), id, id) == 0 && ::chmod(path.c_str(), mode) == 0, "A file cannot be given away.");
}

bool canGiveFiles() { return ::geteuid() == 0; }

NamelessFile::NamelessFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "There is no room for a file.");
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        require(written > 0, "There is no room for a file.");
        bytes.remove_prefix(static_cast<size_t>(written));
    }
}

NamelessFile::~NamelessFile() { ::close(descriptor_); }

}  // namespace lanescope::fuzz
