// SPDX-License-Identifier: Apache-2.0
#include "capture/record/RunFolder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "capture/log/LogFormat.h"
#include "capture/log/LogReader.h"
#include "capture/log/logDoor.h"
#include "capture/log/namesIn.h"
#include "capture/perf/PerfLog.h"
#include "capture/record/OutputName.h"
#include "model/format/checkFile.h"

namespace lanescope::capture {

namespace {

/// Returns true while another process records into the folder. Keeps errno.
bool isLockedByAnother(const std::filesystem::path& folder) {
    const int saved = errno;
    const UniqueFd file(::open((folder / runInfoFileName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    const bool isLocked = file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    errno = saved;
    return isLocked;
}

/// Returns true if a file is a log, a further part of one, "<name>.log.1", the sign of a lost one, or a perf log.
bool isOfLog(const std::filesystem::path& file) {
    const std::string ending = file.extension().string();
    const bool isPart = ending.size() > 1 && ending.find_first_not_of("0123456789", 1) == std::string::npos &&
                        file.stem().extension() == ".log";
    return isPart || ending == ".log" || ending == log::lostLogEnding || ending == perfLogEnding;
}

/// Renames the folder. Returns 0 or an errno: EEXIST if `wanted` exists.
int assignName(const std::string& unnamed, const std::filesystem::path& wanted) {
    if (::renameat2(AT_FDCWD, unnamed.c_str(), AT_FDCWD, wanted.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // For file systems without that call: a rename replaces at most an empty folder.
    if (std::rename(unnamed.c_str(), wanted.c_str()) == 0) return 0;
    return errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
}

}  // namespace

Result<RunFolder> RunFolder::create(const std::filesystem::path& path, const RunInfo& info) {
    std::error_code error;
    const std::filesystem::path wanted = std::filesystem::absolute(path, error);
    if (error) return fail("{}: cannot create the folder: {}.", path.string(), error.message());
    // It gets its name after it is locked, so that a concurrent process finds it owned.
    std::string unnamed = (wanted.parent_path() / ".lanescope-XXXXXX").string();
    if (::mkdtemp(unnamed.data()) == nullptr)
        return fail("{}: cannot create the folder: {}.", path.string(), std::strerror(errno));
    RunFolder folder(unnamed);
    Result<void> made = info.save(folder.path_ / runInfoFileName);
    if (made) made = folder.lock();
    if (!made) {
        folder.remove();
        return fail(made.error());
    }
    const int problem = assignName(unnamed, wanted);
    if (problem == 0) {
        folder.path_ = wanted;
        return folder;
    }
    folder.remove();
    if (problem == EEXIST && isLockedByAnother(wanted))
        return fail("{}: being recorded by another lanescope. Choose another name with -o.",
                    outputForRunFolder(path).string());
    if (problem == EEXIST)
        return fail(
            "{0}: contains the logs of an earlier recording. Build their trace with 'lanescope "
            "recover {0}', or remove the folder.",
            path.string());
    return fail("{}: cannot create the folder: {}.", path.string(), std::strerror(problem));
}

Result<RunFolder> RunFolder::takeOver(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
        return fail("{}: no such folder. Name the folder with the logs of a recording.", path.string());
    RunFolder folder(std::filesystem::absolute(path, error));
    if (error) return fail("{}: cannot open the folder: {}.", path.string(), error.message());
    if (auto locked = folder.lock(); !locked) return fail(locked.error());
    return folder;
}

void RunFolder::remove() {
    for (const std::string& name : log::namesIn(path_))
        if (isOfLog(name) || name == runInfoFileName || name == runInfoWithMachineFileName ||
            name == log::momentPipeName)
            ::unlink((path_ / name).c_str());
    ::rmdir(path_.c_str());
}

/// If the file is missing or the file system has no locks, the run is not locked.
Result<void> RunFolder::lock() {
    const std::filesystem::path file = path_ / runInfoFileName;
    lock_.reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail("{}: still being recorded. Wait for the recording, or stop it.", path_.string());
    return {};
}

Result<OutputPlace> OutputPlace::claim(const std::string& pattern, int pid, bool overwrite, const RunInfo& info) {
    const bool canCount = isNumbered(pattern);
    for (int number = 1;; ++number) {
        const auto name = expandOutputPattern(pattern, {pid, number});
        if (!name) return fail(name.error());
        const std::filesystem::path trace = *name;
        // A trace gets its name before its folder is removed, so check in the reverse order.
        if (canCount && (mayExist(runFolderFor(trace)) || mayExist(trace))) continue;
        if (auto possible = checkOutput(trace, overwrite); !possible) return fail(possible.error());
        auto logs = RunFolder::create(runFolderFor(trace), info);
        if (!logs && canCount && mayExist(runFolderFor(trace))) continue;  // Another was faster.
        if (!logs) return fail(logs.error());
        if (canCount && mayExist(trace)) {
            logs->remove();
            continue;
        }
        return OutputPlace{trace, std::move(*logs)};
    }
}

namespace {

struct FoundLogs {
    int count = 0;
    int readable = 0;
    int64_t earliestNs = 0;  ///< Earliest begin of a log; 0 if unknown.
};

FoundLogs findLogs(const std::filesystem::path& folder) {
    FoundLogs found;
    for (const std::string& name : log::namesIn(folder)) {
        const std::filesystem::path path = folder / name;
        if (path.extension() == perfLogEnding) {
            ++found.count;
            if (PerfLogFile::open(path)) ++found.readable;
            continue;
        }
        if (path.extension() != ".log") continue;
        ++found.count;
        auto reader = log::LogReader::open(path);
        if (!reader || !reader->poll([] {}, 0) || !reader->header()) continue;
        ++found.readable;
        const int64_t begunNs = reader->header()->realtimeNs;
        if (found.earliestNs == 0 || begunNs < found.earliestNs) found.earliestNs = begunNs;
    }
    return found;
}

}  // namespace

Result<CollectedRun> recover(const RecoverOptions& options) {
    const auto folder = RunFolder::takeOver(options.runFolder);
    if (!folder) return fail(folder.error());
    const FoundLogs logs = findLogs(folder->path());
    if (logs.count == 0) return fail("{}: no log in this folder, nothing to recover.", options.runFolder.string());
    if (logs.readable == 0)
        return fail(
            "{}: no readable Lanescope log in this folder. Its files are truncated, or are not "
            "logs.",
            options.runFolder.string());
    const std::filesystem::path output =
        options.output.empty() ? outputForRunFolder(options.runFolder) : options.output;
    if (auto possible = checkOutput(output, options.overwrite); !possible) return fail(possible.error());

    // Without the facts of `record`, time 0 is the begin of the first log.
    RunInfo info;
    for (const char* file : {runInfoFileName, runInfoWithMachineFileName})
        if (auto known = RunInfo::load(folder->path() / file); known) info = *known;
    if (info.startRealtimeNs == 0) info.startRealtimeNs = logs.earliestNs;
    auto collector = Collector::begin(folder->path(), output, std::move(info));
    if (!collector) return fail(collector.error());
    return (*collector)->finish(std::nullopt, options.overwrite, options.closing);
}

}  // namespace lanescope::capture
