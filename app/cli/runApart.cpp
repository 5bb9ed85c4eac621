// SPDX-License-Identifier: Apache-2.0
#include "app/cli/runApart.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "model/system/process.h"

namespace lanescope::cli {

namespace {

// A signal handler reaches no object, so what it needs stands here.
std::atomic<pid_t> running{0};
std::atomic<int> firstTaken{0};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void take(int number, siginfo_t* info, void*) {
    int none = 0;
    firstTaken.compare_exchange_strong(none, number);
    const pid_t target = running.load();
    if (target <= 0 || info->si_code > 0) return;  // The terminal has sent it to the run, too.
    const int saved = errno;
    ::kill(target, number);
    errno = saved;
}

/// The parts of a `RunEnd` but its sentence, as they go through a pipe.
struct Sent {
    int exitStatus = 0;
    bool wasEndedByUs = false;
};

void writeAll(int file, const void* bytes, size_t size) {
    const char* at = static_cast<const char*>(bytes);
    while (size > 0) {
        const ssize_t written = ::write(file, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        at += written;
        size -= static_cast<size_t>(written);
    }
}

std::string readAll(int file) {
    std::string text;
    char buffer[4096];
    for (;;) {
        const ssize_t count = ::read(file, buffer, sizeof(buffer));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return text;
        text.append(buffer, static_cast<size_t>(count));
    }
}

/// Why streams cannot go there; empty if they do.
std::string redirect(const std::filesystem::path& output) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const bool isDone = nothing >= 0 && file >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                        ::dup2(file, STDOUT_FILENO) >= 0 && ::dup2(file, STDERR_FILENO) >= 0;
    if (!isDone) return fmt::format("Cannot write {}: {}.", output.string(), std::strerror(errno));
    ::close(nothing);
    ::close(file);
    return {};
}

[[noreturn]] void doAndLeave(int answer, const std::filesystem::path& output,
                             const std::function<RunEnd()>& work) {
    RunEnd end;
    if (!output.empty()) end.problem = redirect(output);
    if (end.problem.empty()) end = work();
    std::fflush(nullptr);
    const Sent sent{end.exitStatus, end.wasEndedByUs};
    writeAll(answer, &sent, sizeof(sent));
    writeAll(answer, end.problem.data(), end.problem.size());
    ::_exit(0);
}

RunEnd endOf(std::string_view answer, int status) {
    Sent sent;
    if (answer.size() < sizeof(sent)) {
        const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        return {128 + number, false,
                number > 0 ? fmt::format("Signal {} ended the recording.", number)
                           : "The recording ended without an answer."};
    }
    std::memcpy(&sent, answer.data(), sizeof(sent));
    return {sent.exitStatus, sent.wasEndedByUs, std::string(answer.substr(sizeof(sent)))};
}

}  // namespace

RunSignals::RunSignals() {
    firstTaken = 0;
    running = 0;
    struct sigaction action {};
    action.sa_sigaction = take;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t index = 0; index < numbers.size(); ++index) {
        sigaction(numbers[index], nullptr, &before_[index]);
        if (before_[index].sa_handler != SIG_IGN) sigaction(numbers[index], &action, nullptr);
    }
}

RunSignals::~RunSignals() {
    giveBack();
}

void RunSignals::giveBack() const {
    for (size_t index = 0; index < numbers.size(); ++index)
        sigaction(numbers[index], &before_[index], nullptr);
}

int RunSignals::taken() const {
    return firstTaken.load();
}

RunEnd RunSignals::runApart(const std::filesystem::path& output,
                            const std::function<RunEnd()>& work) {
    std::array<int, 2> pipe{};
    if (!system::openPipe(pipe))
        return {1, false, fmt::format("Cannot make a pipe: {}.", std::strerror(errno))};
    std::fflush(nullptr);
    // Held back until the run has its own way with them.
    sigset_t held, before;
    sigemptyset(&held);
    for (const int number : numbers) sigaddset(&held, number);
    sigprocmask(SIG_BLOCK, &held, &before);
    const pid_t child = ::fork();
    if (child == 0) {
        giveBack();
        sigprocmask(SIG_SETMASK, &before, nullptr);
        ::close(pipe[0]);
        doAndLeave(pipe[1], output, work);
    }
    const int failure = errno;
    running = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    ::close(pipe[1]);
    std::string answer;
    int status = 0;
    if (child > 0) {
        answer = readAll(pipe[0]);
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    running = 0;
    ::close(pipe[0]);
    if (child < 0) return {1, false, fmt::format("Cannot fork: {}.", std::strerror(failure))};
    return endOf(answer, status);
}

}  // namespace lanescope::cli
