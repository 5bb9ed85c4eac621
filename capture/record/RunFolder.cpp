// SPDX-License-Identifier: Apache-2.0
#include "capture/record/RunFolder.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "capture/log/LogFolder.h"
#include "capture/log/LogFormat.h"
#include "capture/log/LogReader.h"
#include "capture/log/logDoor.h"
#include "capture/perf/PerfLog.h"
#include "capture/record/OutputName.h"
#include "model/format/checkFile.h"

namespace lanescope::capture {

namespace {

/// Returns true while another process records into the folder.
bool isLockedByAnother(const std::filesystem::path& path) {
    const Result<Folder> folder = Folder::open(path);
    if (!folder) return false;
    const UniqueFd file = folder->openFile(runInfoFileName);
    return file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Returns true for the name of a log or a further part of one, "<name>.log.1".
bool isLogName(const std::filesystem::path& name) {
    const std::string ending = name.extension().string();
    const bool isPart = ending.size() > 1 && ending.find_first_not_of("0123456789", 1) == std::string::npos &&
                        name.stem().extension() == ".log";
    return isPart || ending == ".log";
}

/// File with the end of the program. It has its final size from the start, so that a full disk does not matter.
constexpr const char* endFileName = "end.txt";
constexpr size_t endFileBytes = 64;

}  // namespace

Result<RunFolder> RunFolder::create(const std::filesystem::path& path, const RunInfo& info) {
    std::error_code error;
    const std::filesystem::path wanted = std::filesystem::absolute(path, error);
    if (error) return fail("{}: cannot create the folder: {}.", path.string(), error.message());
    // It gets its name after it is locked, so that a concurrent process finds it owned.
    Result<Folder> made = Folder::createUnnamed(wanted.parent_path());
    if (!made) return fail(made.error());
    RunFolder folder(std::move(*made));
    if (auto filled = folder.fill(info); !filled) {
        folder.remove();
        return fail(filled.error());
    }
    const int problem = folder.folder_->assignName(wanted);
    if (problem == 0) return folder;
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

Result<void> RunFolder::fill(const RunInfo& info) {
    if (auto saved = info.save(*folder_, runInfoFileName); !saved) return saved;
    const UniqueFd end = folder_->createFile(endFileName);
    const std::string blank(endFileBytes, ' ');
    if (end < 0 || !writeAll(end, blank.data(), blank.size()))
        return fail("{}: cannot write into the folder: {}.", path().string(), std::strerror(errno));
    std::array<uint64_t, 2> number{};
    if (::getrandom(number.data(), sizeof number, 0) != sizeof number)
        return fail("{}: no random number for the folder: {}.", path().string(), std::strerror(errno));
    session_ = fmt::format("{:016x}{:016x}", number[0], number[1]);
    const UniqueFd marker = folder_->createFile(session_ + std::string(log::sessionEnding));
    if (marker < 0) return fail("{}: cannot write into the folder: {}.", path().string(), std::strerror(errno));
    return lock();
}

Result<RunFolder> RunFolder::takeOver(const std::filesystem::path& path) {
    Result<Folder> opened = Folder::open(path);
    if (!opened) return fail("{} Name the folder with the logs of a recording.", opened.error().sentence);
    RunFolder folder(std::move(*opened));
    if (auto locked = folder.lock(); !locked) return fail(locked.error());
    return folder;
}

void RunFolder::noteEnd(const MainProcess& program) const {
    const std::string text =
        fmt::format("{} {} {}", program.pid, program.exitStatus, program.endRealtimeNs).substr(0, endFileBytes);
    const UniqueFd file = folder_->openFile(endFileName, Folder::Access::Write);
    // Without it a recovery does not know how the program ended.
    if (file >= 0) static_cast<void>(writeAllAt(file, text.data(), text.size(), 0));
}

std::optional<MainProcess> RunFolder::notedEnd() const {
    const UniqueFd file = folder_->openFile(endFileName);
    std::array<char, endFileBytes + 1> text{};
    MainProcess program;
    if (file < 0 || readAllAt(file, text.data(), endFileBytes, 0) != endFileBytes ||
        std::sscanf(text.data(), "%u %d %" SCNd64, &program.pid, &program.exitStatus, &program.endRealtimeNs) != 3)
        return std::nullopt;
    return program;
}

bool RunFolder::isOurs(const std::string& name) const {
    for (const char* const own :
         {runInfoFileName, runInfoWithMachineFileName, endFileName, log::momentPipeName, DiskReserve::fileName})
        if (name == own) return true;
    if (name.ends_with(log::sessionEnding)) return folder_->fileBytes(name) == 0;
    if (name.ends_with(log::lostLogEnding)) return folder_->linkTarget(name).has_value();
    const bool isPerf = name.ends_with(perfLogEnding);
    if (!isPerf && !isLogName(name)) return false;
    const UniqueFd file = folder_->openFile(name);
    std::array<char, 8> magic{};
    if (file < 0) return false;
    const size_t got = readAllAt(file, magic.data(), magic.size(), 0);
    const char* const expected = isPerf ? perfLogMagic : log::fileMagic;
    return std::memcmp(magic.data(), expected, got) == 0;  // Nothing is in it if its process ended at once.
}

void RunFolder::remove() {
    for (const std::string& name : folder_->names())
        if (isOurs(name)) static_cast<void>(folder_->removeFile(name));
    // While it is open, some file systems keep a hidden name for it in the folder.
    lock_.reset();
    static_cast<void>(folder_->removeSelf());
}

/// If the file is missing or the file system has no locks, the run is not locked.
Result<void> RunFolder::lock() {
    lock_ = folder_->openFile(runInfoFileName);
    if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail("{}: still being recorded. Wait for the recording, or stop it.", path().string());
    return {};
}

namespace {

/// Returns true if a recording may have left something of `trace`, or another user has taken one of its names.
bool isTaken(const std::filesystem::path& trace) {
    // A trace gets its name before its folder is removed, so the checks are in the reverse order.
    if (mayExist(runFolderFor(trace))) return true;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
        for (const std::string_view ending : {std::string_view(), unfinishedEnding})
            if (mayExist(trace.string() + std::string(ending) + suffix)) return true;
    return false;
}

/// Fails if a file of another user has a name that SQLite would use next to the trace.
Result<void> checkSideNames(const std::filesystem::path& trace) {
    for (const char* suffix : {"-wal", "-shm", "-journal"}) {
        const std::string name = trace.string() + suffix;
        struct stat status {};
        if (::lstat(name.c_str(), &status) == 0 && status.st_uid != ::geteuid())
            return fail(
                "{}: a file of another user that SQLite would take for a part of the trace. Choose another "
                "name with -o.",
                name);
    }
    return {};
}

}  // namespace

Result<OutputPlace> OutputPlace::claim(const std::string& pattern, int pid, bool overwrite, const RunInfo& info) {
    const bool canCount = isNumbered(pattern);
    for (int number = 1;; ++number) {
        const auto name = expandOutputPattern(pattern, {pid, number});
        if (!name) return fail(name.error());
        const std::filesystem::path trace = *name;
        if (canCount && isTaken(trace)) continue;
        if (auto possible = checkOutput(trace, overwrite); !possible) return fail(possible.error());
        if (auto free = checkSideNames(trace); !free) return fail(free.error());
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

FoundLogs findLogs(const std::shared_ptr<const Folder>& folder) {
    FoundLogs found;
    for (const std::string& name : folder->names()) {
        if (name.ends_with(perfLogEnding)) {
            ++found.count;
            if (PerfLogFile::open(*folder, name)) ++found.readable;
            continue;
        }
        if (!name.ends_with(".log")) continue;
        ++found.count;
        auto reader = log::LogReader::open(folder, name);
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
    return recoverLogs(*folder, options);
}

Result<CollectedRun> recoverLogs(const RunFolder& folder, const RecoverOptions& options) {
    const FoundLogs logs = findLogs(folder.folder());
    if (logs.count == 0) return fail("{}: no log in this folder, nothing to recover.", options.runFolder.string());
    if (logs.readable == 0)
        return fail(
            "{}: no readable Lanescope log in this folder. Its files are truncated, or are not "
            "logs.",
            options.runFolder.string());
    const std::filesystem::path output =
        options.output.empty() ? outputForRunFolder(options.runFolder) : options.output;
    if (auto possible = checkOutput(output, options.overwrite); !possible) return fail(possible.error());

    // The space that it kept is for this.
    static_cast<void>(folder.folder()->removeFile(DiskReserve::fileName));
    // Without the facts of `record`, time 0 is the begin of the first log.
    RunInfo info;
    for (const char* file : {runInfoFileName, runInfoWithMachineFileName})
        if (auto known = RunInfo::load(*folder.folder(), file); known) info = *known;
    if (info.startRealtimeNs == 0) info.startRealtimeNs = logs.earliestNs;
    auto collector = Collector::begin(folder.folder(), output, std::move(info), Journal::None);
    if (!collector) return fail(collector.error());
    return (*collector)->finish(folder.notedEnd(), options.overwrite, options.closing);
}

}  // namespace lanescope::capture
