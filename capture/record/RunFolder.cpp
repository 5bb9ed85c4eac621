// SPDX-License-Identifier: Apache-2.0
#include "capture/record/RunFolder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "capture/log/MomentMessage.h"
#include "capture/record/OutputName.h"

namespace lanescope::capture {

namespace {

/// True while another process records into the folder. Keeps errno.
bool isLockedByAnother(const std::filesystem::path& folder) {
    const int saved = errno;
    const int file =
        ::open((folder / runInfoFileName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool isLocked =
        file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (file >= 0) ::close(file);
    errno = saved;
    return isLocked;
}

/// Whether a file is a log or a further part of one, "<name>.log.1".
bool isOfLog(const std::filesystem::path& file) {
    const std::string ending = file.extension().string();
    const bool isPart = ending.size() > 1 &&
                        ending.find_first_not_of("0123456789", 1) == std::string::npos &&
                        file.stem().extension() == ".log";
    return isPart || ending == ".log";
}

}  // namespace

Result<RunFolder> RunFolder::create(const std::filesystem::path& path, const RunInfo& info) {
    std::error_code error;
    RunFolder folder(std::filesystem::absolute(path, error));
    if (error) return fail("Cannot create the folder {}: {}.", path.string(), error.message());
    if (::mkdir(folder.path_.c_str(), 0700) != 0) {
        if (errno == EEXIST && isLockedByAnother(folder.path_))
            return fail(
                "{} is being recorded by another lanescope right now: choose another name with "
                "-o.",
                outputForRunFolder(path).string());
        if (errno == EEXIST)
            return fail(
                "The folder {0} holds the logs of an earlier recording: make a trace of them "
                "with 'lanescope recover {0}', or remove it.",
                path.string());
        return fail("Cannot create the folder {}: {}.", path.string(), std::strerror(errno));
    }
    if (auto saved = info.save(folder.path_ / runInfoFileName); !saved) {
        folder.remove();
        return fail(saved.error());
    }
    if (auto locked = folder.lock(); !locked) return fail(locked.error());
    return folder;
}

Result<RunFolder> RunFolder::takeOver(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
        return fail("There is no folder {}: name the folder with the logs of a recording.",
                    path.string());
    RunFolder folder(std::filesystem::absolute(path, error));
    if (error) return fail("Cannot open the folder {}: {}.", path.string(), error.message());
    if (auto locked = folder.lock(); !locked) return fail(locked.error());
    return folder;
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
    if (lock_ >= 0) ::close(lock_);
}

void RunFolder::remove() {
    std::error_code error;
    std::vector<std::filesystem::path> ours;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error))
        if (isOfLog(entry.path()) || entry.path().filename() == runInfoFileName ||
            entry.path().filename() == runInfoWithMachineFileName ||
            entry.path().filename() == log::momentPipeName)
            ours.push_back(entry.path());
    for (const auto& file : ours) ::unlink(file.c_str());
    ::rmdir(path_.c_str());
}

/// Where the file is missing or the file system has no locks, the run goes unlocked.
Result<void> RunFolder::lock() {
    const std::filesystem::path file = path_ / runInfoFileName;
    lock_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail("The run in {} is still being recorded: wait for it, or end it.",
                    path_.string());
    return {};
}

}  // namespace lanescope::capture
