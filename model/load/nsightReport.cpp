// SPDX-License-Identifier: Apache-2.0
#include "model/load/nsightReport.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "model/load/sqlite/readSqliteTrace.h"
#include "model/system/process.h"

namespace lanescope {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view exporter = "nsys";

Result<bool> isNsightReport(TraceSource& source) {
    const fs::path ending = source.path().extension();
    return (ending == ".nsys-rep" || ending == ".qdrep") && !source.startsLikeSqlite();
}

/// Where the shell would find it.
std::optional<fs::path> findExporter() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path program = fs::path(folder) / exporter;
        if (program.is_absolute() && ::access(program.c_str(), X_OK) == 0) return program;
    }
    return std::nullopt;
}

/// Runs a program to its end, without input and output; asks `isWanted` meanwhile, and ends it with
/// all that it started once nobody wants it. Its exit status, or -1 if it did not come to one.
int runQuietly(const std::vector<std::string>& words, const std::function<bool()>& isWanted) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    pid_t child = -1;
    const int error = ::posix_spawn(&child, words.front().c_str(), &files, &attributes,
                                    arguments.data(), system::environment());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) return -1;
    int status = 0;
    bool isStopped = false;
    for (pid_t ended = 0; ended != child;) {
        ended = ::waitpid(child, &status, WNOHANG);
        if (ended < 0 && errno != EINTR) return -1;
        if (ended == child) break;
        if (!isStopped && !isWanted()) {
            isStopped = true;
            ::kill(-child, SIGKILL);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return !isStopped && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Whether the export that lies there is of this report.
bool isUsable(const fs::path& exported, const fs::path& report) {
    std::error_code error;
    const auto exportedAt = fs::last_write_time(exported, error);
    if (error) return false;
    const auto reportedAt = fs::last_write_time(report, error);
    return !error && exportedAt >= reportedAt;
}

Result<void> makeExport(const fs::path& report, const fs::path& exported,
                        const LoadProgress& progress) {
    std::error_code ignored;
    const std::string command =
        fmt::format("nsys export --type sqlite -o {} {}", exported.string(), report.string());
    const std::optional<fs::path> program = findExporter();
    if (!program)
        return fail(
            "{} is a report of Nsight Systems, which only its own nsys reads, and there is none in "
            "PATH: where there is one, type \"{}\".",
            report.string(), command);
    fs::path partial = exported;
    partial += ".exporting.sqlite";
    fs::remove(partial, ignored);
    bool isWanted = true;
    const int status = runQuietly(
        {program->string(), "export", "--type", "sqlite", "--output",
         fs::absolute(partial, ignored).string(), fs::absolute(report, ignored).string()},
        [&] { return isWanted = !progress || progress(0, "nsys exports the report"); });
    if (status == 0) {
        fs::rename(partial, exported, ignored);
        if (!ignored) return {};
    }
    fs::remove(partial, ignored);
    if (!isWanted) return fail("Opening {} was cancelled.", report.string());
    return fail("{} could not export {}: see what \"{}\" says.", program->string(), report.string(),
                command);
}

Result<void> readReport(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    constexpr double exporting = 0.5;  // of the progress
    fs::path exported = source.path();
    exported.replace_extension(".sqlite");
    if (!isUsable(exported, source.path()))
        if (auto made = makeExport(source.path(), exported, progress); !made) return made;
    const Result<Database> database = Database::openReadOnly(exported);
    if (!database) return fail(database.error());
    const LoadProgress reading = partOf(progress, exporting, 1);
    return readSqliteTrace(*database, builder, source.threads(), reading);
}

}  // namespace

const TraceFormat nsightReportFormat{"nsight-report",
                                     "a report of Nsight Systems",
                                     {".nsys-rep", ".qdrep"},
                                     isNsightReport,
                                     readReport,
                                     {},
                                     false};

}  // namespace lanescope
