// SPDX-License-Identifier: Apache-2.0
#include "model/index/indexPath.h"

#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

#include "model/format/Fnv1a.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/traceFingerprint.h"

namespace lanescope {

namespace {

constexpr const char* suffix = ".lanescope-index";

std::optional<std::filesystem::path> cacheFolder() {
    const auto variable = [](const char* name) -> std::filesystem::path {
        const char* value = std::getenv(name);
        return value != nullptr ? value : "";
    };
    const std::filesystem::path cache = variable("XDG_CACHE_HOME");
    const std::filesystem::path home = variable("HOME");
    if (cache.is_absolute()) return cache / "lanescope" / "index";
    if (home.is_absolute()) return home / ".cache" / "lanescope" / "index";
    return std::nullopt;
}

/// The first and the last bytes of the file: the whole header of SQLite, the checksum of gzip.
uint64_t endsOf(std::ifstream& file, uint64_t size) {
    constexpr uint64_t part = 4096;
    std::array<char, part> bytes{};
    Fnv1a hash;
    for (const uint64_t from : {uint64_t{0}, size > part ? size - part : 0}) {
        file.seekg(static_cast<std::streamoff>(from));
        file.read(bytes.data(), bytes.size());
        hash.add(std::string_view(bytes.data(), static_cast<size_t>(file.gcount())));
        file.clear();
    }
    return hash.value();
}

}  // namespace

std::vector<std::filesystem::path> indexPaths(const std::filesystem::path& trace) {
    std::vector<std::filesystem::path> paths{trace.string() + suffix};
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::weakly_canonical(trace, error);
    const auto folder = cacheFolder();
    if (error || !folder) return paths;
    Fnv1a hash;
    hash.add(absolute.string());
    paths.push_back(*folder / (fmt::format("{:016x}", hash.value()) + suffix));
    return paths;
}

std::optional<SourceKey> sourceKeyOf(const std::filesystem::path& trace) {
    struct stat status {};
    if (::stat(trace.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    std::ifstream file(trace, std::ios::binary);
    if (!file) return std::nullopt;
    SourceKey key;
    key.bytes = static_cast<uint64_t>(status.st_size);
    key.modifiedNs = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    uint64_t fingerprint = endsOf(file, key.bytes);
    // Of a compressed file its own checksum must do.
    if (const auto database = Database::openReadOnly(trace))
        fingerprint ^= static_cast<uint64_t>(traceFingerprint(*database)) * 31;
    key.fingerprint = static_cast<int64_t>(fingerprint);
    return key;
}

Result<int> removeIndexes(const std::filesystem::path& trace) {
    int removed = 0;
    for (const std::filesystem::path& path : indexPaths(trace)) {
        std::error_code error;
        removed += std::filesystem::remove(path, error) ? 1 : 0;
        if (error) return fail("Cannot remove {}: {}.", path.string(), error.message());
    }
    return removed;
}

}  // namespace lanescope
