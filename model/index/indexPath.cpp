// SPDX-License-Identifier: Apache-2.0
#include "model/index/indexPath.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "model/format/Fnv1a.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/traceFingerprint.h"
#include "model/system/files.h"

namespace lanescope {

namespace {

constexpr const char* suffix = ".lanescope-index";

/// The first and the last bytes of the file: the whole header of SQLite, the checksum of gzip.
/// Nothing if they cannot be read.
std::optional<uint64_t> endsOf(int file, uint64_t size) {
    constexpr uint64_t part = 4096;
    std::array<char, part> bytes{};
    Fnv1a hash;
    for (const uint64_t from : {uint64_t{0}, size > part ? size - part : 0}) {
        const ssize_t count = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(from));
        if (count < 0) return std::nullopt;
        hash.add(std::string_view(bytes.data(), static_cast<size_t>(count)));
    }
    return hash.value();
}

/// What tells a log of changes that are not in the file yet from another; 0 without one.
uint64_t changesBeside(const std::filesystem::path& trace) {
    struct stat status {};
    const std::string log = trace.string() + "-wal";
    if (::stat(log.c_str(), &status) != 0 || status.st_size == 0) return 0;
    Fnv1a hash;
    for (const int64_t part : {int64_t{status.st_size}, system::modifiedNs(status)})
        hash.add(static_cast<uint64_t>(part));
    return hash.value();
}

}  // namespace

std::optional<std::filesystem::path> cacheFolder(std::string_view name) {
    const auto variable = [](const char* which) -> std::filesystem::path {
        const char* value = std::getenv(which);
        return value != nullptr ? value : "";
    };
    const std::filesystem::path cache = variable("XDG_CACHE_HOME");
    const std::filesystem::path home = variable("HOME");
    if (cache.is_absolute()) return cache / "lanescope" / name;
    if (home.is_absolute()) return home / ".cache" / "lanescope" / name;
    return std::nullopt;
}

std::vector<std::filesystem::path> indexPaths(const std::filesystem::path& trace) {
    std::vector<std::filesystem::path> paths{trace.string() + suffix};
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::weakly_canonical(trace, error);
    const auto folder = cacheFolder("index");
    if (error || !folder) return paths;
    Fnv1a hash;
    hash.add(absolute.string());
    paths.push_back(*folder / (fmt::format("{:016x}", hash.value()) + suffix));
    return paths;
}

std::optional<SourceKey> sourceKeyOf(const std::filesystem::path& trace) {
    // What was a file a moment ago may be a pipe by now.
    const int file = ::open(trace.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return std::nullopt;
    struct stat status {};
    std::optional<uint64_t> ends;
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        ends = endsOf(file, static_cast<uint64_t>(status.st_size));
    ::close(file);
    if (!ends) return std::nullopt;
    SourceKey key;
    key.bytes = static_cast<uint64_t>(status.st_size);
    key.modifiedNs = system::modifiedNs(status);
    uint64_t fingerprint = *ends ^ changesBeside(trace);
    // Of a compressed file its own checksum must do.
    if (const auto database = Database::openReadOnly(trace)) {
        fingerprint ^= static_cast<uint64_t>(traceFingerprint(*database)) * 31;
        if (database->trouble()) return std::nullopt;
    }
    key.fingerprint = static_cast<int64_t>(fingerprint);
    return key;
}

Result<int> removeIndexes(const std::filesystem::path& trace) {
    int removed = 0;
    for (const std::filesystem::path& path : indexPaths(trace)) {
        std::error_code error;
        removed += std::filesystem::remove(path, error) ? 1 : 0;
        // Nothing can lie under a name that is too long.
        if (error && error != std::errc::filename_too_long)
            return fail("Cannot remove {}: {}.", path.string(), error.message());
    }
    return removed;
}

}  // namespace lanescope
