// SPDX-License-Identifier: Apache-2.0
#include "model/format/Subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "model/format/optionValues.h"
#include "model/system/system.h"

namespace lanescope {

std::filesystem::path ownProgram() { return system::ownProgram(); }

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::filesystem::path findProgram(const std::string& name) {
    const auto isProgram = [](const std::filesystem::path& path) {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos) return isProgram(name) ? std::filesystem::path(name) : "";
    std::istringstream folders(environment("PATH"));
    for (std::string folder; !name.empty() && std::getline(folders, folder, ':');) {
        std::filesystem::path program = std::filesystem::path(folder) / name;
        if (program.is_absolute() && isProgram(program)) return program;
    }
    return {};
}

Subprocess Subprocess::spawn(const std::filesystem::path& program, const std::vector<std::string>& words,
                             const Options& options) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    if (options.input >= 0)
        ::posix_spawn_file_actions_adddup2(&files, options.input, STDIN_FILENO);
    else
        ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const auto& [from, to] : {std::pair(options.output, STDOUT_FILENO), std::pair(options.errors, STDERR_FILENO)})
        if (from >= 0)
            ::posix_spawn_file_actions_adddup2(&files, from, to);
        else
            ::posix_spawn_file_actions_addopen(&files, to, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    const int signals = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    ::posix_spawnattr_setflags(&attributes, static_cast<short>((options.hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0) |
                                                               (options.hasDefaultSignals ? signals : 0)));
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    Subprocess process;
    process.hasOwnGroup_ = options.hasOwnGroup;
    const int problem = ::posix_spawn(&process.pid_, program.c_str(), &files, &attributes, pointersTo(words).data(),
                                      options.environment != nullptr ? options.environment : system::environment());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (problem != 0) process.pid_ = -1;
    errno = problem;
    return process;
}

Subprocess Subprocess::fork(const std::function<void(int output)>& work) {
    Subprocess process;
    std::array<int, 2> ends{};
    if (!system::openPipe(ends)) return process;
    process.output_.reset(ends[0]);
    const UniqueFd writing(ends[1]);
    process.pid_ = ::fork();
    if (process.pid_ == 0) {
        process.output_.reset();
        work(writing);
        ::_exit(0);
    }
    return process;
}

Subprocess::~Subprocess() {
    // Other code may have reaped it, and its number may then belong to another process.
    if (pid_ <= 0 || poll()) return;
    kill();
    wait();
}

std::string Subprocess::output() const {
    std::string text;
    // After a failure its status tells that the text is incomplete.
    static_cast<void>(readToEnd(output_, text));
    return text;
}

void Subprocess::kill() const { ::kill(hasOwnGroup_ ? -pid_ : pid_, SIGKILL); }

int Subprocess::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return status;
}

std::optional<int> Subprocess::poll() {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
    const bool isReaped = ended == pid_;
    pid_ = -1;
    return isReaped ? status : -1;
}

}  // namespace lanescope
