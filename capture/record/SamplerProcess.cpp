// SPDX-License-Identifier: Apache-2.0
#include "capture/record/SamplerProcess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace lanescope::capture {

namespace {

constexpr const char* ownProgram = "/proc/self/exe";
constexpr std::chrono::seconds untilKilled{1};

/// Our environment without what would load tools into the sampler.
std::vector<char*> samplerEnvironment() {
    std::vector<char*> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!text.starts_with("CUDA_INJECTION64_PATH=") &&
            !text.starts_with("NVTX_INJECTION64_PATH="))
            entries.push_back(*entry);
    }
    entries.push_back(nullptr);
    return entries;
}

/// Its streams, group and signals: nothing of ours.
int spawn(pid_t& pid, const std::vector<char*>& words, int input) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    const std::vector<char*> environment = samplerEnvironment();
    const int problem =
        ::posix_spawn(&pid, ownProgram, &files, &attributes, words.data(), environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return problem;
}

/// Whether the process of a pidfd has ended by then.
bool endsUntil(int process, std::chrono::steady_clock::time_point deadline) {
    pollfd ended{process, POLLIN, 0};
    int result = 0;
    do {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        result = ::poll(&ended, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    } while (result < 0 && errno == EINTR);
    return result != 0;
}

void closeIfOpen(int& file) {
    if (file >= 0) ::close(file);
    file = -1;
}

}  // namespace

Result<SamplerProcess> SamplerProcess::start(const SamplerOptions& options) {
    std::vector<std::string> texts{"lanescope", std::string(samplerCommand)};
    for (std::string& word : options.words()) texts.push_back(std::move(word));
    std::vector<char*> words;
    for (std::string& text : texts) words.push_back(text.data());
    words.push_back(nullptr);
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return fail("Cannot start a sampler: {}.", std::strerror(errno));
    SamplerProcess process;
    process.input_ = ends[1];
    const int problem = spawn(process.pid_, words, ends[0]);
    ::close(ends[0]);
    if (problem != 0) return fail("Cannot start a sampler: {}.", std::strerror(problem));
    process.process_ = static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0));
    return process;
}

SamplerProcess::SamplerProcess(SamplerProcess&& other) noexcept
    : pid_(other.pid_),
      input_(std::exchange(other.input_, -1)),
      process_(std::exchange(other.process_, -1)) {}

SamplerProcess::~SamplerProcess() {
    closeIfOpen(input_);
    closeIfOpen(process_);
}

void SamplerProcess::requestEnd() {
    closeIfOpen(input_);
}

bool SamplerProcess::waitUntil(std::chrono::steady_clock::time_point deadline) {
    requestEnd();
    if (process_ < 0) return true;  // An old kernel: it ends by itself, whenever that is.
    const bool hasEnded = endsUntil(process_, deadline);
    if (!hasEnded) {
        ::syscall(SYS_pidfd_send_signal, process_, SIGKILL, nullptr, 0);
        // At once, unless it is stuck in a call of the driver.
        endsUntil(process_, std::chrono::steady_clock::now() + untilKilled);
    }
    ::waitpid(pid_, nullptr, WNOHANG);
    return hasEnded;
}

}  // namespace lanescope::capture
