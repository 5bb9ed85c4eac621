// SPDX-License-Identifier: Apache-2.0
#include "capture/log/LogFolder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "capture/log/logDoor.h"
#include "model/format/UniqueFd.h"

namespace lanescope::log {

namespace {

struct Closer {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

std::vector<std::string> namesIn(const std::filesystem::path& folder) {
    const std::unique_ptr<DIR, Closer> open(::opendir(folder.c_str()));
    if (!open && errno == ENOMEM) throw std::bad_alloc();
    std::vector<std::string> names;
    if (!open) return names;
    while (const dirent* const entry = ::readdir(open.get())) {
        if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
    }
    return names;
}

LogFolder::LogFolder(std::string path, std::string session, std::string door)
    : path_(std::move(path)), session_(std::move(session)), door_(std::move(door)) {
    // A link with a slash at its end would be followed.
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

/// Returns a descriptor of the folder, or -1 with errno: ESTALE for that of another recording.
int LogFolder::open() const {
    UniqueFd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder < 0 || session_.empty()) return folder.release();
    struct stat mark {};
    const std::string name = session_ + std::string(sessionEnding);
    const bool isName = session_.find('/') == std::string::npos;
    if (isName && ::fstatat(folder, name.c_str(), &mark, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(mark.st_mode))
        return folder.release();
    errno = ESTALE;
    return -1;
}

int LogFolder::openLog(const std::string& name, bool isNew) const {
    const UniqueFd folder(open());
    int file = -1;
    if (folder >= 0)
        file =
            ::openat(folder, name.c_str(),
                     O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (isNew ? O_CREAT | O_EXCL : 0), 0600);
    const int problem = errno;
    if (file >= 0 || problem == EEXIST || problem == EINTR || problem == ENOSPC || door_.empty()) return file;
    file = requestLog(door_, isNew ? DoorAction::BeginLog : DoorAction::OpenAgain, name);
    if (file < 0 && errno != EEXIST) errno = problem;
    return file;
}

int LogFolder::createFile(const std::string& name) const { return openLog(name, true); }

int LogFolder::openFile(const std::string& name) const { return openLog(name, false); }

int LogFolder::openPipe(const std::string& name) const {
    const UniqueFd folder(open());
    if (folder < 0) return -1;
    UniqueFd pipe(::openat(folder, name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    struct stat status {};
    if (pipe >= 0 && ::fstat(pipe, &status) == 0 && S_ISFIFO(status.st_mode)) return pipe.release();
    return -1;
}

bool LogFolder::removeFile(const std::string& name) const {
    const UniqueFd folder(open());
    return folder >= 0 && (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT);
}

std::optional<RunLevel> LogFolder::readLevel(RecordingLevel otherwise) const {
    const UniqueFd folder(open());
    if (folder < 0) return std::nullopt;
    const UniqueFd file(::openat(folder, levelFileName, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (file < 0) return errno == ENOENT ? std::optional(RunLevel{otherwise}) : std::nullopt;
    struct stat status {};
    char text[2] = {};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || ::read(file, text, sizeof text) < 1 ||
        text[0] < '0' || text[0] > '3')
        return std::nullopt;
    return RunLevel{static_cast<RecordingLevel>(text[0] - '0'), text[1] == 'u'};
}

bool LogFolder::leaveSign(const std::string& logName, int error, std::string_view program) const {
    const std::string name = logName + std::string(lostLogEnding);
    if (const UniqueFd folder(open());
        folder >= 0 && ::symlinkat(lostLogText(error, program).c_str(), folder, name.c_str()) == 0)
        return true;
    if (door_.empty()) return false;
    errno = 0;
    // The reply to this request has no descriptor.
    return requestLog(door_, DoorAction::Lost, name, error) < 0 && errno == 0;
}

}  // namespace lanescope::log
