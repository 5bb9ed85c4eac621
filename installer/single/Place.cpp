// SPDX-License-Identifier: Apache-2.0
#include "installer/single/Place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace lanescope::single {

namespace {

namespace fs = std::filesystem;

fs::path folderFrom(const char* variable) {
    const char* const value = std::getenv(variable);
    const fs::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : fs::path();
}

/// Makes the folder if need be. Whoever else could write into it could have this user run what they
/// like.
std::string makePrivate(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder.parent_path(), error);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return folder.string() + " cannot be made: " + std::strerror(errno);
    struct stat found {};
    if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() ||
        (found.st_mode & 0022) != 0)
        return folder.string() + " is not a folder of this user alone";
    if (::access(folder.c_str(), W_OK) != 0) return folder.string() + " cannot be written to";
    struct statvfs system {};
    if (::statvfs(folder.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0)
        return folder.string() + " is on a file system from which nothing is run (noexec)";
    return {};
}

/// A folder that is held open and locked. Programs that are started inherit both unless it is let
/// go.
int lockFolder(const fs::path& folder, int operation) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (file >= 0 && ::flock(file, operation) == 0) return file;
    if (file >= 0) ::close(file);
    return -1;
}

/// Holds the folder if it is there and whole.
bool holdUnpacked(const fs::path& folder) {
    const int file = lockFolder(folder, LOCK_SH);
    if (file < 0) return false;
    if (isUnpacked(folder)) return true;
    ::close(file);
    return false;
}

void removeUnused(const fs::path& place, const fs::path& kept) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
        if (entry.path() == kept) continue;
        const int file = lockFolder(entry.path(), LOCK_EX | LOCK_NB);
        if (file < 0) continue;
        fs::remove_all(entry.path(), error);
        ::close(file);
    }
}

/// Puts the new folder where the old one may be, which is then not whole.
bool putInPlace(const fs::path& fresh, const fs::path& target) {
    std::error_code error;
    fs::rename(fresh, target, error);
    if (!error || isUnpacked(target)) return true;
    fs::path broken = fresh;
    broken += ".broken";
    fs::rename(target, broken, error);
    fs::rename(fresh, target, error);
    return !error || isUnpacked(target);
}

}  // namespace

std::vector<fs::path> possiblePlaces() {
    std::vector<fs::path> places;
    fs::path cache = folderFrom("XDG_CACHE_HOME");
    if (const fs::path home = folderFrom("HOME"); cache.empty() && !home.empty()) cache = home / ".cache";
    if (!cache.empty()) places.push_back(cache / "lanescope-viewer");
    const std::string own = "lanescope-viewer-" + std::to_string(::geteuid());
    if (const fs::path temporary = folderFrom("TMPDIR"); !temporary.empty()) places.push_back(temporary / own);
    places.push_back(fs::path("/tmp") / own);
    return places;
}

std::optional<fs::path> unpackedIn(const fs::path& place, const Payload& payload, std::string& problem) {
    problem = makePrivate(place);
    if (!problem.empty()) return std::nullopt;
    const fs::path target = place / payload.identifier;
    if (holdUnpacked(target)) return target;
    std::string fresh = (place / "new-XXXXXX").string();
    if (::mkdtemp(fresh.data()) == nullptr) {
        problem = fresh + " cannot be made: " + std::strerror(errno);
        return std::nullopt;
    }
    const int file = lockFolder(fresh, LOCK_EX);
    problem = unpack(payload, fresh);
    const bool isThere = problem.empty() && putInPlace(fresh, target);
    if (file >= 0) ::close(file);
    if (problem.empty() && (!isThere || !holdUnpacked(target)))
        problem = target.string() + " cannot be put in its place";
    if (problem.empty()) {
        removeUnused(place, target);
        return target;
    }
    std::error_code error;
    fs::remove_all(fresh, error);
    return std::nullopt;
}

}  // namespace lanescope::single
