// SPDX-License-Identifier: Apache-2.0
#include "capture/record/RunFolder.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "capture/log/LogFolder.h"
#include "capture/log/LogFormat.h"
#include "capture/log/LogReader.h"
#include "capture/log/RecordingLevel.h"
#include "capture/log/launcherRank.h"
#include "capture/log/logDoor.h"
#include "capture/perf/PerfLog.h"
#include "model/format/ReadWatch.h"
#include "model/format/text.h"

namespace lanescope::capture {

namespace {

std::filesystem::path folderOf(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.parent_path();
    return folder.empty() ? "." : folder;
}

/// Returns true if only the owner of a file can replace it, as in /tmp, and that is another user.
bool isKeptBySticky(const std::filesystem::path& folder, const std::filesystem::path& file) {
    const uid_t user = ::geteuid();
    struct stat place {
    }, status{};
    return user != 0 && ::stat(folder.c_str(), &place) == 0 && ::lstat(file.c_str(), &status) == 0 &&
           (place.st_mode & S_ISVTX) != 0 && place.st_uid != user && status.st_uid != user;
}

struct Placeholder {
    char code = '\0';
    std::string variable;  ///< For %q.
};

/// Reads a placeholder, after its percent sign, from the front of `rest`.
Result<Placeholder> takePlaceholder(std::string_view& rest) {
    Placeholder placeholder;
    if (!rest.empty()) placeholder.code = rest.front();
    if (placeholder.code == '\0' || std::string_view("%pnhq").find(placeholder.code) == rest.npos)
        return fail("Output name: unknown % placeholder. Use %p, %n, %h, %q{{NAME}}, or %% for a percent sign.");
    rest.remove_prefix(1);
    if (placeholder.code != 'q') return placeholder;
    const size_t end = rest.find('}');
    if (rest.empty() || rest.front() != '{' || end == rest.npos)
        return fail("Output name: %q needs a variable in braces: %q{{NAME}}.");
    placeholder.variable = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return placeholder;
}

Result<std::string> valueOf(const Placeholder& placeholder, const OutputNameParts& parts) {
    switch (placeholder.code) {
        case 'p': return std::to_string(parts.pid);
        case 'n': return std::to_string(parts.number);
        case 'h': return hostName();
        case 'q': {
            const char* value = std::getenv(placeholder.variable.c_str());
            if (value == nullptr)
                return fail("Output name: the environment variable {} is not set.", placeholder.variable);
            return std::string(value);
        }
        default: return std::string("%");
    }
}

std::vector<Placeholder> placeholdersOf(std::string_view pattern) {
    std::vector<Placeholder> found;
    for (size_t at = pattern.find('%'); at != pattern.npos; at = pattern.find('%')) {
        pattern.remove_prefix(at + 1);
        const auto placeholder = takePlaceholder(pattern);
        if (!placeholder) break;
        found.push_back(*placeholder);
    }
    return found;
}

/// Returns true if a variable has one value for the whole job, judging by its name.
bool isSameForAll(std::string_view variable) {
    static constexpr std::string_view endings[] = {"_SIZE",  "JOB_ID", "JOBID", "JOB_NAME",  "USER",     "STEP_ID",
                                                   "NTASKS", "NNODES", "HOME",  "NUM_NODES", "NUM_TASKS"};
    return std::ranges::any_of(endings, [&](std::string_view ending) { return variable.ends_with(ending); });
}

/// Returns true while another process records into the folder.
bool isLockedByAnother(const std::filesystem::path& path) {
    const Result<Folder> folder = Folder::open(path);
    if (!folder) return false;
    const UniqueFd file = folder->openFile(runInfoFileName);
    return file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

constexpr size_t endFileBytes = 64;

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

struct FoundLogs {
    int count = 0;
    int readable = 0;
    int64_t earliestNs = 0;  ///< Earliest begin of a log; 0 if unknown.
};

FoundLogs findLogs(const std::shared_ptr<const Folder>& folder) {
    FoundLogs found;
    for (const std::string& name : folder->names()) {
        if (!name.ends_with(perfLogEnding)) continue;
        ++found.count;
        if (PerfLogFile::open(*folder, name)) ++found.readable;
    }
    for (const std::string& name : log::logNames(folder->names())) {
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

Result<std::string> expandOutputPattern(std::string_view pattern, const OutputNameParts& parts) {
    std::string name;
    while (!pattern.empty()) {
        const size_t percent = pattern.find('%');
        name += pattern.substr(0, percent);
        if (percent == pattern.npos) break;
        pattern.remove_prefix(percent + 1);
        const auto placeholder = takePlaceholder(pattern);
        if (!placeholder) return fail(placeholder.error());
        auto value = valueOf(*placeholder, parts);
        if (!value) return value;
        name += *value;
    }
    if (name.empty()) return fail("The output name is empty.");
    return name;
}

bool isNumbered(std::string_view pattern) {
    return std::ranges::any_of(placeholdersOf(pattern), [](const Placeholder& each) { return each.code == 'n'; });
}

std::string defaultOutputPattern(const std::filesystem::path& program) {
    // Longer names than this leave no room for the endings of files next to the trace.
    constexpr size_t maxNameBytes = 150;
    const std::string name = program.filename().string().substr(0, maxNameBytes);
    return fmt::format("lanescope-{}-%n.sqlite", patternOf(name));
}

std::string patternOf(std::string_view name) {
    std::string pattern;
    for (const char character : name) pattern += character == '%' ? "%%" : std::string(1, character);
    return pattern;
}

Result<void> checkNameOfRank(std::string_view pattern) {
    const log::LauncherRank place = log::launcherRank();
    const std::string& size = place.worldSize;
    if (place.rank.empty() || size.empty() || size == "1") return {};
    for (const Placeholder& each : placeholdersOf(pattern)) {
        if (each.code == 'p' || each.code == 'n') return {};
        if (each.code == 'h' && place.localWorldSize == "1") return {};
        if (each.code == 'q' && !isSameForAll(each.variable)) return {};
    }
    return fail(
        "All {0} ranks of this launch would write {1}. Add %q{{{2}}} to the name, or record the "
        "launcher ('lanescope record -- mpirun ...') to get one trace of all ranks.",
        size, pattern, place.rankVariable);
}

Result<void> checkOutput(const std::filesystem::path& output, bool overwrite) {
    const std::filesystem::path folder = folderOf(output);
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
        return fail("{}: no such folder. Create it, or choose another output with -o.", folder.string());
    if (!output.has_filename() || std::filesystem::is_directory(output, error))
        return fail("{}: this is a folder. Name a file for the trace.", output.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return fail("{}: the folder is not writable: {}.", folder.string(), std::strerror(errno));
    if (!mayExist(output)) return {};
    if (!std::filesystem::is_regular_file(output, error))
        return fail("{}: not a regular file, will not be overwritten. Choose another name with -o.", output.string());
    if (!overwrite)
        return fail("{}: the file exists. Choose another name with -o, or overwrite it with --force.", output.string());
    if (isKeptBySticky(folder, output))
        return fail("{}: a file of another user, cannot be replaced. Choose another name with -o.", output.string());
    return {};
}

std::filesystem::path runFolderFor(const std::filesystem::path& output) {
    return output.parent_path() / fmt::format(".{}.run", output.filename().string());
}

std::filesystem::path outputForRunFolder(const std::filesystem::path& runFolder) {
    // A trailing slash would leave no file name.
    std::filesystem::path folder = runFolder.lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    std::string name = folder.filename().string();
    static constexpr std::string_view ending = ".run";
    if (name.size() > ending.size() + 1 && name.front() == '.' && name.ends_with(ending))
        return folder.parent_path() / name.substr(1, name.size() - ending.size() - 1);
    if (name.empty() || name == "." || name == "..") return folder / "recovered.sqlite";
    return folder.parent_path() / (name + ".sqlite");
}

bool isLogFile(std::string_view name) { return log::logPart(name).has_value(); }

std::string hostName() {
    char name[256] = {};
    if (::gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "host";
    return name;
}

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
    for (const char* const own : {runInfoFileName, runInfoWithMachineFileName, endFileName, log::momentPipeName,
                                  log::levelFileName, DiskReserve::fileName})
        if (name == own) return true;
    if (name.starts_with(watchRequestBegin) || name.starts_with("new-")) return true;
    if (name.ends_with(log::sessionEnding)) return folder_->fileBytes(name) == 0;
    if (name.ends_with(log::lostLogEnding)) return folder_->linkTarget(name).has_value();
    const bool isPerf = name.ends_with(perfLogEnding);
    if (!isPerf && !isLogFile(name)) return false;
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
    if (const Result<Folder> parent = Folder::open(path().parent_path())) {
        const std::string begin = path().filename().string() + std::string(linksMark);
        for (const std::string& name : parent->names())
            if (name.starts_with(begin)) static_cast<void>(parent->removeAll(name));
    }
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

Result<CollectedRun> recover(const RecoverOptions& options) {
    const auto folder = RunFolder::takeOver(options.runFolder);
    if (!folder) return fail(folder.error());
    return recoverLogs(*folder, options);
}

Result<CollectedRun> recoverLogs(const RunFolder& folder, const RecoverOptions& options) {
    const FoundLogs logs = findLogs(folder.folder());
    if (logs.count == 0) return fail("{}: no log in this folder, nothing to recover.", options.runFolder.string());
    if (logs.readable == 0)
        return fail("{}: no readable Lanescope log in this folder. Its files are truncated, or are not logs.",
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
