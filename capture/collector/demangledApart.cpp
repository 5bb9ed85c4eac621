// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/demangledApart.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "capture/log/clocks.h"

namespace lanescope::capture {

namespace {

constexpr size_t mostBytes = 64 * 1024;
constexpr int64_t patienceNs = 1'000'000'000, patienceForAllNs = 30'000'000'000;
constexpr rlim_t seconds = 2, memoryBytes = rlim_t{256} << 20;

std::atomic<int64_t> spentNs{0};

/// What this process has of the memory that RLIMIT_DATA counts.
rlim_t dataBytes() {
    // The sixth number, in pages.
    char text[256] = {};
    const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::read(file, text, sizeof text - 1) <= 0) return 0;
    ::close(file);
    char* at = text;
    unsigned long pages = 0;
    for (int field = 0; field < 6; ++field) pages = std::strtoul(at, &at, 10);
    return rlim_t{pages} * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// In the child, of which only this thread is there.
[[noreturn]] void demangleAndLeave(const char* mangledName, int output) {
    // Of what the parent has open nothing may be held open, nor be seen by what follows.
    constexpr long closeRange = 436;
    const auto from = static_cast<unsigned int>(output);
    if (from > 0) ::syscall(closeRange, 0u, from - 1, 0u);
    ::syscall(closeRange, from + 1, ~0u, 0u);
    const rlim_t mostMemory = dataBytes() + memoryBytes;
    const rlimit time{seconds, seconds}, memory{mostMemory, mostMemory}, none{0, 0};
    ::setrlimit(RLIMIT_CPU, &time);
    ::setrlimit(RLIMIT_DATA, &memory);
    ::setrlimit(RLIMIT_CORE, &none);
    int status = 0;
    const char* const text = abi::__cxa_demangle(mangledName, nullptr, nullptr, &status);
    size_t left = status == 0 && text != nullptr ? ::strnlen(text, mostBytes + 1) : 0;
    for (const char* at = text; left > 0;) {
        const ssize_t written = ::write(output, at, left);
        if (written <= 0) break;
        at += written;
        left -= static_cast<size_t>(written);
    }
    ::_exit(0);
}

/// What comes until the other end is closed, into `text`; false if that takes too long or is too
/// much.
bool readAll(int input, std::string& text) {
    const int64_t untilNs = log::monotonicNs() + patienceNs;
    for (;;) {
        const int64_t leftMs = (untilNs - log::monotonicNs()) / 1'000'000;
        pollfd source{input, POLLIN, 0};
        if (leftMs <= 0 || text.size() > mostBytes) return false;
        if (::poll(&source, 1, static_cast<int>(leftMs)) <= 0) continue;
        char room[4096];
        const ssize_t bytes = ::read(input, room, sizeof room);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) return bytes == 0;
        text.append(room, static_cast<size_t>(bytes));
    }
}

}  // namespace

std::optional<std::string> demangledApart(const std::string& mangledName) {
    int ends[2] = {-1, -1};
    if (spentNs.load() > patienceForAllNs || ::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    const int64_t begunNs = log::monotonicNs();
    const pid_t child = ::fork();
    if (child == 0) demangleAndLeave(mangledName.c_str(), ends[1]);
    ::close(ends[1]);
    std::string text;
    const bool hasEnded = child > 0 && readAll(ends[0], text);
    ::close(ends[0]);
    if (child > 0) {
        // One that has ended may have been waited for by whoever waits for all children, and its
        // number may be another's by now.
        if (!hasEnded) ::kill(child, SIGKILL);
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    spentNs.fetch_add(log::monotonicNs() - begunNs);
    if (!hasEnded || text.empty()) return std::nullopt;
    return text;
}

}  // namespace lanescope::capture
