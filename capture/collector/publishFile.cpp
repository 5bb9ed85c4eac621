#include "capture/collector/publishFile.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace lanescope {

namespace {

int syncToDisk(const std::filesystem::path& path, int openFlags) {
    const int file = ::open(path.c_str(), openFlags | O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    const int problem = ::fsync(file) == 0 ? 0 : errno;
    ::close(file);
    return problem;
}

/// Zero, or why the file could not get its name. A link fails where a file exists, a rename does
/// not.
int giveName(const char* unfinished, const char* target, bool overwrite) {
    if (overwrite) return std::rename(unfinished, target) == 0 ? 0 : errno;
    if (::renameat2(AT_FDCWD, unfinished, AT_FDCWD, target, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    if (::link(unfinished, target) == 0) {
        ::unlink(unfinished);
        return 0;
    }
    // File systems that know neither: the gap between looking and renaming is all that is left.
    if (errno == EEXIST || ::access(target, F_OK) == 0) return EEXIST;
    return std::rename(unfinished, target) == 0 ? 0 : errno;
}

}  // namespace

Result<void> publishFile(const std::filesystem::path& unfinished,
                         const std::filesystem::path& target, bool overwrite) {
    if (const int problem = syncToDisk(unfinished, 0); problem == ENOSPC || problem == EIO)
        return fail("Cannot bring {} to disk: {}.", unfinished.string(), std::strerror(problem));
    if (const int problem = giveName(unfinished.c_str(), target.c_str(), overwrite); problem != 0) {
        if (problem == EEXIST)
            return fail("The file {} has come up in the meantime; the trace is in {}: rename it.",
                        target.string(), unfinished.string());
        return fail("Cannot give the trace {} its name {}: {}.", unfinished.string(),
                    target.string(), std::strerror(problem));
    }
    std::filesystem::path folder = target.parent_path();
    if (folder.empty()) folder = ".";
    // So that the name survives a power cut; no harm if it cannot.
    syncToDisk(folder, O_DIRECTORY);
    return {};
}

}  // namespace lanescope
