// SPDX-License-Identifier: Apache-2.0
#include "capture/record/ChildProcess.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "capture/log/clocks.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"

namespace lanescope::capture {

namespace {

constexpr size_t maxEntriesBytes = 32 * 1024;
constexpr size_t maxEntries = 8;
constexpr int firstSignalStatus = 128;
constexpr int unknownStatus = 255;

/// Data that the child needs to execute the program, made before the fork.
struct Launch {
    const char* path;
    char* const* arguments;
    char* const* shellArguments;
    char** environment;  ///< Has free slots before its end.
    size_t environmentSize;
    char* lastEntries;  ///< Buffer for the entries that come through the gate.
    size_t lastEntriesRoom;
};

/// Waits in the child for the start and executes the program. Only calls that are safe after a fork.
[[noreturn]] void executeProgram(int gate, int failure, const Launch& launch) {
    const size_t length = readAll(gate, launch.lastEntries, launch.lastEntriesRoom);
    // The zero-terminated entries are complete if an empty one ends them. Without entries there is only that one.
    const bool areWhole =
        length > 0 && launch.lastEntries[length - 1] == '\0' && (length == 1 || launch.lastEntries[length - 2] == '\0');
    if (areWhole) {
        size_t count = launch.environmentSize;
        for (size_t at = 0; at + 1 < length; at += std::strlen(launch.lastEntries + at) + 1)
            launch.environment[count++] = launch.lastEntries + at;
        ::execve(launch.path, launch.arguments, launch.environment);
        // As shells do with a script that does not name its interpreter.
        if (errno == ENOEXEC) ::execve("/bin/sh", launch.shellArguments, launch.environment);
        const int problem = errno;
        [[maybe_unused]] const ssize_t told = ::write(failure, &problem, sizeof(problem));
    }
    ::_exit(127);
}

/// Returns the error for a program that exists, as `findProgram` found, but whose interpreter does not.
Error missingInterpreter(const std::string& program) {
    char line[256] = {};
    const Result<UniqueFd> file = openRegularFile(program);
    std::string_view rest(line, file ? readAll(*file, line, sizeof line - 1) : 0);
    if (!rest.starts_with("#!"))
        return {fmt::format("{}: cannot run, its loader is not on this machine (a program for another C library?).",
                            program)};
    rest.remove_prefix(2);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return {fmt::format("{}: cannot run, the interpreter {} in its first line does not exist.", program,
                        rest.substr(0, rest.find_first_of(" \t\r\n")))};
}

/// Global, because a signal handler has no access to an object. 0: ignore.
std::atomic<pid_t> forwardTarget{0};
std::atomic<bool> isProgramOver{false};
std::atomic<bool> isEndRequested{false};
std::atomic<int64_t> latestEndNs{0};  ///< Time at which a signal that ends programs was forwarded.
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

/// A signal to a process and its group, as from `timeout`, arrives twice here, and a third time in
/// the program, which is in that group. Launchers treat several signals as impatience.
constexpr int64_t sameSignalNs = 200'000'000;

bool isRepeated() {
    const int64_t nowNs = log::monotonicNs();
    return nowNs - latestEndNs.exchange(nowNs) < sameSignalNs;
}

/// Returns true for a signal of the program's own kind that the waiting parent passes on although it came here, too, as
/// one for all processes of a job does.
bool isCopy(int number, pid_t sender) {
    static std::atomic<int64_t> latestNs[2]{-sameSignalNs, -sameSignalNs};
    const int64_t nowNs = log::monotonicNs();
    std::atomic<int64_t>& latest = latestNs[number == SIGUSR1 ? 0 : 1];
    if (sender == ::getppid()) return nowNs - latest < sameSignalNs;
    latest = nowNs;
    return false;
}

void forward(int number, siginfo_t* info, void*) {
    if (isProgramOver.load() && number != SIGUSR1 && number != SIGUSR2) isEndRequested = true;
    const bool isTerminals = (number == SIGINT || number == SIGQUIT) && info->si_code > 0;
    const pid_t target = forwardTarget.load();
    if (target <= 0 || isTerminals) return;
    const bool isUser = number == SIGUSR1 || number == SIGUSR2;
    if (isUser ? isCopy(number, info->si_pid) : isRepeated()) return;
    const int saved = errno;
    ::kill(target, number);
    errno = saved;
}

}  // namespace

Result<ChildProcess> ChildProcess::fork(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& environment) {
    int gate[2] = {-1, -1};
    int failure[2] = {-1, -1};
    const bool hasPipes = ::pipe2(gate, O_CLOEXEC) == 0 && ::pipe2(failure, O_CLOEXEC) == 0;
    ChildProcess child;
    child.gate_.reset(gate[1]);
    child.failure_.reset(failure[0]);
    const UniqueFd childsGate(gate[0]), childsFailure(failure[1]);
    if (!hasPipes) return fail("Cannot start {}: {}.", program.string(), std::strerror(errno));
    // Everything that the child needs is made before the fork.
    const std::string path = program.string();
    std::vector<std::string> shellWords{"/bin/sh", path};
    if (!arguments.empty()) shellWords.insert(shellWords.end(), arguments.begin() + 1, arguments.end());
    const std::vector<char*> argv = pointersTo(arguments);
    const std::vector<char*> shellArgv = pointersTo(shellWords);
    std::vector<char*> envp = pointersTo(environment);
    envp.resize(environment.size() + maxEntries + 1, nullptr);
    std::vector<char> lastEntries(maxEntriesBytes);
    const Launch launch{path.c_str(),       argv.data(),        shellArgv.data(),  envp.data(),
                        environment.size(), lastEntries.data(), lastEntries.size()};
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(gate[1]);
        executeProgram(gate[0], failure[1], launch);
    }
    if (pid < 0) return fail("Cannot start {}: {}.", path, std::strerror(errno));
    child.program_ = path;
    child.pid_ = pid;
    return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : program_(std::move(other.program_)),
      pid_(std::exchange(other.pid_, -1)),
      gate_(std::move(other.gate_)),
      failure_(std::move(other.failure_)) {}

ChildProcess::~ChildProcess() {
    const bool isWaiting = gate_ >= 0 && pid_ > 0;
    gate_.reset();
    if (isWaiting) wait();
}

Result<void, StartProblem> ChildProcess::begin(const std::vector<std::string>& lastEntries) {
    const auto problemOf = [](Error error, int signal = 0) {
        return tl::unexpected(StartProblem{std::move(error), signal});
    };
    std::string text;
    for (const std::string& entry : lastEntries) text.append(entry.c_str(), entry.size() + 1);
    text += '\0';
    if (lastEntries.size() > maxEntries || text.size() > maxEntriesBytes)
        return problemOf({"The output path or the options of record are too long."});
    if (!writeAll(gate_, text.data(), text.size())) {
        if (errno != EPIPE) return problemOf({fmt::format("Cannot start {}: {}.", program_, std::strerror(errno))});
        const int status = wait();
        return problemOf({fmt::format("{} was not started: a signal came first.", program_)},
                         status > firstSignalStatus ? status - firstSignalStatus : 0);
    }
    gate_.reset();
    int problem = 0;
    // Ends when the program is executed.
    const bool hasFailed = readAll(failure_, &problem, sizeof problem) == sizeof problem;
    failure_.reset();
    if (!hasFailed) return {};
    wait();
    if (problem == ENOENT) return problemOf(missingInterpreter(program_));
    return problemOf({fmt::format("Cannot run {}: {}.", program_, std::strerror(problem))});
}

int ChildProcess::wait() {
    for (;;) {
        siginfo_t ended{};
        if (::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) != 0) {
            if (errno != EINTR) return unknownStatus;
        } else if (ended.si_pid == pid_) {
            pid_ = -1;
            return ended.si_code == CLD_EXITED ? ended.si_status : firstSignalStatus + ended.si_status;
        } else {
            ::waitpid(ended.si_pid, nullptr, 0);
        }
    }
}

bool reapOrphans() {
    pid_t ended = 0;
    do ended = ::waitpid(-1, nullptr, WNOHANG);
    while (ended > 0);
    return ended == 0;
}

std::vector<pid_t> ancestorsOf(pid_t pid) {
    constexpr size_t maxCount = 1000;
    std::vector<pid_t> ancestors;
    while (pid > 0 && ancestors.size() < maxCount) {
        const std::string line = readSystemFile("/proc/" + std::to_string(pid) + "/stat").value_or(std::string());
        // "pid (name) state parent ..."; the name may contain any character.
        const size_t nameEnd = line.rfind(") ");
        const bool hasParent = nameEnd != std::string::npos && nameEnd + 4 < line.size();
        pid = hasParent ? static_cast<pid_t>(std::atol(line.c_str() + nameEnd + 4)) : 0;
        if (pid > 0) ancestors.push_back(pid);
    }
    return ancestors;
}

Result<std::filesystem::path, ProgramProblem> findProgram(const std::string& name) {
    const auto problem = [&](bool isFound, const char* sentence) {
        return tl::unexpected(ProgramProblem{{fmt::format(fmt::runtime(sentence), name)}, isFound});
    };
    struct stat status {};
    const auto isFile = [&](const std::string& path) {
        return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    };
    if (name.find('/') != std::string::npos) {
        if (::stat(name.c_str(), &status) != 0) return problem(false, "{}: no such program. Check the path.");
        if (!S_ISREG(status.st_mode)) return problem(true, "{}: not a program.");
        if (::access(name.c_str(), X_OK) != 0)
            return problem(true, "{}: not executable. Run chmod +x on it, or name its interpreter.");
        return std::filesystem::path(name);
    }
    const char* variable = std::getenv("PATH");
    std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
    bool isFound = false;
    for (bool isLast = name.empty(); !isLast;) {
        const size_t colon = rest.find(':');
        isLast = colon == std::string_view::npos;
        const std::string_view folder = rest.substr(0, colon);
        const std::string path = std::string(folder.empty() ? "." : folder) + "/" + name;
        const bool isHere = isFile(path);
        if (isHere && ::access(path.c_str(), X_OK) == 0) return std::filesystem::path(path);
        isFound = isFound || isHere;
        if (!isLast) rest.remove_prefix(colon + 1);
    }
    if (isFound) return problem(true, "{}: found in PATH, but not executable. Run chmod +x on it.");
    return problem(false, "{}: no such program in PATH. Check the name, or use a path.");
}

void SignalHandlers::install(std::initializer_list<int> numbers, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    before_.reserve(numbers.size());
    for (const int number : numbers) {
        struct sigaction before {};
        sigaction(number, nullptr, &before);
        before_.emplace_back(number, before);
        if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
    }
}

void SignalHandlers::restore() const {
    for (const auto& [number, before] : before_) sigaction(number, &before, nullptr);
}

SignalForwarder::SignalForwarder(pid_t target) {
    isProgramOver = false;
    isEndRequested = false;
    latestEndNs = -sameSignalNs;
    forwardTarget = target;
    handlers_.install({SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT}, forward);
}

SignalForwarder::~SignalForwarder() { forwardTarget = 0; }

void SignalForwarder::send(int number) const {
    if (const pid_t target = forwardTarget.load(); target > 0) ::kill(target, number);
}

void SignalForwarder::stopForwarding() {
    forwardTarget = 0;
    isProgramOver = true;
}

bool SignalForwarder::hasSignalAfterEnd() const { return isEndRequested.load(); }

}  // namespace lanescope::capture
