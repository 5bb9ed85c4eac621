// SPDX-License-Identifier: Apache-2.0
#include "model/index/userKey.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/format/OutputFile.h"
#include "model/format/files.h"
#include "model/system/system.h"

namespace lanescope {

namespace {

constexpr const char* keyName = "key";

}  // namespace

std::optional<SipHash::Key> userKey() {
    const auto folder = cacheFolder("index");
    if (!folder) return std::nullopt;
    const UniqueFd file = openTrustedFile(*folder / keyName);
    SipHash::Key key;
    struct stat status {};
    constexpr mode_t others = 0077;
    if (file < 0 || ::fstat(file, &status) != 0 || status.st_uid != ::geteuid() || (status.st_mode & others) != 0 ||
        status.st_size != static_cast<off_t>(key.size()) ||
        ::pread(file, key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
        return std::nullopt;
    return key;
}

Result<SipHash::Key> ensureUserKey() {
    if (const auto key = userKey()) return *key;
    const Result<Folder> folder = Folder::openCache("index");
    if (!folder) return fail(folder.error());
    // Several processes may need the first key at once. The lock ends with the descriptor.
    static_cast<void>(::flock(folder->descriptor(), LOCK_EX));
    if (const auto key = userKey()) return *key;
    const std::string path = (folder->path() / keyName).string();
    const std::optional<uint64_t> halves[]{system::randomNumber(), system::randomNumber(), system::randomNumber()};
    if (!halves[0] || !halves[1] || !halves[2]) return fail("{}: no random numbers for the key.", path);
    // An unusable key, such as an incomplete one.
    if (folder->contains(keyName)) static_cast<void>(folder->removeFile(keyName));
    const std::string name = fmt::format("{}-{:x}", keyName, *halves[2]);
    const UniqueFd file = folder->createFile(name);
    const bool isWritten = file >= 0 && writeAll(file, &*halves[0], 8) && writeAll(file, &*halves[1], 8);
    if (!isWritten) {
        const int problem = errno;
        static_cast<void>(folder->removeFile(name));
        return fail("{}: cannot be written: {}.", path, std::strerror(problem));
    }
    if (!publishFile(folder->path() / name, path, IfExists::Fail)) static_cast<void>(folder->removeFile(name));
    if (const auto key = userKey()) return *key;
    return fail("{}: cannot be read back.", path);
}

}  // namespace lanescope
