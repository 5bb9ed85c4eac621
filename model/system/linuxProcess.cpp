// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "model/system/process.h"

namespace lanescope::system {

bool openPipe(std::array<int, 2>& ends) {
    return ::pipe2(ends.data(), O_CLOEXEC) == 0;
}

bool openSockets(std::array<int, 2>& ends) {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
}

ssize_t sendQuietly(int socket, const void* bytes, size_t count) {
    return ::send(socket, bytes, count, MSG_NOSIGNAL);
}

char** environment() {
    return ::environ;
}

void limitFurtherMemory(uint64_t bytes) {
    // What RLIMIT_DATA counts is the sixth number, in pages.
    std::ifstream file("/proc/self/statm");
    uint64_t pages = 0;
    for (int field = 0; field < 6; ++field) file >> pages;
    const rlim_t present = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    rlimit memory{};
    if (!file || ::getrlimit(RLIMIT_DATA, &memory) != 0) return;
    memory.rlim_cur = std::min<rlim_t>(memory.rlim_max, present + bytes);
    ::setrlimit(RLIMIT_DATA, &memory);
}

void preferLargePages(void* memory, size_t bytes) {
    static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
}

std::filesystem::path ownProgram() {
    std::error_code error;
    std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return {};
    return program;
}

std::filesystem::path programToRestart() {
    return "/proc/self/exe";
}

std::optional<uint64_t> drawNumber() {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) return std::nullopt;
    return number;
}

}  // namespace lanescope::system
